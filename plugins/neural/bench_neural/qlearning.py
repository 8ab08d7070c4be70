"""Q-learning of `cwcf` and `ol`: exploration, updates of the network and its slow copy, the pool of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bench_neural.training import CHUNK, Prepared, Setting, adam, chunks, train
from bench_neural.xla import jax, jnp, optax

__all__ = ["advance", "exploration_chunks", "first_rows", "train_q"]


def first_rows(prepared: Prepared, rng: np.random.Generator, batch: int) -> Any:
    """The data of the first `batch` rows of the pool."""
    return jax.tree.map(lambda array: array[0], next(chunks(prepared.training, rng, 1, batch)))


def exploration_chunks(updates: int) -> int:
    """The number of chunks in which the share of random actions falls: the first half of the updates."""
    return updates // (2 * CHUNK)


def advance(
    state: Any, batches: Any, learning: Any, setting: Setting, updates: int, step: Callable[..., tuple[Any, Any]]
) -> Any:
    """The state after one update with each batch.

    The share ε of random actions falls evenly over the first half of the updates. The slow copy of the network moves
    towards the network after each update.

    Args:
        state: the network, its slow copy, the optimiser's moments, the pool, the number of updates so far, and a key.
        batches: data of new rows, one batch for each update.
        learning: an object with ``target_rate``, ``first_epsilon`` and ``last_epsilon``.
        setting: settings of the network and the optimiser.
        updates: largest number of updates of the training.
        step: returns the gradient and the next pool, from the network, its slow copy, the pool, the new rows, ε and a
            key.
    """
    optimiser = adam(setting, updates)

    def update(state: Any, new: Any) -> Any:
        layers, slow, moments, pool, number, key = state
        key, use = jax.random.split(key)
        share = jnp.clip(2 * number / updates, 0, 1)
        epsilon = learning.first_epsilon + share * (learning.last_epsilon - learning.first_epsilon)
        gradient, pool = step(layers, slow, pool, new, epsilon, use)
        changes, moments = optimiser.update(gradient, moments, layers)
        layers = optax.apply_updates(layers, changes)
        slow = jax.tree.map(lambda s, n: s + learning.target_rate * (n - s), slow, layers)
        return (layers, slow, moments, pool, number + 1, key), None

    return jax.lax.scan(update, state, batches)[0]


def train_q(
    prepared: Prepared,
    setting: Setting,
    updates: int,
    start: tuple[Any, Any, Any],
    rng: np.random.Generator,
    advance: Callable[[Any, Any], Any],
    judge: Callable[[Any], Any],
    patience: int,
) -> tuple[Any, list[float]]:
    """Train a network and its slow copy on the states that rows reach by the network's own actions.

    Args:
        prepared: the rows.
        setting: settings of the network and the optimiser.
        updates: largest number of updates.
        start: the network's first parameters, the pool, and a key.
        rng: draws the order of the rows.
        advance: returns the state after the updates of a chunk.
        judge: returns the loss of parameters on the fold.
        patience: chunks without a lower loss on the fold before training stops.

    Returns:
        The parameters of the lowest loss, and the losses.
    """
    layers, pool, key = start
    best, history = train(
        (layers, layers, adam(setting, updates).init(layers), pool, jnp.zeros((), jnp.int32), key),
        chunks(prepared.training, rng, updates, setting.batch),
        advance,
        lambda state: state[0],
        judge,
        patience,
    )
    return jax.tree.map(np.asarray, best), history
