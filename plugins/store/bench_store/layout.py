"""The names and folders of a store's files.

A document is ``<store>/<first two characters of the name>/<name><suffix>``. Its attachment is in the same folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from bench_store.errors import StoreError
from bench_store.files import reason
from bench_store.sealed import unseal

__all__ = ["Layout", "StoreFile"]

_LENGTH, _HEX = 64, frozenset("0123456789abcdef")


@dataclass(frozen=True)
class StoreFile:
    """A file in one of a store's folders.

    Attributes:
        path: its path.
        name: the document's name; empty if the file does not belong to a store.
        kind: a kind of document, ``attachment`` or ``other``.
    """

    path: Path
    name: str
    kind: str

    @property
    def misplaced(self) -> str:
        """A line that says why the file is in the wrong place; empty if it is not."""
        if self.kind == "other":
            return f"{self.path} does not belong to a store"
        there = self.path.parent.name == self.name[:2]
        return "" if there else f"{self.path} is in the wrong folder: it belongs in {self.name[:2]}"


class Layout:
    """The folders and names of documents. A document's name is 64 hexadecimal digits, such as a SHA-256.

    A subclass defines how files are named and what makes a document valid.

    Args:
        path: the directory; made at the first write.

    Attributes:
        kinds: kind of document → suffix of its file. If a name has documents of several kinds, the first kind counts.
            Writing one removes those of later kinds.
        attachment: suffix of attachments.
        noted_as: a document's key for size and SHA-256 of its attachment; it must sort after ``checksum``.
        others: names of further sealed files in the store's folder, for `check_store`.
        noun: the word for a document in messages.
        error: the class to raise if reading or writing fails.

    Raises:
        NotADirectoryError: the path is a file.
    """

    kinds: ClassVar[Mapping[str, str]] = {"document": ".json"}
    attachment: ClassVar[str] = ".data"
    noted_as: ClassVar[str] = "data"
    others: ClassVar[Sequence[str]] = ()
    noun: ClassVar[str] = "document"
    error: ClassVar[type[Exception]] = StoreError

    def __init__(self, path: Path) -> None:
        if os.path.lexists(path) and not path.is_dir():
            raise NotADirectoryError(f"the store {path} is not a directory")
        self.path = path
        self._root = str(path)
        self._suffixes = [*self.kinds.values(), self.attachment]

    def parsed(self, data: bytes, name: str, kind: str) -> dict[str, Any]:
        """Parse a document and return its body. Override it to check the body.

        Raises:
            OutdatedError: it is of an earlier format.
            ValueError: it is damaged, or has another name or kind.
        """
        return unseal(data)

    def kind_of(self, body: Mapping[str, Any]) -> str:
        """The kind of a document. Override it if there are several."""
        return next(iter(self.kinds))

    def attachment_fault(self, body: Mapping[str, Any], path: Path) -> str:
        """Say how a document and the attachment at a path contradict each other; empty if they do not.

        Size and checksum are checked already. Override it to check an attachment's contents.
        """
        return ""

    def names(self) -> tuple[set[str], ...]:
        """The names of documents by kind. A name with several kinds is listed under the first one.

        No file is opened; damage is found when a document is read.
        """
        found: dict[str, set[str]] = {suffix: set() for suffix in self.kinds.values()}
        try:
            with os.scandir(self._root) as entries:
                folders = [entry.path for entry in entries if len(entry.name) == 2 and os.path.isdir(entry)]
            for file in chain.from_iterable(map(os.listdir, folders)):
                suffix = file[_LENGTH:]
                if suffix in found:
                    found[suffix].add(file[:_LENGTH])
        except FileNotFoundError:
            pass
        except OSError as failed:
            raise self.error(f"the store {self.path} cannot be read: {reason(failed)}") from None
        earlier: set[str] = set()
        names = []
        for of_kind in found.values():
            names.append(of_kind - earlier)
            earlier |= of_kind
        return tuple(names)

    def files(self) -> Iterator[StoreFile]:
        """Every file in the store's folders, in order; raises `error` if a folder cannot be read."""
        kinds = {suffix: kind for kind, suffix in self.kinds.items()} | {self.attachment: "attachment"}
        try:
            for folder in sorted(self.path.iterdir()) if self.path.is_dir() else []:
                if len(folder.name) != 2 or not folder.is_dir():
                    continue
                for path in sorted(folder.iterdir()):
                    name, suffix = path.name[:_LENGTH], path.name[_LENGTH:]
                    kind = kinds.get(suffix, "other") if len(name) == _LENGTH and set(name) <= _HEX else "other"
                    yield StoreFile(path, name if kind != "other" else "", kind)
        except OSError as failed:
            raise self.error(f"the store {self.path} cannot be read: {reason(failed)}") from None

    def path_of_attachment(self, name: str) -> Path:
        """The path of a document's attachment."""
        return Path(self._place(name, self.attachment))

    def _place(self, name: str, suffix: str) -> str:
        return f"{self._root}/{name[:2]}/{name}{suffix}"
