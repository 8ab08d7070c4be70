"""DIME: a value network that estimates conditional mutual information (Gadgil, Covert, Lee, ICLR 2024).

The value network v(x_S, m) estimates for every unknown unit i how much the loss of f falls when x_i becomes known,
which is in expectation I(y; x_i | x_S). It is trained by squared error on ℓ(f(x_S), y) − ℓ(f(x_S ∪ x_i), y) for the
unit that a row buys: the one of greatest v_i / c_i, or a random one with probability ε. f is trained on the same
states, and shares its hidden layers with v. v is a sigmoid times the entropy of f's answer, which bounds the
information; for regression, whose loss has no such bound, it is a softplus.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from bench_core import Problem
from bench_neural.stages import train_stages
from bench_neural.training import Prepared, Setting, apply, fixed, inputs, losses, network, ratio_prices
from bench_neural.xla import jax, jnp

__all__ = ["train_dime"]


def _values(outputs: Any, classes: int) -> Any:
    """v of each unit, (rows, units), from the network's outputs: those of f, then one for each unit."""
    if not classes:
        return jax.nn.softplus(outputs[:, 1:])
    logs = jax.nn.log_softmax(outputs[:, :classes])
    entropy = -(jnp.exp(logs) * logs).sum(axis=1, keepdims=True)
    return jax.nn.sigmoid(outputs[:, classes:]) * jax.lax.stop_gradient(entropy)


def _loss(layers: Any, pool: Any, spread: Any, prices: Any, epsilon: Any, setting: Setting, key: Any) -> Any:
    """Mean loss of v and f on the purchase that each row makes, and the unit bought."""
    data, mask = pool["data"], pool["mask"]
    explore, draw, drop, drop_after = jax.random.split(key, 4)
    outputs = apply(layers, inputs(data.values, mask, spread), setting.dropout, drop)
    before = losses(outputs, data.target, setting.classes)
    values = _values(outputs, setting.classes)
    ratio = jnp.where(mask > 0, -jnp.inf, values / ratio_prices(mask, prices))
    at_random = jnp.where(mask > 0, -jnp.inf, jax.random.uniform(draw, mask.shape))
    explores = jax.random.uniform(explore, mask.shape[:1]) < epsilon
    unit = jnp.where(explores, at_random.argmax(axis=1), ratio.argmax(axis=1))
    one = jax.nn.one_hot(unit, len(spread))
    outputs = apply(layers, inputs(data.values, jnp.maximum(mask, one), spread), setting.dropout, drop_after)
    after = losses(outputs, data.target, setting.classes)
    error = ((values * one).sum(axis=1) - jax.lax.stop_gradient(before - after)) ** 2
    first = jnp.where(mask.any(axis=1), 0.0, before)  # f must also answer without any feature
    return jnp.mean(data.weight * (error + after + first)), unit


@partial(jax.jit, static_argnames=("depth", "classes"))
def _judge(layers: Any, data: Any, spread: Any, prices: Any, depth: int, classes: int) -> Any:
    """Mean loss of f before and after the first `depth` purchases by the greatest v / price."""

    def step(mask: Any, _: Any) -> Any:
        outputs = apply(layers, inputs(data.values, mask, spread))
        ratio = jnp.where(mask > 0, -jnp.inf, _values(outputs, classes) / ratio_prices(mask, prices))
        bought = jnp.maximum(mask, jax.nn.one_hot(ratio.argmax(axis=1), mask.shape[1]))
        return bought, jnp.sum(data.weight * losses(outputs, data.target, classes))

    start = jnp.zeros((len(data.target), len(spread)), jnp.float32)
    return jax.lax.scan(step, start, None, depth + 1)[1].mean() / jnp.maximum(data.weight.sum(), 1e-9)


def train_dime(
    problem: Problem,
    prepared: Prepared,
    setting: Setting,
    predictor: Any,
    updates: int,
    depth: int,
    epsilons: Sequence[float],
    patience: int,
) -> tuple[Any, list[float]]:
    """Train f and v.

    Args:
        problem: its seed is used.
        prepared: the problem, prepared for training.
        setting: settings of the network and the optimiser.
        predictor: parameters of f, trained on random masks.
        updates: largest number of updates with each ε.
        depth: purchases of a sequence, at most the number of units.
        epsilons: share of random purchases in each stage.
        patience: chunks without a lower loss on the fold before a stage ends.

    Returns:
        Parameters of the network at the lowest loss on the fold in the last stage (its outputs are those of f, then
        one for each unit), and the losses.
    """
    key = jax.random.key(int(problem.rng("neural", "dime").integers(2**31)))
    rng = problem.rng("neural", "dime", "batches")
    spread, prices, fold = jnp.asarray(prepared.spread), prepared.prices, fixed(prepared.fold)
    units = len(spread)
    *trunk, (weights, bias) = predictor
    head, zeros = network(jax.random.fold_in(key, 1), sum(spread.shape), setting.hidden, units)[-1]
    best = [*trunk, (jnp.concatenate([weights, head], axis=1), jnp.concatenate([bias, zeros]))]
    best, history = train_stages(
        best,
        epsilons,
        prepared,
        setting,
        (key, rng),
        (updates, depth, patience),
        _loss,
        lambda layers: _judge(layers, fold, spread, prices, depth, setting.classes),
    )
    return jax.tree.map(np.asarray, best), history
