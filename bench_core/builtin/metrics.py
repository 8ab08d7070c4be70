"""The metrics that come with the core."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.decisions import Outcome
from bench_core.contract.errors import RequestError
from bench_core.contract.facts import CLASSIFICATION
from bench_core.contract.metric import Metric

SCORED = frozenset({"regression", "ranking"})


def _mean(values: NDArray[np.generic]) -> float:
    # The same as ndarray.mean, but faster: a record contains thirty means.
    return float(np.add.reduce(values, dtype=np.float64)) / len(values) if len(values) else 0.0


def coverage(outcome: Outcome) -> float:
    """Share of rows with a conclusive answer.

    Source: EMSCO Eq. 3 (g1); the coverage of selective classification.
    """
    return _mean(outcome.conclusive)


def conclusive_accuracy(outcome: Outcome) -> float:
    """Share of right answers among the conclusive ones, 0 when there are none.

    Source: EMSCO Eq. 4 (g2).
    """
    conclusive = int(outcome.conclusive.sum())
    return int((outcome.conclusive & outcome.correct).sum()) / conclusive if conclusive else 0.0


def cost(outcome: Outcome) -> float:
    """Mean acquisition cost of a row, conclusive or not.

    Source: EMSCO §2.2.3 (g3*).
    """
    return _mean(outcome.bill)


def cost_share(outcome: Outcome) -> float:
    """Mean acquisition cost as a share of what all features would cost; 0 when they cost nothing."""
    full = _mean(outcome.full_bill)
    return cost(outcome) / full if full > 0 else 0.0


def combined(outcome: Outcome) -> float:
    """Coverage + conclusive accuracy + 1 − cost share.

    Source: EMSCO Fig. 12.
    """
    return coverage(outcome) + conclusive_accuracy(outcome) + 1.0 - cost_share(outcome)


def accuracy(outcome: Outcome) -> float:
    """Share of right labels over all rows, refused or not."""
    return _mean(outcome.correct)


def accuracy_at_cap(outcome: Outcome, k: int) -> float:
    """Share of right labels over all rows when no row may cost more than k; NaN where the policy was not cut at k.

    A row that the cap stops is answered from the features bought until then.
    """
    return _mean(outcome.at_caps[k] == outcome.y) if k in outcome.at_caps else float("nan")


def error(outcome: Outcome) -> float:
    """1 − accuracy."""
    return 1.0 - accuracy(outcome)


def mean_stages(outcome: Outcome) -> float:
    """Mean exit stage, counted from 1."""
    stage = outcome.decisions.stage
    return 1.0 if stage is None else _mean(stage)


def mean_base_models(outcome: Outcome) -> float:
    """Mean number of base models run per row."""
    evaluations = outcome.decisions.evaluations
    return 1.0 if evaluations is None else _mean(evaluations)


def features_acquired(outcome: Outcome) -> float:
    """Mean number of features acquired per row."""
    return _mean(outcome.decisions.acquired.sum(axis=1))


def evaluation_cost(outcome: Outcome) -> float:
    """Mean price of the base models run."""
    return _mean(outcome.evaluation_bill)


def total_cost(outcome: Outcome) -> float:
    """Mean acquisition cost plus mean price of the base models run."""
    return cost(outcome) + evaluation_cost(outcome)


def budget_violations(outcome: Outcome) -> float:
    """Share of rows whose bill exceeds the policy's budget (beyond rounding); 0 for policies without a budget."""
    return 0.0 if outcome.budget is None else _mean(outcome.bill > outcome.budget * (1 + 1e-9))


def disagreement(outcome: Outcome) -> float:
    """Share of rows whose label differs from the family's reference (a full ensemble, say)."""
    if outcome.reference is None or outcome.reference.probabilities is None:
        return 0.0
    return _mean(outcome.label != outcome.reference.probabilities.argmax(axis=1))


def mse(outcome: Outcome) -> float:
    """Mean squared error of the score."""
    return _mean(np.square(_scores(outcome) - outcome.y))


