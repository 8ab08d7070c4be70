"""A policy as a folder: JSON, arrays, models, a card, and a checksum over all of it.

    policy.json      features with types and prices, classes, encoder, method, versions, the policy's objects
    arrays.npz       its arrays, without Python objects
    models/          estimators (skops) and boosted trees (LightGBM's text), where it has any
    card.md          what it costs, how sure it is, on which data
    checksums.json   SHA-256 of every other file

Nothing that is loaded is run: see `bench_policies.codec`. The checksum finds a folder that was edited or damaged, not
one that was forged with care: load what you trust.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench_core import CONTRACT_VERSION, BenchError, Costs, Encoder, RequestError, load_registry
from bench_policies.card import card
from bench_policies.codec import Decoder, encode
from bench_policies.fitted import FittedPolicy
from bench_policies.substitution import AskedBySubstitution

if TYPE_CHECKING:
    from bench_core import Registry

FORMAT = 1
_SUMS = "checksums.json"


def policy_types(registry: Registry, plugin: str) -> list[type]:
    """What policies of a plugin's methods may be made of: classes that the plugin names, and this one's own.

    Raises:
        RequestError: the plugin is not installed, or names none.
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
        raise RequestError(f"plugin {plugin!r} names no types of saved policies (hook bench_policy_types)")
    return [AskedBySubstitution, Costs, *types]


def save_policy(fitted: FittedPolicy, folder: str | Path) -> Path:
    """Write a policy to a new folder, whole or not at all.

    Raises:
        RequestError: the folder is there already, or the policy cannot be written without pickle.
    """
    target = Path(folder)
    if target.exists() and not _is_policy(target):
        raise RequestError(f"{target} is there already and holds no policy: choose another folder")
    encoded = encode(fitted.policy, policy_types(load_registry(), str(fitted.about["plugin"])))
    files = {
        "policy.json": _json({"format": FORMAT, **_manifest(fitted), "policy": encoded.as_plain()}),
        "arrays.npz": encoded.arrays_file(),
        "card.md": card(fitted).encode(),
        **encoded.models,
    }
    files[_SUMS] = _json({name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())})
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        for name, content in files.items():
            (partial / name).parent.mkdir(exist_ok=True)
            (partial / name).write_bytes(content)
        partial.chmod(0o755)
        if target.exists():
            shutil.rmtree(target)
        os.replace(partial, target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return target


def _is_policy(folder: Path) -> bool:
    return folder.is_dir() and ((folder / "policy.json").is_file() or not any(folder.iterdir()))


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=True) + "\n").encode()


def _manifest(fitted: FittedPolicy) -> dict[str, Any]:
    encoder = fitted.encoder
    return {
        "contract": CONTRACT_VERSION,
        "task": fitted.task,
        "classes": list(fitted.classes),
        "threshold": fitted.threshold,
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
    """A policy from its folder.

    Raises:
        RequestError: there is none, a file of it was changed, is missing or does not belong to it (it is named), its
            method's plugin is not installed, or it is of another format.
    """
    target = Path(folder)
    files = _checked_files(target)
    try:
        return _loaded(files)
    except BenchError as error:
        raise RequestError(f"{target}: {error}") from None
    except Exception as error:  # what libraries raise on files that are not theirs, a lack of memory among it
        raise RequestError(f"{target}: not a saved policy: {type(error).__name__}: {error}") from None


def _checked_files(folder: Path) -> dict[str, bytes]:
    if not folder.is_dir():
        raise RequestError(f"there is no folder {folder}")
    if not (folder / _SUMS).is_file() or not (folder / "policy.json").is_file():
        raise RequestError(f"{folder} holds no policy: it has no {_SUMS} or no policy.json")
    paths = sorted(folder.rglob("*"))
    links = [path.relative_to(folder).as_posix() for path in paths if path.is_symlink()]
    if links:
        raise RequestError(f"{folder}: {links[0]} is a link, which no policy holds")
    try:
        sums = json.loads((folder / _SUMS).read_bytes())
        if not isinstance(sums, dict):
            raise ValueError
    except (ValueError, OSError, RecursionError, MemoryError):
        raise RequestError(f"{folder / _SUMS} cannot be read: the policy is damaged") from None
    there = {path.relative_to(folder).as_posix() for path in paths if not path.is_dir()} - {_SUMS}
    missing, foreign = sorted(set(sums) - there), sorted(there - set(sums))
    if missing:
        raise RequestError(f"{folder}: {missing[0]} is missing: the policy is not whole")
    if foreign:
        raise RequestError(f"{folder}: {foreign[0]} does not belong to the policy")
    for name in sums:  # before anything is held in memory: an edited file may be of any size
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
        threshold=manifest["threshold"],
        takes_missing=manifest["takes_missing"],
        size_column=manifest["size_column"],
        about=manifest["about"],
    )
