"""Data sets of the UCI Machine Learning Repository, from its static archives."""

from __future__ import annotations

import os
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import quote_plus

from bench_core import DataContext, DataError, Dataset, DataSource, DataUnavailable
from bench_public_data.exact_csv import read_exact
from bench_public_data.table_cache import CachedTable, table_hash

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ARCHIVES", "Archive", "Uci"]

_SERVER = "https://archive.ics.uci.edu/static/public"
_SECONDS = 60.0


@dataclass(frozen=True)
class Archive:
    """One data set of the repository: how to get it and how to read it.

    Attributes:
        name: what tables call it.
        title: the archive's name on the server, without ``.zip``.
        file: the table's file in the archive.
        separator: between two values.
        columns: names in file order, when the file has no header.
        features: the features in the order they are used in.
        target: the target column.
        categorical: features that are categories, given as integers.
        licence: as the repository states it.
        content: `table_hash` of the parsed table. An archive's bytes can change, this cannot.
    """

    name: str
    title: str
    file: str
    separator: str
    columns: tuple[str, ...]
    features: tuple[str, ...]
    target: str
    categorical: tuple[str, ...]
    licence: str
    content: str


ARCHIVES: dict[int, Archive] = {
    519: Archive(
        name="heart",
        title="heart failure clinical records",
        file="heart_failure_clinical_records_dataset.csv",
        separator=",",
        columns=(),
        # EMSCO, Table 2: F1..F12 (time is the follow-up period). The file's own order is another.
        features=(
            "age",
            "anaemia",
            "high_blood_pressure",
            "creatinine_phosphokinase",
            "diabetes",
            "ejection_fraction",
            "platelets",
            "sex",
            "serum_creatinine",
            "serum_sodium",
            "smoking",
            "time",
        ),
        target="DEATH_EVENT",
        categorical=("anaemia", "high_blood_pressure", "diabetes", "sex", "smoking"),
        licence="CC BY 4.0",
        content="59195f5c8987be191a9715681587e32a475bf8d214673392361257bf8926a507",
    ),
    143: Archive(
        name="credit",
        title="statlog australian credit approval",
        file="australian.dat",
        separator=" ",
        columns=(*(f"A{i}" for i in range(1, 15)), "class"),
        features=tuple(f"A{i}" for i in range(1, 15)),
        target="class",
        # EMSCO, Table 5.
        categorical=("A1", "A4", "A5", "A6", "A8", "A9", "A11", "A12"),
        licence="CC BY 4.0",
        content="46531f4b403ada279d58280879d983b3d3e455275ca77fa8d4af1729267124b5",
    ),
}


@dataclass(frozen=True)
class Uci(DataSource):
    """A data set of the UCI repository by its number (519 heart failure, 143 Australian credit).

    Attributes:
        id: the repository's number.
    """

    network: ClassVar[bool] = True

    id: int

    def __post_init__(self) -> None:
        if self.id not in ARCHIVES:
            known = ", ".join(f"{number} ({archive.name})" for number, archive in sorted(ARCHIVES.items()))
            raise ValueError(f"UCI data set {self.id} is not known here; known: {known}")

    @property
    def archive(self) -> Archive:
        """What is known of the data set."""
        return ARCHIVES[self.id]

    def place(self, context: DataContext) -> CachedTable:
        """Where the cache keeps the table."""
        return CachedTable(context.cache / "uci", str(self.id))

    def hint(self) -> str:
        """What would bring the data."""
        return (
            f"bench data fetch {self.archive.name}, with a network; or name a mirror (BUDGETBENCH_MIRROR) that "
            f"holds uci/{self.id}/{self.archive.file}"
        )

    def mirrored(self, context: DataContext) -> Path | None:
        """The table's file in the mirror: below ``uci/`` or ``files/uci/``."""
        if context.mirror is None:
            return None
        for folder in (context.mirror / "uci", context.mirror / "files" / "uci"):
            path = folder / str(self.id) / self.archive.file
            if path.is_file():
                return path
        return None

    def status(self, context: DataContext) -> str:
        """``cached``, ``mirrored`` or ``missing``."""
        if self.place(context).note() is not None:
            return "cached"
        return "mirrored" if self.mirrored(context) is not None else "missing"

    def fingerprint(self, context: DataContext) -> str | None:
        """The expected content hash: no other table is ever loaded. None when the table is not cached yet."""
        return None if self.place(context).note() is None else f"uci-{self.id}:{self.archive.content}"

    def fetch(self, context: DataContext) -> None:
        """Bring the table into the cache; a cached table is verified, and fetched again when damaged."""
        self.table(context)

    def table(self, context: DataContext) -> pd.DataFrame:
        """The verified table, in file order.

        Raises:
            DataUnavailable: it is neither cached nor mirrored and cannot be downloaded.
            DataError: what was found is not the expected table.
        """
        place = self.place(context)
        found = place.read()
        if found is not None and found[1]["content"] == self.archive.content:
            return found[0]
        mirrored = self.mirrored(context)
        if mirrored is None and context.offline:
            raise DataUnavailable(
                f"UCI data set {self.id} ({self.archive.name}) is not in {place.folder}, and working offline "
                f"was asked for",
                self.hint(),
            )
        with place.filling() as scratch:
            found = place.read()
            if found is not None and found[1]["content"] == self.archive.content:
                return found[0]
            if mirrored is not None:
                frame = self._verified(mirrored.read_bytes(), str(mirrored))
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
        return Dataset.from_frame(
            archive.name,
            frame[[*archive.features, archive.target]],
            archive.target,
            task="binary",
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
        try:
            with (
                requests.get(url, stream=True, timeout=_SECONDS) as answer,
                tempfile.TemporaryFile(dir=scratch) as file,
            ):
                answer.raise_for_status()
                for block in answer.iter_content(1 << 16):
                    file.write(block)
                with zipfile.ZipFile(file) as archive:
                    inside = {Path(name).name: name for name in archive.namelist()}
                    if self.archive.file not in inside:
                        raise DataError(
                            f"{url}: the archive has no {self.archive.file!r}, only {', '.join(sorted(inside))}"
                        )
                    data = archive.read(inside[self.archive.file])
        except (requests.RequestException, zipfile.BadZipFile, OSError) as error:
            raise DataUnavailable(
                f"UCI data set {self.id} could not be downloaded from {url}: {type(error).__name__}: {error}",
                self.hint(),
            ) from error
        return self._verified(data, f"{url}, {self.archive.file}")

    def _verified(self, data: bytes, where: str) -> pd.DataFrame:
        archive = self.archive
        try:
            frame = read_exact(data.decode("utf-8-sig"), archive.separator, archive.columns)
        except ValueError as error:
            raise DataError(f"{where}: cannot be read as a table: {error}") from None
        found = table_hash(frame)
        if found != archive.content:
            raise DataError(
                f"{where}: this is not the table of UCI {self.id}: its content hash is {found[:16]}…, "
                f"{archive.content[:16]}… is expected ({len(frame)} rows, {len(frame.columns)} columns were read)"
            )
        return frame
