"""The data source ``parquet``: your own Parquet files."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_core import DataError
from bench_public_data.local_files import refuse_large_parquet
from bench_public_data.table_source import TableSource

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Parquet"]

_MOST_TEXT = 2**31
"""The largest total size of a column's texts, in bytes."""


@dataclass(frozen=True)
class Parquet(TableSource):
    """A Parquet file of your own.

    A relative path is looked up in the working directory, then in the mirror. Parameters are those of `TableSource`.
    """

    def read(self, path: Path, texts: Collection[str] = ()) -> pd.DataFrame:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            # Check the schema first: pandas renames columns of the same name, or refuses them with a vague message.
            schema = pq.read_schema(path)
            names = [str(name) for name in schema.names]
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise DataError(f"{path}: two columns are called {twice[0]!r}")
            strings = [field.name for field in schema if _is_text(field.type)]
            # Read texts as dictionary codes, as a small file may hold one long text a million times.
            with pq.ParquetFile(path, read_dictionary=strings) as file:
                refuse_large_parquet(path, file)
                table = file.read(use_threads=False)
            for name in strings:
                table = _decoded(path, table, name)
            frame: pd.DataFrame = table.to_pandas(use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{path}: not a readable Parquet file: {error}") from None
        return frame.reset_index(drop=True).rename(columns=str)

    def where(self, path: Path, row: int) -> str:
        return f"{path}, row {row} (from 0)"


def _is_text(kind: Any) -> bool:
    import pyarrow.types as types

    return any(
        check(kind) for check in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    )


def _decoded(path: Path, table: Any, name: str) -> Any:
    """Return the table with a column of dictionary codes decoded to texts.

    Raises:
        DataError: the texts would take more than `_MOST_TEXT` bytes together.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table.column(name)
    if not pa.types.is_dictionary(column.type):
        return table
    lengths = (pc.sum(pc.binary_length(chunk.dictionary).take(chunk.indices)).as_py() or 0 for chunk in column.chunks)
    held = sum(lengths)
    if held > _MOST_TEXT:
        raise DataError(f"{path}, column {name!r}: the texts take {held} bytes together; at most {_MOST_TEXT} are read")
    return table.set_column(table.schema.get_field_index(name), name, column.cast(column.type.value_type))
