"""Checksums of an export's records: of their content, not of the bytes that a version of a library wrote.

A record's checksum covers its labels, name and information, the definition of its data set, and the table of its
policies, with every column in which it has a number. It does not depend on the order of the rows, on other records, or
on the file format.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bench_core import canonical_json, sha256_text
from bench_records.columns import values

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SLOT", "Summed", "checksum_of_run", "checksums"]

SLOT = ["dataset", "costs", "method", "seed", "point"]
"""The labels that identify a trial in a suite."""


class Summed(NamedTuple):
    """A record of an export.

    Attributes:
        first: index of its first row.
        slot: values of `SLOT`.
        name: name of its trial.
        checksum: SHA-256, hexadecimal.
    """

    first: int
    slot: tuple[Any, ...]
    name: str
    checksum: str


def checksums(frame: pd.DataFrame, infos: Mapping[str, str], definitions: Mapping[str, str]) -> list[Summed]:
    """The checksum of every record in a table.

    Args:
        frame: policies, sorted by `bench_records.records.sort_policies`.
        infos: trial name → its information as text.
        definitions: data set → definition.

    Raises:
        ValueError: a numeric column holds something else.
    """
    if frame.empty:
        return []
    names = [*SLOT, "name"]
    texts = {key: values(frame[key]) for key in (*names, "status", "policy", "label", "details")}
    slots = list(zip(*(texts[key] for key in names), strict=True))
    starts = np.array([row for row, slot in enumerate(slots) if not row or slot != slots[row - 1]])
    ends = [*starts[1:].tolist(), len(frame)]
    columns = sorted(c for c in frame.columns if "." in c or c == "budget")
    numbers = np.array(frame[columns].to_numpy(dtype="<f8", na_value=np.nan), order="C")
    there = ~np.isnan(numbers)
    used = np.logical_or.reduceat(there, starts, axis=0)
    numbers[~there] = np.nan  # all missing numbers have the same bits
    sums = []
    for start, end, mask in zip(starts.tolist(), ends, used, strict=True):
        slot = tuple(texts[key][start] for key in SLOT)
        name = texts["name"][start]
        head = {
            "slot": slot,
            "name": name,
            "definition": definitions.get(slot[0]),
            "columns": [column for column, is_used in zip(columns, mask, strict=True) if is_used],
            **{key: texts[key][start:end] for key in ("status", "policy", "label", "details")},
        }
        digest = hashlib.sha256(canonical_json(head).encode())
        digest.update(infos[name].encode())
        digest.update(numbers[start:end, mask].tobytes())
        sums.append(Summed(start, slot, name, digest.hexdigest()))
    return sums


def checksum_of_run(name: str, run: str) -> str:
    """The checksum of a trial's name and its run (provenance and timings, as text)."""
    return sha256_text(f"{name}|{run}")
