"""OL: opportunistic learning by Q-learning (Kachuee, Goldstein, Kärkkäinen, Darabi, Sarrafzadeh, ICLR 2019).

The certainty of the predictor f about a row is the mean of its class probabilities over samples of dropout. The reward
of a purchase is how much the certainty changes, per price: ‖cert(x_S ∪ x_i) − cert(x_S)‖₁ / c_i. It needs no label. Q
estimates its discounted sum; the authors' program sets the discount to 0. While rows buy the unit of greatest Q, or a
random one with probability ε, f is trained on the states that they reach. f and Q share their hidden layers.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from bench_core import Problem
from bench_neural import qlearning
from bench_neural.training import Prepared, Setting, apply, fixed, inputs, losses, network, ratio_prices, restarted
from bench_neural.xla import jax, jnp

__all__ = ["Learning", "train_ol"]


class Learning(NamedTuple):
    """Settings of Q-learning.

    Attributes:
        samples: samples of dropout in a certainty.
        discount: factor of the next state's value in a target.
        target_rate: share of the network in each update of its slow copy, the target network.
        first_epsilon, last_epsilon: share of random purchases, falling evenly over the first half of the updates.
    """

    samples: int
    discount: float
    target_rate: float
    first_epsilon: float
    last_epsilon: float


def _certainty(layers: Any, x: Any, learning: Learning, setting: Setting, key: Any) -> Any:
    """Mean class probabilities over samples of dropout: (rows, classes)."""

    def sample(key: Any) -> Any:
        return jax.nn.softmax(apply(layers, x, setting.dropout, key)[:, : setting.classes])

    return jax.lax.map(sample, jax.random.split(key, learning.samples)).mean(axis=0)


def _q(outputs: Any, mask: Any, classes: int) -> Any:
    return jnp.where(mask > 0, -jnp.inf, outputs[:, classes:])


def _loss(
    layers: Any, slow: Any, pool: Any, spread: Any, prices: Any, epsilon: Any, learning: Learning, setting: Setting,
    key: Any,
) -> Any:  # fmt: skip
    """Mean loss of Q and f on the purchase that each row makes, and the unit bought."""
    data, mask = pool["data"], pool["mask"]
    explore, draw, drop, sample, sample_after = jax.random.split(key, 5)
    x = inputs(data.values, mask, spread)
    q = _q(apply(layers, x), mask, setting.classes)
    at_random = jnp.where(mask > 0, -jnp.inf, jax.random.uniform(draw, mask.shape))
    explores = jax.random.uniform(explore, mask.shape[:1]) < epsilon
    unit = jnp.where(explores, at_random.argmax(axis=1), q.argmax(axis=1))
    one = jax.nn.one_hot(unit, len(spread))
    bought = jnp.maximum(mask, one)
    after = inputs(data.values, bought, spread)
    before, then = (
        jax.lax.stop_gradient(_certainty(layers, seen, learning, setting, key))
        for seen, key in ((x, sample), (after, sample_after))
    )
    reward = jnp.abs(then - before).sum(axis=1) / (ratio_prices(mask, prices) * one).sum(axis=1)
    following = _q(apply(slow, after), bought, setting.classes).max(axis=1)
    target = reward + learning.discount * jnp.where(bought.all(axis=1), 0.0, following)
    error = (jnp.where(one > 0, q, 0.0).sum(axis=1) - jax.lax.stop_gradient(target)) ** 2
    answer = losses(apply(layers, after, setting.dropout, drop), data.target, setting.classes)
    first = losses(apply(layers, x, setting.dropout, drop), data.target, setting.classes)
    first = jnp.where(mask.any(axis=1), 0.0, first)  # f must also answer without any feature
    return jnp.mean(data.weight * (error + answer + first)), unit


@partial(jax.jit, static_argnames=("learning", "setting", "updates"))
def _advance(
    state: Any, batches: Any, spread: Any, prices: Any, depth: Any, learning: Learning, setting: Setting, updates: int
) -> Any:
    def step(layers: Any, slow: Any, pool: Any, new: Any, epsilon: Any, key: Any) -> tuple[Any, Any]:
        gradient, unit = jax.grad(_loss, has_aux=True)(
            layers, slow, pool, spread, prices, epsilon, learning, setting, key
        )
        bought = jnp.maximum(pool["mask"], jax.nn.one_hot(unit, len(spread)))
        age = pool["age"] + 1
        empty = {"data": new, "mask": jnp.zeros_like(bought), "age": jnp.zeros_like(age)}
        return gradient, restarted((age >= depth) | bought.all(axis=1), empty, {**pool, "mask": bought, "age": age})

    return qlearning.advance(state, batches, learning, setting, updates, step)


@partial(jax.jit, static_argnames=("depth", "classes"))
def _judge(layers: Any, data: Any, spread: Any, depth: int, classes: int) -> Any:
    """Mean loss of f before and after the first `depth` purchases by the greatest Q."""

    def step(mask: Any, _: Any) -> Any:
        outputs = apply(layers, inputs(data.values, mask, spread))
        bought = jnp.maximum(mask, jax.nn.one_hot(_q(outputs, mask, classes).argmax(axis=1), mask.shape[1]))
        return bought, jnp.sum(data.weight * losses(outputs, data.target, classes))

    start = jnp.zeros((len(data.target), len(spread)), jnp.float32)
    return jax.lax.scan(step, start, None, depth + 1)[1].mean() / jnp.maximum(data.weight.sum(), 1e-9)


def train_ol(
    problem: Problem,
    prepared: Prepared,
    setting: Setting,
    learning: Learning,
    predictor: Any,
    updates: int,
    depth: int,
    patience: int,
) -> tuple[Any, list[float]]:
    """Train f and Q.

    Args:
        problem: its seed is used.
        prepared: the problem, prepared for training.
        setting: settings of the network and the optimiser.
        learning: settings of Q-learning.
        predictor: parameters of f, trained on random masks.
        updates: largest number of updates.
        depth: purchases of a sequence, at most the number of units.
        patience: chunks without a lower loss on the fold before training stops.

    Returns:
        Parameters of a network whose outputs are those of f, then Q of each unit; and the losses on the fold.
    """
    key = jax.random.key(int(problem.rng("neural", "ol").integers(2**31)))
    rng = problem.rng("neural", "ol", "batches")
    spread, prices, fold = jnp.asarray(prepared.spread), prepared.prices, fixed(prepared.fold)
    units, batch = len(spread), setting.batch
    *trunk, (weights, bias) = predictor
    head, zeros = network(jax.random.fold_in(key, 1), sum(spread.shape), setting.hidden, units)[-1]
    layers = [*trunk, (jnp.concatenate([weights, head], axis=1), jnp.concatenate([bias, zeros]))]
    pool = {
        "data": qlearning.first_rows(prepared, rng, batch),
        "mask": jnp.zeros((batch, units), jnp.float32),
        "age": jnp.asarray(rng.integers(0, depth, batch), jnp.int32),  # so that sequences end at different updates
    }
    return qlearning.train_q(
        prepared,
        setting,
        updates,
        (layers, pool, key),
        rng,
        lambda state, new: _advance(state, new, spread, prices, depth, learning, setting, updates),
        lambda layers: _judge(layers, fold, spread, depth, setting.classes),
        patience,
    )
