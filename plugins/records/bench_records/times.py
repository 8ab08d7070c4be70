"""How long a method's trials took."""

from __future__ import annotations

import math
from collections.abc import Iterable

from bench_records.records import Records

__all__ = ["times_of"]


def times_of(records: Records, names: Iterable[str]) -> tuple[list[float], list[float]]:
    """Seconds of each fit; microseconds to decide a test row, the mean over the policies of each family.

    Trials that were not timed are left out.

    Args:
        records: they have the trials.
        names: of the trials.
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
