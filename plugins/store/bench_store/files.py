"""Write files completely or not at all, and move files aside instead of removing them."""

from __future__ import annotations

import errno
import io
import os
import stat
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from bench_store.errors import StoreError

__all__ = ["File", "make_folder", "move_aside", "not_written", "open_file", "reason", "write_cache", "write_files"]


@dataclass(frozen=True)
class File:
    """A file to be written.

    Attributes:
        path: its final path.
        data: its content.
        temporary: a path on the same disk that no other process uses.
    """

    path: str
    data: bytes | memoryview
    temporary: str


def write_files(*files: File, flush: bool = True, error: type[Exception] = StoreError) -> None:
    """Write files, each completely or not at all: write temporary files, flush them, and rename them in order.

    Args:
        files: the files to write.
        flush: whether to wait until they are on the disk; unnecessary for files that can be computed again.
        error: the class to raise if they cannot be written. Paths whose new file was not renamed yet are unchanged.
    """
    opened: list[int] = []
    try:
        with ExitStack() as closing:
            for file in files:
                opened.append(os.open(file.temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666))
                closing.callback(os.close, opened[-1])
                _write_all(opened[-1], file.data)
            if flush:
                # Start writing all files before waiting for the first, so that a journal commits them together.
                for descriptor in opened:
                    _start_writing(descriptor)
                for descriptor in opened:
                    os.fsync(descriptor)
        for file in files:
            os.replace(file.temporary, file.path)
    except OSError as failed:
        for file in files:
            with suppress(OSError):
                os.unlink(file.temporary)
        at = next((file for file in files if failed.filename in (file.path, file.temporary)), files[-1])
        raise error(not_written(at.path, failed, at.temporary)) from None


def _write_all(descriptor: int, data: bytes | memoryview) -> None:
    left = memoryview(data)
    while left:  # on a nearly full disk, a write may be partial, and only the next one fails
        left = left[os.write(descriptor, left) :]


def _start_writing(descriptor: int) -> None:
    """Ask the kernel, if it can, to start writing a file's data without waiting. Flushing waits later."""
    if hasattr(os, "posix_fadvise"):
        with suppress(OSError):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def open_file(path: str | Path) -> io.FileIO:
    """Open a regular file for reading, and nothing else: reading a pipe would wait for its writer.

    Raises:
        OSError: it cannot be opened; ``EINVAL`` if it is a directory, a pipe, a socket or a device.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return io.FileIO(descriptor)


def write_cache(path: Path, data: bytes) -> bool:
    """Write a file that can be computed again, without waiting for the disk; return whether it was written."""
    try:
        make_folder(str(path.parent), str(path))
        write_files(File(str(path), data, f"{path}.{os.getpid()}"), flush=False)
    except StoreError:
        return False
    return True


def make_folder(folder: str, path: str, error: type[Exception] = StoreError) -> None:
    """Make the folder of a file if it is missing; raises as `write_files`."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as failed:
        raise error(not_written(path, failed)) from None


def not_written(path: str | Path, error: OSError, *temporary: str) -> str:
    """A line that says why a file cannot be written; temporary files are not named."""
    at = "" if error.filename in (None, str(path), *temporary) else f" ({error.filename})"
    return f"{path} cannot be written: {reason(error)}{at}; what was done is kept"


def reason(error: Exception) -> str:
    """An error's message on one line, without its number and path."""
    text = str(getattr(error, "strerror", None) or " ".join(str(error).split()))
    return text[:1].lower() + text[1:]


def move_aside(place: Path, folder: Path, error: type[Exception] = StoreError) -> None:
    """Move a file, if it exists, into a folder under an unused name.

    Args:
        place: the file.
        folder: the folder; made if it is missing.
        error: the class to raise if it cannot be moved.
    """
    if not os.path.lexists(place):
        return
    try:
        folder.mkdir(exist_ok=True)
        os.rename(place, _free(folder / place.name))
    except OSError as failed:
        raise error(f"{place} cannot be moved to {folder}: {reason(failed)}") from None


def _free(path: Path) -> Path:
    """An unused path: the given one, or the same with a number."""
    free, count = path, 1
    while os.path.lexists(free):
        count += 1
        free = path.with_name(f"{path.name}.{count}")
    return free
