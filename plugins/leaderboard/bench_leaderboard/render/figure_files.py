"""A page's figures as files, and the notes beside them from which a check knows what need not be drawn again.

A figure's note holds the fingerprint of what it was drawn from and the hash of its file. Where both are as noted,
drawing it again would give what is there; where one is not, nobody can tell, and it is drawn.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from bench_core import canonical_json
from bench_leaderboard.render.figure import Figure
from bench_leaderboard.render.fingerprint import UnknownValueError, fingerprint

__all__ = ["NOTES", "figure_files", "noted_figures", "notes_of", "unchanged_figures"]

NOTES = "figures.json"


def figure_files(
    figures: Sequence[Figure], folder: Path, unchanged: Mapping[Path, bytes] | None = None
) -> dict[Path, bytes]:
    """A page's figures as file contents. Nothing is written.

    Args:
        figures: from `bench_leaderboard.render.page_figures.figures_of`.
        folder: where they belong: ``<leaderboard>/<suite's name>``.
        unchanged: files that need not be drawn, from `unchanged_figures`.
    """
    known = unchanged or {}
    paths = {folder / figure.file: figure for figure in figures}
    return {path: known[path] if path in known else figure.draw() for path, figure in paths.items()}


def notes_of(figures: Sequence[Figure], folder: Path, drawn: Mapping[Path, bytes]) -> dict[Path, bytes]:
    """The file of notes on figures that were drawn just now; none where there is no figure.

    Its bytes may depend on the machine, see `bench_leaderboard.render.fingerprint`.
    """
    notes = {
        figure.file: {"drawn_from": print_, "sha256": sha256(drawn[folder / figure.file]).hexdigest()}
        for figure in figures
        if (print_ := _fingerprint(figure)) is not None
    }
    return {folder / NOTES: (canonical_json({"format": 1, "figures": notes}) + "\n").encode()} if notes else {}


def unchanged_figures(figures: Sequence[Figure], folder: Path) -> dict[Path, bytes]:
    """The files on the disk that were drawn from the same as these figures, by the same code, and are as drawn."""
    notes = _notes(folder)  # without notes everything is drawn
    unchanged = {}
    for figure in figures:
        path = folder / figure.file
        data = path.read_bytes() if path.is_file() else b""
        if notes.get(figure.file) == {"drawn_from": _fingerprint(figure), "sha256": sha256(data).hexdigest()}:
            unchanged[path] = data
    return unchanged


def noted_figures(folder: Path) -> list[Path]:
    """The figures that were drawn last, by the notes beside them."""
    return [folder / file for file in _notes(folder) if Path(file).name == file]


def _notes(folder: Path) -> dict[str, Any]:
    try:
        content = json.loads((folder / NOTES).read_bytes())
        return dict(content["figures"]) if content["format"] == 1 else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _fingerprint(figure: Figure) -> str | None:
    try:
        return fingerprint(figure.draw)
    except UnknownValueError:  # drawn each time
        return None
