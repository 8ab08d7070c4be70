"""Metrics requested after a trial are computed from its stored decisions, with the same result as in the trial."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import tiny_plugin
from support.publishing import PUBLISHING
from support.sessions import Place

from bench_core import Metric, Outcome, hookimpl
from bench_core.plugins.manager import load_registry
from bench_core.records import stored_records


def accepted(outcome: Outcome) -> float:
    """Share of rows whose answer is not refused."""
    return float(np.mean(outcome.conclusive))


ACCEPTED = {"accepted": Metric("accepted", accepted, "max")}
SUITE = """
[protocol]
seeds = 1
threshold = 0.9
[[datasets]]
use = "blobs"
[[methods]]
use = "slopes"
reject = {}
"""


@pytest.mark.parametrize("reject", [True, False])
def test_a_metric_added_later_refuses_answers_only_where_the_trial_did(tmp_path: Path, reject: bool) -> None:
    text = SUITE.format(str(reject).lower())
    place = Place(tmp_path)
    place.run(text)
    session = place.session(text)
    plan = session.plan()
    ((_, before),) = stored_records(plan, session.store, {})
    assert before is not None
    assert "accepted" not in before["policies"]["test"]

    ((planned, after),) = stored_records(plan, session.store, ACCEPTED)

    assert after is not None
    for part in ("validation", "test"):
        outcomes = [one.outcome for one in session.store.outcomes(planned.name, "binary", None) if one.part == part]
        sure = [float(np.mean(outcome.confidence >= 0.9)) for outcome in outcomes]
        assert max(sure) < 1
        assert after["policies"][part]["accepted"] == (sure if reject else [1.0] * 3)
        assert after["empty"][part]["accepted"] == (0.0 if reject else 1.0)  # half of the rows are of each class


def test_a_metric_added_later_that_is_undefined_is_stored_as_missing(tmp_path: Path) -> None:
    text = SUITE.format("true")
    place = Place(tmp_path)
    place.run(text)
    session = place.session(text)
    undefined = {"undefined": Metric("undefined", lambda outcome: float("nan"), "max")}
    for _ in range(2):  # computed, then read
        ((_, record),) = stored_records(session.plan(), session.store, undefined)
        assert record is not None
        assert record["policies"]["test"]["undefined"] == [None] * 3
        assert record["empty"]["test"]["undefined"] is None


class Faulty:
    """A plugin with a metric that fails for the last policy when `broken` is set."""

    BENCH_CONTRACT_VERSION = 1
    broken = True

    def shaky(self, outcome: Outcome) -> float:
        if self.broken and outcome.confidence.max() > 0.99:  # of the steepest slope
            raise IndexError("no row 7")
        return 0.5

    @hookimpl
    def bench_register_metrics(self, register: Any) -> None:
        register(Metric("shaky", self.shaky, "max"))


def test_a_metric_that_fails_keeps_the_trial_and_is_named_with_it(tmp_path: Path) -> None:
    plugin, text = Faulty(), SUITE.format("false")
    registry = load_registry([*PUBLISHING, ("tiny", tiny_plugin), ("faulty", plugin)], entry_points=False)
    place, without = Place(tmp_path, registry, ("cost", "shaky")), Place(tmp_path, registry)
    for computed in (1, 0):  # in the trial, and from stored decisions
        report = place.run(text)
        assert (report.summary.computed, report.summary.failures, report.exit_code) == (computed, [], 1)
        assert report.refused == (
            "slopes on blobs, costs uniform, seed 0: metric 'shaky' must return a number or NaN: IndexError: no row 7"
        )
    assert without.run(text).exit_code == 0  # a suite without the metric uses the same record

    plugin.broken = False
    report = place.run(text)
    assert (report.summary.computed, report.exit_code) == (0, 0)
    ((_, record),) = stored_records(place.session(text).plan(), place.session(text).store, {})
    assert record is not None
    assert record["policies"]["test"]["shaky"] == [0.5] * 3
