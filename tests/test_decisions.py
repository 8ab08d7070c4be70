"""Decisions: errors, exact types, and the properties of outcomes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench_core.contract.decisions import Decisions, Outcome, Rows
from bench_core.contract.errors import ContractError

GOOD = Decisions(
    acquired=np.array([[True, False], [True, True], [False, False]]),
    probabilities=np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]),
    stage=np.array([1, 2, 1]),
    evaluations=np.array([1.0, 2.0, 0.0]),
)
SCORED = Decisions(acquired=GOOD.acquired, score=np.array([0.5, -1.0, 2.0]))


def test_good_decisions_pass():
    GOOD.checked(3, 2, 2)
    SCORED.checked(3, 2, 0)
    empty = Decisions(acquired=np.zeros((0, 2), dtype=bool), probabilities=np.zeros((0, 3)))
    assert len(empty.checked(0, 2, 3)) == 0


def test_lists_and_narrow_types_come_out_exact():
    loose = Decisions(
        acquired=GOOD.acquired.tolist(),
        probabilities=GOOD.probabilities.astype(np.float32),
        score=[1.0, 2.0, 3.0],
        stage=GOOD.stage.astype(np.int8),
        evaluations=GOOD.evaluations.astype(np.int32),
    ).checked(3, 2, 2)
    kinds = {
        name: getattr(loose, name).dtype for name in ("acquired", "probabilities", "score", "stage", "evaluations")
    }
    assert kinds == {
        "acquired": np.bool_, "probabilities": np.float64, "score": np.float64, "stage": np.int64,
        "evaluations": np.float64,
    }  # fmt: skip


BAD = {
    "acquired of numbers": ({"acquired": np.ones((3, 2))}, "acquired must be bool, not float64"),
    "acquired of another shape": ({"acquired": np.ones((2, 3), dtype=bool)}, r"shape \(3, 2\), not \(2, 3\)"),
    "no probabilities": ({"probabilities": None}, "probabilities is missing"),
    "too many classes": ({"probabilities": np.full((3, 3), 1 / 3)}, r"shape \(3, 2\), not \(3, 3\)"),
    "one column": ({"probabilities": np.ones(3)}, r"shape \(3, 2\), not \(3,\)"),
    "whole numbers": ({"probabilities": np.array([[1, 0]] * 3)}, "must be float, not int64"),
    "NaN": ({"probabilities": np.array([[0.5, 0.5], [np.nan, 1], [0, np.nan]])}, r"NaN in 2 row\(s\)"),
    "sums": ({"probabilities": np.array([[0.5, 0.5], [0.5, 0.4], [1, 0]])}, r"row 1 is \[0.5, 0.4\]"),
    "below zero": ({"probabilities": np.array([[0.5, 0.5], [1, 0], [1.2, -0.2]])}, r"row 2 is \[1.2, -0.2\]"),
    "infinity": ({"probabilities": np.array([[np.inf, 0.5], [1, 0], [1, 0]])}, "row 0"),
    "stage from zero": ({"stage": np.array([0, 1, 2])}, "stage counts from 1"),
    "real stages": ({"stage": np.array([1.0, 1.5, 2.0])}, "stage must be an integer array, not float64"),
    "stage of another length": ({"stage": np.array([1, 2])}, r"stage must have shape \(3,\), not \(2,\)"),
    "negative evaluations": ({"evaluations": np.array([1, -1, 2])}, "evaluations must not be negative"),
    "text evaluations": ({"evaluations": np.array(["1", "2", "3"])}, "evaluations must be a number array"),
    "negative price": ({"evaluation_cost": np.array([1.0, -0.5, 2.0])}, "evaluation_cost must not be negative"),
    "infinite price": ({"evaluation_cost": np.array([1, np.inf, 2])}, r"evaluation_cost holds 1 value\(s\)"),
    "NaN score": ({"score": np.array([1, np.nan, np.nan])}, r"score holds 2 value\(s\)"),
    "whole scores": ({"score": np.array([1, 2, 3])}, "score must be a float array"),
}


@pytest.mark.parametrize(("changes", "said"), BAD.values(), ids=list(BAD))
def test_malformed_decisions_are_refused_by_field(changes, said):
    with pytest.raises(ContractError, match=said):
        replace(GOOD, **changes).checked(3, 2, 2)


def test_a_score_is_needed_where_there_are_no_classes():
    with pytest.raises(ContractError, match="score is missing"):
        GOOD.checked(3, 2, 0)


def test_rows_and_decisions_are_taken_by_index_or_mask():
    rows = Rows(np.arange(6.0).reshape(3, 2), np.array([1.0, 2.0, 3.0]))
    assert rows.take(np.array([2, 0])).sizes.tolist() == [3, 1]
    assert len(Rows(rows.X).take(np.array([True, False, True]))) == 2
    taken = GOOD.take(np.array([False, True, False]))
    assert taken.acquired.tolist() == [[True, True]]
    assert taken.stage.tolist() == [2]
    assert taken.score is None


def outcome(**changes):
    zeros = np.zeros(3)
    fields = {
        "task": "binary", "y": np.array([0, 1, 1]), "decisions": GOOD, "bill": zeros, "full_bill": zeros,
        "evaluation_bill": zeros, "threshold": 0.8,
    }  # fmt: skip
    return Outcome(**{**fields, **changes})


def test_a_tie_goes_to_the_first_class_and_the_threshold_itself_is_conclusive():
    judged = outcome()
    assert judged.label.tolist() == [0, 0, 1]
    assert judged.confidence.tolist() == [0.9, 0.5, 0.8]
    assert judged.conclusive.tolist() == [True, False, True]
    assert judged.correct.tolist() == [True, False, True]


def test_without_a_threshold_everything_is_conclusive():
    assert outcome(threshold=None).conclusive.all()


def test_scores_have_no_labels():
    with pytest.raises(ContractError, match="a regression task has no labels"):
        _ = outcome(task="regression", decisions=SCORED).label


def test_rows_are_gathered_by_query():
    groups = outcome(query=np.array([5, 2, 5])).per_query()
    assert [group.tolist() for group in groups] == [[1], [0, 2]]
    assert [group.tolist() for group in outcome().per_query()] == [[0, 1, 2]]


def test_received_decisions_are_a_read_only_copy() -> None:
    acquired, probabilities = np.ones((3, 2), dtype=bool), np.full((3, 2), 0.5)
    received = Decisions.received(Decisions(acquired, probabilities), np.arange(3), 2, 2)
    acquired[:], probabilities[:] = False, 0.0  # a policy may clear its buffers after the audit
    assert received.acquired.all()
    assert received.probabilities is not None
    assert (received.probabilities == 0.5).all()
    for array in (received.acquired, received.probabilities):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
