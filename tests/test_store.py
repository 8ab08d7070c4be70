"""Stored records and decisions: they are read as they were written."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.synthetic import record_of

from bench_core.contract.decisions import Decisions, Outcome
from bench_core.run.run_trial import TrialResult
from bench_core.run.store import Store
from bench_core.run.summary import PolicyOutcome

NAME = "ab" + "0" * 62
PROBABILITIES = np.array([[0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
ACQUIRED = np.array([[True, False], [True, True], [False, False]])


def judged(policy: int, part: str, **columns: np.ndarray) -> PolicyOutcome:
    decisions = Decisions(ACQUIRED, PROBABILITIES, **columns)
    bill = ACQUIRED @ np.array([1.0, 2.5])
    outcome = Outcome("binary", np.array([1, 0, 1]), decisions, bill, np.full(3, 3.5), np.zeros(3), 0.7)
    return PolicyOutcome(policy, part, outcome)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    ("name", "values"),
    [("stage", np.array([1, 2, 3])), ("evaluations", np.array([4.0, 0.0, 2.5])), ("score", np.array([-1.0, 0.0, 2.0]))],
)
def test_policies_of_a_family_may_fill_different_columns(
    tmp_path: Path, name: str, values: np.ndarray, first: bool
) -> None:
    filling, silent = (0, 1) if first else (1, 0)
    outcomes = [
        judged(policy, part, **({name: values} if policy == filling else {}))
        for policy in (0, 1)
        for part in ("validation", "test")
    ]
    rows = {part: np.arange(3) for part in ("validation", "test")}
    store = Store(tmp_path)
    store.write(TrialResult({"name": NAME, "status": "ok"}, outcomes, rows))

    kept = {(one.policy, one.part): one.outcome for one in store.outcomes(NAME, "binary", 0.7)}

    assert len(kept) == 4
    for part in ("validation", "test"):
        np.testing.assert_array_equal(getattr(kept[filling, part].decisions, name), values)
        assert getattr(kept[silent, part].decisions, name) is None
        np.testing.assert_array_equal(kept[silent, part].decisions.acquired, ACQUIRED)
        np.testing.assert_array_equal(kept[silent, part].decisions.probabilities, PROBABILITIES)
        np.testing.assert_array_equal(kept[silent, part].bill, [1.0, 3.5, 0.0])


def big(seed: int, numbers: int = 20_000) -> TrialResult:
    """A result whose record takes several pages of memory, with decisions."""
    record = record_of("D", "A", seed, {"cost": float(seed)}, history={"long": list(range(numbers))})
    outcomes = [judged(0, part) for part in ("validation", "test")]
    return TrialResult(record, outcomes, {part: np.arange(3) for part in ("validation", "test")})


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    store = Store(tmp_path)
    result = big(1)
    store.write(result)
    read = Store(tmp_path).read(result.record["name"])
    assert read is not None
    noted = read.pop("decisions")
    data = next(tmp_path.glob("??/*.parquet")).read_bytes()
    assert noted == {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    assert read == result.record
    store.put(result.record["name"], read | {"decisions": noted, "features": ["more"]})
    again = store.read(result.record["name"])
    assert again is not None
    assert again["features"] == ["more"]


def test_a_short_trial_does_not_wait_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: pytest.fail("it waits"))
    short = big(0)
    short.record["timings"] = {"fit": 0.02, "decide": 0.02, "decide_per_policy": [7.0]}
    Store(tmp_path).write(short)
    assert Store(tmp_path).read(short.record["name"]) is not None


def test_a_trial_that_is_done_has_not_failed_though_its_failure_is_there_too(tmp_path: Path) -> None:
    store = Store(tmp_path)
    result = big(1)
    store.write(result)
    name = result.record["name"]
    store.write_failure({**result.record, "status": "failed", "error": {"type": "E", "message": "m"}})
    assert store.names() == ({name}, set())


def test_each_part_gets_its_own_decisions_back(tmp_path: Path) -> None:
    store = Store(tmp_path)
    outcomes = [judged(0, "validation"), judged(0, "test", stage=np.array([1, 2, 3]))]
    rows = {"validation": np.arange(3), "test": np.arange(3)}
    store.write(TrialResult({"name": NAME, "status": "ok"}, outcomes, rows))
    kept = {one.part: one.outcome.decisions.stage for one in store.outcomes(NAME, "binary", None)}
    assert kept["validation"] is None
    np.testing.assert_array_equal(kept["test"], [1, 2, 3])


def test_every_policy_gets_its_own_budget_back(tmp_path: Path) -> None:
    budgets = {0: 2.0, 1: None, 2: 7.5}
    outcomes = [
        replace(one, outcome=replace(one.outcome, budget=budget))
        for policy, budget in budgets.items()
        for one in (judged(policy, "validation"), judged(policy, "test"))
    ]
    rows = {"validation": np.arange(3), "test": np.arange(3)}
    store = Store(tmp_path)
    store.write(TrialResult({"name": NAME, "status": "ok"}, outcomes, rows))
    kept = {(one.policy, one.part): one.outcome.budget for one in store.outcomes(NAME, "binary", None)}
    assert kept == {(policy, part): budget for policy, budget in budgets.items() for part in ("validation", "test")}
