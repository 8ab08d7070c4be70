"""Base models run and time to decide: in records, and on pages."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from bench_analysis.analysed import Analysed
from bench_leaderboard.render.timings import render_timings
from bench_records.records import tabulate
from hypothesis import given
from hypothesis import strategies as st
from support.synthetic import labelled, record_of, suite_of
from support.tiny_plugin import Blobs

from bench_core import DataContext, Decisions, Family, Method, Policy, Problem, Rows
from bench_core.builtin.cost_schemes import Uniform
from bench_core.builtin.metrics import BUILT_IN
from bench_core.protocol.prepare import Prepared, prepare
from bench_core.protocol.split import SplitRule
from bench_core.run.run_trial import TrialResult, run_trial
from bench_core.run.summary import MOST_BARS, distribution
from bench_core.run.trial import Trial


def decided(runs: Any) -> Decisions:
    given = None if runs is None else np.asarray(runs, dtype=float)
    return Decisions(np.zeros((0 if given is None else len(given), 1), dtype=bool), evaluations=given)


@given(
    st.lists(st.lists(st.integers(0, 700), min_size=1, max_size=30), min_size=1, max_size=3),
    st.one_of(st.none(), st.integers(1, 1000)),
)
def test_every_row_is_counted_in_the_bar_it_belongs_to(policies: list[list[int]], full: int | None) -> None:
    found = distribution([decided(one) for one in policies], None if full is None else decided([full]))
    assert found is not None
    width = found["width"]
    most = max([full or 0, *(run for one in policies for run in one)])
    assert width == 1 or width // 2 * MOST_BARS < most <= width * MOST_BARS
    for runs, counts in zip(policies, found["counts"], strict=True):
        assert len(counts) == max(1, -(-most // width))
        for bar, count in enumerate(counts):
            low = -1 if bar == 0 else width * bar
            assert count == sum(low < run <= width * (bar + 1) for run in runs)


def test_policies_that_do_not_report_base_models_have_no_histogram() -> None:
    assert distribution([decided(None)]) is None
    assert distribution([decided([])]) is None
    assert distribution([decided([3, 1]), decided(None)]) == {"width": 1, "counts": [[1, 0, 1], None]}


class Busy(Policy):
    """Uses this many milliseconds of processor time for any rows, and counts its calls."""

    def __init__(self, milliseconds: float, models: int) -> None:
        self.seconds, self.models = milliseconds / 1000, models
        self.asked = 0

    def decide(self, rows: Rows) -> Decisions:
        self.asked += 1
        end = time.process_time() + self.seconds
        while time.process_time() < end:
            pass
        count = len(rows)
        return Decisions(
            np.zeros((count, 5), dtype=bool), np.full((count, 2), 0.5), evaluations=np.full(count, self.models)
        )


@dataclass(frozen=True)
class Spin(Method):
    """Two policies, of 3 and of 1 ms, and a reference of 9 ms."""

    made: ClassVar[list[Busy]] = []

    def fit(self, problem: Problem) -> Family:
        self.made[:] = [Busy(3, 2), Busy(1, 1), Busy(9, 4)]
        return Family(self.made[:2], self.made[2])


@dataclass(frozen=True)
class Share(Spin):
    """The same, with a slow result that its fits share.

    Attributes:
        key: name of the result.
    """

    key: str = "slow"
    calls: ClassVar[list[str]] = []

    def fit(self, problem: Problem) -> Family:
        def make() -> str:
            self.calls.append(self.key)
            time.sleep(0.05)
            return self.key

        assert problem.shared(self.key, make) == self.key
        return super().fit(problem)


def run(method: Method, prepared: Prepared | None = None) -> TrialResult:
    data, scheme, rule = Blobs().load(DataContext(Path())), Uniform(), SplitRule()
    prepared = prepared or prepare(data, scheme, rule, "ordinal", 0, 1)
    trial = Trial(
        "A", "blobs", Blobs(), "uniform", "uniform", scheme, "spin", "spin", method, 0, rule, "ordinal", None, False, 0
    )
    return run_trial(trial, data, prepared, {"error": next(m for m in BUILT_IN if m.name == "error")})


def test_a_record_keeps_how_long_each_policy_decided_on_the_test_rows_and_how_many_base_models_rows_ran() -> None:
    began = time.process_time()
    record = run(Spin()).record
    spent = time.process_time() - began
    assert record["status"] == "ok", record
    kept = [*record["timings"]["decide_per_policy"], record["timings"]["decide_reference"]]
    assert all(seconds >= policy.seconds for seconds, policy in zip(kept, Spin.made, strict=True))
    # The stored times do not include deciding on validation rows and for the audit.
    assert sum(kept) <= spent - sum((policy.asked - 1) * policy.seconds for policy in Spin.made)
    rows = record["rows"]["test"]
    assert record["evaluations"] == {"width": 1, "counts": [[0, rows, 0, 0], [rows, 0, 0, 0]]}


def test_the_time_to_fit_counts_what_an_earlier_fit_made() -> None:
    scheme, rule = Uniform(), SplitRule()
    prepared = prepare(Blobs().load(DataContext(Path())), scheme, rule, "ordinal", 0, 1)
    Share.calls.clear()
    alone, reusing, other = (
        run(Share(key=key), prepared).record["timings"]["fit"] for key in ("slow", "slow", "another")
    )
    assert Share.calls == ["slow", "another"], "a known key is not made again, another key is"
    assert min(alone, reusing, other) >= 0.05


def timed(timings: list[dict[str, Any]]) -> Any:
    records = [record_of("D1", "good", seed, {"error": 0.1}) for seed in range(len(timings))]
    for record, more in zip(records, timings, strict=True):
        record["timings"] = {**record["timings"], **more}
    return tabulate(labelled(records))


def test_the_page_of_timings_has_the_selected_policy_per_row_and_the_full_model_beside_it() -> None:
    suite = suite_of(["D1"], ["good"], seeds=2)
    assert "Time to decide a row" not in render_timings(Analysed(suite, timed([{}, {}])))
    alone = render_timings(Analysed(suite, timed([{"decide_per_policy": [s]} for s in (25e-6, 75e-6)])))
    assert "Speed-up" not in alone
    row = alone.partition("Time to decide a row")[2].partition("| D1")[2].partition("\n")[0]
    assert [cell.strip() for cell in row.split("|")[1:4]] == ["good", "2", "2.00 ± 71 %"]
    both = [{"decide_per_policy": [25e-6], "decide_reference": s} for s in (50e-6, 100e-6)]
    page = render_timings(Analysed(suite, timed(both)))
    row = page.partition("Time to decide a row")[2].partition("| D1")[2].partition("\n")[0]
    assert [cell.strip() for cell in row.split("|")[1:6]] == ["good", "2", "1.00 ± 0 %", "3.00 ± 47 %", "3.00x"]
    assert "Base models" not in page, "only what the records have"
    # The reference's time on the test rows is part of deciding and is not added again.
    assert "All trials together: 0.000346 hours" in page


def test_base_models_and_disagreement_with_the_full_model_stand_beside_the_times() -> None:
    suite = suite_of(["D1"], ["good"], seeds=2, metrics=["disagreement", "mean-base-models"], threshold=None)
    records = []
    for seed, (differ, models) in enumerate(((0.004, 1.5), (0.005, 2.0))):
        numbers = {"disagreement": differ, "mean-base-models": models}
        record = record_of("D1", "good", seed, numbers, threshold=None)
        timings = {"decide_per_policy": [25e-6], "decide_reference": 50e-6}
        records.append({**record, "timings": {**record["timings"], **timings}})
    page = render_timings(Analysed(suite, tabulate(labelled(records))))
    row = page.partition("Time to decide a row")[2].partition("| D1")[2].partition("\n")[0]
    cells = [cell.strip() for cell in row.split("|")[1:8]]
    assert cells == ["good", "2", "0.004500", "1.750", "1.00 ± 0 %", "2.00 ± 0 %", "2.00x"]
