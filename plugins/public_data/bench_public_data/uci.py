"""Tables in archives: the source ``uci`` (the UCI Machine Learning Repository), and PhysioNet 2012 from GitHub."""

from __future__ import annotations

import io
import os
import tempfile
import zipfile
from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, ClassVar
from urllib.parse import quote_plus

from bench_core import DataContext, DataError, Dataset, DataSource, DataUnavailable
from bench_public_data import limits
from bench_public_data.exact_csv import read_exact
from bench_public_data.table_cache import CachedTable, table_hash
from bench_public_data.uci_archives import ARCHIVES, PHYSIONET, Archive
from bench_public_data.uci_table import prepared

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ARCHIVES", "Archive", "PhysioNetTable", "TableInArchive", "Uci"]

_MOST_BYTES = 2**26
"""The largest size of a table in an archive, in bytes, far above the size of every supported table."""

_UCI = "https://archive.ics.uci.edu/static/public"
_GITHUB = "https://raw.githubusercontent.com"


class TableInArchive(DataSource):
    """A table that is downloaded once, alone or in an archive, and accepted only with the expected content hash."""

    network: ClassVar[bool] = True

    @property
    @abstractmethod
    def archive(self) -> Archive:
        """The description of the data set's archive."""

    @property
    @abstractmethod
    def home(self) -> str:
        """The page of the data set, for its provenance."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The data set's name in messages."""

    @property
    @abstractmethod
    def key(self) -> tuple[str, str]:
        """Folder and name of the table in the cache and in a mirror."""

    @abstractmethod
    def url(self) -> str:
        """Return the address that the table or its archive is downloaded from."""

    def place(self, context: DataContext) -> CachedTable:
        """Return the table's place in the cache."""
        folder, name = self.key
        return CachedTable(context.cache / folder, name)

    def hint(self) -> str:
        """Return how the data can be made available, for error messages."""
        return (
            f"run bench data fetch {self.archive.name}, with a network; or set BUDGETBENCH_MIRROR to a mirror that "
            f"holds {self.archive.mirrored[0] if self.archive.mirrored else '/'.join((*self.key, self.archive.file))}"
        )

    def mirrored(self, context: DataContext) -> list[Path]:
        """Return the table's files in the mirror, as downloaded or prepared; empty if there are none."""
        if context.mirror is None:
            return []
        archive, (folder, key) = self.archive, self.key
        places = [
            [start / folder / key / name for name in archive.files]
            for start in (context.mirror, context.mirror / "files")
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
        return None if self.place(context).note() is None else f"{'-'.join(self.key)}:{self.archive.content}"

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
                f"{self.title} ({self.archive.name}) is not in {place.folder}, and downloads are disabled (offline)",
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
                    "id": self.key[1],
                    "name": self.archive.name,
                    "target": self.archive.target,
                    "licence": self.archive.licence,
                    "source": self.home,
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
            provenance={"source": self.home, "licence": archive.licence, "table": archive.content},
        )

    def _download(self, scratch: Path) -> pd.DataFrame:
        import requests

        url = self.url()
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
                data = self._unpacked(file, url)
        except (requests.RequestException, zipfile.BadZipFile, OSError) as error:
            why = (guard.failure if guard else "") or f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
            raise DataUnavailable(f"{self.title} could not be downloaded from {url}: {why}", self.hint()) from error
        return self._verified(data, [f"{url}, {name}" for name in self.archive.files])

    def _unpacked(self, file: IO[bytes], url: str) -> list[bytes]:
        """Return the files of a download: members of the archive, or of the archive in it, or the table itself.

        Raises:
            DataError: a file is missing, or too large.
        """
        most = min(_MOST_BYTES, limits.LIMITS.most)
        if not url.endswith(".zip"):
            file.seek(0)
            content = file.read(most + 1)
            if len(content) > most:
                raise DataError(f"{url}: larger than {most} bytes")
            return [content]
        with zipfile.ZipFile(file) as archive:
            if self.archive.inner:
                with zipfile.ZipFile(io.BytesIO(_member(archive, self.archive.inner, url, most))) as inner:
                    return [_member(inner, name, url, most) for name in self.archive.files]
            return [_member(archive, name, url, most) for name in self.archive.files]

    def _verified(self, data: list[bytes], where: list[str]) -> pd.DataFrame:
        archive = self.archive
        try:
            frame = prepared(archive, [self._parsed(content) for content in data])
        except ValueError as error:
            raise DataError(f"{' and '.join(where)}: cannot be read as a table: {error}") from None
        digest = table_hash(frame)
        if digest != archive.content:
            raise DataError(
                f"{' and '.join(where)}: not the table of {self.title}: the content hash is {digest[:16]}…, not "
                f"{archive.content[:16]}… ({len(frame)} rows, {len(frame.columns)} columns)"
            )
        return frame

    def _parsed(self, data: bytes) -> pd.DataFrame:
        archive, text = self.archive, data.decode("utf-8-sig")
        if not archive.blanks:
            text = text.replace(" ", "").replace("\t", "")
        if archive.file.endswith(".arff") and "@data" in text:
            return read_exact(text.split("@data", 1)[1].lstrip(), archive.separator, archive.columns)
        # A prepared table, or one that is served without an archive, has a header and is separated by commas.
        headed = archive.mirrored or archive.file.endswith(".arff")
        if headed and text.startswith(f"{archive.features[0]},"):
            return read_exact(text, ",")
        return read_exact(text, archive.separator, archive.columns)


