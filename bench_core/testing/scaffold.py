"""New plugins' folders: ``bench new KIND NAME``, from the templates beside this module."""

from __future__ import annotations

import keyword
import re
import sys
import tempfile
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from bench_core.contract.errors import RequestError

if TYPE_CHECKING:
    from bench_core.plugins.registry import Registry

__all__ = ["KINDS", "Kind", "make_plugin"]


@dataclass(frozen=True)
class Kind:
    """A kind of plugin that ``bench new`` can create.

    Attributes:
        word: its name in texts.
        catalogue: the attribute of `Registry` with the objects of this kind; empty for kinds outside of the registry.
        dependencies: distributions that the plugin needs.
    """

    word: str
    catalogue: str
    dependencies: tuple[str, ...] = ("annotated-types", "budgetbench", "numpy")


KINDS = {
    "method": Kind("method", "methods", ("annotated-types", "budgetbench", "numpy", "scikit-learn")),
    "dataset": Kind("data set", "datasets"),
    "costs": Kind("cost scheme", "cost_schemes"),
    "metric": Kind("metric", "metrics", ("budgetbench",)),
    "figure": Kind("kind of figure", "", ("budgetbench", "budgetbench-leaderboard", "numpy")),
}
"""The name of a kind in ``bench new`` → the kind."""

_COMMON = {
    "pyproject.toml.txt": "pyproject.toml",
    "README.md.txt": "README.md",
    "LICENSE.txt": "LICENSE",
    "gitignore.txt": ".gitignore",
    "tests.yml.txt": ".github/workflows/tests.yml",
    "tests/test_suite.py.txt": "tests/test_suite.py",
}
_OWN = {
    "plugin.py.txt": "src/{module}/plugin.py",
    "suite.toml.txt": "suite.toml",
    "tests/test_contract.py.txt": "tests/test_contract.py",
}
_DRAWN = '    assert list((tmp_path / "results" / "@name@").glob("@name@*.svg"))\n'


def make_plugin(kind: str, name: str, parent: Path, author: str = "", registry: Registry | None = None) -> Path:
    """Write a new plugin's folder below ``parent``, and return its path.

    The distribution is called ``name``, and its package the same with underscores. On an error nothing is written.

    Args:
        kind: one of `KINDS`.
        name: lower-case words joined by hyphens.
        parent: where the folder goes.
        author: the copyright holder; "The authors of NAME" if empty.
        registry: the installed plugins, which must not have an object of this kind and name.

    Raises:
        RequestError: the name is invalid, taken, or hides a module of Python or an installed one; or the folder exists
            or cannot be written.
    """
    known, module = KINDS[kind], name.replace("-", "_")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise RequestError(f"{name!r} is not a plugin's name: lower-case words joined by hyphens, such as 'my-{kind}'")
    if registry is not None and known.catalogue and name in getattr(registry, known.catalogue):
        plugin = registry.plugin_of(known.catalogue, name)
        raise RequestError(f"there is a {known.word} {name!r} already: plugin {plugin.name!r} registers it")
    is_python = keyword.iskeyword(module) or module in sys.stdlib_module_names
    if is_python or re.match("bench_|budgetbench|tests?$", module) or find_spec(module):
        raise RequestError(f"{name!r} cannot be the name: its package {module!r} is not yours to name; try 'my-{name}'")
    folder = parent / name
    if folder.exists():
        raise RequestError(f"{folder} exists already")
    words = {
        "@also@": _DRAWN.rstrip() if kind == "figure" else "",
        "@name@": name,
        "@module@": module,
        "@class@": "".join(part.capitalize() for part in name.split("-")),
        "@title@": name.replace("-", " ").capitalize(),
        "@kind@": known.word,
        "@author@": " ".join(re.sub(r'[\\"]', "", author).split()) or f"The authors of {name}",
        "@year@": str(date.today().year),
        "@dependencies@": ", ".join(f'"{dependency}"' for dependency in known.dependencies),
    }
    templates = files("bench_core.testing").joinpath("templates")
    texts = {place: _filled(templates / "common", template, words) for template, place in _COMMON.items()}
    texts |= {place.format(module=module): _filled(templates / kind, t, words) for t, place in _OWN.items()}
    texts[f"src/{module}/__init__.py"] = f'"""{words["@title@"]} for budgetbench."""\n'
    try:
        with tempfile.TemporaryDirectory(dir=parent, prefix=f".{name}-") as temporary:
            draft = Path(temporary) / name
            for place, text in texts.items():
                (draft / place).parent.mkdir(parents=True, exist_ok=True)
                (draft / place).write_text(text, encoding="utf-8")
            draft.rename(folder)
    except OSError as error:
        raise RequestError(f"{folder} cannot be written: {error.strerror or error}") from None
    return folder


def _filled(folder: Traversable, template: str, words: dict[str, str]) -> str:
    text = folder.joinpath(*template.split("/")).read_text(encoding="utf-8")
    for mark, word in words.items():
        text = text.replace(mark, word)
    return text.rstrip() + "\n"
