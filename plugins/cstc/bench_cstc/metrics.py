"""Metrics: best policy within a budget, to compare families "at equal cost" (CSTC Fig. 6, 7); MSE of regressions."""

from __future__ import annotations

from bench_core import Metric, Outcome, accuracy, mse, ndcg_at, precision_at

__all__ = ["METRICS", "best_within"]


def best_within(outcome: Outcome, k: int) -> float:
    """Quality of a policy with a mean cost of at most k % of the price of all features; otherwise minus its cost share.

    The cost includes evaluations. The quality is NDCG@5 of a ranking, Precision@5 of two classes with queries, accuracy
    of other classes, 1 / (1 + mean squared error) of a regression. It is never below 0, so a policy within the budget
    is always better than one beyond it; beyond it, the cheaper one is better.
    """
    full = float(outcome.full_bill.mean()) if len(outcome.full_bill) else 0.0
    paid = float((outcome.bill + outcome.evaluation_bill).mean()) if len(outcome.bill) else 0.0
    share = paid / full if full > 0 else 0.0
    if share > k / 100 * (1 + 1e-9):
        return -share
    if outcome.task == "ranking":
        return ndcg_at(outcome, 5)
    if outcome.task == "regression":
        return 1.0 / (1.0 + mse(outcome))
    if outcome.task == "binary" and outcome.query is not None:
        return precision_at(outcome, 5)
    return accuracy(outcome)


def _beyond(value: float) -> bool:
    """Whether a value of `best_within` is that of a policy beyond the budget, that is, below 0."""
    return value < 0


METRICS: tuple[Metric, ...] = (
    # A ranking's scores may have any scale (early exits shift them by rank), so their squared error is meaningless.
    Metric("regression-mse", mse, "min", "Mean squared error", tasks=frozenset({"regression"})),
    Metric("best-within@k", best_within, "max", "Quality, ≤ @k % of the price", missed=_beyond),
)
