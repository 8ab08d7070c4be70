"""Published records are recomputed and compared: equal ones, changed ones, and those whose data is unavailable."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from bench_records.committed import records_of
from bench_records.differences import strays
from bench_records.exports import read_export, write_export
from bench_records.files import write_files
from bench_records.records import Records
from bench_records.verification import Verified, sample_of, verify
from support import tiny_plugin
from support.bench import Bench
from support.publishing import PUBLISHING
from support.sessions import Place

from bench_core import DataFacts, Decisions, Method, Policy, Problem, RegisterMethod, RequestError, Rows, hookimpl
from bench_core.execution import Options
from bench_core.records import Store
from bench_core.suites import load_registry

SUITE = '[protocol]\nseeds = 3\n[[datasets]]\nuse = "blobs"\n[[methods]]\nuse = "slopes"\n'


ON_KERNELS = pytest.mark.parametrize(("kernels", "errors"), [(None, 3), (["another"], 0)], ids=["same", "other"])
OTHER = ["another"]
STEPS = SUITE.replace("slopes", "steps")
OUTCOME = {3: "refuted", 0: "undecided"}


class Staged(Policy):
    """Every row runs three base models."""

    def decide(self, rows: Rows) -> Decisions:
        nothing = np.zeros((len(rows), 5), dtype=bool)
        return Decisions(nothing, np.full((len(rows), 2), 0.5), evaluations=np.full(len(rows), 3))


@dataclass(frozen=True)
class StagedMethod(Method):
    """A method whose policy reports the number of base models that it runs."""

    def fit(self, problem: Problem) -> list[Policy]:
        return [Staged()]


class FirstFeatures(Policy):
    """Acquires the first features of every row."""

    def __init__(self, count: int, label: str = "") -> None:
        self.count, self.label = count, label or f"{count} features"

    def decide(self, rows: Rows) -> Decisions:
        acquired = np.arange(5) < np.full((len(rows), 1), self.count)
        return Decisions(acquired, np.full((len(rows), 2), 0.5))


@dataclass(frozen=True)
class Steps(Method):
    """A family of five policies of different costs, and a copy of the last one."""

    def fit(self, problem: Problem) -> list[Policy]:
        return [*map(FirstFeatures, range(1, 6)), FirstFeatures(5, "the same")]


@dataclass(frozen=True)
class Never(Method):
    """A method for no data set, which would succeed."""

    def inapplicable(self, data: DataFacts) -> str | None:
        return "it does nothing"

    def fit(self, problem: Problem) -> list[Policy]:
        return [FirstFeatures(1)]


class Methods:
    """The plugin of these methods."""

    BENCH_CONTRACT_VERSION = 1

    @staticmethod
    @hookimpl
    def bench_register_methods(register: RegisterMethod) -> None:
        register("stages", StagedMethod)
        register("steps", Steps)
        register("never", Never)


def place_with_methods(folder: Path) -> Place:
    """A folder in which these methods can be run and published."""
    return Place(folder, load_registry([*PUBLISHING, ("tiny", tiny_plugin), ("methods", Methods)], entry_points=False))


@pytest.fixture
def steps(tmp_path: Path) -> Place:
    """A folder in which the records of this method are published."""
    place = place_with_methods(tmp_path)
    place.run(STEPS)
    return place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder in which the suite is published."""
    place = Place(tmp_path)
    place.run(SUITE)
    return place


def verified(
    place: Place,
    change: Callable[[Records], None],
    kernels: list[str] | None = None,
    suite: str = SUITE,
    sample: str = "3",
) -> Verified:
    """Change the records, publish them as computed with the given kernels (None: the true ones), and verify them."""
    session = place.session(suite)
    records = records_of(session)
    change(records)
    for run in records.runs.values():
        run["provenance"]["kernels"] = kernels or run["provenance"]["kernels"]
    write_files(write_export(records, session.folder))
    return verify(place.session(suite, store="none"), sample, 0, Options(isolation="none"))


def test_what_was_published_is_recomputed_as_it_was(place: Place) -> None:
    found = verify(place.session(SUITE, store="none"), "100%", 0, Options(isolation="none"))
    assert [one.outcome for one in found.verdicts] == ["equal"] * found.published
    assert found.published == 3
    assert not found.refuted
    assert Store(place.folder / "none").names() == (set(), set()), "the session's own store holds no record of it"


def _raise(column: str, by: float) -> Callable[[Records], None]:
    def change(records: Records) -> None:
        records.policies.loc[1, column] += by

    return change


def test_a_number_that_was_changed_before_it_was_published_is_refuted(place: Place) -> None:
    found = verified(place, _raise("test.cost", 0.5))
    assert [one.outcome for one in found.verdicts].count("equal") == 2
    (refuted,) = found.refuted
    assert refuted.reason.startswith("test.cost by ")


