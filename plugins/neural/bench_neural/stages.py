"""Train networks in stages, on the states that rows reach by the networks' own purchases (GDFS and DIME)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from bench_neural.training import Prepared, Setting, adam, after_purchase, chunks, train
from bench_neural.xla import jax, jnp, optax

__all__ = ["train_stages"]

Loss = Callable[[Any, Any, Any, Any, Any, Setting, Any], tuple[Any, Any]]
"""(parameters, pool, spread, prices, the stage's value, setting, key) → the mean loss of a purchase by each row, and
the unit that each row buys."""


@partial(jax.jit, static_argnames=("loss", "setting", "updates"))
def _advance(
    state: Any, batches: Any, spread: Any, prices: Any, depth: Any, loss: Loss, setting: Setting, updates: int
) -> Any:
    """The state after an update for every batch."""
    optimiser = adam(setting, updates)

    def step(state: Any, new: Any) -> Any:
        networks, moments, pool, key, value = state
        key, use = jax.random.split(key)
        gradient, unit = jax.grad(loss, has_aux=True)(networks, pool, spread, prices, value, setting, use)
        changes, moments = optimiser.update(gradient, moments, networks)
        pool = after_purchase(pool, unit, new, depth)
        return (optax.apply_updates(networks, changes), moments, pool, key, value), None

    return jax.lax.scan(step, state, batches)[0]


def train_stages(
    best: Any,
    stages: Sequence[float],
    prepared: Prepared,
    setting: Setting,
    random: tuple[Any, np.random.Generator],
    limits: tuple[int, int, int],
    loss: Loss,
    judge: Callable[[Any], Any],
) -> tuple[Any, list[float]]:
    """Train in stages, on the networks' own purchases; each stage starts from the best parameters of the one before.

    A state holds the parameters, the optimiser's moments, the rows with their masks and ages, a key, and the stage's
    value.

    Args:
        best: the first parameters.
        stages: a value for each stage, such as a temperature.
        prepared: the rows.
        setting: settings of the networks and the optimiser.
        random: a key, and a generator of batches.
        limits: most updates of a stage, purchases of a sequence, and chunks without a lower loss before a stage ends.
        loss: returns the mean loss of a purchase by each row, and the unit bought.
        judge: returns the loss of parameters on the fold.

    Returns:
        The parameters of the lowest loss in the last stage, and the losses of all stages.
    """
    (key, rng), (updates, depth, patience), batch = random, limits, setting.batch
    pool = {
        "data": jax.tree.map(lambda array: array[0], next(chunks(prepared.training, rng, 1, batch))),
        "mask": jnp.zeros((batch, len(prepared.spread)), jnp.float32),
        "age": jnp.asarray(rng.integers(0, depth, batch), jnp.int32),  # so that sequences end at different updates
    }
    spread, prices = jnp.asarray(prepared.spread), prepared.prices
    history: list[float] = []
    for stage, value in enumerate(stages):
        start = (best, adam(setting, updates).init(best), pool, jax.random.fold_in(key, stage + 2), value)
        new = chunks(prepared.training, rng, updates, batch)
        best, fell = train(
            start,
            new,
            lambda state, rows: _advance(state, rows, spread, prices, depth, loss, setting, updates),
            lambda state: state[0],
            judge,
            patience,
        )
        history += fell
    return best, history
