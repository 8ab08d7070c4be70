"""Save a policy as a folder of JSON, arrays, models, a card and checksums, and load it.

    policy.json      features with types and prices, classes, encoder, method, versions, the policy's objects
    arrays.npz       its arrays, without Python objects
    models/          estimators (skops) and boosted trees (LightGBM's text format), where it has any
    card.md          cost, quality, features and data
    checksums.json   SHA-256 of every other file

Loading runs no code from the folder: see `bench_policies.codec`. The checksums detect a damaged or edited folder, not a
forged one: load only folders that you trust.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench_core import CONTRACT_VERSION, BenchError, Costs, RequestError
from bench_core.execution import Capped, Encoder
from bench_core.suites import load_registry
from bench_policies.answering import Answering
from bench_policies.card import card
from bench_policies.codec import Decoder, encode
from bench_policies.fitted import FittedPolicy
from bench_policies.substitution import AskedBySubstitution
from bench_policies.toml_file import beside

if TYPE_CHECKING:
    from bench_core.suites import Registry

FORMAT = 2
_SUMS = "checksums.json"
_OWN = re.compile(r"policy\.json|arrays\.npz|card\.md|checksums\.json|models/\d+\.(skops|lightgbm\.txt)")
"""Names of the files that a saved policy may consist of."""


def policy_types(registry: Registry, plugin: str) -> list[type]:
    """Return the classes that a saved policy of a plugin's methods may hold: the plugin's own, and this package's.

    Raises:
        RequestError: the plugin is not installed, or names no classes.
    """
    known = registry.plugins.get(plugin)
    if known is None or known.error:
        why = f" ({known.error})" if known is not None else ""
        raise RequestError(f"its method comes from plugin {plugin!r}, which is not installed{why}")
    manager = registry.manager
    module = manager.get_plugin(plugin)
    others = [other for other in manager.get_plugins() if other is not module]
    named = manager.subset_hook_caller("bench_policy_types", others)()
    types = [cls for some in named for cls in some]
    if not types:
        raise RequestError(
            f"plugin {plugin!r} names no classes of saved policies: add a hook bench_policy_types that returns them; "
            "see docs/how-to/own-method.md, section 'Use it with bench fit'"
        )
    return [AskedBySubstitution, Capped, Costs, *types]


def save_policy(fitted: FittedPolicy, folder: str | Path) -> Path:
    """Write a policy to a folder atomically, and return the folder's path. A policy saved there before is replaced.

    Raises:
        RequestError: the folder holds anything but an unchanged saved policy (see `check_place`) or cannot be written
            to, or the policy cannot be written without pickle.
    """
    target = Path(folder)
    check_place(target)
    encoded = encode(fitted.policy, policy_types(load_registry(), str(fitted.about["plugin"])))
    files = {
        "policy.json": _json({"format": FORMAT, **_manifest(fitted), "policy": encoded.as_plain()}),
        "arrays.npz": encoded.arrays_file(),
        "card.md": card(fitted).encode(),
        **encoded.models,
    }
    files[_SUMS] = _json({name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())})
    try:
        _put(files, target.resolve())
    except OSError as error:
        raise RequestError(f"{target}: the policy cannot be written: {error.strerror or error}") from None
    return target


def check_place(folder: str | Path) -> None:
    """Check that writing a policy to a folder destroys nothing else.

    The folder may be new, empty, or hold a saved policy with unchanged files.

    Raises:
        RequestError: it holds another file or folder (the message names the first), a file of the saved policy was
            changed or is missing, the folder is inside another saved policy, or it cannot be written.
    """
    place = Path(folder)
    real = place.resolve()
    refuse_inside_policy(place)
    check_writable(place, real.parent)
    if real == Path.cwd() or real.is_mount():  # these cannot be replaced by a rename
        raise RequestError(f"{place} is the working folder or a mount point: choose a folder below it")
    if not real.exists() or not any(real.iterdir()):
        return
    for path in sorted(place.rglob("*")):
        name = path.relative_to(place).as_posix()
        if not (_OWN.fullmatch(name) or (name == "models" and not path.is_symlink())):
            raise RequestError(f"{place} holds {name}, which is not part of a saved policy: choose another folder")
    try:
        _checked_files(place)
    except RequestError as error:
        raise RequestError(f"{error}; it is not replaced: choose another folder, or remove it") from None


def refuse_inside_policy(path: Path) -> None:
    """Check that a new file or folder is not inside a saved policy, which may hold no others.

    Raises:
        RequestError: it is inside a saved policy; the message names the policy.
    """
    around = next((folder for folder in path.resolve().parents if _holds_policy(folder)), None)
    if around is not None:
        raise RequestError(f"{path} is inside the saved policy {around}: choose another place")


def check_writable(folder: Path, written: Path) -> None:
    """Check that a folder can be made or written, by making a temporary folder where it would be.

    Args:
        folder: the folder, for messages.
        written: the folder that is written to, which may be missing.

    Raises:
        RequestError: a part of the path is a file, or nothing can be written there.
    """
    real = folder.resolve()
    there = next(path for path in (real, *real.parents) if path.exists())
    if not there.is_dir():
        raise RequestError(f"{there} is a file: choose another folder")
    if not os.access(there, os.R_OK | os.X_OK):
        raise RequestError(f"{folder} cannot be written: permission denied")
    try:
        tempfile.TemporaryDirectory(dir=there if there in written.parents else written).cleanup()
    except OSError as error:
        raise RequestError(f"{folder} cannot be written: {error.strerror or error}") from None


def _holds_policy(folder: Path) -> bool:
    return (folder / _SUMS).is_file() and (folder / "policy.json").is_file()


def _put(files: Mapping[str, bytes], target: Path) -> None:
    """Write files to a temporary folder and rename it to the target; if that fails, restore what was there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    new, old = made / "new", made / "old"
    try:
        for name, content in files.items():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            (new / name).write_bytes(content)
        if target.exists():
            os.rename(target, old)
            check_place(old)  # files may have been added since the first check
        os.rename(new, target)
    except BaseException:
        if old.exists() and not target.exists():
            os.rename(old, target)
        raise
    finally:
        if target.exists() or not old.exists():
            shutil.rmtree(made, ignore_errors=True)


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=True) + "\n").encode()


