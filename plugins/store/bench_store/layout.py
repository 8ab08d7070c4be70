"""How the files of a store are called, and which there are.

``<store>/<first two characters of the name>/<name><suffix>`` is a document, and beside it may lie its attachment.
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
        path: where it is.
        name: the document's name; empty when it is no file of a store.
        kind: a kind of document, ``attachment`` or ``other``.
    """

    path: Path
    name: str
    kind: str

    @property
    def misplaced(self) -> str:
        """A line on why no reader looks for it here; empty where one does."""
        if self.kind == "other":
            return f"{self.path} is no file of a store"
        there = self.path.parent.name == self.name[:2]
        return "" if there else f"{self.path} lies in the wrong folder: it is looked for in {self.name[:2]}"


class Layout:
    """Where documents are and how they are called; their names are 64 hexadecimal digits, such as a SHA-256.

    A subclass says how files are called and what a document must be.

    Args:
        path: the directory; made when something is first written.

    Attributes:
        kinds: kind of document → suffix of its file. Where a name has several, the first kind counts, and writing
            one removes those of later kinds.
        attachment: suffix of an attachment.
        noted_as: a document's key under which size and SHA-256 of its attachment are; it sorts after ``checksum``.
        others: names of further sealed files that are in the store's folder, for `check_store`.
        noun: what messages call a document.
        error: what is raised where the disk fails.

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
        """The body of a document; to be overridden by what checks it.

        Raises:
            OutdatedError: it is of an earlier format.
            ValueError: it is damaged, or the document of another name or kind.
        """
        return unseal(data)

    def kind_of(self, body: Mapping[str, Any]) -> str:
        """The kind of a document; to be overridden where there are several."""
        return next(iter(self.kinds))

    def attachment_fault(self, body: Mapping[str, Any], path: Path) -> str:
        """What does not fit between a document and the attachment at a path, beyond size and checksum; else empty.

        To be overridden by a store that knows what is in an attachment.
        """
        return ""

    def names(self) -> tuple[set[str], ...]:
        """The names of the documents of every kind, without those that an earlier kind has.

        No file is opened: what is damaged is found when it is read.
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
        """Every file in the store's folders, in order; raises `error` where a folder cannot be read."""
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
        """Where the attachment of a document is."""
        return Path(self._place(name, self.attachment))

    def _place(self, name: str, suffix: str) -> str:
        return f"{self._root}/{name[:2]}/{name}{suffix}"