def _scores(outcome: Outcome) -> NDArray[np.float64]:
    """The score; for a binary task without one, the probability of the second class."""
    if outcome.decisions.score is not None:
        return outcome.decisions.score
    probabilities = outcome.decisions.probabilities
    if probabilities is None or probabilities.shape[1] != 2:
        raise RequestError("ranking metrics need a score, or the probabilities of a binary task")
    return probabilities[:, 1]


def _gain_at(gains: NDArray[np.float64], scores: NDArray[np.float64], discounts: NDArray[np.float64]) -> float:
    """Sum of gains × discounts by descending score; equal scores share the mean of their places' discounts."""
    order = np.argsort(-scores, kind="stable")
    _, tie = np.unique(-scores[order], return_inverse=True)
    sizes = np.bincount(tie)
    shared = np.bincount(tie, weights=discounts[: len(order)]) / sizes
    return float((np.bincount(tie, weights=gains[order]) * shared).sum())


def ndcg_at(outcome: Outcome, k: int) -> float:
    """NDCG@k, mean over queries: gain 2^grade − 1, discount log2.

    Equal scores share their places' discounts; a query without a relevant document counts 0, as in scikit-learn.

    Source: CSTC §6.2.
    """
    scores = _scores(outcome)
    gains = np.exp2(np.asarray(outcome.y, dtype=np.float64)) - 1.0
    values = []
    for rows in outcome.per_query():
        discounts = np.zeros(len(rows))
        top = min(k, len(rows))
        discounts[:top] = 1.0 / np.log2(np.arange(top) + 2.0)
        ideal = float((np.sort(gains[rows])[::-1][:top] * discounts[:top]).sum())
        values.append(_gain_at(gains[rows], scores[rows], discounts) / ideal if ideal > 0 else 0.0)
    return float(np.mean(values))


def precision_at(outcome: Outcome, k: int) -> float:
    """Precision@k, mean over queries: the relevant rows (grade > 0) among the k of highest score, divided by k.

    Equal scores share their places; a query with fewer than k documents is still divided by k.
    """
    scores = _scores(outcome)
    relevant = (np.asarray(outcome.y, dtype=np.float64) > 0).astype(np.float64)
    values = []
    for rows in outcome.per_query():
        places = np.zeros(len(rows))
        places[: min(k, len(rows))] = 1.0 / k
        values.append(_gain_at(relevant[rows], scores[rows], places))
    return float(np.mean(values))


_LEAST = 1e-15
"""Probabilities are raised to this before a logarithm, so that a wrong certain answer costs 34.5, not infinity."""


def _probabilities(outcome: Outcome) -> NDArray[np.float64]:
    """The class probabilities, each row divided by its sum.

    Raises:
        RequestError: the policy gave none.
    """
    if (table := outcome.decisions.probabilities) is None:
        raise RequestError("AUC, log-loss, Brier score and expected cost need class probabilities")
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def auc(outcome: Outcome) -> float:
    """Area under the ROC curve: how often a row of the second class has a higher score than a row of the first.

    A tie counts half (Mann and Whitney). If one of the classes has no rows, the value is 0.5, since no order is wrong.
    Refused rows count by their probabilities. For two classes only: with more, the audit does not compare an order.

    Source: Hanley and McNeil, Radiology 143 (1982).
    """
    positive = np.asarray(outcome.y) == 1
    values, place = np.unique(_scores(outcome), return_inverse=True)
    above = np.bincount(place[positive], minlength=len(values))
    below = np.bincount(place[~positive], minlength=len(values))
    if not (pairs := int(above.sum()) * int(below.sum())):
        return 0.5
    twice = int((above * (2 * (np.cumsum(below) - below) + below)).sum())
    return twice / (2 * pairs)


def log_loss(outcome: Outcome) -> float:
    """Mean of −ln of the true class's probability in nats; probabilities below 1e-15 count as 1e-15."""
    probabilities = _probabilities(outcome)[np.arange(len(outcome.y)), outcome.y]
    return _mean(-np.log(np.maximum(probabilities, _LEAST)))


