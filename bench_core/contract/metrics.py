"""Metrics: numbers that judge an outcome, each with a direction. The built-in ones are at the end."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.decisions import Outcome
from bench_core.contract.errors import RequestError, did_you_mean
from bench_core.contract.method import ALL_TASKS

__all__ = [
    "BUILT_IN",
    "DEFAULT_METRICS",
    "Metric",
    "default_metric",
    "evaluate",
    "ndcg_at",
    "precision_at",
    "resolve_metric",
    "resolve_quantity",
]

CLASSIFICATION = frozenset({"binary", "multiclass"})
SCORED = frozenset({"regression", "ranking"})


@dataclass(frozen=True)
class Metric:
    """One number that judges an outcome.

    Attributes:
        name: unique; ``name@k`` for a metric with a cut-off, registered as ``name@k`` with a literal ``k``.
        function: outcome → float; for ``name@k`` metrics, (outcome, k) → float.
        goal: whether ``max`` or ``min`` is better.
        title: what a table's head says; the name when empty.
        tasks: tasks it makes sense for.
        reference: it needs the family's reference decisions.
        percent: shown as a percentage.
        order: it reads the order of the scores (or of the second class's probabilities): where it is computed, the
            audit compares that order exactly. Ranking tasks and data with query ids are always so compared.
        missed: for a metric to select by that has a cap of its own: whether a value says that the policy misses it.
            A row selected by such a value is *over budget*: shown as a last resort, never marked, ranked or claimed.
    """

    name: str
    function: Callable[..., float]
    goal: Literal["max", "min"]
    title: str = ""
    tasks: frozenset[str] = ALL_TASKS
    reference: bool = False
    percent: bool = False
    order: bool = False
    missed: Callable[[float], bool] | None = None

    def better(self, a: float, b: float) -> bool:
        """Whether ``a`` is strictly better than ``b``."""
        return a > b if self.goal == "max" else a < b


_AT = re.compile(r"(?P<stem>.+)@(?P<k>[1-9][0-9]*)")


def resolve_metric(name: str, known: Mapping[str, Metric]) -> Metric:
    """The metric of a name; ``ndcg@5`` comes from the registered ``ndcg@k``.

    Raises:
        RequestError: no such metric; the nearest name is offered.
    """
    if name in known and not name.endswith("@k"):
        return known[name]
    match = _AT.fullmatch(name)
    if match and f"{match['stem']}@k" in known:
        general = known[f"{match['stem']}@k"]
        k = int(match["k"])
        title = (general.title or general.name).replace("@k", f"@{k}")
        return replace(general, name=name, function=lambda outcome: general.function(outcome, k), title=title)
    stem, _, cut = name.partition("@")
    if cut == "k" and name in known:
        raise RequestError(f"metric {name!r} needs a number for k: {stem}@5")
    digits = cut if _AT.fullmatch(name) else "5"
    offered = [f"{other[:-1]}{digits}" if other.endswith("@k") else other for other in known]
    raise RequestError(f"metric {name!r} is unknown; {did_you_mean(name, offered)}")


def resolve_quantity(name: str, known: Mapping[str, Metric]) -> Metric | None:
    """The metric of a policy's quantity, ``validation.<metric>`` or ``test.<metric>``; None for ``history.<series>``.

    Raises:
        RequestError: it is none of the three, or there is no such metric.
    """
    part, _, rest = name.partition(".")
    if part not in ("validation", "test", "history") or not rest:
        raise RequestError(f"{name!r} must be validation.<metric>, test.<metric> or history.<series>")
    return None if part == "history" else resolve_metric(rest, known)


def evaluate(outcome: Outcome, metrics: Mapping[str, Metric]) -> dict[str, float]:
    """Every metric that applies to the outcome, by name; those that need a reference only when there is one."""
    return {
        name: float(metric.function(outcome))
        for name, metric in metrics.items()
        if outcome.task in metric.tasks and (not metric.reference or outcome.reference is not None)
    }


DEFAULT_METRICS = ("combined", "error", "ndcg@5", "mse")
"""Every answer of `default_metric`."""


def default_metric(task: str, threshold: float | None) -> str:
    """The metric that selects a policy when a suite names none.

    ``combined`` for classes with a confidence threshold, ``error`` without one, ``ndcg@5`` for ranking, ``mse`` for
    regression.
    """
    if task in CLASSIFICATION:
        return "error" if threshold is None else "combined"
    return "ndcg@5" if task == "ranking" else "mse"


def _mean(values: NDArray[np.generic]) -> float:
    # What ndarray.mean does, without its bookkeeping: a record holds thirty of them.
    return float(np.add.reduce(values, dtype=np.float64)) / len(values) if len(values) else 0.0


def coverage(outcome: Outcome) -> float:
    """g1: share of rows with a conclusive answer (EMSCO Eq. 3; "coverage" of selective classification)."""
    return _mean(outcome.conclusive)


def conclusive_accuracy(outcome: Outcome) -> float:
    """g2: share of right answers among the conclusive ones, 0 when there are none (EMSCO Eq. 4)."""
    conclusive = int(outcome.conclusive.sum())
    return int((outcome.conclusive & outcome.correct).sum()) / conclusive if conclusive else 0.0


def cost(outcome: Outcome) -> float:
    """g3*: mean acquisition cost of a row, conclusive or not (EMSCO §2.2.3)."""
    return _mean(outcome.bill)


def cost_share(outcome: Outcome) -> float:
    """Mean acquisition cost as a share of what all features would cost; 0 when they cost nothing."""
    full = _mean(outcome.full_bill)
    return cost(outcome) / full if full > 0 else 0.0


def combined(outcome: Outcome) -> float:
    """g1 + g2 + (1 − g3*/Σc) (EMSCO Fig. 12)."""
    return coverage(outcome) + conclusive_accuracy(outcome) + 1.0 - cost_share(outcome)


def accuracy(outcome: Outcome) -> float:
    """Share of right labels over all rows, refused or not."""
    return _mean(outcome.correct)


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
    if outcome.budget is None:
        return 0.0
    return _mean(outcome.bill > outcome.budget * (1 + 1e-9))


def disagreement(outcome: Outcome) -> float:
    """Share of rows whose label differs from the family's reference (QWYC's full ensemble)."""
    reference = outcome.reference
    if reference is None or reference.probabilities is None:
        return 0.0
    return _mean(outcome.label != reference.probabilities.argmax(axis=1))


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


def _gain_at(
    gains: NDArray[np.float64], scores: NDArray[np.float64], discounts: NDArray[np.float64]
) -> float:
    """Sum of gains × discounts by descending score; equal scores share the mean of their places' discounts."""
    order = np.argsort(-scores, kind="stable")
    _, tie = np.unique(-scores[order], return_inverse=True)
    sizes = np.bincount(tie)
    shared = np.bincount(tie, weights=discounts[: len(order)]) / sizes
    return float((np.bincount(tie, weights=gains[order]) * shared).sum())


def ndcg_at(outcome: Outcome, k: int) -> float:
    """NDCG@k, mean over queries: gain 2^grade − 1, discount log2 (CSTC §6.2).

    Equal scores share their places' discounts; a query without a relevant document counts 0, as in scikit-learn.
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
    """Precision@k, mean over queries: relevant (grade > 0) among the k best-scored, over k.

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


_RANKED = frozenset({"ranking", "binary"})

BUILT_IN: tuple[Metric, ...] = (
    Metric("coverage", coverage, "max", "Coverage g1", CLASSIFICATION, percent=True),
    Metric("conclusive-accuracy", conclusive_accuracy, "max", "Accuracy g2", CLASSIFICATION, percent=True),
    Metric("cost", cost, "min", "Cost g3*"),
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
)
