"""Read hand-written TOML files, and find the line of a key for error messages."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from bench_core import RequestError, did_you_mean


class TomlFile:
    """The content of a TOML file and the lines of its keys.

    Attributes:
        where: the file's path, for messages.
        content: the tables and keys.

    Raises:
        RequestError: the file cannot be read, or is not TOML; the message names the line.
    """

    def __init__(self, path: str | Path) -> None:
        self.where = str(path)
        text = _text(Path(path))
        self._lines = text.splitlines()
        try:
            self.content: dict[str, Any] = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # ValueError also for an integer of thousands of digits
            message, line = str(error), len(self._lines)
            if match := re.search(r" \(at line (\d+), column \d+\)$", message):
                message, line = message[: match.start()], int(match[1])
            shown = self._lines[line - 1].strip()[:60] if 0 < line <= len(self._lines) else ""
            advice = "" if Path(path).suffix == ".toml" else "; give a TOML file, with a line such as: age = 5"
            advice += "; a name with blanks needs quotes" * message.startswith("Expected '=' after a key")
            raise RequestError(f"{path}, line {max(line, 1)}: not TOML: {message}: {shown}{advice}") from None

    def at(self, section: str, key: str | None = None, value: str | None = None) -> str:
        """Return the file and line of a table, of a key, or of a string in a key's list: ``prices.toml, line 7``.

        Where the line is not found, as in a table with unusual syntax, only the file is returned.

        Args:
            section: a table, such as ``error_costs.sick``, or a top-level key.
            key: a key of the table.
            value: a string in the key's list.
        """
        begin, end = self._section(section)
        if key is not None:
            name = re.compile(rf"""(?:^|[\s{{,.])(["']?){re.escape(key)}\1\s*=""")
            begin, end = next(((n, end) for n in range(begin, end) if name.search(self._lines[n])), (begin, begin))
        if value is not None:
            quoted = re.compile(rf"""(["']){re.escape(value)}\1""")
            begin, end = next(((n, end) for n in range(begin, end) if quoted.search(self._lines[n])), (begin, end))
        return f"{self.where}, line {begin + 1}" if begin < end else self.where

    def _section(self, section: str) -> tuple[int, int]:
        """Return the indices of a table's first line and of the line after its last; an empty range if not found."""
        name = re.escape(section)
        header = re.compile(rf"""^\s*\[\s*["']?{name}["']?\s*\]|^\s*["']?{name}["']?\s*[.=]""")
        begin = next((n for n, line in enumerate(self._lines) if header.match(line)), len(self._lines))
        following = re.compile(r"^\s*\[\s*[A-Za-z_\"'][^,=]*\]\s*(?:#.*)?$")
        after = (n for n in range(begin + 1, len(self._lines)) if following.match(self._lines[n]))
        return begin, next(after, len(self._lines))


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        raise RequestError(f"there is no file {path}{beside(path)}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise RequestError(f"{path}, line {line}: not UTF-8 text") from None
    except OSError as error:
        raise RequestError(f"{path}: cannot be read: {error.strerror}") from None


def beside(path: Path) -> str:
    """Return the end of a message about a missing path: the most similar name in its folder, or nothing."""
    near = did_you_mean(path.name, [file.name for file in path.parent.glob("*")]) if path.parent.is_dir() else ""
    return f"; {near}" if near else ""