def _member(archive: zipfile.ZipFile, name: str, url: str, most: int) -> bytes:
    """Return a member of an archive by its file name, in any folder.

    Raises:
        DataError: there is none, or it has more than ``most`` bytes.
    """
    inside = {Path(path).name: path for path in archive.namelist()}
    if name not in inside:
        raise DataError(f"{url}: the archive has no {name!r}, only {', '.join(sorted(inside))}")
    if archive.getinfo(inside[name]).file_size > most:
        raise DataError(f"{url}: {name!r} is larger than {most} bytes")
    return archive.read(inside[name])


@dataclass(frozen=True)
class Uci(TableInArchive):
    """A data set of the UCI repository by its number (519 heart failure, 45 heart disease, 222 bank marketing, …).

    Attributes:
        id: the repository's number.
    """

    id: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.id not in ARCHIVES:
            known = ", ".join(f"{number} ({archive.name})" for number, archive in sorted(ARCHIVES.items()))
            raise ValueError(f"UCI data set {self.id} is not supported; supported: {known}")

    @property
    def archive(self) -> Archive:
        return ARCHIVES[self.id]

    @property
    def home(self) -> str:
        return f"https://archive.ics.uci.edu/dataset/{self.id}"

    @property
    def title(self) -> str:
        return f"UCI data set {self.id}"

    @property
    def key(self) -> tuple[str, str]:
        return "uci", str(self.id)

    def url(self) -> str:
        server = os.environ.get("BUDGETBENCH_UCI_SERVER", _UCI).rstrip("/")
        title = self.archive.title
        return f"{server}/{self.id}/{title if title.endswith('.csv') else f'{quote_plus(title)}.zip'}"


@dataclass(frozen=True)
class PhysioNetTable(TableInArchive):
    """The table of the PhysioNet/CinC Challenge 2012 that AFABench keeps, at a fixed commit of its repository."""

    @property
    def archive(self) -> Archive:
        return PHYSIONET

    @property
    def home(self) -> str:
        return "https://physionet.org/content/challenge-2012/"

    @property
    def title(self) -> str:
        return "PhysioNet 2012"

    @property
    def key(self) -> tuple[str, str]:
        return "afabench", "physionet"

    def url(self) -> str:
        server = os.environ.get("BUDGETBENCH_GITHUB_SERVER", _GITHUB).rstrip("/")
        return f"{server}/{self.archive.title}"
