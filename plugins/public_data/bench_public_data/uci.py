"""The data source ``uci``: data sets of the UCI Machine Learning Repository, from its static archives."""

from __future__ import annotations

import os
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import quote_plus

from bench_core import DataContext, DataError, Dataset, DataSource, DataUnavailable
from bench_public_data import limits
from bench_public_data.exact_csv import read_exact
from bench_public_data.table_cache import CachedTable, table_hash
from bench_public_data.uci_archives import ARCHIVES, Archive, prepared

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ARCHIVES", "Archive", "Uci"]

_MOST_BYTES = 2**26
"""The largest size of a table in an archive; the known tables have less than a million bytes."""

_SERVER = "https://archive.ics.uci.edu/static/public"


@dataclass(frozen=True)
class Uci(DataSource):
    """A data set of the UCI repository by its number (519 heart failure, 45 heart disease, 46 hepatitis, …).

    Attributes:
        id: the repository's number.
    """

    network: ClassVar[bool] = True

    id: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.id not in ARCHIVES:
            known = ", ".join(f"{number} ({archive.name})" for number, archive in sorted(ARCHIVES.items()))
            raise ValueError(f"UCI data set {self.id} is not supported; supported: {known}")

    @property
    def archive(self) -> Archive:
        """The description of the data set's archive."""
        return ARCHIVES[self.id]

    def place(self, context: DataContext) -> CachedTable:
        """Return the table's place in the cache."""
        return CachedTable(context.cache / "uci", str(self.id))

    def hint(self) -> str:
        """Return how the data can be made available, for error messages."""
        return (
            f"run bench data fetch {self.archive.name}, with a network; or set BUDGETBENCH_MIRROR to a mirror that "
            f"holds uci/{self.id}/{self.archive.file}"
        )

    def mirrored(self, context: DataContext) -> list[Path]:
        """Return the table's files in the mirror, in ``uci/``, ``files/uci/`` or prepared; empty if there are none."""
        if context.mirror is None:
            return []
        archive = self.archive
        places = [
            [folder / str(self.id) / name for name in archive.files]
            for folder in (context.mirror / "uci", context.mirror / "files" / "uci")
        ]
        if archive.mirrored:
            places.append([context.mirror / "files" / name for name in archive.mirrored])
        return next((paths for paths in places if all(path.is_file() for path in paths)), [])

    def status(self, context: DataContext) -> str:
        """Return ``cached``, ``mirrored`` or ``missing``."""
        if self.place(context).note() is not None:
            return "cached"
        return "mirrored" if self.mirrored(context) else "missing"

    def fingerprint(self, context: DataContext) -> str | None:
        """Return the expected content hash, as no other table is ever loaded; None if the table is not cached yet."""
        return None if self.place(context).note() is None else f"uci-{self.id}:{self.archive.content}"

    def fetch(self, context: DataContext) -> None:
        """Put the table into the cache; a cached table is verified, and fetched again if damaged."""
        self.table(context)

    def table(self, context: DataContext) -> pd.DataFrame:
        """Return the verified table, as `prepared` for archives with ``classes``, else as it was parsed.

        Raises:
            DataUnavailable: the table is neither cached nor mirrored and cannot be downloaded.
            DataError: the file found is not the expected table.
        """
        place = self.place(context)
        cached = place.read()
        if cached is not None and cached[1]["content"] == self.archive.content:
            return cached[0]
        mirrored = self.mirrored(context)
        if not mirrored and context.offline:
            raise DataUnavailable(
                f"UCI data set {self.id} ({self.archive.name}) is not in {place.folder}, and downloads are disabled "
                f"(offline)",
                self.hint(),
            )
        with place.filling() as scratch:
            cached = place.read()
            if cached is not None and cached[1]["content"] == self.archive.content:
                return cached[0]
            if mirrored:
                frame = self._verified([path.read_bytes() for path in mirrored], [str(path) for path in mirrored])
            else:
                frame = self._download(scratch)
            place.write(
                frame,
                {
                    "id": self.id,
                    "name": self.archive.name,
                    "target": self.archive.target,
                    "licence": self.archive.licence,
                    "source": f"https://archive.ics.uci.edu/dataset/{self.id}",
                },
            )
        return frame

    def load(self, context: DataContext) -> Dataset:
        archive = self.archive
        frame = self.table(context)
        split = ["split"] if archive.test_file else []
        return Dataset.from_frame(
            archive.name,
            frame[[*archive.features, archive.target, *split]],
            archive.target,
            task="multiclass" if len(archive.classes) > 2 else "binary",
            split="split" if split else None,
            categorical=archive.categorical,
            provenance={
                "source": f"https://archive.ics.uci.edu/dataset/{self.id}",
                "licence": archive.licence,
                "table": archive.content,
            },
        )

    def _download(self, scratch: Path) -> pd.DataFrame:
        import requests

        server = os.environ.get("BUDGETBENCH_UCI_SERVER", _SERVER).rstrip("/")
        url = f"{server}/{self.id}/{quote_plus(self.archive.title)}.zip"
        guard = None
        try:
            with (
                limits.limited() as guard,
                requests.get(url, stream=True, timeout=limits.LIMITS.silence) as answer,
                tempfile.TemporaryFile(dir=scratch) as file,
            ):
                answer.raise_for_status()
                for block in answer.iter_content(1 << 16):
                    file.write(block)
                    if file.tell() > limits.LIMITS.most:  # the response may be compressed
                        raise limits.LimitError(f"the archive unpacks to more than {limits.LIMITS.most} bytes")
                with zipfile.ZipFile(file) as archive:
                    inside = {Path(name).name: name for name in archive.namelist()}
                    for name in self.archive.files:
                        if name not in inside:
                            raise DataError(f"{url}: the archive has no {name!r}, only {', '.join(sorted(inside))}")
                    for name in self.archive.files:
                        most = min(_MOST_BYTES, limits.LIMITS.most)
                        if archive.getinfo(inside[name]).file_size > most:
                            raise DataError(f"{url}: {name!r} is larger than {most} bytes")
                    data = [archive.read(inside[name]) for name in self.archive.files]
        except (requests.RequestException, zipfile.BadZipFile, OSError) as error:
            why = (guard.failure if guard else "") or f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
            raise DataUnavailable(
                f"UCI data set {self.id} could not be downloaded from {url}: {why}", self.hint()
            ) from error
        return self._verified(data, [f"{url}, {name}" for name in self.archive.files])

    def _verified(self, data: list[bytes], where: list[str]) -> pd.DataFrame:
        archive = self.archive
        try:
            frame = prepared(archive, [self._parsed(content) for content in data])
        except ValueError as error:
            raise DataError(f"{' and '.join(where)}: cannot be read as a table: {error}") from None
        digest = table_hash(frame)
        if digest != archive.content:
            raise DataError(
                f"{' and '.join(where)}: not the table of UCI {self.id}: the content hash is {digest[:16]}…, not "
                f"{archive.content[:16]}… ({len(frame)} rows, {len(frame.columns)} columns)"
            )
        return frame

    def _parsed(self, data: bytes) -> pd.DataFrame:
        archive, text = self.archive, data.decode("utf-8-sig")
        # A prepared table has a header and is separated by commas.
        if archive.mirrored and text.startswith(f"{archive.features[0]},"):
            return read_exact(text, ",")
        return read_exact(text, archive.separator, archive.columns)