@pytest.mark.slow
@pytest.mark.parametrize("kernels", [None, ["another"]], ids=["same", "other"])
@pytest.mark.parametrize("to", [0.001, 40.0, math.nan])
@pytest.mark.parametrize("also", [{}, {"label": "another"}, {"policy": 0}], ids=["as is", "relabelled", "alone"])
def test_invented_numbers_are_refuted_whatever_machine_a_record_names(
    place: Place, kernels: list[str] | None, to: float, also: dict[str, str | int]
) -> None:
    def change(records: Records) -> None:
        if "policy" in also:
            records.policies = records.policies[records.policies["policy"] == 0].reset_index(drop=True)
        if "label" in also:
            records.policies["label"] = also["label"]
        records.policies["test.cost"] = to

    assert len(verified(place, change, kernels).refuted) == 3


@pytest.mark.slow
def test_the_command_names_forged_records_and_exits_with_1(bench: Bench) -> None:
    suite = bench.suite(SUITE)
    bench("run", suite)
    folder = bench.folder / "leaderboard" / "s"
    records = read_export(folder)
    assert records is not None
    forged = records.policies["seed"] == 1
    records.policies.loc[forged, ["test.accuracy", "test.cost"]] = [0.999, 0.001]
    for run in records.runs.values():
        run["provenance"]["processor"] = "Another, family 6 model 1"
    write_files(write_export(records, folder))
    said = bench("verify", suite, "--store", "none", "--sample", "100%", expect=1)
    (line,) = said.stderr.splitlines()
    assert line.startswith("slopes on blobs (uniform), seed 1: refuted: test.")
    assert "it does not name this machine's processor" in line
    assert "3 of 3 published records recomputed" in said.stdout
    assert said.stdout.endswith("2 equal, 1 refuted\n")


def test_a_trial_is_compared_under_each_of_its_labels(tmp_path: Path) -> None:
    place, twice = Place(tmp_path), SUITE + '[[methods]]\nuse = "slopes"\nname = "again"\n'
    place.run(twice)

    def change(records: Records) -> None:
        assert records.policies["name"].nunique() == 3
        last = records.policies[records.policies["method"] == sorted({*records.policies["method"]})[-1]].index
        records.policies.loc[last, "test.cost"] = 0.001

    assert len(verified(place, change, ["another"], twice).refuted) == 3


@pytest.mark.slow
@pytest.mark.parametrize(("by", "outcome"), [(1e-12, "equal but for rounding"), (0.001, "undecided"), (0.5, "refuted")])
def test_on_other_kernels_the_outcome_depends_on_the_size_of_a_change(place: Place, by: float, outcome: str) -> None:
    found = verified(place, lambda records: _raise("test.cost", by * records.policies["test.cost"][1])(records), OTHER)
    (other,) = [one for one in found.verdicts if one.outcome != "equal"]
    assert (other.outcome, other.same_machine) == (outcome, False)
    assert "test.cost" in other.reason


def test_the_limit_is_two_rows_or_a_five_hundredth_of_them() -> None:
    def judged(metric: str, gap: float, rows: int) -> bool:
        metrics = load_registry().metrics
        frames = [pd.DataFrame({"label": ["p"], f"test.{metric}": [0.5 + shift]}) for shift in (0.0, gap)]
        return not strays(*frames, {"test": rows}, {metric: metrics[metric]})

    assert judged("accuracy", 1.9 / 50, 50)
    assert not judged("accuracy", 2.1 / 50, 50)
    assert judged("accuracy", 0.0019, 100_000)
    assert not judged("accuracy", 0.0021, 100_000)
    assert judged("cost", 0.5 * 1.9 / 50, 50)
    assert not judged("cost", 0.6 * 2.1 / 50, 50)


@pytest.mark.slow
@ON_KERNELS
def test_a_label_that_differs_is_refuted_on_the_same_kernels_only(
    place: Place, kernels: list[str] | None, errors: int
) -> None:
    def change(records: Records) -> None:
        records.policies["label"] = "another"

    found = verified(place, change, kernels)
    assert {(one.outcome, one.reason) for one in found.verdicts} == {(OUTCOME[errors], "label")}


@pytest.mark.slow
@pytest.mark.parametrize(("given", "value"), [("task", "multiclass"), ("features", ["a"]), ("rows", None)])
def test_a_change_in_what_a_method_was_given_is_refuted_on_any_kernels(place: Place, given: str, value: Any) -> None:
    def change(records: Records) -> None:
        records.policies["label"] = "another"
        for info in records.infos.values():
            info[given] = value

    assert [one.reason for one in verified(place, change, OTHER).refuted] == [given] * 3


