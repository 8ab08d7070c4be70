"""The data source ``csv``: your own CSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Len

from bench_core import DataError
from bench_public_data.exact_csv import DEFAULT_MISSING, read_exact, read_texts
from bench_public_data.local_files import read_bytes, refuse_large
from bench_public_data.table_source import TableSource

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Csv"]


@dataclass(frozen=True)
class Csv(TableSource):
    """A CSV file of your own, in UTF-8, also compressed (.gz, .bz2, .xz).

    A relative path is looked up in the working directory, then in the mirror.

    Attributes:
        separator: the character between two values.
        columns: names of the columns, for files without a header line.
        missing: strings that mean a missing value.
        decimal: the decimal point, ``.`` or ``,``.

    The attributes of `TableSource` apply as well.
    """

    separator: Annotated[str, Len(1, 1)] = ","
    columns: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=lambda: list(DEFAULT_MISSING))
    decimal: Literal[".", ","] = "."

    def read(self, path: Path, texts: Collection[str] = ()) -> pd.DataFrame:
        text = self._text(path)
        records = self._records(path, text)
        names = list(self.columns)
        if not names:
            _, names = next(records)
            empty = [i + 1 for i, name in enumerate(names) if not name.strip()]
            if empty:
                raise DataError(f"{path}, line 1: column {empty[0]} has no name")
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise DataError(f"{path}, line 1: two columns are called {twice[0]!r}")
        for count, (line, record) in enumerate(records, start=1):
            refuse_large(path, count * len(names))
            if len(record) != len(names):
                hint = _other_separator(names)
                raise DataError(f"{path}, line {line}: {len(record)} values for {len(names)} columns{hint}")
        return read_exact(text, self.separator, self.columns, self.missing, self.decimal, texts)

    def labels(self, path: Path) -> list[str]:
        texts = read_texts(self._text(path), self.separator, self.columns, self.missing, [self.target])[self.target]
        return [text.strip() for text in texts]

    def hint(self, names: list[str]) -> str:
        return _other_separator(names)

    def where(self, path: Path, row: int) -> str:
        header = 0 if self.columns else 1
        for number, (line, _) in enumerate(self._records(path, self._text(path))):
            if number == row + header:
                return f"{path}, line {line}"
        return f"{path}, row {row}"

    def _text(self, path: Path) -> str:
        data = read_bytes(path)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise DataError(f"{path}, line {line}: not UTF-8 text ({error.reason})") from None
        if "\0" in text:
            line = text[: text.index("\0")].count("\n") + 1
            raise DataError(f"{path}, line {line}: not text: it holds a null byte")
        return text

    def _records(self, path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
        """Yield every record that is not blank, with the number of its last line."""
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=self.separator)
        try:
            for record in reader:
                if record:
                    yield reader.line_num, record
        except csv.Error as error:
            raise DataError(f"{path}, line {reader.line_num}: {error}") from None


def _other_separator(names: list[str]) -> str:
    """A hint at the separator, where the whole header is one name; empty otherwise."""
    if len(names) == 1:
        for separator in (";", "\t", "|", ","):
            if separator in names[0]:
                option = f"separator = {separator!r}; bench fit: --separator"
                return f"; the header holds {separator!r}: is that the separator? ({option})"
    return ""
