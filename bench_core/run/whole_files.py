"""Files that are written whole or not at all, and moved aside rather than removed."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from bench_core.contract.errors import StoreError

__all__ = ["make_folder", "move_aside", "not_written", "why", "write_cache", "write_whole"]


def write_whole(path: str, data: bytes | memoryview, temporary: str, flush: bool = True) -> None:
    """Write a whole file or none: under a temporary name, to the disk, then renamed.

    Args:
        path: of the file.
        data: its content.
        temporary: a name beside it that nobody else writes to.
        flush: whether to wait until the disk has it; not needed for what can be made anew.

    Raises:
        StoreError: the disk does not take it; what was at the path is still there.
    """
    try:
        with open(temporary, "wb", buffering=0) as file:
            left = memoryview(data)
            while left:  # a disk that is nearly full takes a part, and says so only at the next
                left = left[file.write(left) :]
            if flush:
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise not_written(path, error, temporary) from None


def write_cache(path: Path, data: bytes) -> bool:
    """Write a whole file of what can be made anew, without waiting for the disk; whether that could be done."""
    try:
        make_folder(str(path.parent), str(path))
        write_whole(str(path), data, f"{path}.{os.getpid()}", flush=False)
    except StoreError:
        return False
    return True


def make_folder(folder: str, path: str) -> None:
    """Make the folder that a file is to be written to, if it is not there.

    Raises:
        StoreError: the disk does not take it.
    """
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise not_written(path, error) from None


def not_written(path: str | Path, error: OSError, *temporary: str) -> StoreError:
    """The error to raise where the disk does not take a store's file, named unless it is a temporary one."""
    at = "" if error.filename in (None, str(path), *temporary) else f" ({error.filename})"
    return StoreError(f"{path} cannot be written: {why(error)}{at}; what was done is kept")


def why(error: Exception) -> str:
    """What an error says, without its number and path, on one line."""
    reason = str(getattr(error, "strerror", None) or " ".join(str(error).split()))
    return reason[:1].lower() + reason[1:]


def move_aside(place: Path, folder: Path) -> None:
    """Move a file into a folder under a free name, if it is there.

    Raises:
        StoreError: it cannot be moved.
    """
    if not os.path.lexists(place):
        return
    try:
        folder.mkdir(exist_ok=True)
        os.rename(place, _free(folder / place.name))
    except OSError as error:
        raise StoreError(f"{place} cannot be moved to {folder}: {why(error)}") from None


def _free(path: Path) -> Path:
    """A path at which nothing is: the one given, or that with a number."""
    free, count = path, 1
    while os.path.lexists(free):
        count += 1
        free = path.with_name(f"{path.name}.{count}")
    return free
