"""The code of a submitted plugin: the installed distribution, and the wheel or requirement that installs the same."""

from __future__ import annotations

import tempfile
import zipfile
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from bench_core import RequestError, did_you_mean
from bench_core.suites import Registry

__all__ = ["Code", "code_of", "requirement_installs", "wheel_holds"]


@dataclass(frozen=True)
class Code:
    """A plugin's code.

    Attributes:
        plugin: the plugin's name.
        module: the module that its entry point names.
        distribution, version, licence: from the installed distribution's metadata.
        source: SHA-256 of its Python files, hexadecimal; records hold its beginning.
        registry: the registry that holds the plugin.
    """

    plugin: str
    module: str
    distribution: str
    version: str
    licence: str
    source: str
    registry: Registry


def code_of(registry: Registry, plugin: str) -> Code:
    """The code of an installed plugin.

    Raises:
        RequestError: there is no such plugin, it could not be loaded, or its distribution names no licence.
    """
    if plugin not in registry.plugins:
        raise RequestError(f"there is no plugin {plugin!r}; {did_you_mean(plugin, registry.plugins)}")
    installed = registry.plugins[plugin]
    if installed.error:
        raise RequestError(f"plugin {plugin!r} could not be loaded: {installed.error}")
    if not installed.distribution or not installed.source:
        raise RequestError(f"plugin {plugin!r} is not installed from a distribution: pip install its folder")
    about = metadata.metadata(installed.distribution)
    named = [about[key] for key in ("License-Expression", "License") if key in about]
    named += [line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or () if line.startswith("License ::")]
    licence = next((value.splitlines()[0] for value in named if value.strip()), "")
    if not licence:
        raise RequestError(
            f'{installed.distribution} names no licence: set license = "…" in [project] of its pyproject.toml'
        )
    return Code(
        plugin, installed.module, installed.distribution, installed.version, licence, installed.source, registry
    )


def wheel_holds(wheel: Path, code: Code) -> None:
    """Refuse a wheel that does not hold the installed code.

    Raises:
        RequestError: it is not a wheel, is of another distribution or version, or holds other Python files.
    """
    try:
        name, version, *_ = parse_wheel_filename(wheel.name)
    except InvalidWheelFilename:
        raise RequestError(f"{wheel} is not a wheel: python -m build --wheel makes one") from None
    if (name, version) != (canonicalize_name(code.distribution), Version(code.version)):
        raise RequestError(f"{wheel} is {name} {version}; installed is {code.distribution} {code.version}")
    place = code.module.replace(".", "/")
    parent = place.rpartition("/")[0]
    with tempfile.TemporaryDirectory() as folder:
        try:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder, [name for name in archive.namelist() if name.endswith(".py")])
        except (OSError, zipfile.BadZipFile) as error:
            raise RequestError(f"{wheel} cannot be read: {error}") from None
        candidates = [Path(folder, part) for part in (place, f"{place}.py", parent) if part]
        plugin = code.registry.plugins[code.plugin]
        if not any(
            replace(plugin, folder=candidate).source == code.source for candidate in candidates if candidate.exists()
        ):
            raise RequestError(
                f"{wheel} does not hold the installed code: build it again, or install it and run the suite again"
            )


def requirement_installs(requirement: str, code: Code) -> None:
    """Refuse a requirement by which pip may install another distribution or version than the installed one.

    Raises:
        RequestError: the text is no requirement, names another distribution, or gives neither the installed version
            nor an address.
    """
    wanted = f"{code.distribution}=={code.version}"
    try:
        parsed = Requirement(requirement)
    except InvalidRequirement:
        raise RequestError(f"--requirement {requirement!r} is not a requirement, such as {wanted}") from None
    same_name = canonicalize_name(parsed.name) == canonicalize_name(code.distribution)
    if not same_name or not (parsed.url or parsed.specifier == Requirement(wanted).specifier):
        raise RequestError(f"--requirement {requirement!r} may install other code than is installed; give {wanted}")
