"""A directory of sealed JSON documents, each with an optional attachment: safe to kill, share, merge and repair.

    >>> from pathlib import Path
    >>> from bench_store import Store
    >>> store = Store(Path("results"))
    >>> store.put(name, {"error": 0.1}, attachment=table)  # name: 64 hexadecimal digits, such as a SHA-256
    >>> store.read(name)
    {'data': {'bytes': 4096, 'sha256': '…'}, 'error': 0.1}

A document is written completely or not at all. It contains checksums of itself and its attachment, which are checked
whenever it is read. The library handles JSON and bytes of any meaning.
"""

from bench_store.check import StoreCheck, check_store, repair_store
from bench_store.errors import OutdatedError, StoreError
from bench_store.files import open_file, reason, write_cache
from bench_store.layout import StoreFile
from bench_store.marks import LeftMark, Mark, left_marks, work_under_way
from bench_store.sealed import seal, unseal
from bench_store.store import DAMAGED, Store

__all__ = [
    "DAMAGED",
    "LeftMark",
    "Mark",
    "OutdatedError",
    "Store",
    "StoreCheck",
    "StoreError",
    "StoreFile",
    "check_store",
    "left_marks",
    "open_file",
    "reason",
    "repair_store",
    "seal",
    "unseal",
    "work_under_way",
    "write_cache",
]