def test_other_prices_are_refuted_on_any_kernels(place: Place) -> None:
    def change(records: Records) -> None:
        for info in records.infos.values():
            info["costs"] = json.loads(json.dumps(info["costs"]).replace("1.0", "1.001"))

    refuted = verified(place, change, OTHER).refuted
    assert [one.reason.partition(".")[0] for one in refuted] == ["costs"] * 3


@ON_KERNELS
def test_a_history_of_another_length_is_refuted_on_the_same_kernels_only(
    place: Place, kernels: list[str] | None, errors: int
) -> None:
    def change(records: Records) -> None:
        for info in records.infos.values():
            assert info["history"]["length"]
            info["history"]["length"] = info["history"]["length"][:-1]

    found = verified(place, change, kernels)
    assert {(one.outcome, one.reason) for one in found.verdicts} == {(OUTCOME[errors], "history.length")}


@ON_KERNELS
def test_a_histogram_of_more_bars_is_refuted_on_the_same_kernels_only(
    tmp_path: Path, kernels: list[str] | None, errors: int
) -> None:
    def change(records: Records) -> None:
        for info in records.infos.values():
            info["evaluations"]["counts"][0] = [*info["evaluations"]["counts"][0][:3], 0]

    place, suite = place_with_methods(tmp_path), SUITE.replace("slopes", "stages")
    place.run(suite)
    found = verified(place, change, kernels, suite)
    assert {(one.outcome, one.reason) for one in found.verdicts} == {(OUTCOME[errors], "evaluations.counts")}


@ON_KERNELS
def test_another_order_of_the_same_policies_is_refuted_on_the_same_kernels_only(
    place: Place, kernels: list[str] | None, errors: int
) -> None:
    def change(records: Records) -> None:
        records.policies = frame = records.policies.sort_values(["name", "policy"], ignore_index=True)
        assert frame.groupby("name").size().min() > 1
        of_policies = [name for name in frame if "." in name or name in ("label", "budget", "details")]
        turned = frame.iloc[::-1].sort_values("name", kind="stable")  # reversed within each trial
        records.policies[of_policies] = turned[of_policies].to_numpy()

    found = verified(place, change, kernels)
    assert {one.outcome for one in found.verdicts} == {OUTCOME[errors]}


def _keep(*numbers: int) -> Callable[[Records], None]:
    def change(records: Records) -> None:
        records.policies = records.policies[records.policies["policy"].isin(numbers)].reset_index(drop=True)

    return change


@ON_KERNELS
@pytest.mark.parametrize("kept", [(3,), (0, 1), (0, 1, 2, 3)])
def test_a_family_from_which_policies_were_removed_is_refuted_on_any_kernels(
    steps: Place, kernels: list[str] | None, errors: int, kept: tuple[int, ...]
) -> None:
    found = verified(steps, _keep(*kept), kernels, STEPS)
    assert len(found.refuted) == 3
    if kernels == OTHER:
        assert found.refuted[0].reason.startswith("no published policy is like ")


def test_a_family_that_merges_equal_policies_is_not_refuted_on_other_kernels(steps: Place) -> None:
    found = verified(steps, _keep(0, 1, 2, 3, 4), OTHER, STEPS)
    assert {(one.outcome, one.reason) for one in found.verdicts} == {("undecided", "number of policies")}


def _ended(status: str, **error: str) -> Callable[[Records], None]:
    """Publish the trials of one seed as failed or not applicable."""

    def change(records: Records) -> None:
        frame = records.policies
        is_first = frame["policy"] == 0
        records.policies = frame = frame[(frame["seed"] != 1) | is_first].reset_index(drop=True)
        rows = frame["seed"] == 1
        frame.loc[rows, [column for column in frame if "." in column or column == "budget"]] = math.nan
        frame.loc[rows, ["status", "policy", "label", "details"]] = [status, -1, "", "{}"]
        for name in frame.loc[rows, "name"]:
            trial = records.infos[name]["trial"]
            records.infos[name] = {"trial": trial, "status": status, "error": {"message": "it was hard", **error}}

    return change


@ON_KERNELS
@pytest.mark.parametrize(("status", "error"), [
    ("failed", {"type": "ValueError", "kind": "error", "step": "fit"}),
    ("failed", {"type": "TrialStopped", "kind": "crash", "step": "fit"}),
    ("not applicable", {"type": "NotApplicable", "step": "plan"}),
])  # fmt: skip
def test_a_result_that_is_published_as_a_failure_is_refuted(
    place: Place, kernels: list[str] | None, errors: int, status: str, error: dict[str, str]
) -> None:
    found = verified(place, _ended(status, **error), kernels)
    assert found.published == len(found.verdicts) == 3
    (refuted,) = found.refuted
    assert refuted.planned.trial.seed == 1
    assert refuted.reason == f"published as {status} (it was hard); it now succeeds"


