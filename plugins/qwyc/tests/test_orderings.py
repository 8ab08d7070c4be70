"""Pre-selected orders, compared with the squared error computed directly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bench_qwyc.orderings import make_order


def case(classes: int = 1) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, max(classes, 2), 300)
    shape = (7, 300) if classes == 1 else (7, 300, classes)
    signal = np.where(labels == 1, 1.0, -1.0) if classes == 1 else (labels[:, None] == np.arange(classes)) * 1.0
    strength = rng.uniform(-0.2, 0.6, (7,) + (1,) * (len(shape) - 1))
    return strength * signal + 0.3 * rng.normal(size=shape), labels, np.full(max(classes, 1), 0.1)


def goal(scores: Any, labels: Any, bias: Any, averaged: bool) -> tuple[Any, Any]:
    """Labels on the scale of the scores, and the start of the sums."""
    if scores.ndim == 2:
        y, start = np.where(labels == 1, 1.0, -1.0), bias[0]
    else:
        y, start = (labels[:, None] == np.arange(scores.shape[2])) - 1 / scores.shape[2], bias
    full = scores.sum(axis=0) + start
    return (y, 0.0) if averaged else (y * ((full * y).sum() / (y * y).sum()), start)


@pytest.mark.parametrize("classes", [1, 3])
@pytest.mark.parametrize("averaged", [False, True])
def test_individual_and_greedy_mse_are_those_of_the_definition(classes: int, averaged: bool) -> None:
    scores, labels, bias = case(classes)
    if averaged:
        bias = np.zeros_like(bias)
    y, start = goal(scores, labels, bias, averaged)
    rng = np.random.default_rng(0)
    alone = [((start + one - y) ** 2).mean() for one in scores]
    given = make_order("individual-mse", scores, labels, bias, rng, averaged=averaged)
    assert given.tolist() == np.argsort(alone, kind="stable").tolist()
    order: list[int] = []
    while len(order) < 7:
        rest = [t for t in range(7) if t not in order]

        def error(t: int) -> float:
            total = scores[[*order, t]].sum(axis=0)
            return float(((total / (len(order) + 1) if averaged else total + start) - y).__pow__(2).mean())

        order.append(min(rest, key=error))
    assert make_order("greedy-mse", scores, labels, bias, rng, averaged=averaged).tolist() == order


def test_natural_and_random_orders() -> None:
    scores, labels, bias = case()
    assert make_order("natural", scores, labels, bias, np.random.default_rng(0)).tolist() == list(range(7))
    one, two = (make_order("random", scores, labels, bias, np.random.default_rng(s)).tolist() for s in (0, 1))
    assert one != two
    assert sorted(one) == sorted(two) == list(range(7))
