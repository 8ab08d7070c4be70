"""Files that are written completely or not at all, and moved aside rather than removed."""

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
        path: where it belongs.
        data: its content.
        temporary: a name on the same disk that nobody else writes to.
    """

    path: str
    data: bytes | memoryview
    temporary: str


def write_files(*files: File, flush: bool = True, error: type[Exception] = StoreError) -> None:
    """Write files, each completely or not at all: under temporary names, to the disk, then renamed in the order given.

    Args:
        files: what to write.
        flush: whether to wait until the disk has them; not needed for what can be made again.
        error: what is raised where the disk does not take them; what was at their paths is still there.
    """
    opened: list[int] = []
    try:
        with ExitStack() as closing:
            for file in files:
                opened.append(os.open(file.temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666))
                closing.callback(os.close, opened[-1])
                _write_all(opened[-1], file.data)
            if flush:
                # All are on their way before the first is waited for: a journal then takes them together.
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
    while left:  # a disk that is nearly full takes a part, and fails only at the next write
        left = left[os.write(descriptor, left) :]


def _start_writing(descriptor: int) -> None:
    """Have the kernel write a file's data without waiting for it, where it can be asked to; flushing waits."""
    if hasattr(os, "posix_fadvise"):
        with suppress(OSError):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def open_file(path: str | Path) -> io.FileIO:
    """A regular file, opened for reading: a pipe would wait for its writer.

    Raises:
        OSError: it cannot be opened; ``EINVAL`` where it is a directory, a pipe, a socket or a device.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return io.FileIO(descriptor)


def write_cache(path: Path, data: bytes) -> bool:
    """Write a file of what can be made again, without waiting for the disk; whether that could be done."""
    try:
        make_folder(str(path.parent), str(path))
        write_files(File(str(path), data, f"{path}.{os.getpid()}"), flush=False)
    except StoreError:
        return False
    return True


def make_folder(folder: str, path: str, error: type[Exception] = StoreError) -> None:
    """Make the folder that a file is to be written to, if it is not there; raises as `write_files`."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as failed:
        raise error(not_written(path, failed)) from None


def not_written(path: str | Path, error: OSError, *temporary: str) -> str:
    """A line on why the disk does not take a file; it names the file unless it is a temporary one."""
    at = "" if error.filename in (None, str(path), *temporary) else f" ({error.filename})"
    return f"{path} cannot be written: {reason(error)}{at}; what was done is kept"


def reason(error: Exception) -> str:
    """What an error says, without its number and path, on one line."""
    text = str(getattr(error, "strerror", None) or " ".join(str(error).split()))
    return text[:1].lower() + text[1:]


def move_aside(place: Path, folder: Path, error: type[Exception] = StoreError) -> None:
    """Move a file into a folder under a free name, if it is there.

    Args:
        place: the file.
        folder: where to; made when it is not there.
        error: what is raised where it cannot be moved.
    """
    if not os.path.lexists(place):
        return
    try:
        folder.mkdir(exist_ok=True)
        os.rename(place, _free(folder / place.name))
    except OSError as failed:
        raise error(f"{place} cannot be moved to {folder}: {reason(failed)}") from None


def _free(path: Path) -> Path:
    """A path at which nothing is: the one given, or that with a number."""
    free, count = path, 1
    while os.path.lexists(free):
        count += 1
        free = path.with_name(f"{path.name}.{count}")
    return free