def _manifest(fitted: FittedPolicy) -> dict[str, Any]:
    encoder, answering = fitted.encoder, fitted.answering
    return {
        "contract": CONTRACT_VERSION,
        "task": fitted.task,
        "classes": list(fitted.classes),
        "threshold": fitted.threshold,
        "error_costs": None if answering.error_costs is None else answering.error_costs.tolist(),
        "refused_cost": answering.refused_cost,
        "takes_missing": fitted.takes_missing,
        "size_column": fitted.size_column,
        "features": list(fitted.feature_names),
        "categories": {str(f): list(texts) for f, texts in fitted.categories.items()},
        "numeric_categories": {str(f): list(held) for f, held in fitted.numeric_categories.items()},
        "costs": fitted.costs.as_plain(),
        "encoder": {
            "feature_of_column": encoder.feature_of_column.tolist(),
            "fill": encoder.fill.tolist(),
            "shift": encoder.shift.tolist(),
            "scale": encoder.scale.tolist(),
            "levels": {str(f): held.tolist() for f, held in encoder.levels.items()},
        },
        "about": dict(fitted.about),
    }


def load_policy(folder: str | Path) -> FittedPolicy:
    """Load a policy from its folder.

    Raises:
        RequestError: there is no policy in the folder; a file was changed, is missing or does not belong to it (the
            message names the file); the plugin of its method is not installed; or it has another format or contract.
    """
    target = Path(folder)
    files = _checked_files(target)
    try:
        return _loaded(files)
    except BenchError as error:
        raise RequestError(f"{target}: {error}") from None
    except Exception as error:  # libraries raise anything on malformed files, also MemoryError
        raise RequestError(f"{target}: not a saved policy: {type(error).__name__}: {error}") from None


def _checked_files(folder: Path) -> dict[str, bytes]:
    if not folder.is_dir():
        raise RequestError(f"there is no folder {folder}{beside(folder)}")
    if not _holds_policy(folder):
        raise RequestError(f"{folder} holds no policy: it has no {_SUMS} or no policy.json")
    paths = sorted(folder.rglob("*"))
    for path in paths:
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            name = path.relative_to(folder).as_posix()
            raise RequestError(f"{folder}: {name} is a link or a special file, which a saved policy never holds")
    try:
        sums = json.loads((folder / _SUMS).read_bytes())
        if not isinstance(sums, dict):
            raise ValueError
    except (ValueError, OSError, RecursionError, MemoryError):
        raise RequestError(f"{folder / _SUMS} cannot be read: the policy is damaged") from None
    there = {path.relative_to(folder).as_posix() for path in paths if not path.is_dir()} - {_SUMS}
    missing, foreign = sorted(set(sums) - there), sorted(there - set(sums))
    if missing:
        raise RequestError(f"{folder}: {missing[0]} is missing: the policy is incomplete")
    if foreign:
        raise RequestError(f"{folder}: {foreign[0]} does not belong to the policy")
    for name in sums:  # in chunks: an edited file may be larger than memory
        with (folder / name).open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != sums[name]:
                raise RequestError(f"{folder}: {name} was changed after the policy was written")
    return {name: (folder / name).read_bytes() for name in sums if name != "card.md"}


def _loaded(files: Mapping[str, bytes]) -> FittedPolicy:
    manifest = json.loads(files["policy.json"])
    if manifest["format"] != FORMAT:
        raise RequestError(f"it has format {manifest['format']}; this version reads {FORMAT}")
    if manifest["contract"] != CONTRACT_VERSION:
        raise RequestError(f"it was written under contract {manifest['contract']}; this is {CONTRACT_VERSION}")
    types = policy_types(load_registry(), str(manifest["about"]["plugin"]))
    policy = Decoder(manifest["policy"], files["arrays.npz"], files, types).get()
    encoder = manifest["encoder"]
    return FittedPolicy(
        policy=policy,
        encoder=Encoder(
            feature_of_column=np.array(encoder["feature_of_column"], dtype=np.int64),
            fill=np.array(encoder["fill"], dtype=np.float64),
            shift=np.array(encoder["shift"], dtype=np.float64),
            scale=np.array(encoder["scale"], dtype=np.float64),
            levels={int(f): np.array(held, dtype=np.float64) for f, held in encoder["levels"].items()},
        ),
        costs=Costs.from_plain(manifest["costs"]),
        feature_names=tuple(manifest["features"]),
        categories={int(f): tuple(texts) for f, texts in manifest["categories"].items()},
        numeric_categories={int(f): tuple(held) for f, held in manifest["numeric_categories"].items()},
        classes=tuple(manifest["classes"]),
        task=manifest["task"],
        answering=_answering(manifest),
        takes_missing=manifest["takes_missing"],
        size_column=manifest["size_column"],
        about=manifest["about"],
    )


def _answering(manifest: Mapping[str, Any]) -> Answering:
    costs, classes = manifest["error_costs"], len(manifest["classes"])
    if costs is not None:
        costs = np.array(costs, dtype=np.float64)
        if costs.shape != (classes, classes) or not (np.isfinite(costs) & (costs >= 0)).all():
            raise ValueError(f"error costs must be a table of {classes} x {classes} finite numbers from 0")
    return Answering(manifest["threshold"], costs, manifest["refused_cost"])
