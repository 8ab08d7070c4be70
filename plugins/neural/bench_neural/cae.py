"""CAE: a static order learned by relaxed selections that are the same for all rows (Balın, Abid, Zou, ICML 2019).

A concrete autoencoder has k selectors. Each draws a relaxed one-hot vector over the units from a Concrete distribution
with logits of its own. A network reads the selected values; the temperature falls during training. The article's
network reconstructs the row; here, as in its use as a baseline (Covert et al., ICML 2023), it is the predictor f of the
label. The article trains anew for every k. Here each update shows f a random number of the first selectors, so
that their order is the order of the units.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core import Problem
from bench_neural.importance import selected_order
from bench_neural.training import CHUNK, Prepared, Setting, adam, apply, chunks, inputs, losses
from bench_neural.xla import jax, jnp, optax

__all__ = ["train_cae"]

_FASTER = 10.0
"""Learning rate of the logits, as a multiple of the network's, since few parameters must change much."""


@partial(jax.jit, static_argnames=("setting", "updates", "first", "last"))
def _advance(state: Any, batches: Any, spread: Any, setting: Setting, updates: int, first: float, last: float) -> Any:
    optimiser = adam(setting, updates)

    def loss(parameters: Any, data: Any, temperature: Any, key: Any) -> Any:
        draw, number, drop = jax.random.split(key, 3)
        logits = _FASTER * parameters["logits"]
        rows, selectors = len(data.target), len(logits)
        noisy = logits + jax.random.gumbel(draw, (rows, *logits.shape))
        chosen = jax.nn.softmax(noisy / temperature)
        shown = jax.random.randint(number, (rows, 1), 1, selectors + 1) > jnp.arange(selectors)
        mask = 1 - jnp.prod(1 - chosen * shown[:, :, None], axis=1)
        outputs = apply(parameters["f"], inputs(data.values, mask, spread), setting.dropout, drop)
        return jnp.mean(data.weight * losses(outputs, data.target, setting.classes))

    def step(state: Any, data: Any) -> Any:
        parameters, moments, number, key = state
        key, use = jax.random.split(key)
        temperature = first * (last / first) ** (number / updates)
        changes, moments = optimiser.update(jax.grad(loss)(parameters, data, temperature, use), moments, parameters)
        return (optax.apply_updates(parameters, changes), moments, number + 1, key), None

    return jax.lax.scan(step, state, batches)[0]


def train_cae(
    problem: Problem,
    prepared: Prepared,
    setting: Setting,
    predictor: Any,
    updates: int,
    selectors: int,
    temperatures: tuple[float, float],
) -> tuple[Any, NDArray[np.int64]]:
    """Train f and the selectors.

    Args:
        problem: its seed is used.
        prepared: the problem, prepared for training.
        setting: settings of the network and the optimiser.
        predictor: parameters of f, trained on random masks.
        updates: number of updates.
        selectors: number of selectors.
        temperatures: the first and the last temperature of the Concrete distribution.

    Returns:
        Parameters of f, and the order of all units; see `bench_neural.importance.selected_order`.
    """
    key = jax.random.key(int(problem.rng("neural", "cae").integers(2**31)))
    rng = problem.rng("neural", "cae", "batches")
    spread = jnp.asarray(prepared.spread)
    parameters = {"f": predictor, "logits": jnp.zeros((selectors, len(spread)))}
    state = (parameters, adam(setting, updates).init(parameters), jnp.zeros((), jnp.int32), key)
    for batches in chunks(prepared.training, rng, updates, setting.batch):
        state = _advance(state, batches, spread, setting, -(-updates // CHUNK) * CHUNK, *temperatures)
    best = jax.tree.map(np.asarray, state[0])
    return best["f"], selected_order(_FASTER * best["logits"], prepared.view.units)
