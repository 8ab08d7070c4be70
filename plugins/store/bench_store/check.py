"""Check and repair a complete store: every checksum, every file's folder, every attachment."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from bench_store.files import move_aside, open_file, reason
from bench_store.layout import StoreFile
from bench_store.sealed import unseal
from bench_store.store import DAMAGED, Store

__all__ = ["StoreCheck", "check_store", "repair_store"]

_OLD_ENOUGH = 60.0
"""An attachment without a document is orphaned after this many seconds; a writer writes both within this time."""


@dataclass
class StoreCheck:
    """The results of checking a complete store.

    Attributes:
        sound: kind of document → number of undamaged ones.
        damage: a line for every damaged file, with its name.
        outdated: number of documents of an earlier format.
        orphans: attachments without a document; a process that is killed between writing the two leaves one.
        misplaced: files in the wrong folder, and files that do not belong to a store; they are in ``damage``, too.
    """

    sound: Counter[str] = field(default_factory=Counter)
    damage: list[str] = field(default_factory=list)
    outdated: int = 0
    orphans: list[Path] = field(default_factory=list)
    misplaced: list[Path] = field(default_factory=list)

    def summary(self, store: Store) -> str:
        """The counts in one line, kind by kind."""
        counts = {**{kind: self.sound[kind] for kind in store.kinds}, "damaged": len(self.damage)}
        rare = {"of an earlier format": self.outdated, f"{store.noted_as} without a {store.noun}": len(self.orphans)}
        counts |= {what: count for what, count in rare.items() if count}
        return ", ".join(f"{count} {what}" for what, count in counts.items())


def check_store(store: Store) -> StoreCheck:
    """Read every file of a store without changing anything; the store remembers the damaged documents.

    Raises the store's error if a folder cannot be read.
    """
    result = StoreCheck()
    files = list(store.files())
    documents = {file.name for file in files if file.kind in store.kinds}
    placed = {file.name for file in files if file.kind in store.kinds and not file.misplaced}
    for file in files:
        if file.misplaced:
            result.misplaced.append(file.path)
            result.damage.append(file.misplaced)
        elif file.kind == "attachment" and file.name not in documents and _is_old_enough(file):
            result.orphans.append(file.path)
    for name in sorted(placed):
        try:
            body = store.read(name)
        except store.error as error:  # it cannot be read; go on with the others
            result.damage.append(str(error))
            continue
        if body is None:
            continue
        path = store.path_of_attachment(name)
        wrong = store.attachment_fault(body, path) if store.noted_as in body else ""
        if wrong:
            store.mark_damaged(name, f"{path} {wrong}")
        else:
            result.sound[store.kind_of(body)] += 1
    result.damage += store.damage
    result.outdated = len(store.outdated)
    for other in store.others:
        try:
            with open_file(store.path / other) as opened:
                unseal(opened.read())
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError) as error:
            result.misplaced.append(store.path / other)
            result.damage.append(f"{store.path / other} is damaged: {reason(error)}")
    return result


def repair_store(store: Store, result: StoreCheck) -> int:
    """Move the files that a check found to ``damaged``; return the number of documents and other files.

    Temporary files of processes that have ended are removed. Raises the store's error if a file cannot be moved.
    """
    moved = len(store.set_aside())
    for path in [*result.misplaced, *result.orphans]:
        move_aside(path, store.path / DAMAGED, store.error)
        moved += 1
    store.sweep()
    return moved


def _is_old_enough(file: StoreFile) -> bool:
    with suppress(OSError):
        return time.time() - file.path.lstat().st_mtime > _OLD_ENOUGH
    return False
