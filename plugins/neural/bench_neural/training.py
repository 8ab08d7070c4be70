"""Training shared by all methods: the problem's arrays, networks, losses, optimiser, batches, early stopping."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench_core import Problem
from bench_neural.view import FREE, View, view_of
from bench_neural.xla import jax, jnp, optax

__all__ = [
    "CHUNK", "Data", "Prepared", "Prices", "Setting", "adam", "after_purchase", "apply", "chunks", "data_of", "fixed",
    "inputs", "losses", "network", "ratio_prices", "restarted", "train",
]  # fmt: skip

CHUNK = 50
"""Number of updates of a compiled program."""
FOLD_ROWS = 256
"""Number of rows on which training is evaluated; a smaller fold is filled up with rows of weight 0."""


class Setting(NamedTuple):
    """Settings that compiled programs depend on, besides the shapes of arrays.

    Attributes:
        classes: number of classes; 0 for regression.
        hidden: units in each of two hidden layers.
        dropout: share of hidden units that an update leaves out.
        learning_rate: Adam's learning rate at the start; it falls to 0 along a cosine.
        weight_decay: Adam's decoupled weight decay.
        batch: rows of an update.
    """

    classes: int
    hidden: int = 128
    dropout: float = 0.3
    learning_rate: float = 3e-3
    weight_decay: float = 0.1
    batch: int = 128


class Data(NamedTuple):
    """Arrays of rows.

    Attributes:
        values: float32 (rows, values), see `View.values`.
        target: float32 (rows,): class codes, or standardised values.
        weight: float32 (rows,): weights of the rows' losses.
    """

    values: Any
    target: Any
    weight: Any


class Prices(NamedTuple):
    """Prices of units for compiled programs, in units of `Units.scale`.

    Attributes:
        own: float32 (units,): without the shared price of a group.
        member: float32 (units, groups): 1 where a unit belongs to a group.
        group: float32 (groups,): paid with the first unit of a group.
    """

    own: Any
    member: Any
    group: Any


@dataclass(frozen=True, eq=False)
class Prepared:
    """A problem as training uses it.

    Attributes:
        view: the networks' inputs, and the units.
        rows: all training rows.
        training: the rows that updates use.
        fold: the other rows, whose loss stops training early; all rows if there are fewer than 20.
        shift, stretch: a regression's target is ``shift + stretch · standardised target``.
        spread: float32 (units, values): which values belong to a unit.
    """

    view: View
    rows: Data
    training: Data
    fold: Data
    shift: float
    stretch: float

    @property
    def spread(self) -> NDArray[np.float32]:
        """float32 (units, values): 1 where a value belongs to a unit."""
        return self.view.spread_units

    @property
    def prices(self) -> Prices:
        """The units' prices."""
        units = self.view.units
        member = units.group[:, None] == np.arange(len(units.group_price))
        own, group = units.own / units.scale, units.group_price / units.scale
        return Prices(own.astype(np.float32), member.astype(np.float32), group.astype(np.float32))


def data_of(problem: Problem, class_weights: bool) -> Prepared:
    """Encode the training part, and set a fifth of it aside, the same for all methods.

    Args:
        problem: its training part and seed are used.
        class_weights: whether all classes have the same weight in the loss; otherwise all rows do.
    """
    view, y = view_of(problem), np.asarray(problem.train.y)
    shift, stretch = 0.0, 1.0
    weight = np.ones(len(y))
    if problem.n_classes:
        if class_weights:
            counts = np.bincount(y, minlength=problem.n_classes)
            weight = len(y) / (np.count_nonzero(counts) * np.maximum(counts, 1))[y]
    else:
        shift, stretch = float(y.mean()), float(y.std()) or 1.0
    target = ((y - shift) / stretch).astype(np.float32)
    rows = Data(view.values(problem.train.X), target, weight.astype(np.float32))
    order = problem.rng("neural", "fold").permutation(len(y))
    cut = len(y) // 5 if len(y) >= 20 else 0
    fold, training = order[:cut], order[cut:]
    return Prepared(view, rows, _take(rows, training), _take(rows, fold if cut else order), shift, stretch)


def _take(data: Data, rows: NDArray[Any]) -> Data:
    return Data(*(array[rows] for array in data))


def fixed(data: Data, rows: int = FOLD_ROWS) -> Data:
    """The first rows, in a fixed number for compiled programs; if there are fewer, rows of weight 0 are added."""
    count = min(len(data.target), rows)
    full = [np.zeros((rows, *np.shape(array)[1:]), np.float32) for array in data]
    for target, array in zip(full, data, strict=True):
        target[:count] = array[:count]
    return Data(*full)


