"""Complete every family with the policy that buys nothing, so that every method has an answer at every budget.

A record holds the metrics of the empty policy on its rows (``empty``). They depend only on the data, the split and the
threshold. So metrics that a record lacks are taken from another record of the same rows, or from a record of the method
``majority``, which is the same policy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from bench_core import canonical_json
from bench_records.columns import values
from bench_records.records import KEY, Records
from bench_records.refusing import refusal_threshold

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["EMPTY", "complete"]

EMPTY = "empty"
"""The boolean column of a completed table that marks added rows; also the key of the empty policy in a record."""

_SETTING = ("dataset", "split", "seed")
"""The keys of a trial's identity that determine the rows on which answers are judged."""


def complete(records: Records) -> pd.DataFrame:
    """The policies of done trials, and an empty policy for each family if its metrics are known.

    A family has one data set, cost scheme, method and seed, and all points of the grid.

    Returns:
        The done rows of ``records.policies`` with a boolean column `EMPTY`, followed by the added rows.
    """
    import numpy as np
    import pandas as pd

    frame = records.policies
    if frame.empty:
        return frame.assign(**{EMPTY: False})
    done = frame[frame["status"] == "ok"]
    names = list(dict.fromkeys(values(done["name"])))
    settings = {name: _setting(records.identities[name]) for name in names}
    own = dict(_held(records, names))
    known: dict[str, dict[str, Any]] = {}
    for name, numbers in (*own.items(), *_majority(records, done, names)):
        known[settings[name]] = numbers | known.get(settings[name], {})
    last = done.drop_duplicates(KEY, keep="last")
    setting = last["name"].map(settings)
    last, setting = last[setting.isin(known)], setting[setting.isin(known)]
    columns = [column for column in done.columns if "." in column]
    rows = [known[key] | own.get(name, {}) for key, name in zip(setting, last["name"], strict=True)]
    filled = pd.DataFrame(rows, columns=columns, index=last.index, dtype=np.float64)
    added = last.assign(policy=last["policy"] + 1, label="empty policy", details="{}", budget=np.nan, **filled)
    return pd.concat([done.assign(**{EMPTY: False}), added.assign(**{EMPTY: True})], ignore_index=True)


def _setting(identity: Mapping[str, Any]) -> str:
    # Without the reject option the threshold only says when to stop, which does not change the empty policy.
    return canonical_json([*(identity.get(key) for key in _SETTING), refusal_threshold([identity])])


def _held(records: Records, names: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield names and the empty policy's metrics of records that hold them, by column of the table."""
    for name in names:
        empty = records.infos[name].get(EMPTY)
        if empty:
            parts = [(part, empty.get(part, {})) for part in ("validation", "test")]
            found = {f"{part}.{metric}": value for part, numbers in parts for metric, value in numbers.items()}
            yield name, _known(found)


def _majority(records: Records, done: pd.DataFrame, names: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield names and metrics of the records of the method ``majority``, by column of the table."""
    mine = {n for n in names if records.identities[n].get("method", {}).get("use") == "majority"}
    if mine:
        rows = done[done["name"].isin(mine)].drop_duplicates("name")
        columns = ["name", *(column for column in rows.columns if "." in column)]
        for row in rows[columns].to_dict("records"):
            yield str(row.pop("name")), _known({str(column): value for column, value in row.items()})


def _known(numbers: Mapping[str, Any]) -> dict[str, Any]:
    return {column: value for column, value in numbers.items() if value is not None and not math.isnan(value)}
