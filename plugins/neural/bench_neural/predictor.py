"""The predictor of partial inputs that all methods share: a network trained on random masks."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from bench_core import Problem
from bench_neural.training import Prepared, Setting, adam, apply, chunks, fixed, inputs, losses, network, train
from bench_neural.xla import jax, jnp, optax

__all__ = ["fit_predictor", "random_masks"]

_COPIES = 4
"""Number of masks with which each row of the fold is evaluated."""


def random_masks(key: Any, rows: int, units: int) -> Any:
    """Random masks, float32 (rows, units): all numbers of known units are equally likely, as are all sets of a size.

    Every unit is known with a probability that is uniform for each row, so the number of known units is uniform, too.
    """
    share, draw = jax.random.uniform(key, (rows, 1)), jax.random.uniform(jax.random.fold_in(key, 1), (rows, units))
    return (draw < share).astype(jnp.float32)


@partial(jax.jit, static_argnames=("setting", "updates"))
def _advance(state: Any, batches: Any, spread: Any, setting: Setting, updates: int) -> Any:
    optimiser = adam(setting, updates)

    def loss(layers: Any, data: Any, key: Any) -> Any:
        mask = random_masks(jax.random.fold_in(key, 0), len(data.target), len(spread))
        outputs = apply(layers, inputs(data.values, mask, spread), setting.dropout, jax.random.fold_in(key, 1))
        return jnp.mean(data.weight * losses(outputs, data.target, setting.classes))

    def step(state: Any, data: Any) -> Any:
        layers, moments, key = state
        key, use = jax.random.split(key)
        changes, moments = optimiser.update(jax.grad(loss)(layers, data, use), moments, layers)
        return (optax.apply_updates(layers, changes), moments, key), None

    return jax.lax.scan(step, state, batches)[0]


@partial(jax.jit, static_argnames="classes")
def _judge(layers: Any, data: Any, masks: Any, spread: Any, classes: int) -> Any:
    def under(mask: Any) -> Any:
        return jnp.sum(data.weight * losses(apply(layers, inputs(data.values, mask, spread)), data.target, classes))

    return jax.lax.map(under, masks).mean() / jnp.maximum(data.weight.sum(), 1e-9)


def fit_predictor(problem: Problem, prepared: Prepared, setting: Setting, updates: int, patience: int) -> Any:
    """Train the predictor; fits on the same problem with the same setting share it.

    Args:
        problem: its seed is used.
        prepared: the problem, prepared for training.
        setting: settings of the network and the optimiser.
        updates: largest number of updates.
        patience: chunks without a lower loss on the fold before training stops.

    Returns:
        The parameters of a network with one output for each class, or one for regression.
    """
    key = jax.random.key(int(problem.rng("neural", "predictor").integers(2**31)))
    spread = jnp.asarray(prepared.spread)
    layers = network(key, sum(spread.shape), setting.hidden, setting.classes or 1)
    fold = fixed(prepared.fold)
    masks = jax.vmap(lambda k: random_masks(k, len(fold.target), len(spread)))(jax.random.split(key, _COPIES))
    rng = problem.rng("neural", "predictor", "batches")
    best, _ = train(
        (layers, adam(setting, updates).init(layers), key),
        chunks(prepared.training, rng, updates, setting.batch),
        lambda state, batches: _advance(state, batches, spread, setting, updates),
        lambda state: state[0],
        lambda layers: _judge(layers, fold, masks, spread, setting.classes),
        patience,
    )
    return jax.tree.map(np.asarray, best)
