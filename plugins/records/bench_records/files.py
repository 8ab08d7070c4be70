"""Write files of an export and its pages, all of them or none."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from bench_core import RequestError

__all__ = ["check_output", "differing", "distinct", "write_files"]


def distinct(names: Iterable[str], plain: Callable[[str], str], taken: Collection[str] = ()) -> dict[str, str]:
    """Name → a distinct plain form, for a file or an address: with ``-2``, ``-3`` … appended if it is in use.

    Args:
        names: the names; earlier ones get the forms without a number.
        plain: returns the plain form of a name; different names may have the same form.
        taken: forms that are already in use.
    """
    found: dict[str, str] = {}
    used = set(taken)
    for name in names:
        start = plain(name)
        form, number = start, 1
        while form in used:
            number += 1
            form = f"{start}-{number}"
        found[name] = form
        used.add(form)
    return found


def check_output(output: Path, suite: Path, folders: Iterable[Path]) -> None:
    """Check that writing the file ``--output`` replaces nothing that it is made from.

    Args:
        output: the file.
        suite: the suite's file.
        folders: the folders of the records.

    Raises:
        RequestError: it is the suite, it is inside one of the folders, or it exists and is no regular file.
    """
    if output.exists() and not output.is_file():
        raise RequestError(f"--output {output} is not a regular file; leave it out to write to standard output")
    real = output.resolve()
    if real == suite.resolve():
        raise RequestError(f"--output {output} is the suite, which is not replaced: choose another file")
    for folder in folders:
        if real.is_relative_to(folder.resolve()):
            raise RequestError(f"--output {output} is inside {folder}, whose files are read: choose another place")


def write_files(files: Mapping[Path, bytes]) -> list[Path]:
    """Write all files under temporary names, and then rename them. Files with the same content are not written.

    Returns:
        The files that changed.

    Raises:
        RequestError: a file cannot be written.
    """
    changed = differing(files)
    temporaries = {path: path.with_name(f".{path.name}.{os.getpid()}") for path in changed}
    path = Path()
    try:
        for path, temporary in temporaries.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(files[path])
            if path.is_dir():
                raise IsADirectoryError(None, "it is a directory")
        for path, temporary in temporaries.items():
            os.replace(temporary, path)
    except OSError as error:
        raise RequestError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        for temporary in temporaries.values():
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
    return changed


def differing(files: Mapping[Path, bytes]) -> list[Path]:
    """The files that are missing on the disk or have another content there.

    Parquet files are compared by content: their bytes depend on the version that wrote them.
    """
    return [path for path, data in files.items() if not _same(path, data)]


def _same(path: Path, data: bytes) -> bool:
    try:
        there = path.read_bytes()
    except OSError:
        return False
    if there == data or path.suffix != ".parquet":
        return there == data
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # Not read_table: the threads of its scanner can outlive the interpreter, which then aborts.
        old, new = (pq.ParquetFile(pa.BufferReader(data)).read(use_threads=False) for data in (there, data))
        return bool(old.equals(new))
    except (pa.ArrowInvalid, OSError):
        return False
