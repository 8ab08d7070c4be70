"""The times that trials took."""

from __future__ import annotations

import math
from collections.abc import Iterable

from bench_records.records import Records

__all__ = ["times_of"]


def times_of(records: Records, names: Iterable[str]) -> tuple[list[float], list[float]]:
    """Times of trials; those that were not timed are left out.

    Args:
        records: records that include the trials.
        names: names of the trials.

    Returns:
        Seconds of each fit; and for each trial the microseconds to decide on a test row, a mean over its policies.
    """
    fits, rows = [], []
    for name in names:
        timings = records.runs.get(name, {}).get("timings", {})
        tested = records.infos[name].get("rows", {}).get("test", 0)
        if "fit" in timings:
            fits.append(float(timings["fit"]))
        if tested and (seconds := timings.get("decide_per_policy")):
            rows.append(1e6 * math.fsum(seconds) / len(seconds) / tested)
    return fits, rows
