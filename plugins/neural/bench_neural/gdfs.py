"""GDFS: a policy network trained by relaxed selections (Covert et al., ICML 2023).

Let π(x_S, m) be the scores of the unknown units and f(x_S, m) the predictor. Training draws a relaxed one-hot
selection from the Concrete distribution of π at a temperature, adds it to the mask, and minimises the loss of f there
(section 4 of the article). The row then buys the drawn unit and stays in training, so the states are those that the
policy itself reaches. The temperature falls in stages, each of which starts from the best networks of the stage before.

The article has no prices. Here the relaxed selection is free of them, and a row buys the unit of greatest π − log
price. Were prices part of the relaxed selection, too, π would learn to undo them, since the loss does not know them.
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

__all__ = ["train_gdfs"]


def _preferred(scores: Any, mask: Any, prices: Any) -> Any:
    """The unit that each row buys: the one of greatest score − log price."""
    return (scores - jnp.log(ratio_prices(mask, prices))).argmax(axis=1)


def _scores(pi: Any, x: Any, mask: Any, dropout: float = 0.0, key: Any = None) -> Any:
    """π; −∞ where a unit is known."""
    return jnp.where(mask > 0, -jnp.inf, apply(pi, x, dropout, key))


def _relaxed_loss(
    networks: Any, pool: Any, spread: Any, prices: Any, temperature: Any, setting: Setting, key: Any
) -> Any:
    """Mean loss of f after a relaxed purchase of each row, and the unit that the row buys."""
    data, mask = pool["data"], pool["mask"]
    drop_pi, drop_f, draw = jax.random.split(key, 3)
    x = inputs(data.values, mask, spread)
    noisy = _scores(networks["pi"], x, mask, setting.dropout, drop_pi) + jax.random.gumbel(draw, mask.shape)
    x = inputs(data.values, mask + jax.nn.softmax(noisy / temperature), spread)
    outputs = apply(networks["f"], x, setting.dropout, drop_f)
    loss = jnp.mean(data.weight * losses(outputs, data.target, setting.classes))
    return loss, _preferred(noisy, mask, prices)


@partial(jax.jit, static_argnames=("depth", "classes"))
def _judge(networks: Any, data: Any, spread: Any, prices: Any, depth: int, classes: int) -> Any:
    """Mean loss of f over the first `depth` purchases."""

    def step(mask: Any, _: Any) -> Any:
        scores = _scores(networks["pi"], inputs(data.values, mask, spread), mask)
        mask = jnp.maximum(mask, jax.nn.one_hot(_preferred(scores, mask, prices), mask.shape[1]))
        loss = losses(apply(networks["f"], inputs(data.values, mask, spread)), data.target, classes)
        return mask, jnp.sum(data.weight * loss)

    start = jnp.zeros((len(data.target), len(spread)), jnp.float32)
    return jax.lax.scan(step, start, None, depth)[1].mean() / jnp.maximum(data.weight.sum(), 1e-9)


def train_gdfs(
    problem: Problem,
    prepared: Prepared,
    setting: Setting,
    predictor: Any,
    updates: int,
    depth: int,
    temperatures: Sequence[float],
    patience: int,
) -> tuple[Any, Any, list[float]]:
    """Train f and π.

    Args:
        problem: its seed is used.
        prepared: the problem, prepared for training.
        setting: settings of the networks and the optimiser.
        predictor: parameters of f, trained on random masks.
        updates: largest number of updates at each temperature.
        depth: purchases of a sequence, at most the number of units.
        temperatures: temperature of each stage.
        patience: chunks without a lower loss on the fold before a stage ends.

    Returns:
        Parameters of f and of π at the lowest loss on the fold in the last stage, and the losses.
    """
    key = jax.random.key(int(problem.rng("neural", "gdfs").integers(2**31)))
    rng = problem.rng("neural", "gdfs", "batches")
    spread, prices, fold = jnp.asarray(prepared.spread), prepared.prices, fixed(prepared.fold)
    units = len(spread)
    best = {"f": predictor, "pi": network(jax.random.fold_in(key, 1), sum(spread.shape), setting.hidden, units)}
    best, history = train_stages(
        best,
        temperatures,
        prepared,
        setting,
        (key, rng),
        (updates, depth, patience),
        _relaxed_loss,
        lambda networks: _judge(networks, fold, spread, prices, depth, setting.classes),
    )
    best = jax.tree.map(np.asarray, best)
    return best["f"], best["pi"], history
