"""CwCF: buy or classify, learned by Q-learning (Janisch, Pevný, Lisý, AAAI 2019).

An episode is a row. An action buys a unit, with reward −λ · price, or ends the episode: the row is then answered by the
predictor f, with reward 0 if f is right and −1 otherwise (or minus the log loss, as in JAFA: Shim, Hwang, Yang,
NeurIPS 2018). Known units cannot be bought again. Q is a dueling network; its targets are Retrace's, with the action
chosen by the network and valued by its slow copy, the target network (double Q-learning).

The article trains one network for each λ. Here λ is an input of the network, drawn anew in every episode, so that one
network gives the family of all λ.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench_core import Problem
from bench_neural import qlearning
from bench_neural.training import Prepared, Setting, apply, fixed, inputs, losses, network, ratio_prices, restarted
from bench_neural.xla import jax, jnp

__all__ = ["Learning", "train_cwcf"]


class Learning(NamedTuple):
    """Settings of Q-learning.

    Attributes:
        reward: reward of an answer: ``error`` (−1 if it is wrong) or ``log-loss`` (minus its log loss).
        steps: actions of each row between two updates; Retrace's targets span all of them.
        target_rate: share of the network in each update of its slow copy, the target network.
        first_epsilon, last_epsilon: share of random actions, falling evenly over the first half of the updates.
    """

    reward: str
    steps: int
    target_rate: float
    first_epsilon: float
    last_epsilon: float


class World(NamedTuple):
    """The data of episodes: f, the values of each unit, prices, and the trade-offs λ with their network inputs."""

    predictor: Any
    spread: Any
    prices: Any
    lambdas: Any
    codes: Any


def _seen(data: Any, mask: Any, code: Any, world: World) -> Any:
    return jnp.concatenate([inputs(data.values, mask, world.spread), code[:, None]], axis=1)


def _q(layers: Any, x: Any, mask: Any) -> Any:
    """Q of buying each unit, then of answering: (rows, units + 1); −∞ where a unit is known."""
    outputs = apply(layers, x)
    advantage = outputs[:, 1:]
    q = outputs[:, :1] + advantage - advantage.mean(axis=1, keepdims=True)
    return q.at[:, :-1].set(jnp.where(mask > 0, -jnp.inf, q[:, :-1]))


def _rewards(data: Any, mask: Any, penalty: Any, world: World, reward: str, classes: int) -> Any:
    """Reward of each action: (rows, units + 1)."""
    outputs = apply(world.predictor, inputs(data.values, mask, world.spread))
    if reward == "error":
        end = -(outputs[:, :classes].argmax(axis=1) != data.target.astype(jnp.int32)).astype(jnp.float32)
    else:
        end = -losses(outputs, data.target, classes)
    bought = -penalty[:, None] * ratio_prices(mask, world.prices)
    return jnp.concatenate([bought, data.weight[:, None] * end[:, None]], axis=1)


def _act(
    layers: Any, pool: Any, new: Any, world: World, epsilon: Any, learning: Learning, classes: int, key: Any
) -> Any:
    """Take an action in every row; return the pool after it, and the data that Retrace needs."""
    data, mask, which = pool["data"], pool["mask"], pool["lambda"]
    explore, draw, again = jax.random.split(key, 3)
    x = _seen(data, mask, world.codes[which], world)
    q = _q(layers, x, mask)
    allowed = jnp.isfinite(q)
    count = allowed.sum(axis=1)
    greedy = q.argmax(axis=1)
    random = jnp.where(allowed, jax.random.uniform(draw, q.shape), -jnp.inf).argmax(axis=1)
    action = jnp.where(jax.random.uniform(explore, greedy.shape) < epsilon, random, greedy)
    chance = epsilon / count + (1 - epsilon) * (action == greedy)
    one = jax.nn.one_hot(action, q.shape[1])
    reward = (_rewards(data, mask, world.lambdas[which], world, learning.reward, classes) * one).sum(axis=1)
    ended = action == q.shape[1] - 1
    fresh = jax.random.randint(again, which.shape, 0, len(world.lambdas))
    empty = {"data": new, "mask": jnp.zeros_like(mask), "lambda": fresh}
    after = restarted(ended, empty, {**pool, "mask": jnp.maximum(mask, one[:, :-1])})
    return after, {"x": x, "mask": mask, "action": action, "chance": chance, "reward": reward, "ended": ended}


def _targets(layers: Any, slow: Any, steps: Any, last: Any) -> Any:
    """Retrace's targets of each step: (steps, rows). `steps` are stacked results of `_act`, `last` the state after."""
    take = partial(jnp.take_along_axis, axis=1)

    def valued(x: Any, mask: Any, action: Any) -> tuple[Any, Any, Any]:
        greedy = _q(layers, x, mask).argmax(axis=1)
        q = _q(slow, x, mask)
        return greedy == action, take(q, greedy[:, None])[:, 0], take(q, action[:, None])[:, 0]

    is_greedy, value, taken = jax.vmap(valued)(steps["x"], steps["mask"], steps["action"])
    trace = jnp.minimum(1.0, is_greedy / steps["chance"])
    beyond = take(_q(slow, *last), _q(layers, *last).argmax(axis=1)[:, None])[:, 0]

    def back(following: Any, step: Any) -> Any:
        reward, ended, value, correction, taken = step
        target = jnp.minimum(reward + jnp.where(ended, 0.0, following), 0.0)
        return value + correction * (target - taken), target

    columns = (steps["reward"], steps["ended"], value, trace, taken)
    return jax.lax.scan(back, beyond, columns, reverse=True)[1]