def network(key: Any, inputs: int, hidden: int, outputs: int) -> list[tuple[Any, Any]]:
    """Parameters of a network with two hidden layers: He's initialisation, biases 0."""
    sizes = [(inputs, hidden), (hidden, hidden), (hidden, outputs)]
    he = jax.nn.initializers.he_normal()
    return [(he(k, size), jnp.zeros(size[1])) for k, size in zip(jax.random.split(key, 3), sizes, strict=True)]


def inputs(values: Any, mask: Any, spread: Any) -> Any:
    """Inputs of a network, as `View.inputs`: values of known units, then the mask, which may be relaxed."""
    return jnp.concatenate([values * (mask @ spread), mask], axis=1)


def ratio_prices(mask: Any, prices: Prices) -> Any:
    """The next price of each unit, with a small price for free units, as `Units.ratio_prices`: (rows, units)."""
    closed = (mask @ prices.member == 0) * prices.group
    return jnp.maximum(prices.own + closed @ prices.member.T, FREE)


def restarted(done: Any, new: Any, old: Any) -> Any:
    """The arrays `old`, in which rows that are done are replaced by those of `new`."""
    return jax.tree.map(lambda n, o: jnp.where(done.reshape(-1, *[1] * (o.ndim - 1)), n, o), new, old)


def after_purchase(pool: dict[str, Any], unit: Any, new: Any, depth: Any) -> Any:
    """The pool after each row has bought a unit; rows with all units, or `depth` of them, are replaced by new ones.

    Args:
        pool: ``data`` of the rows, ``mask`` (rows, units) of the units that they have, ``age``: purchases of each row.
        unit: int (rows,).
        new: data of as many new rows.
        depth: most purchases of a row.
    """
    bought = jnp.maximum(pool["mask"], jax.nn.one_hot(unit, pool["mask"].shape[1]))
    age = pool["age"] + 1
    empty = {"data": new, "mask": jnp.zeros_like(bought), "age": jnp.zeros_like(age)}
    return restarted((age >= depth) | bought.all(axis=1), empty, {**pool, "mask": bought, "age": age})


def apply(layers: Any, x: Any, dropout: float = 0.0, key: Any = None) -> Any:
    """Outputs of a network; hidden units are left out at random if there is a key."""
    for place, (weights, bias) in enumerate(layers, 1):
        x = x @ weights + bias
        if place < len(layers):
            x = jax.nn.relu(x)
            if key is not None and dropout > 0:
                keep = jax.random.bernoulli(jax.random.fold_in(key, place), 1 - dropout, x.shape)
                x = x * keep / (1 - dropout)
    return x


def losses(outputs: Any, target: Any, classes: int) -> Any:
    """Log loss in nats (squared error for regression) of each row."""
    if classes:
        return optax.softmax_cross_entropy_with_integer_labels(outputs[:, :classes], target.astype(jnp.int32))
    return (outputs[:, 0] - target) ** 2


def adam(setting: Setting, updates: int) -> Any:
    """Adam with decoupled weight decay, a cosine schedule over a number of updates, and gradients clipped to norm 1."""
    schedule = optax.cosine_decay_schedule(setting.learning_rate, max(updates, 1))
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=setting.weight_decay))


def chunks(data: Data, rng: np.random.Generator, updates: int, batch: int) -> Iterator[Data]:
    """Batches for `CHUNK` updates at a time, in one random order of the rows after another.

    Yields:
        Data of shape (`CHUNK`, batch, …).
    """
    waiting = np.zeros(0, dtype=np.int64)
    for _ in range(-(-updates // CHUNK)):
        while len(waiting) < CHUNK * batch:
            waiting = np.concatenate([waiting, rng.permutation(len(data.target))])
        rows, waiting = waiting[: CHUNK * batch], waiting[CHUNK * batch :]
        yield Data(*(array[rows].reshape(CHUNK, batch, *array.shape[1:]) for array in data))


def train(
    state: Any,
    batches: Iterator[Data],
    advance: Callable[[Any, Data], Any],
    parameters: Callable[[Any], Any],
    judge: Callable[[Any], Any],
    patience: int,
) -> tuple[Any, list[float]]:
    """Train until the loss on the fold has not fallen for some chunks.

    Args:
        state: the state that training changes.
        batches: data of each chunk.
        advance: returns the state after the updates of a chunk.
        parameters: returns the parameters of a state.
        judge: returns the loss of parameters on the fold.
        patience: chunks without a lower loss before training stops.

    Returns:
        The parameters of the lowest loss, and the losses.
    """
    best, history = parameters(state), [float(judge(parameters(state)))]
    for chunk in batches:
        state = advance(state, chunk)
        history.append(float(judge(parameters(state))))
        if history[-1] <= min(history[:-1]):
            best = parameters(state)
        elif len(history) - 1 - int(np.argmin(history)) >= patience:
            break
    return best, history
