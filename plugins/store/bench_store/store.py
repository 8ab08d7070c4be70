"""The store: a directory of sealed documents, one file each, and their attachments.

A file is written under a temporary name in ``<store>/tmp``, flushed to the disk, and renamed. The document is renamed
last, so an existing document is complete. It contains size and SHA-256 of its attachment. Both files are checked when a
document is read, but not when names are listed. A damaged document is not returned but reported, and `Store.set_aside`
moves it to ``<store>/damaged``.
"""

from __future__ import annotations

import errno
import hashlib
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench_store.errors import OutdatedError
from bench_store.files import File, make_folder, move_aside, open_file, reason, write_files
from bench_store.layout import Layout
from bench_store.owners import own_name, sweep
from bench_store.sealed import seal, unseal

__all__ = ["DAMAGED", "Store"]

DAMAGED = "damaged"
"""The folder of a store for damaged files."""

_SHOWN = 20
_NEW = 5.0
"""An attachment is new for this many seconds; its document may not have been written yet."""


class Store(Layout):
    """A directory of documents; a subclass defines them, see `Layout`."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._made_folders: set[str] = set()
        self._count = 0
        self._damaged: dict[str, str] = {}
        self._outdated: set[str] = set()

    # Reading

    def read(self, name: str, attachment: bool = True) -> dict[str, Any] | None:
        """Read a document; None if it is missing, damaged or outdated.

        The store remembers damaged ones, see `warnings` and `set_aside`. The attachment is checked, too, unless
        ``attachment`` is false. Raises `error` if the file cannot be read.
        """
        for kind in self.kinds:
            try:
                body = self._checked(name, kind, attachment)
            except OutdatedError:
                self._outdated.add(name)
                return None
            except ValueError as damage:
                self._damaged[name] = str(damage)
                return None
            if body is not None:
                return body
        return None

    def _checked(self, name: str, kind: str, attachment: bool, tried_before: bool = False) -> dict[str, Any] | None:
        """Read and check a document and its attachment. It tries again if a process may be writing them right now."""
        place = self._place(name, self.kinds[kind])
        data = self._bytes(place)
        if data is None:
            return None
        try:
            body = self.parsed(data, name, kind)
        except OutdatedError:
            raise
        except ValueError as error:
            raise ValueError(f"{place} is damaged: {error}") from None
        noted = body.get(self.noted_as)
        damage = self._damage_of_attachment(name, noted) if attachment and noted is not None else ""
        if not damage:
            return body
        if not tried_before and self._is_new(name):
            time.sleep(0.05)
            return self._checked(name, kind, attachment, tried_before=True)
        raise ValueError(f"{self.path_of_attachment(name)} {damage}")

    def _is_new(self, name: str) -> bool:
        with suppress(OSError):
            return time.time() - self.path_of_attachment(name).stat().st_mtime < _NEW
        return False

    def _bytes(self, place: str) -> bytes | None:
        try:
            with open_file(place) as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            if os.path.lexists(place):
                raise ValueError(f"{place} is damaged: it is a link to nothing") from None
            return None
        except OSError as failed:
            if failed.errno in (errno.EINVAL, errno.ELOOP):
                raise ValueError(f"{place} is damaged: {reason(failed)}") from None
            raise self.error(f"{place} cannot be read: {reason(failed)}") from None

    def _damage_of_attachment(self, name: str, noted: Mapping[str, Any]) -> str:
        try:
            with open_file(self.path_of_attachment(name)) as file:
                if os.fstat(file.fileno()).st_size != noted["bytes"]:
                    return f"is damaged: its length is not the one noted in the {self.noun} beside it"
                if hashlib.file_digest(file, "sha256").hexdigest() != noted["sha256"]:
                    return f"is damaged: it does not match its checksum in the {self.noun} beside it"
        except FileNotFoundError:
            return "is missing"
        except OSError as failed:
            return f"is damaged: {reason(failed)}"
        return ""

    def copy_of(self, name: str) -> tuple[bytes, bytes | None]:
        """The unchecked bytes of a document's file and of its attachment (None if it has none).

        Raises `error` if they cannot be read.
        """
        suffixes = list(self.kinds.values())
        there = (suffix for suffix in suffixes if os.path.exists(self._place(name, suffix)))
        try:
            with open_file(self._place(name, next(there, suffixes[-1]))) as file:
                document = file.read()
            if not self.path_of_attachment(name).exists():
                return document, None
            with open_file(self.path_of_attachment(name)) as file:
                return document, file.read()
        except OSError as failed:
            raise self.error(f"{failed.filename} cannot be read: {reason(failed)}") from None

    # Damage

    def warnings(self) -> list[str]:
        """A line for every damaged file found so far, and one for all outdated documents."""
        lines = [f"{line}; it counts as missing" for line in self._damaged.values()]
        if len(lines) > _SHOWN:
            lines[_SHOWN:] = [f"… and {len(lines) - _SHOWN} more damaged {self.noun}s"]
        if self._outdated:
            outdated = f"{len(self._outdated)} {self.noun}(s) in {self.path} are of an earlier format"
            lines.append(f"{outdated}; they count as missing")
        return lines

    @property
    def damage(self) -> list[str]:
        """A line for every damaged document found so far, with the file's name."""
        return list(self._damaged.values())

    def mark_damaged(self, name: str, why: str) -> None:
        """Mark a document as damaged, for a reason that reading it cannot detect."""
        self._damaged[name] = why

    @property
    def unreadable(self) -> set[str]:
        """Names of the damaged or outdated documents found so far."""
        return self._damaged.keys() | self._outdated

    @property
    def outdated(self) -> set[str]:
        """Names of the documents of an earlier format found so far that are not damaged."""
        return self._outdated - self._damaged.keys()

    def set_aside(self) -> set[str]:
        """Move the files of unreadable documents to ``damaged``; return their names. Raises `error` if that fails."""
        names = self.unreadable
        for name in sorted(names):
            for suffix in self._suffixes:
                move_aside(Path(self._place(name, suffix)), self.path / DAMAGED, self.error)
        self._damaged.clear()
        self._outdated.clear()
        return names

    # Writing

    def put(
        self, name: str, body: Mapping[str, Any], attachment: bytes | memoryview | None = None, *, flush: bool = True
    ) -> None:
        """Write a document and its attachment.

        Args:
            name: the document's name.
            body: plain JSON values; every key sorts after ``checksum``.
            attachment: the attachment; None keeps the existing one, with its size and checksum.
            flush: whether to wait until they are on the disk.

        Raises `error` if they cannot be written. No incomplete file is left.
        """
        if attachment is not None:
            noted = {"bytes": len(attachment), "sha256": hashlib.sha256(attachment).hexdigest()}
            body = {**body, self.noted_as: noted}
        self._write(name, self.kind_of(body), seal(body), attachment, flush=flush)

    def add(self, name: str, document: bytes, attachment: bytes | None) -> dict[str, Any]:
        """Write a document of another store, byte for byte; return its body.

        Args:
            name: the document's name.
            document: the bytes of its file.
            attachment: the bytes of its attachment, or None.

        Raises:
            ValueError: they are damaged; nothing is written. `error` if they cannot be written.
        """
        kind = self.kind_of(unseal(document))
        body = self.parsed(document, name, kind)
        noted = body.get(self.noted_as)
        if noted is not None:
            if attachment is None:
                raise ValueError(f"its {self.noted_as} are missing")
            if len(attachment) != noted["bytes"] or hashlib.sha256(attachment).hexdigest() != noted["sha256"]:
                raise ValueError(f"its {self.noted_as} do not match their checksum")
        self._write(name, kind, document, None if noted is None else attachment)
        return body

    def take(self, name: str) -> tuple[bytes, bytes | None]:
        """As `copy_of`, but remove the files."""
        copied = self.copy_of(name)
        for suffix in self._suffixes:
            with suppress(OSError):
                os.unlink(self._place(name, suffix))
        return copied

    def _write(
        self, name: str, kind: str, document: bytes, attachment: bytes | memoryview | None, *, flush: bool = True
    ) -> None:
        """Write a document's files. The document, which refers to the attachment, is the last one."""
        suffix = self.kinds[kind]
        contents = ([] if attachment is None else [(self.attachment, attachment)]) + [(suffix, document)]
        files = [File(self._place(name, suffix), data, self._temporary()) for suffix, data in contents]
        for folder in (f"{self._root}/{name[:2]}", f"{self._root}/tmp"):
            if folder not in self._made_folders:
                make_folder(folder, files[-1].path, self.error)
                self._made_folders.add(folder)
        write_files(*files, flush=flush, error=self.error)
        suffixes = list(self.kinds.values())
        for later in suffixes[suffixes.index(suffix) + 1 :]:
            with suppress(OSError):
                os.unlink(self._place(name, later))

    def _temporary(self) -> str:
        self._count += 1
        return f"{self._root}/tmp/{own_name(os.getpid())}-{self._count}"

    def sweep(self) -> None:
        """Remove temporary files of ended processes. Files that cannot be removed are ignored."""
        sweep(self.path / "tmp")
