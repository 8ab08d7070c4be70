"""Write a site to its directory without touching other files there.

``.budgetbench-site`` lists every file that was written, a line each. Only those are replaced or removed; all other
files (``.git``, ``CNAME``, your own) stay. If one of them has the name of a new file, the site is not written.
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
    """Check that a site can be written to a directory.

    Args:
        site: the site's directory.
        sources: the directories that the site is made from. The site may contain none of them, and may be inside the
            last one only.

    Raises:
        RequestError: the site would be inside a source or contain one, or its directory holds other files only.
    """
    place, given = site.resolve(), list(sources)
    inside = [source for source in given[:-1] if place.is_relative_to(source.resolve())]
    around = [source for source in given if source.resolve().is_relative_to(place)]
    if inside or around:
        relation = "would be inside" if inside else "would contain"
        raise RequestError(f"the site {site} {relation} {(inside or around)[0]}; give another directory")
    if site.is_dir() and not (site / _LIST).is_file() and (there := sorted(path.name for path in site.iterdir())):
        raise RequestError(f"{site} holds files that bench site did not write ({_some(there)}); give another directory")


def put(built: Path, site: Path) -> None:
    """Move a built site's files to its directory, and remove files of an earlier build that it no longer has.

    Args:
        built: directory of the new files, on the same file system.
        site: the site's directory, checked by `check_place`.

    Raises:
        RequestError: a file that bench site did not write has the name of a new one (then nothing is written), or the
            directory cannot be written.
    """
    new = sorted(path.relative_to(built).as_posix() for path in built.rglob("*") if path.is_file())
    old = _listed(site)
    if foreign := [name for name in new if name not in old and _taken(site, name)]:
        raise RequestError(
            f"{site} holds {_some(foreign)}, which bench site did not write; move it, or give another directory"
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
    """Return the listed files that are inside the site and not reached through a symbolic link."""
    try:
        head, *names = (site / _LIST).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return set()
    return {name for name in names if head == _HEAD and (site / name).parent.resolve() == _plain_parent(site, name)}


def _plain_parent(site: Path, name: str) -> Path | None:
    path = Path(name)
    return None if path.is_absolute() or ".." in path.parts else (site.resolve() / path).parent


def _taken(site: Path, name: str) -> bool:
    """Return whether a file's path exists, or one of its folders exists as a file or symbolic link."""
    folders = [site / folder for folder in Path(name).parents if folder != Path()]
    return os.path.lexists(site / name) or any(
        folder.is_symlink() or (folder.exists() and not folder.is_dir()) for folder in folders
    )


def _remove(site: Path, name: str) -> None:
    """Remove a file, and its folders if they are empty afterwards."""
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
