"""Published records are recomputed and compared: equal ones, changed ones, and those that cannot be had."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench_leaderboard import plugin as leaderboard
from bench_leaderboard.analysis.export import records_of, write_export
from bench_leaderboard.analysis.records import Records
from bench_leaderboard.commands.verify import Verified, sample_of, verify
from bench_leaderboard.render import write_files
from support import tiny_plugin
from support.sessions import Place

from bench_core import (
    Decisions,
    Method,
    Options,
    Policy,
    Problem,
    RegisterMethod,
    RequestError,
    Rows,
    Store,
    hookimpl,
    load_registry,
)

SUITE = '[protocol]\nseeds = 3\n[[datasets]]\nuse = "blobs"\n[[methods]]\nuse = "slopes"\n'


ON_KERNELS = pytest.mark.parametrize(("kernels", "errors"), [(None, 3), (["another"], 0)], ids=["same", "other"])


class Staged(Policy):
    """Every row runs three base models."""

    def decide(self, rows: Rows) -> Decisions:
        nothing = np.zeros((len(rows), 5), dtype=bool)
        return Decisions(nothing, np.full((len(rows), 2), 0.5), evaluations=np.full(len(rows), 3))


@dataclass(frozen=True)
class StagedMethod(Method):
    """A policy that says how many base models it runs."""

    def fit(self, problem: Problem) -> list[Policy]:
        return [Staged()]


class Stages:
    """The plugin that brings it."""

    BENCH_CONTRACT_VERSION = 1

    @staticmethod
    @hookimpl
    def bench_register_methods(register: RegisterMethod) -> None:
        register("stages", StagedMethod)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder in which the suite is published."""
    place = Place(tmp_path)
    place.run(SUITE)
    return place


def verified(
    place: Place, change: Callable[[Records], None], kernels: list[str] | None = None, suite: str = SUITE
) -> Verified:
    """What is found of records that were changed before they were published, by other kernels where some are named."""
    session = place.session(suite)
    records = records_of(session)
    change(records)
    for run in records.runs.values():
        run["provenance"]["kernels"] = kernels or run["provenance"]["kernels"]
    write_files(write_export(records, session.folder))
    return verify(place.session(suite, store="none"), "3", 0, Options(isolation="none"))


def test_what_was_published_is_recomputed_as_it_was(place: Place) -> None:
    found = verify(place.session(SUITE, store="none"), "100%", 0, Options(isolation="none"))
    assert [one.outcome for one in found.verdicts] == ["equal"] * found.published
    assert found.published == 3
    assert not found.refuted
    assert Store(place.folder / "none").names() == (set(), set()), "the session's own store holds no record of it"


def test_a_number_that_was_changed_before_it_was_published_is_found(place: Place) -> None:
    def change(records: Records) -> None:
        records.policies.loc[1, "test.cost"] += 0.5

    found = verified(place, change)
    assert [one.outcome for one in found.verdicts].count("differs") == 1
    (refuted,) = found.refuted
    assert refuted.reason.startswith("test.cost by ")
    assert 0 < refuted.largest < 1


def test_on_other_kernels_a_difference_is_told_and_not_an_error(place: Place) -> None:
    def change(records: Records) -> None:
        records.policies["test.cost"] *= 1 + 1e-12

    found = verified(place, change, ["another"])
    assert {(one.outcome, one.same_machine) for one in found.verdicts} == {("differs", False)}
    assert not found.refuted


@ON_KERNELS
def test_a_label_that_differs_is_an_error_on_the_same_kernels_only(
    place: Place, kernels: list[str] | None, errors: int
) -> None:
    def change(records: Records) -> None:
        records.policies["label"] = "another"

    found = verified(place, change, kernels)
    assert {(one.outcome, one.reason) for one in found.verdicts} == {("differs", "label")}
    assert len(found.refuted) == errors


@pytest.mark.parametrize(("given", "value"), [("task", "multiclass"), ("features", ["a"]), ("rows", None)])
def test_what_was_given_to_a_method_is_the_same_everywhere(place: Place, given: str, value: Any) -> None:
    def change(records: Records) -> None:
        records.policies["label"] = "another"
        for info in records.infos.values():
            info[given] = value

    assert [one.reason for one in verified(place, change, ["another"]).refuted] == [given] * 3


@ON_KERNELS
def test_a_history_of_another_length_is_an_error_on_the_same_kernels_only(
    place: Place, kernels: list[str] | None, errors: int
) -> None:
    def change(records: Records) -> None:
        for info in records.infos.values():
            assert info["history"]["length"]
            info["history"]["length"] = info["history"]["length"][:-1]

    found = verified(place, change, kernels)
    assert {one.reason.partition(" by ")[0] for one in found.verdicts} == {"history.length: length"}
    assert len(found.refuted) == errors


@ON_KERNELS
def test_a_histogram_of_more_bars_is_an_error_on_the_same_kernels_only(
    tmp_path: Path, kernels: list[str] | None, errors: int
) -> None:
    def change(records: Records) -> None:
        for info in records.infos.values():
            info["evaluations"]["counts"][0] = [*info["evaluations"]["counts"][0][:3], 0]

    registry = load_registry(
        [("leaderboard", leaderboard), ("tiny", tiny_plugin), ("stages", Stages)], entry_points=False
    )
    place, suite = Place(tmp_path, registry), SUITE.replace("slopes", "stages")
    place.run(suite)
    found = verified(place, change, kernels, suite)
    assert {one.reason.partition(" by ")[0] for one in found.verdicts} == {"evaluations.counts: length"}
    assert len(found.refuted) == errors


@ON_KERNELS
def test_another_order_of_the_same_policies_is_told_and_an_error_on_the_same_kernels_only(
    place: Place, kernels: list[str] | None, errors: int
) -> None:
    def change(records: Records) -> None:
        records.policies = frame = records.policies.sort_values(["name", "policy"], ignore_index=True)
        assert frame.groupby("name").size().min() > 1
        of_policies = [name for name in frame if "." in name or name in ("label", "budget", "details")]
        turned = frame.iloc[::-1].sort_values("name", kind="stable")  # the export's rows stand by name
        records.policies[of_policies] = turned[of_policies].to_numpy()

    found = verified(place, change, kernels)
    assert {one.outcome for one in found.verdicts} == {"differs"}
    assert "order of policies" in {one.reason for one in found.verdicts}
    assert len(found.refuted) == errors


def test_a_sample_is_a_number_or_a_share_and_depends_on_its_seed_only() -> None:
    names = [f"{i:03}" for i in range(100)]
    assert len(sample_of(names, "7", 1)) == 7
    assert len(sample_of(names, "5%", 1)) == 5
    assert len(sample_of(names, "0.1%", 1)) == 1
    assert sample_of(names, "1000", 1) == names
    assert sample_of(names, "7", 1) == sample_of(names, "7", 1) != sample_of(names, "7", 2)
    for wrong in ("0", "-1", "101%", "1.5", "many", ""):
        with pytest.raises(RequestError, match="a number of records, or a share"):
            sample_of(names, wrong, 1)


def test_without_an_export_there_is_nothing_to_verify(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="nothing is published"):
        verify(Place(tmp_path).session(SUITE), "1", 0, Options(isolation="none"))
