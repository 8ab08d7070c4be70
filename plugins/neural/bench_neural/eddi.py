"""EDDI: information by samples of a partial variational auto-encoder (Ma et al., ICML 2019).

The auto-encoder reads any set of known values: each becomes a point max(0, x_i · e_i + b_i), the points are summed (a
point-net), and a network maps the sum to the mean and deviation of the latent variable. A decoder gives the values'
means. The auto-encoder is trained on random masks by the evidence lower bound of the known values. A unit's reward is
its expected information about the class: the predictor f answers for sampled values of the unit.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from bench_core import Problem
from bench_neural.information import Imputer
from bench_neural.policy import Network
from bench_neural.predictor import random_masks
from bench_neural.training import Prepared, Setting, adam, apply, chunks, fixed, train
from bench_neural.xla import jax, jnp, optax

__all__ = ["train_eddi"]

_CODE = 64
"""Length of the code of a set of values."""


def _bound(parameters: Any, data: Any, mask: Any, spread: Any, key: Any) -> Any:
    """Minus the evidence lower bound of each row's known values, up to a constant: (rows,)."""
    known = mask @ spread
    points = jax.nn.relu(data.values[..., None] * parameters["slope"] + parameters["shift"])
    mean, log_deviation = jnp.split(apply(parameters["encoder"], (points * known[..., None]).sum(axis=1)), 2, axis=1)
    z = mean + jnp.exp(log_deviation) * jax.random.normal(key, mean.shape)
    divergence = 0.5 * (jnp.exp(2 * log_deviation) + mean**2 - 1 - 2 * log_deviation).sum(axis=1)
    off = (data.values - apply(parameters["decoder"], z)) * jnp.exp(-parameters["noise"])
    return divergence + (known * (0.5 * off**2 + parameters["noise"])).sum(axis=1)


@partial(jax.jit, static_argnames=("setting", "updates"))
def _advance(state: Any, batches: Any, spread: Any, setting: Setting, updates: int) -> Any:
    optimiser = adam(setting, updates)

    def loss(parameters: Any, data: Any, key: Any) -> Any:
        mask = random_masks(jax.random.fold_in(key, 0), len(data.target), len(spread))
        return jnp.mean(data.weight * _bound(parameters, data, mask, spread, jax.random.fold_in(key, 1)))

    def step(state: Any, data: Any) -> Any:
        parameters, moments, key = state
        key, use = jax.random.split(key)
        changes, moments = optimiser.update(jax.grad(loss)(parameters, data, use), moments, parameters)
        return (optax.apply_updates(parameters, changes), moments, key), None

    return jax.lax.scan(step, state, batches)[0]


@jax.jit
def _judge(parameters: Any, data: Any, spread: Any, key: Any) -> Any:
    mask = random_masks(key, len(data.target), len(spread))
    bound = _bound(parameters, data, mask, spread, jax.random.fold_in(key, 1))
    return jnp.sum(data.weight * bound) / jnp.maximum(data.weight.sum(), 1e-9)


def _layers(key: Any, *sizes: int) -> list[tuple[Any, Any]]:
    """Parameters of dense layers: He's initialisation, biases 0."""
    he = jax.nn.initializers.he_normal()
    pairs = list(pairwise(sizes))
    return [(he(k, pair), jnp.zeros(pair[1])) for k, pair in zip(jax.random.split(key, len(pairs)), pairs, strict=True)]


def train_eddi(
    problem: Problem, prepared: Prepared, setting: Setting, updates: int, latent: int, samples: int, patience: int
) -> tuple[Imputer, list[float]]:
    """Train the auto-encoder, and draw the noise of its samples.

    Args:
        problem: its seed is used.
        prepared: the problem, prepared for training.
        setting: settings of the optimiser, and the number of hidden units.
        updates: largest number of updates.
        latent: dimensions of the latent variable.
        samples: number of samples in the expectation of a decision.
        patience: chunks without a lower loss on the fold before training stops.

    Returns:
        The imputer, and the losses on the fold. It imputes values, but never flags of missing values.
    """
    key = jax.random.key(int(problem.rng("neural", "eddi").integers(2**31)))
    spread, fold = jnp.asarray(prepared.spread), fixed(prepared.fold)
    values, hidden = spread.shape[1], setting.hidden
    keys = jax.random.split(key, 4)
    parameters = {
        "slope": jax.random.normal(keys[0], (values, _CODE)) / np.sqrt(values),
        "shift": jax.random.normal(keys[1], (values, _CODE)) / np.sqrt(values),
        "encoder": _layers(keys[2], _CODE, hidden, 2 * latent),
        "decoder": _layers(keys[3], latent, hidden, hidden, values),
        "noise": jnp.zeros(values),
    }
    best, history = train(
        (parameters, adam(setting, updates).init(parameters), key),
        chunks(prepared.training, problem.rng("neural", "eddi", "batches"), updates, setting.batch),
        lambda state, batches: _advance(state, batches, spread, setting, updates),
        lambda state: state[0],
        lambda parameters: _judge(parameters, fold, spread, key),
        patience,
    )
    best = jax.tree.map(np.asarray, best)
    rng = problem.rng("neural", "eddi", "samples")
    noise = rng.standard_normal((samples, values)) * np.exp(best["noise"])
    columns = len(prepared.view.mean)
    (*below, (weights, bias)) = best["decoder"]
    weights, bias = np.array(weights), np.array(bias)
    noise[:, columns:] = weights[:, columns:] = bias[columns:] = 0.0  # flags of missing values
    return Imputer(
        np.array(best["slope"], np.float32),
        np.array(best["shift"], np.float32),
        Network.of(best["encoder"]),
        Network.of([*below, (weights, bias)]),
        rng.standard_normal((samples, latent)).astype(np.float32),
        noise.astype(np.float32),
    ), history