def brier(outcome: Outcome) -> float:
    """Mean over rows of the squared distance of the probabilities from the true class: from 0 to 2.

    Source: Brier, Monthly Weather Review 78 (1950), Eq. 2.
    """
    differences = _probabilities(outcome).copy()
    differences[np.arange(len(outcome.y)), outcome.y] -= 1.0
    return _mean(np.square(differences).sum(axis=1))


def misclassification_cost(outcome: Outcome, matrix: NDArray[np.float64]) -> float:
    """Mean cost of an answer under a cost matrix, where each row gets the class of least expected cost.

    Of classes with equal expected cost, the first one is taken. Refused rows count by their probabilities, because the
    cost of refusing is not known.

    Args:
        outcome: with probabilities.
        matrix: float64 (classes, classes): ``matrix[t, s]`` is the cost of saying s where t is true.

    Source: Turney 1995, §2.2 (the matrix); Elkan, IJCAI 2001, Eq. 1 (the decision).
    """
    # Sums of products one class after the other: no BLAS, whose bits differ between machines.
    expected = sum(
        column[:, None] * costs[None, :] for column, costs in zip(_probabilities(outcome).T, matrix, strict=True)
    )
    answers = np.asarray(expected).argmin(axis=1)
    return _mean(matrix[outcome.y, answers])


def miss_cost(outcome: Outcome, k: int) -> float:
    """`misclassification_cost` where an error on a row of the first class costs 1, and on any other row k."""
    classes = _probabilities(outcome).shape[1]
    matrix = np.full((classes, classes), float(k))
    matrix[0] = 1.0
    np.fill_diagonal(matrix, 0.0)
    return misclassification_cost(outcome, matrix)


_RANKED = frozenset({"ranking", "binary"})

_AT_CAP = "Accuracy at cap @k"
BUILT_IN: tuple[Metric, ...] = (
    Metric("coverage", coverage, "max", "Coverage", CLASSIFICATION, percent=True),
    Metric("conclusive-accuracy", conclusive_accuracy, "max", "Conclusive accuracy", CLASSIFICATION, percent=True),
    Metric("cost", cost, "min", "Cost"),
    Metric("cost-share", cost_share, "min", "Cost share", percent=True),
    Metric("combined", combined, "max", "Combined", CLASSIFICATION),
    Metric("accuracy", accuracy, "max", "Accuracy (all rows)", CLASSIFICATION, percent=True),
    Metric("error", error, "min", "Error (all rows)", CLASSIFICATION, percent=True),
    Metric("mean-stages", mean_stages, "min", "Stages"),
    Metric("mean-base-models", mean_base_models, "min", "Base models"),
    Metric("features", features_acquired, "min", "Features"),
    Metric("evaluation-cost", evaluation_cost, "min", "Evaluation cost"),
    Metric("total-cost", total_cost, "min", "Total cost"),
    Metric("budget-violations", budget_violations, "min", "Over budget", percent=True),
    Metric("disagreement", disagreement, "min", "Disagreement", CLASSIFICATION, reference=True, percent=True),
    Metric("mse", mse, "min", "MSE", SCORED),
    Metric("ndcg@k", ndcg_at, "max", "NDCG@k", _RANKED, order=True),
    Metric("precision@k", precision_at, "max", "Precision@k", _RANKED, order=True),
    Metric(
        "accuracy-at-cap@k", accuracy_at_cap, "max", _AT_CAP, CLASSIFICATION, version=2, percent=True, on_request=True
    ),
    Metric("auc", auc, "max", "AUC", frozenset({"binary"}), percent=True, order=True, on_request=True),
    Metric("log-loss", log_loss, "min", "Log-loss", CLASSIFICATION, on_request=True),
    Metric("brier", brier, "min", "Brier score", CLASSIFICATION, on_request=True),
    Metric("misclassification-cost@k", miss_cost, "min", "Cost of errors, a miss at @k", CLASSIFICATION, order=True),
)