@pytest.mark.parametrize("kind", ["memory", "killed"])
def test_a_failure_that_depends_on_the_machine_is_undecided_if_the_trial_succeeds(place: Place, kind: str) -> None:
    found = verified(place, _ended("failed", type="TrialStopped", kind=kind, step="fit"))
    assert not found.refuted
    assert found.summary == "2 equal, 1 undecided (1 published as over a limit or without data)"


@pytest.mark.slow
@pytest.mark.parametrize("seconds", ["", "timeout = 50"])
def test_the_command_says_that_a_trial_published_as_too_slow_now_succeeds(bench: Bench, seconds: str) -> None:
    suite = bench.suite(SUITE.replace("seeds = 3", f"seeds = 3\n{seconds}"))
    bench("run", suite)
    folder = bench.folder / "leaderboard" / "s"
    records = read_export(folder)
    assert records is not None
    _ended("failed", type="TrialStopped", kind="time", step="fit")(records)
    write_files(write_export(records, folder))
    said = bench("verify", suite, "--store", "none", "--sample", "100%")
    (line,) = said.stderr.splitlines()
    assert line.startswith("slopes on blobs (uniform), seed 1: undecided: published as failed")
    assert "it now succeeds" in line
    assert said.stdout.endswith("2 equal, 1 undecided (1 published as over a limit or without data)\n")


def test_trials_that_end_as_published_are_equal(tmp_path: Path) -> None:
    place = place_with_methods(tmp_path)
    suite = SUITE + '[[methods]]\nuse = "fails"\n[[methods]]\nuse = "never"\n'
    place.run(suite)
    found = verify(place.session(suite, store="none"), "100%", 0, Options(isolation="none"))
    assert found.published == 9
    assert found.summary == "9 equal"


@ON_KERNELS
def test_another_failure_or_reason_is_undecided(tmp_path: Path, kernels: list[str] | None, errors: int) -> None:
    place = place_with_methods(tmp_path)
    suite = SUITE.replace("slopes", "fails") + '[[methods]]\nuse = "never"\n'
    place.run(suite)

    def change(records: Records) -> None:
        for info in records.infos.values():
            info["error"] |= {"message": "another"} if info["status"] == "not applicable" else {"type": "IndexError"}

    found = verified(place, change, kernels, suite, sample="6")
    assert found.summary == "6 undecided (6 ending differently)"


def test_a_trial_whose_data_is_unavailable_is_not_known_to_be_inapplicable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, suite = place_with_methods(tmp_path), SUITE.replace('"blobs"', '"lent"').replace("slopes", "never")
    place.run(suite)
    monkeypatch.setenv("TINY_GONE", "1")
    found = verify(place.session(suite, store="none"), "3", 0, Options(isolation="none"))
    assert found.summary == "3 undecided (3 without data)"


def test_a_record_whose_data_is_unavailable_is_undecided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, suite = Place(tmp_path), SUITE.replace('"blobs"', '"lent"')
    place.run(suite)
    monkeypatch.setenv("TINY_GONE", "1")
    found = verify(place.session(suite, store="none"), "3", 0, Options(isolation="none"))
    assert [one.outcome for one in found.verdicts] == ["undecided"] * 3
    assert all(one.reason.startswith("no data: ") for one in found.verdicts)


def test_a_sample_is_a_number_or_a_share_and_depends_on_its_seed_only() -> None:
    names = [f"{i:03}" for i in range(100)]
    assert len(sample_of(names, "7", 1)) == 7
    assert len(sample_of(names, "5%", 1)) == 5
    assert len(sample_of(names, "0.1%", 1)) == 1
    assert sample_of(names, "1000", 1) == names
    assert sample_of(names, "7", 1) == sample_of(names, "7", 1) != sample_of(names, "7", 2)
    for wrong in ("0", "-1", "101%", "1.5", "many", "", "inf", "1e999", "inf%", "nan"):
        with pytest.raises(RequestError, match="a number of records, or a share"):
            sample_of(names, wrong, 1)


def test_without_an_export_there_is_nothing_to_verify(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="nothing is published"):
        verify(Place(tmp_path).session(SUITE), "1", 0, Options(isolation="none"))


def test_records_of_other_kernels_are_left_out_when_asked(place: Place) -> None:
    session = place.session(SUITE)
    records = records_of(session)
    first, *others = records.runs.values()
    first["provenance"]["kernels"] = ["Old"]
    for run in others:
        run["provenance"]["kernels"] = ["New"]
    write_files(write_export(records, session.folder))
    session, options = place.session(SUITE, store="none"), Options(isolation="none")
    for kernels, count in (("Old", 1), ("New", 2), ("Unknown", 0), (None, 3)):
        assert len(verify(session, "100%", 0, options, kernels).verdicts) == count
