"""Reference implementation of the optimiser in NumPy, by sorting; the compiled one equals it bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_qwyc.checks import checked_costs, checked_order, checked_scores, error_budget
from bench_qwyc.optimise import Stopping

__all__ = ["optimise_plainly", "plain_thresholds"]


def plain_thresholds(
    sums: NDArray[Any], positive: NDArray[np.bool_], budget: int, two_sided: bool = True
) -> tuple[Any, Any]:
    """Algorithm 2: thresholds (ε⁻, ε⁺) for the sums of the active examples, by sorting them."""
    up = np.sort(sums[positive], kind="stable")
    if len(up) <= budget:
        return np.inf, np.inf
    low = up[budget]
    if not two_sided:
        return low, np.inf
    left = budget - int((sums[positive] < low).sum())
    down = np.sort(sums[~positive & (sums >= low)], kind="stable")[::-1]
    return low, low if len(down) <= left else max(low, down[left])


def _stops(sums: NDArray[Any], low: Any, high: Any) -> NDArray[np.bool_]:
    stops: NDArray[np.bool_] = (sums < low) | (sums > high)
    return stops


def optimise_plainly(
    scores: Any,
    alpha: float,
    *,
    order: Any = None,
    costs: Any = None,
    bias: Any = 0.0,
    beta: float = 0.0,
    two_sided: bool = True,
) -> Stopping:
    """Reference implementation of `bench_qwyc.optimise.optimise`, for two or more classes."""
    scores = checked_scores(scores, bias)
    dtype, models = scores.dtype, len(scores)
    prices = checked_costs(costs, models)
    chosen = np.arange(models) if order is None else checked_order(order, models).copy()
    sums = np.array(np.broadcast_to(np.asarray(bias, dtype), scores.shape[1:]))
    full = sums.copy()
    for row in scores:
        full += row
    truth = full >= dtype.type(beta) if scores.ndim == 2 else full.argmax(axis=1)
    active = np.arange(scores.shape[1])
    budget = spent = error_budget(alpha, scores.shape[1])
    lows, highs = np.full(models, -np.inf, dtype), np.full(models, np.inf, dtype)
    exits = np.zeros(models, dtype=np.int64)

    def judged(model: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Any, Any]:
        """Active examples that would stop, those of them with a wrong decision, and the thresholds."""
        after = sums[active] + scores[model, active]
        if scores.ndim == 2:
            low, high = plain_thresholds(after, truth[active], budget, two_sided)
            return _stops(after, low, high), (after > high) != truth[active], low, high
        ordered = np.sort(after, axis=1)
        lead = ordered[:, -1] - ordered[:, -2]
        wrong = after.argmax(axis=1) != truth[active]
        worst = np.sort(lead[wrong])[::-1]
        high = -np.inf if len(worst) <= budget else worst[budget]
        return lead > high, wrong, -np.inf, high

    for position in range(models - 1):
        rest = chosen[position:] if order is None else chosen[position : position + 1]
        at = int(prices[rest].argmin())
        best = np.inf
        if len(active):
            for k, model in enumerate(rest):
                decided = int(judged(model)[0].sum())
                if decided and (ratio := prices[model] * len(active) / decided) < best:
                    best, at = ratio, k
        chosen[position], chosen[position + at] = chosen[position + at], chosen[position]
        model = chosen[position]
        if len(active):
            stops, wrong, low, high = judged(model)
            sums[active] += scores[model, active]
            if stops.any():
                lows[position], highs[position] = low + 0.0, high + 0.0
                exits[position] = stops.sum()
                budget -= int((stops & wrong).sum())
                active = active[~stops]
    exits[-1] = len(active)
    return Stopping(chosen, lows, highs, exits, spent - budget, scores.shape[1])
