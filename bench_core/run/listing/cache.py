"""What plugins told of themselves, kept: by name, version and source of the plugin, and as long as no file changed.

A file that is damaged, or that says what no plugin may say, is ignored and written anew.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import bench_core
from bench_core.contract.canonical import canonical_json, sha256_text
from bench_core.plugins.shelf import Plugin
from bench_core.run.whole_files import write_cache

__all__ = ["ListingCache"]

_FORMAT = 1
_KEPT_SECONDS = 7 * 86400.0


class ListingCache:
    """Files below a folder, two for each plugin: what it listed, and what it answered.

    Args:
        folder: made when something is written; where that cannot be done, nothing is kept.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sizes: dict[str, list[int] | None] = {}

    def get(self, plugin: Plugin, part: str) -> Any:
        """What is kept of a plugin, or None."""
        path = self._path(plugin, part)
        try:
            checksum, _, text = path.read_text(encoding="utf-8").partition("\n") if path else ("", "", "")
            if not path or sha256_text(text) != checksum:
                return None
            stored = json.loads(text)
            fresh = all(self._size(file) == size for file, size in stored["files"].items())
            return stored["value"] if fresh else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None

    def put(self, plugin: Plugin, part: str, value: Any, files: Iterable[str]) -> None:
        """Keep something of a plugin, as long as the files that were read for it are as they are now.

        Args:
            value: in plain values.
        """
        path = self._path(plugin, part)
        if path is None:
            return
        text = canonical_json({"files": {file: self._size(file) for file in files}, "value": value})
        with suppress(ValueError):  # text that is no Unicode
            if write_cache(path, f"{sha256_text(text)}\n{text}".encode()):
                self._forget_old(path)

    def _path(self, plugin: Plugin, part: str) -> Path | None:
        """The file of a plugin; None where its source is not known."""
        if not plugin.source:
            return None
        key = [_FORMAT, _core(), sys.version, plugin.name, plugin.distribution, plugin.version, plugin.module]
        name = sha256_text(canonical_json([*key, plugin.source]))[:24]
        return self._folder / f"{sha256_text(plugin.name)[:12]}-{name}.{part}.json"

    def _size(self, file: str) -> list[int] | None:
        """Length and time of change of a file; None where there is none."""
        if file not in self._sizes:
            try:
                now = os.stat(file)
                self._sizes[file] = [now.st_size, now.st_mtime_ns]
            except (OSError, ValueError):
                self._sizes[file] = None
        return self._sizes[file]

    def _forget_old(self, path: Path) -> None:
        """Remove what was written of other versions of the plugin a week ago."""
        before = time.time() - _KEPT_SECONDS
        for other in self._folder.glob(f"{path.name.partition('-')[0]}-*"):
            with suppress(OSError):
                if other != path and other.stat().st_mtime < before:
                    other.unlink()


@cache
def _core() -> str:
    """The core's files by length and time of change: they decide what is told, and how."""
    files: list[tuple[str, int, int]] = []
    folders = [os.path.dirname(bench_core.__file__)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    folders += [] if entry.name == "__pycache__" else [entry.path]
                elif entry.name.endswith(".py"):
                    now = entry.stat()
                    files.append((entry.path, now.st_size, now.st_mtime_ns))
    return sha256_text(canonical_json(sorted(files)))
