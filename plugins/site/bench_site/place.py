"""The directory that a site is written to: what is ours there, and what is left alone.

``.budgetbench-site`` lists every file that was written, a line each. Those are replaced and removed; everything else
(``.git``, ``CNAME``, files of yours) stays, and a file that is in the way is refused by name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from bench_core import RequestError

__all__ = ["check_place", "put"]

_LIST = ".budgetbench-site"
_HEAD = "Written by bench site, which replaces and removes these files:"
_SHOWN = 5


def check_place(site: Path, sources: Iterable[Path]) -> None:
    """Refuse a directory in which no site can be.

    Args:
        site: where the site goes.
        sources: the directories that it is made from; it can be in none of them but the last, and hold none.

    Raises:
        RequestError: it would lie within one, or hold it; or it has files and no list of a site's.
    """
    place, given = site.resolve(), list(sources)
    inside = [source for source in given[:-1] if place.is_relative_to(source.resolve())]
    around = [source for source in given if source.resolve().is_relative_to(place)]
    if inside or around:
        raise RequestError(
            f"the site {site} would lie within {(inside or around)[0]}, or hold it; give another directory"
        )
    if site.is_dir() and not (site / _LIST).is_file() and (there := sorted(path.name for path in site.iterdir())):
        raise RequestError(
            f"{site} holds files that are not a site's ({_some(there)}), so nothing there is written; give another one"
        )


def put(built: Path, site: Path) -> None:
    """Move a built site's files into its directory, and remove those that were written before and are not in it.

    Args:
        built: the files; on the same file system.
        site: the directory, checked by `check_place`.

    Raises:
        RequestError: a file that is not on the list is in the way, by name; nothing is written then. Or the directory
            cannot be written.
    """
    new = sorted(path.relative_to(built).as_posix() for path in built.rglob("*") if path.is_file())
    old = _listed(site)
    if foreign := [name for name in new if name not in old and _taken(site, name)]:
        raise RequestError(
            f"{site} holds {_some(foreign)}, which bench site did not write, so nothing there is written; move it, or "
            "give another directory"
        )
    try:
        site.mkdir(parents=True, exist_ok=True)
        _note(site, {*new, *old})
        for name in new:
            (site / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(built / name, site / name)
        for name in sorted(old - set(new), reverse=True):
            _remove(site, name)
        _note(site, new)
    except OSError as error:
        raise RequestError(f"{error.filename or site} cannot be written: {error.strerror or error}") from None


def _listed(site: Path) -> set[str]:
    """The files of the list that are within the site, reached through no link."""
    try:
        head, *names = (site / _LIST).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return set()
    return {name for name in names if head == _HEAD and (site / name).parent.resolve() == _plain_parent(site, name)}


def _plain_parent(site: Path, name: str) -> Path | None:
    path = Path(name)
    return None if path.is_absolute() or ".." in path.parts else (site.resolve() / path).parent


def _taken(site: Path, name: str) -> bool:
    """Whether something lies at a file's place, or a file or a link at that of one of its folders."""
    folders = [site / folder for folder in Path(name).parents if folder != Path()]
    return os.path.lexists(site / name) or any(
        folder.is_symlink() or (folder.exists() and not folder.is_dir()) for folder in folders
    )


def _remove(site: Path, name: str) -> None:
    """Remove a file, and its folders where nothing else is left in them."""
    path = site / name
    if path.is_file() or path.is_symlink():
        path.unlink()
    for folder in path.parents:
        if folder == site or not folder.is_dir() or any(folder.iterdir()):
            return
        folder.rmdir()


def _note(site: Path, names: Iterable[str]) -> None:
    temporary = site / f"{_LIST}.{os.getpid()}"
    temporary.write_text("\n".join([_HEAD, *sorted(names), ""]), encoding="utf-8")
    os.replace(temporary, site / _LIST)


def _some(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if names[_SHOWN:] else "")
