"""Published records whose definition the suite or the installed code has changed since: they wait to be recomputed."""

from __future__ import annotations

import json
from collections import Counter

from bench_core.suites import Suite
from bench_leaderboard.analysis.checksums import SLOT
from bench_leaderboard.analysis.losses import changes
from bench_leaderboard.analysis.records import Records

__all__ = ["outdated"]


def outdated(suite: Suite, records: Records) -> dict[tuple[str, str], int]:
    """Records that the suite would name otherwise now, whatever became of the data.

    Returns:
        (method, what changed) → how many records.
    """
    if records.policies.empty:
        return {}
    trials = {(t.dataset, t.costs, t.method, t.seed, t.point): t for t in suite.trials()}
    counts: Counter[tuple[str, str]] = Counter()
    frame = records.policies.drop_duplicates([*SLOT, "name"])
    for *slot, name in frame[[*SLOT, "name"]].to_numpy().tolist():
        trial, before = trials.get(tuple(slot)), records.identities.get(name)
        if trial is None or before is None:
            continue
        now = trial.identity(before["dataset"])
        if now != records.infos[name]["trial"]:
            counts[trial.method, "; ".join(changes(before, json.loads(now)))] += 1
    return dict(counts)
