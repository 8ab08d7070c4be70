"""Hashes of figures' inputs in ``figures.json``: figures are compared by them, without being drawn.

The file has two SHA-256 hashes of every figure: of its inputs (the drawing function and its arguments, with
numbers to six digits, so that they are the same on every machine), and of the SVG that was drawn from them.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from bench_core import Metric, canonical_json, sha256_text
from bench_leaderboard.render.figure import Figure

__all__ = ["FIGURES", "files_with_hashes", "inputs_of"]

FIGURES = "figures.json"
_FORMAT = 1


def files_with_hashes(figures: Sequence[Figure], folder: Path, *, draw: bool = True) -> dict[Path, bytes]:
    """Figures, and the hashes of their inputs, as contents of files in a folder.

    Args:
        figures: of a page.
        folder: the suite's.
        draw: draw all of them. Otherwise an SVG in the folder is kept if ``figures.json`` there has its hash and the
            hash of the figure's inputs; only the others are drawn.
    """
    known = {} if draw else _read(folder)
    files: dict[Path, bytes] = {}
    hashes: dict[str, Any] = {}
    for figure in figures:
        inputs = inputs_of(figure.draw)
        svg = _as_known(folder / figure.file, known.get(figure.file), inputs)
        files[folder / figure.file] = svg = figure.draw() if svg is None else svg
        hashes[figure.file] = {"inputs": inputs, "svg": sha256(svg).hexdigest()}
    if figures:
        files[folder / FIGURES] = f"{canonical_json({'format': _FORMAT, 'figures': hashes})}\n".encode()
    return files


def inputs_of(draw: Callable[[], bytes]) -> str:
    """Hash of a drawing function with its arguments; empty if an argument has no plain form."""
    try:
        return sha256_text(json.dumps(_plain(draw), ensure_ascii=False, separators=(",", ":")))
    except TypeError:
        return ""


def _read(folder: Path) -> Mapping[str, Any]:
    try:
        found = json.loads((folder / FIGURES).read_bytes())
        return found["figures"] if found["format"] == _FORMAT and isinstance(found["figures"], dict) else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _as_known(path: Path, known: Any, inputs: str) -> bytes | None:
    """The SVG on the disk, if it was drawn from these inputs."""
    if not inputs or not isinstance(known, dict) or known.get("inputs") != inputs:
        return None
    try:
        svg = path.read_bytes()
    except OSError:
        return None
    return svg if sha256(svg).hexdigest() == known.get("svg") else None


def _plain(value: Any) -> Any:
    """A value as JSON; equal values give equal drawings.

    Raises:
        TypeError: it has no such form.
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, (float, np.floating)):
        return _digits(float(value))
    if isinstance(value, np.ndarray):
        one = _digits if value.dtype.kind == "f" and value.ndim == 1 else _plain
        return [value.dtype.kind, *map(one, value.tolist())]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, (list, tuple)):
        return list(map(_plain, value))
    if isinstance(value, Mapping):
        return ["map", *([_plain(key), _plain(item)] for key, item in value.items())]
    if isinstance(value, Set):
        return ["set", *sorted(map(canonical_json, map(_plain, value)))]
    if isinstance(value, Metric):
        return [value.name, value.title, value.goal, value.percent]
    if isinstance(value, BaseModel):
        return [type(value).__qualname__, _plain(value.model_dump())]
    if isinstance(value, partial):
        return [_plain(value.func), _plain(value.args), _plain(value.keywords)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [_plain(getattr(value, one.name)) for one in dataclasses.fields(value)]
        return [type(value).__qualname__, *parts]
    if inspect.isfunction(value) and value.__closure__ is None and "<" not in value.__qualname__:
        return value.__qualname__
    raise TypeError(f"{type(value).__qualname__} has no plain form")


def _digits(value: float) -> float | str:
    return float(f"{value:.6g}") + 0.0 if math.isfinite(value) else str(value)
