"""Call the openml package in a temporary folder that is deleted afterwards.

openml-python 0.15 writes pickles next to the data, deletes a data set's folder after any failure, and is not safe for
several processes. So none of its files are kept: a mirror is copied, a download goes to a temporary folder, and only
the resulting table is stored (`table_cache`).
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch
from xml.etree import ElementTree

from bench_core import DataError, DataUnavailable
from bench_public_data.limits import limited
from bench_public_data.local_files import MOST_BYTES, refuse_large, refuse_large_parquet

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["download", "from_mirror", "mirrored_folder"]

_CONFIGURATION = threading.RLock()  # openml's configuration is global


def mirrored_folder(mirror: Path | None, number: int) -> Path | None:
    """Return the folder of a data set in a mirror's ``openml_cache``; None if it is not there or incomplete."""
    if mirror is None:
        return None
    folder = mirror / "openml_cache" / "org" / "openml" / "www" / "datasets" / str(number)
    has_data = (folder / f"dataset_{number}.pq").is_file() or (folder / "dataset.arff").is_file()
    return folder if has_data and (folder / "description.xml").is_file() else None


def from_mirror(folder: Path, number: int, scratch: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Read a table and its description from a copy of an openml cache folder, without a connection.

    Args:
        folder: the result of `mirrored_folder`; nothing is written to it.
        number: OpenML's id of the data set.
        scratch: an existing directory for the temporary copy.

    Raises:
        DataError: a file in the folder cannot be read.
        DataUnavailable: the openml package is not installed.
    """
    try:
        root = ElementTree.parse(folder / "description.xml").getroot()
    except ElementTree.ParseError as error:
        raise DataError(f"{folder / 'description.xml'}: not an OpenML description: {error}") from None
    if not root.tag.endswith("data_set_description"):
        raise DataError(f"{folder / 'description.xml'}: not an OpenML description, but {root.tag!r}")
    features = (folder / "features.xml").is_file()
    with _openml(scratch) as openml:
        copy = Path(openml.config.get_cache_directory()) / "datasets" / str(number)
        copy.mkdir(parents=True)
        for name in ("description.xml", "features.xml", f"dataset_{number}.pq", "dataset.arff"):
            if (folder / name).is_file():
                shutil.copyfile(folder / name, copy / name)
        parquet = (copy / f"dataset_{number}.pq").is_file()
        try:
            with patch.dict(os.environ, OPENML_SKIP_PARQUET="false" if parquet else "true"):
                return _load(openml, number, features)
        except Exception as error:
            raise DataError(f"{folder}: OpenML data set {number} cannot be read: {_line(error)}") from error


def download(number: int, scratch: Path, hint: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Download a table and its description from the OpenML server that the openml package is configured for.

    Args:
        number: OpenML's id of the data set.
        scratch: an existing directory for temporary files.
        hint: the hint of the error.

    Raises:
        DataUnavailable: no openml package, no connection, no such data set, or an incomplete or damaged download.
    """
    with _openml(scratch) as openml, limited() as guard:
        try:
            return _load(openml, number, features=True)
        except Exception as error:
            why = guard.failure or _line(error)
            raise DataUnavailable(
                f"OpenML data set {number} could not be downloaded from {openml.config.server}: {why}", hint
            ) from error


def _load(openml: Any, number: int, features: bool) -> tuple[pd.DataFrame, dict[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        entry = openml.datasets.get_dataset(
            number, download_data=True, download_qualities=False, download_features_meta_data=features
        )
        _refuse_large(entry)
        frame = entry.get_data()[0]
    if any(hasattr(dtype, "sparse") or str(dtype).startswith("Sparse") for dtype in frame.dtypes):
        refuse_large("the sparse table", frame.size)
        frame = frame.sparse.to_dense()
    frame = frame.rename(columns=str)
    if features:
        frame = _as_declared(frame, entry.features.values())
    about = {
        "id": number,
        "name": entry.name,
        "version": entry.version,
        "target": entry.default_target_attribute,
        "licence": entry.licence or "not stated",
        "source": f"https://www.openml.org/d/{number}",
    }
    return frame, about


def _refuse_large(entry: Any) -> None:
    """Refuse a data file whose table would be too large.

    Raises:
        DataError: a Parquet file is too large (see `refuse_large_parquet`), or an ARFF file exceeds `MOST_BYTES`.
    """
    import pyarrow.parquet as pq

    if entry.parquet_file is not None:
        with pq.ParquetFile(entry.parquet_file) as file:
            refuse_large_parquet(Path(entry.parquet_file), file)
    elif entry.data_file is not None and Path(entry.data_file).stat().st_size > MOST_BYTES:
        raise DataError(f"{entry.data_file} has more than {MOST_BYTES} bytes")


def _as_declared(frame: pd.DataFrame, features: Any) -> pd.DataFrame:
    """Convert columns to the types that the server declares, so that Parquet and ARFF give the same table.

    Raises:
        ValueError: a column of the data file is not declared.
    """
    import pandas as pd

    declared = {feature.name: feature for feature in features}
    missing = [name for name in frame.columns if name not in declared]
    if missing:
        raise ValueError(f"the data file has a column {missing[0]!r}, which the description lacks")
    columns = {}
    for name in frame.columns:
        column = frame[name]
        number = pd.api.types.is_numeric_dtype(column.dtype)
        if declared[name].data_type in ("nominal", "string"):
            texts = column.map(_level_text, na_action="ignore") if number else column
            columns[name] = texts.astype("category")
        elif declared[name].data_type == "numeric":
            columns[name] = column if number else pd.to_numeric(column.astype("object"))
        else:
            columns[name] = column
    return pd.DataFrame(columns)


def _level_text(value: Any) -> str:
    """Return the text that ARFF has for a category stored as a number or boolean."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


@contextmanager
def _openml(scratch: Path) -> Iterator[Any]:
    """Yield the openml package with its cache in a temporary folder, and restore its configuration afterwards."""
    with _CONFIGURATION, tempfile.TemporaryDirectory(dir=scratch) as folder:
        # The first import of openml creates its default cache folder, so the default is set to the temporary folder.
        with patch.dict(os.environ, OPENML_CACHE_DIR=folder):
            try:
                import openml
            except (ImportError, OSError) as error:
                raise DataUnavailable(
                    f"the openml package cannot be used: {_line(error)}", "pip install 'openml>=0.15,<0.16'"
                ) from error
        before = openml.config._root_cache_directory
        openml.config.set_root_cache_directory(folder)
        try:
            yield openml
        finally:
            openml.config.set_root_cache_directory(before)


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}" if text else type(error).__name__
