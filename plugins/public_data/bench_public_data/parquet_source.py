"""Parquet files of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench_core import DataError
from bench_public_data.table_source import TableSource

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Parquet"]


@dataclass(frozen=True)
class Parquet(TableSource):
    """A Parquet file of one's own; a relative path is looked up in the working directory, then in the mirror.

    The attributes are those of `TableSource`.
    """

    def read(self, path: Path) -> pd.DataFrame:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            # The schema first: pandas would rename or refuse columns of one name, with less to say.
            names = [str(name) for name in pq.read_schema(path).names]
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise DataError(f"{path}: two columns are called {twice[0]!r}")
            frame: pd.DataFrame = pq.ParquetFile(path).read(use_threads=False).to_pandas(use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{path}: not a Parquet file that can be read: {error}") from None
        return frame.reset_index(drop=True).rename(columns=str)

    def where(self, path: Path, row: int) -> str:
        return f"{path}, row {row} (from 0)"
