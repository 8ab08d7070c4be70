"""Read and write ``verified.json`` beside a page: published records that were recomputed strictly and came out equal.

The file holds their checksums, so a record that has changed since no longer counts as verified.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path

from bench_core import RequestError, canonical_json, sha256_text
from bench_core.records import seal, unseal
from bench_records.checksums import checksums
from bench_records.records import Records

__all__ = ["VERIFIED", "read_verified", "sealed", "strict_records", "with_verified"]

VERIFIED = "verified.json"


def read_verified(folder: Path) -> dict[str, str]:
    """Name of a record → its checksum when it was verified; empty if nothing was verified.

    Raises:
        RequestError: the file is damaged.
    """
    path = folder / VERIFIED
    try:
        return {str(name): str(checksum) for name, checksum in unseal(path.read_bytes())["verified"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise RequestError(f"{path} is damaged ({error}); remove it and verify again") from None


def with_verified(known: Mapping[str, str], records: Records, names: Collection[str]) -> bytes:
    """The file's content after more records were verified; known ones that changed since are left out."""
    now = _checksums(records, {*known, *names})
    kept = {name: checksum for name, checksum in known.items() if now.get(name) == checksum}
    return sealed(kept | {name: now[name] for name in names})


def sealed(verified: Mapping[str, str]) -> bytes:
    """The file's content, from checksums by name of a record."""
    return seal({"verified": dict(verified)})


def strict_records(records: Records, verified: Mapping[str, str]) -> tuple[int, int]:
    """The number of records that were computed strictly, and of others that were verified strictly."""
    computed = {name for name, run in records.runs.items() if run["provenance"].get("isolation") == "strict"}
    now = _checksums(records, verified.keys() - computed)
    return len(computed), sum(verified[name] == checksum for name, checksum in now.items())


def _checksums(records: Records, names: Collection[str]) -> dict[str, str]:
    """The checksums of some records, by name; missing records are left out."""
    frame = records.policies[records.policies["name"].isin(set(names))]
    infos = {name: canonical_json(records.infos[name]) for name in frame["name"].unique()}
    sums: dict[str, list[str]] = defaultdict(list)
    for summed in checksums(frame, infos, records.definitions):
        sums[summed.name].append(summed.checksum)
    return {name: sha256_text(canonical_json(parts)) for name, parts in sums.items()}
