"""Which files on the disk ``bench`` wrote, so that it may replace or remove them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bench_records import export_files

from bench_core import RequestError
from bench_leaderboard.render.index import RESULTS, RESULTS_HEAD, written_before

__all__ = ["refuse_foreign"]

_SHOWN = 5


def refuse_foreign(paths: Iterable[Path], folder: Path) -> None:
    """Refuse to replace files that ``bench`` did not write.

    A page is recognised by the line of links at its top, the front page by its first heading and the one over its
    suites, the table of results by its head, and a suite's folder by its export or ``suite.json``.

    Args:
        paths: what is about to be written.
        folder: the suite's own folder, beside its page.

    Raises:
        RequestError: ``bench`` did not write some of the files; the message names them.
    """
    own = bool(export_files(folder) or written_before(folder))
    foreign = [
        path for path in paths if path.exists() and not (own if folder in path.parents else _is_marked(path, folder))
    ]
    if foreign:
        names = ", ".join(map(str, foreign[:_SHOWN])) + (
            f" and {len(foreign) - _SHOWN} more" if foreign[_SHOWN:] else ""
        )
        raise RequestError(
            f"{names}: written by something else than bench, so nothing was written; move it, or give another --out"
        )


def _is_marked(path: Path, folder: Path) -> bool:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False
    if path.name == RESULTS:
        return text.startswith(",".join(RESULTS_HEAD) + "\n")
    if path.name == "README.md":
        return text.startswith("# Leaderboard\n") and "\n## Suites\n" in text
    return f"\n[Timings]({folder.name}/timings.md) · [all suites](README.md)\n" in text
