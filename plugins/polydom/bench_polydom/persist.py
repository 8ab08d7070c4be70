"""Saving and loading of an index without pickle: a zip of JSON, NumPy arrays (no objects) and one skops file per model.

skops writes scikit-learn's estimators. It refuses to read types that it does not know unless they are passed as
trusted. If skops cannot write a model, saving fails with a message that names the model. skops is an optional extra:
``pip install budgetbench-polydom[save]``.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench_polydom.candidates import Candidates
from bench_polydom.index import PolyDomIndex
from bench_polydom.lattice import Expansion
from bench_polydom.learning import Majority

__all__ = ["load", "save"]

FORMAT = 1


def _skops() -> Any:
    try:
        import skops.io  # type: ignore[import-untyped]
    except ImportError:
        raise RuntimeError("saving and loading an index needs skops: pip install 'budgetbench-polydom[save]'") from None
    return skops.io


def save(
    path: str | Path, features: Sequence[Any], index: PolyDomIndex, choices: Sequence[Any], expansion: Expansion
) -> None:
    """Write an index to a file.

    Args:
        path: the path of the file.
        features: the features, with ``name``, ``columns`` and ``price``.
        index: the poly-dominance index.
        choices: the choice of every candidate, with ``features``, ``columns``, ``accuracy``, ``price`` and ``model``.
        expansion: the result of the lattice search.

    Raises:
        RuntimeError: skops is not installed.
        ValueError: skops cannot write one of the models.
    """
    skops = _skops()
    arrays = io.BytesIO()
    np.savez_compressed(
        arrays, masks=index.candidates.masks, accuracy=index.candidates.accuracy, curves=index.candidates.curves,
        starts=index.starts, offsets=index.offsets, members=index.members,
    )  # fmt: skip
    head: dict[str, Any] = {
        "format": FORMAT,
        "features": [
            {"name": f.name, "columns": [int(c) for c in f.columns], "price": np.atleast_1d(f.price).tolist()}
            for f in features
        ],
        "choices": [
            {"features": c.features, "columns": c.columns, "accuracy": c.accuracy, "price": c.price,
             "majority": _majority(c.model)}
            for c in choices
        ],
        "expansion": {
            "accuracy": [[int(mask), value] for mask, value in expansion.accuracy.items()],
            "failures": [[int(mask), why] for mask, why in expansion.failures.items()],
            "n_features": expansion.n_features,
            "alpha": repr(float(expansion.alpha)),
            "stopped": expansion.stopped,
        },
    }  # fmt: skip
    target = Path(path)
    partial = target.with_name(target.name + ".partial")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("index.json", json.dumps(head))
        archive.writestr("index.npz", arrays.getvalue())
        for i, choice in enumerate(choices):
            if head["choices"][i]["majority"] is None:
                try:
                    archive.writestr(f"models/{i}.skops", skops.dumps(choice.model))
                except Exception as error:
                    archive.close()
                    partial.unlink()
                    raise ValueError(
                        f"skops cannot write the model on {{{', '.join(choice.features)}}} "
                        f"({type(choice.model).__name__}), so this index cannot be saved without pickle: {error}"
                    ) from error
    partial.replace(target)


def _majority(model: Any) -> dict[str, Any] | None:
    if not isinstance(model, Majority):
        return None
    return {"classes": model.classes.tolist(), "dtype": model.classes.dtype.str, "shares": model.shares.tolist()}


def load(
    path: str | Path, trusted: Sequence[str] = ()
) -> tuple[list[tuple[Any, ...]], PolyDomIndex, list[tuple[Any, ...]], Expansion]:
    """Read an index: the fields of its features, the index, the fields of its choices, and the expansion.

    Args:
        path: a file written by `save`.
        trusted: names of types beyond scikit-learn's that may be loaded; name only types that you know.

    Raises:
        RuntimeError: skops is not installed.
        ValueError: the file is not an index, has another format version, or holds types that are not trusted; the
            message names them.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            head = json.loads(archive.read("index.json"))
            if head["format"] != FORMAT:
                raise ValueError(f"{path} has format {head['format']}; this version reads {FORMAT}")
            arrays = np.load(io.BytesIO(archive.read("index.npz")), allow_pickle=False)
            models = [
                _read_majority(c["majority"])
                if c["majority"] is not None
                else _read_model(archive.read(f"models/{i}.skops"), trusted, str(path))
                for i, c in enumerate(head["choices"])
            ]
            parts = {name: arrays[name] for name in ("masks", "accuracy", "curves", "starts", "offsets", "members")}
    except (zipfile.BadZipFile, KeyError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not a saved index: {error}") from None
    candidates = Candidates(parts["masks"], parts["accuracy"], parts["curves"])
    index = PolyDomIndex(candidates, parts["starts"], parts["offsets"], parts["members"])
    searched = head["expansion"]
    expansion = Expansion(
        dict(searched["accuracy"]),
        dict(searched["failures"]),
        searched["n_features"],
        float(searched["alpha"]),
        searched["stopped"],
    )
    choices = [
        (tuple(c["features"]), tuple(c["columns"]), c["accuracy"], tuple(c["price"]), model)
        for c, model in zip(head["choices"], models, strict=True)
    ]
    features = [(f["name"], tuple(f["columns"]), tuple(f["price"])) for f in head["features"]]
    return features, index, choices, expansion


def _read_majority(stored: dict[str, Any]) -> Majority:
    return Majority(np.array(stored["classes"], dtype=np.dtype(stored["dtype"])), np.array(stored["shares"]))


def _read_model(data: bytes, trusted: Sequence[str], path: str) -> Any:
    skops = _skops()
    unknown = sorted(set(skops.get_untrusted_types(data=data)) - set(trusted))
    if unknown:
        raise ValueError(
            f"{path} holds models of types that are not trusted: {', '.join(unknown)}; "
            "if you know these types, pass their names as trusted"
        )
    return skops.loads(data, trusted=list(trusted))
