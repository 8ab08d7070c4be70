"""The trade-offs λ of a family, in nats per price of all features."""

from __future__ import annotations

import numpy as np
from bench_models.tradeoff import lambdas_in_cost
from numpy.typing import NDArray

from bench_aaco.oracle import Oracle
from bench_aaco.policy import OraclePolicy
from bench_core import Problem

__all__ = ["in_cost", "in_log", "policy_at"]

_ROWS = 100
"""Number of validation rows on which the cost of a λ is measured."""


def policy_at(oracle: Oracle, lambda_: float) -> OraclePolicy:
    """The policy at a λ."""
    return OraclePolicy(oracle, lambda_, oracle.first(lambda_), f"lambda={lambda_:g}", {"lambda": lambda_})


def in_log(oracle: Oracle, count: int) -> list[float]:
    """``count`` values, evenly spaced in log λ.

    At the lowest λ all features cost a thousandth of the loss when nothing is known; at the highest the cheapest unit
    costs all of it. The grid is [0] if every feature is free or that loss is 0.
    """
    nothing, paid = _loss_and_prices(oracle)
    if not len(paid) or nothing <= 0:
        return [0.0]
    return [float(f"{value:.6g}") for value in np.geomspace(0.001 * nothing, nothing / paid.min(), count)]


def in_cost(problem: Problem, oracle: Oracle, count: int) -> list[float]:
    """At most ``count`` values, from 0 to one at which nothing is bought, whose policies' costs are evenly spread.

    The grid is [0] if every feature is free or the loss when nothing is known is 0.

    Args:
        problem: prices and the validation part, whose labels are not used.
        oracle: the fitted look-ahead.
        count: maximum number of λ.
    """
    nothing, paid = _loss_and_prices(oracle)
    if not len(paid) or nothing <= 0:
        return [0.0]
    unit = nothing / float(paid.mean())  # at this λ, a unit of mean price costs the whole loss
    return lambdas_in_cost(problem, lambda value: policy_at(oracle, value), unit, _ROWS, count)


def _loss_and_prices(oracle: Oracle) -> tuple[float, NDArray[np.float64]]:
    """The loss when nothing is known, and the prices of the units that are not free."""
    nothing = np.zeros((1, oracle.features), dtype=bool)
    price = oracle.price(nothing)[0, np.unique(oracle.prices.unit, return_index=True)[1]]
    return float(oracle.first_losses[0]), price[price > 0]
