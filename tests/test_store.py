"""Records and decisions as they are kept: what goes in comes out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench_core.decisions import Decisions, Outcome
from bench_core.store import Store
from bench_core.trial import Judged, TrialResult

NAME = "ab" + "0" * 62
PROBABILITIES = np.array([[0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
ACQUIRED = np.array([[True, False], [True, True], [False, False]])


def judged(policy: int, part: str, **columns: np.ndarray) -> Judged:
    decisions = Decisions(ACQUIRED, PROBABILITIES, **columns)
    bill = ACQUIRED @ np.array([1.0, 2.5])
    outcome = Outcome("binary", np.array([1, 0, 1]), decisions, bill, np.full(3, 3.5), np.zeros(3), 0.7)
    return Judged(policy, part, outcome)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("stage", np.array([1, 2, 3])),
        ("evaluations", np.array([4.0, 0.0, 2.5])),
        ("score", np.array([-1.0, 0.0, 2.0])),
    ],
)
def test_policies_of_a_family_may_tell_different_things(
    tmp_path: Path, name: str, values: np.ndarray, first: bool
) -> None:
    telling, silent = (0, 1) if first else (1, 0)
    outcomes = [
        judged(policy, part, **({name: values} if policy == telling else {}))
        for policy in (0, 1)
        for part in ("validation", "test")
    ]
    rows = {part: np.arange(3) for part in ("validation", "test")}
    store = Store(tmp_path)
    store.write(TrialResult({"name": NAME, "status": "ok"}, outcomes, rows))

    kept = {(one.policy, one.part): one.outcome for one in store.outcomes(NAME, "binary", 0.7)}

    assert len(kept) == 4
    for part in ("validation", "test"):
        np.testing.assert_array_equal(getattr(kept[telling, part].decisions, name), values)
        assert getattr(kept[silent, part].decisions, name) is None
        np.testing.assert_array_equal(kept[silent, part].decisions.acquired, ACQUIRED)
        np.testing.assert_array_equal(kept[silent, part].decisions.probabilities, PROBABILITIES)
        np.testing.assert_array_equal(kept[silent, part].bill, [1.0, 3.5, 0.0])
