"""Policies that buy one unit after the other: shared by all methods of this plugin; they do not need JAX."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core import Decisions, Policy, Rows
from bench_neural.view import View

__all__ = ["BLOCK", "Network", "StepPolicy", "affordable", "best_unit", "softmax"]

BLOCK = 256
"""Number of rows at a time."""


@dataclass(frozen=True, eq=False)
class Network:
    """A trained network: dense layers with rectified units between them.

    Attributes:
        layers: (weights float32 (inputs, outputs), bias float32 (outputs,)) of each layer.
    """

    layers: tuple[tuple[NDArray[np.float32], NDArray[np.float32]], ...]

    @classmethod
    def of(cls, parameters: Any) -> Network:
        """From a trained network's parameters: a sequence of (weights, bias)."""
        return cls(tuple((np.array(w, np.float32, order="C"), np.array(b, np.float32)) for w, b in parameters))

    def __call__(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Outputs of rows, each computed independently: float32 (rows, outputs)."""
        from bench_neural.kernels import dense

        out = np.empty((len(inputs), len(self.layers[-1][1])), dtype=np.float32)
        for start in range(0, len(inputs), BLOCK):
            block = inputs[start : start + BLOCK]
            for place, (weights, bias) in enumerate(self.layers, 1):
                block = dense(block, weights, bias, place < len(self.layers))
            out[start : start + BLOCK] = block
        return out


def softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """Probabilities of each row: float64 (rows, classes)."""
    weights = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True, initial=-np.inf))
    return np.asarray(weights / np.einsum("ij->i", weights)[:, None])


def best_unit(scores: NDArray[Any], allowed: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The allowed unit of greatest score in each row, the first among equals; −1 if none is allowed."""
    best = np.where(allowed, scores, -np.inf).argmax(axis=1)
    return np.where(allowed.any(axis=1), best, -1)


def affordable(view: View, known: NDArray[np.bool_], budget: float | None) -> NDArray[np.bool_]:
    """Units that are not known and that a row can still pay: bool (rows, units)."""
    if budget is None:
        return ~known
    left = budget * (1 + 1e-12) - view.units.spent(known)
    return ~known & (view.units.prices(known) <= left[:, None])


@dataclass(frozen=True, eq=False, kw_only=True)
class StepPolicy(Policy):
    """Buys one unit after the other, then answers with a predictor of partial inputs.

    Attributes:
        view: the networks' inputs, and the units.
        predictor: the network that answers; its outputs start with ``classes`` logits, or with a regression's score.
        answers: another network that answers instead; None if the predictor does.
        classes: number of classes; 0 for regression.
        shift, stretch: a score is ``shift + stretch · output``.
        limit: price that a row may spend; None for no limit.
    """

    view: View
    predictor: Network
    classes: int
    shift: float = 0.0
    stretch: float = 1.0
    answers: Network | None = None
    limit: float | None = None
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    budget: float | None = None

    @abstractmethod
    def choose(self, values: NDArray[np.float32], known: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The unit that each row buys next, −1 for none.

        Args:
            values: float32 (rows, values); those of unknown units must not matter.
            known: bool (rows, units).
        """

    @property
    def stops_early(self) -> bool:
        """Whether a row may stop although it can pay for another unit."""
        return False

    def decide(self, rows: Rows) -> Decisions:
        values = self.view.values(rows.X)
        return self._answered(values, self.bought(values))

    def bought(self, values: NDArray[np.float32]) -> NDArray[np.bool_]:
        """The units that each row has bought when it is answered: bool (rows, units); `values` is as in `choose`."""
        known = np.zeros((len(values), self.view.units.count), dtype=bool)
        if not self.stops_early and (self.limit is None or self.view.units.full <= self.limit):
            return ~known  # whatever is chosen first
        active = np.arange(len(values))
        while len(active):
            unit = self.choose(values[active], known[active])
            active, unit = active[unit >= 0], unit[unit >= 0]
            known[active, unit] = True
        return known

    def decide_known(self, rows: Rows, known: NDArray[np.bool_]) -> Decisions:
        """The answer from any set of known features."""
        decisions = self._answered(self.view.values(rows.X), self.view.known_units(known))
        return replace(decisions, acquired=np.array(known))

    def _answered(self, values: NDArray[np.float32], known: NDArray[np.bool_]) -> Decisions:
        """The answer from the known units, which count as acquired."""
        acquired = known[:, self.view.units.of_feature]
        answer = (self.answers or self.predictor)(self.view.inputs(values, known))
        if self.classes:
            return Decisions(acquired, softmax(answer[:, : self.classes]))
        return Decisions(acquired, score=self.shift + self.stretch * answer[:, 0].astype(np.float64))

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The features of the unit that each row buys next."""
        unit = self.choose(self.view.values(rows.X), self.view.known_units(known))
        return np.asarray((self.view.units.of_feature == unit[:, None]) & ~known)


@dataclass(frozen=True, eq=False, kw_only=True)
class OrderPolicy(StepPolicy):
    """Buys units in a fixed order and skips those that the budget does not allow, so every row buys the same units.

    Attributes:
        order: int64 (units,): all units, the first to buy first.
    """

    order: NDArray[np.int64]

    def bought(self, values: NDArray[np.float32]) -> NDArray[np.bool_]:
        return np.repeat(super().bought(values[:1]), len(values), axis=0)

    def choose(self, values: NDArray[np.float32], known: NDArray[np.bool_]) -> NDArray[np.int64]:
        return best_unit(-np.argsort(self.order), affordable(self.view, known, self.limit))


@dataclass(frozen=True, eq=False, kw_only=True)
class ScorePolicy(StepPolicy):
    """GDFS: buys the affordable unit of greatest π − log price, until the budget allows no other.

    Attributes:
        scores: π, with one output for each unit.
    """

    scores: Network

    def choose(self, values: NDArray[np.float32], known: NDArray[np.bool_]) -> NDArray[np.int64]:
        scores = self.scores(self.view.inputs(values, known)) - np.log(self.view.units.ratio_prices(known))
        return best_unit(scores, affordable(self.view, known, self.limit))


@dataclass(frozen=True, eq=False, kw_only=True)
class ValuePolicy(StepPolicy):
    """DIME: buys the unit of greatest v / price, until it stops in one of three ways.

    The outputs of the predictor are those of f, then those of v.

    Attributes:
        confidence: stop as soon as the greatest probability reaches it.
        lambda_: stop as soon as the greatest v / price is below it, in nats (for regression in variances of the target)
            per `Units.scale`.
    """

    confidence: float | None = None
    lambda_: float | None = None

    @property
    def stops_early(self) -> bool:
        return self.confidence is not None or self.lambda_ is not None

    def choose(self, values: NDArray[np.float32], known: NDArray[np.bool_]) -> NDArray[np.int64]:
        outputs = self.predictor(self.view.inputs(values, known))
        sure = outputs[:, max(self.classes, 1) :].astype(np.float64)
        if self.classes:
            probabilities = softmax(outputs[:, : self.classes])
            logs = np.log(np.maximum(probabilities, 1e-300))
            gain = -np.einsum("ij,ij->i", probabilities, logs)[:, None] / (1 + np.exp(-sure))
        else:
            gain = np.logaddexp(0, sure)
        ratio = gain / self.view.units.ratio_prices(known)
        allowed = affordable(self.view, known, self.limit)
        if self.confidence is not None:
            allowed &= (probabilities.max(axis=1) < self.confidence)[:, None]
        if self.lambda_ is not None:
            allowed &= ratio >= self.lambda_
        return best_unit(ratio, allowed)


@dataclass(frozen=True, eq=False, kw_only=True)
class ActionPolicy(StepPolicy):
    """CwCF: buys the unit of greatest Q, and answers as soon as no unit has a greater Q than answering.

    Attributes:
        q: network with one output for each unit, then one for answering; its last input is `code`.
        code: the input that stands for λ.
    """

    q: Network
    code: float

    @property
    def stops_early(self) -> bool:
        return True

    def choose(self, values: NDArray[np.float32], known: NDArray[np.bool_]) -> NDArray[np.int64]:
        inputs = self.view.inputs(values, known)
        column = np.full((len(inputs), 1), self.code, dtype=np.float32)
        q = self.q(np.concatenate([inputs, column], axis=1))
        return best_unit(q[:, :-1], affordable(self.view, known, self.limit) & (q[:, :-1] > q[:, -1:]))


@dataclass(frozen=True, eq=False, kw_only=True)
class RewardPolicy(StepPolicy):
    """OL: buys the unit of greatest Q, until the answer is sure or the budget allows no other.

    The outputs of the predictor are those of f, then Q of each unit.

    Attributes:
        confidence: stop as soon as the greatest probability reaches it.
    """

    confidence: float | None = None

    @property
    def stops_early(self) -> bool:
        return self.confidence is not None

    def choose(self, values: NDArray[np.float32], known: NDArray[np.bool_]) -> NDArray[np.int64]:
        outputs = self.predictor(self.view.inputs(values, known))
        allowed = affordable(self.view, known, self.limit)
        if self.confidence is not None:
            allowed &= (softmax(outputs[:, : self.classes]).max(axis=1) < self.confidence)[:, None]
        return best_unit(outputs[:, self.classes :], allowed)