@partial(jax.jit, static_argnames=("learning", "setting", "updates"))
def _advance(state: Any, batches: Any, world: World, learning: Learning, setting: Setting, updates: int) -> Any:
    def step(layers: Any, slow: Any, pool: Any, new: Any, epsilon: Any, key: Any) -> tuple[Any, Any]:
        def act(pool: Any, key: Any) -> Any:
            return _act(layers, pool, new, world, epsilon, learning, setting.classes, key)

        pool, steps = jax.lax.scan(act, pool, jax.random.split(key, learning.steps))
        last = _seen(pool["data"], pool["mask"], world.codes[pool["lambda"]], world), pool["mask"]
        targets = _targets(layers, slow, steps, last)

        def error(layers: Any) -> Any:
            q = jax.vmap(lambda x, mask: _q(layers, x, mask))(steps["x"], steps["mask"])
            taken = jnp.take_along_axis(q, steps["action"][..., None], axis=2)[..., 0]
            return jnp.mean((taken - targets) ** 2)

        return jax.grad(error)(layers), pool

    return qlearning.advance(state, batches, learning, setting, updates, step)


@partial(jax.jit, static_argnames=("reward", "classes"))
def _judge(layers: Any, data: Any, world: World, reward: str, classes: int) -> Any:
    """Minus the mean return of the greedy policy; the λ are assigned to the rows in turn."""
    which = jnp.arange(len(data.target)) % len(world.lambdas)

    def step(state: Any, _: Any) -> Any:
        mask, going = state
        action = _q(layers, _seen(data, mask, world.codes[which], world), mask).argmax(axis=1)
        one = jax.nn.one_hot(action, mask.shape[1] + 1)
        gain = (_rewards(data, mask, world.lambdas[which], world, reward, classes) * one).sum(axis=1)
        gain = jnp.where(going, gain, 0.0) * (data.weight > 0)
        return (jnp.maximum(mask, one[:, :-1]), going & (action < mask.shape[1])), gain

    start = jnp.zeros((len(data.target), len(world.spread))), jnp.ones(len(data.target), bool)
    gains = jax.lax.scan(step, start, None, len(world.spread) + 1)[1]
    return -gains.sum() / jnp.maximum((data.weight > 0).sum(), 1)


def train_cwcf(
    problem: Problem,
    prepared: Prepared,
    setting: Setting,
    learning: Learning,
    predictor: Any,
    lambdas: NDArray[np.float64],
    codes: NDArray[np.float64],
    updates: int,
    patience: int,
) -> tuple[Any, list[float]]:
    """Train Q.

    Args:
        problem: its seed is used.
        prepared: the problem, prepared for training.
        setting: settings of the network and the optimiser; Q is trained without dropout.
        learning: settings of Q-learning.
        predictor: parameters of f, which do not change.
        lambdas: float64 (λ,): trade-offs per `Units.scale`.
        codes: float64 (λ,): the network's input for each of them.
        updates: largest number of updates.
        patience: chunks without a greater return on the fold before training stops, in addition to the chunks in which
            the share of random actions falls.

    Returns:
        Parameters of a network whose outputs are Q of buying each unit, then of answering; and the losses.
    """
    key = jax.random.key(int(problem.rng("neural", "cwcf").integers(2**31)))
    rng = problem.rng("neural", "cwcf", "batches")
    spread, batch = jnp.asarray(prepared.spread), setting.batch
    as_array = partial(jnp.asarray, dtype=jnp.float32)
    world = World(predictor, spread, prepared.prices, as_array(lambdas), as_array(codes))
    head = network(jax.random.fold_in(key, 1), sum(spread.shape), setting.hidden, len(spread) + 2)[-1]
    (weights, bias), hidden, _ = predictor  # the hidden layers start as f's
    layers = [(jnp.concatenate([weights, jnp.zeros((1, setting.hidden))]), jnp.asarray(bias)), hidden, head]
    pool = {
        "data": qlearning.first_rows(prepared, rng, batch),
        "mask": jnp.zeros((batch, len(spread)), jnp.float32),
        "lambda": jnp.asarray(rng.integers(0, len(lambdas), batch), jnp.int32),
    }
    fold = fixed(prepared.fold)
    best, history = qlearning.train_q(
        prepared,
        setting,
        updates,
        (layers, pool, key),
        rng,
        lambda state, new: _advance(state, new, world, learning, setting, updates),
        lambda layers: _judge(layers, fold, world, learning.reward, setting.classes),
        patience + qlearning.exploration_chunks(updates),
    )
    *trunk, (weights, bias) = best
    merged = weights[:, :1] + weights[:, 1:] - weights[:, 1:].mean(axis=1, keepdims=True)
    return [*trunk, (merged, bias[:1] + bias[1:] - bias[1:].mean())], history
