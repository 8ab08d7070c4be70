"""Sessions: one row whose features are acquired step by step, as the policy asks for them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from bench_core import Costs, Policy, RequestError, Rows, did_you_mean
from bench_core.execution import Encoder
from bench_policies.answering import Answering
from bench_policies.judging import paid
from bench_policies.wording import one_line


@dataclass(frozen=True)
class Answer:
    """The answer of a session.

    Attributes:
        label: the answered class; None where the answer is refused, and for regression.
        refused: whether the highest class probability is below the threshold, or every answer has a higher expected
            cost than refusing.
        best: the most probable class, or that of least expected cost, even where it is refused; None for regression.
        probability: probability of ``best``; None for regression.
        probabilities: probabilities of all classes by name; empty for regression.
        value: the predicted value for regression; None for classes.
        cost: price of the bought features and of the base models that were run.
    """

    label: str | None
    refused: bool
    best: str | None
    probability: float | None
    probabilities: Mapping[str, float]
    value: float | None
    cost: float


class Asked(Protocol):
    """The parts of a `FittedPolicy` that a session uses."""

    @property
    def policy(self) -> Policy: ...
    @property
    def encoder(self) -> Encoder: ...
    @property
    def costs(self) -> Costs: ...
    @property
    def feature_names(self) -> tuple[str, ...]: ...
    @property
    def classes(self) -> tuple[str, ...]: ...
    @property
    def answering(self) -> Answering: ...
    def number(self, feature: str) -> int: ...
    def value(self, feature: int, given: Any) -> float: ...


class Session:
    """A decision on one row, feature by feature. A lock makes every call safe for use from several threads.

    Args:
        fitted: the policy.
        size: the item's size, where prices depend on it.

    Raises:
        RequestError: prices depend on the item's size, and ``size`` is missing, negative or not finite.
    """

    def __init__(self, fitted: Asked, size: float | None = None) -> None:
        number = isinstance(size, int | float | np.integer | np.floating)
        if fitted.costs.depends_on_size and (size is None or not number or not 0 <= size < np.inf):
            raise RequestError(
                f"prices depend on the item's size: start(size=…) needs a finite number from 0, not {size!r}"
            )
        self._fitted = fitted
        self._sizes = np.array([float(size)]) if size is not None and fitted.costs.depends_on_size else None
        self._raw = np.full((1, len(fitted.feature_names)), np.nan)
        self._known = np.zeros((1, len(fitted.feature_names)), dtype=bool)
        self._wanted: tuple[int, ...] | None = None
        self._lock = threading.RLock()

    @property
    def wanted(self) -> dict[str, float]:
        """Features to acquire next, with prices; empty once the session has its answer.

        The price of the first feature of a group includes the group's price, so the prices add up to the bill.
        """
        with self._lock:
            prices, known = {}, self._known.copy()
            paid = self._bill(known)
            for feature in self._ask():
                known[0, feature] = True
                now = self._bill(known)
                prices[self._fitted.feature_names[feature]] = now - paid
                paid = now
            return prices

    @property
    def cost(self) -> float:
        """What has been paid so far, in the unit of the prices."""
        with self._lock:
            return self._bill(self._known)

    @property
    def known(self) -> dict[str, float]:
        """Values given so far, as the encoder's input (categories as codes, NaN for a missing value)."""
        with self._lock:
            return {self._fitted.feature_names[f]: float(self._raw[0, f]) for f in np.flatnonzero(self._known[0])}

    @property
    def answer(self) -> Answer | None:
        """The answer; None while a feature is wanted."""
        with self._lock:
            return None if self._ask() else self._answered()

    def give(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> Session:
        """Give values of some or all wanted features, and return the session: ``session.give(glucose=148)``.

        None is a missing value. Names that are not Python identifiers go in a mapping: ``session.give({"blood
        pressure": 72})``. If one value is refused, none is taken.

        Raises:
            RequestError: a feature does not exist or is not wanted, or a value is invalid.
        """
        given = {**(values or {}), **more}
        with self._lock:
            asked = self._ask()
            taken = {}
            for name, value in given.items():
                feature = self._fitted.number(name)
                if feature not in asked:
                    raise RequestError(self._unasked(name, feature, asked))
                taken[feature] = self._fitted.value(feature, value)
            for feature, number in taken.items():
                self._raw[0, feature], self._known[0, feature] = number, True
            if taken:
                self._wanted = tuple(f for f in asked if f not in taken) or None
        return self

    def _unasked(self, name: str, feature: int, asked: tuple[int, ...]) -> str:
        name = one_line(name)
        if self._known[0, feature]:
            return f"{name} was given already"
        names = [one_line(self._fitted.feature_names[f]) for f in asked]
        if not names:
            return f"{name} is not wanted: the session has its answer"
        return f"{name} is not wanted now; wanted: {', '.join(names)}" + (
            f"; {did_you_mean(name, names)}" if len(names) > 20 else ""
        )

    def _ask(self) -> tuple[int, ...]:
        # All features of a step are acquired before the policy is asked for the next step.
        if self._wanted is None:
            wanted = self._fitted.policy.next_features(self._rows(), self._known.copy())
            self._wanted = tuple(np.flatnonzero(wanted[0]).tolist())
        return self._wanted

    def _rows(self) -> Rows:
        encoder = self._fitted.encoder
        X = encoder.transform(self._raw)
        X[~self._known[:, encoder.feature_of_column]] = 0.0
        return Rows(X, self._sizes)

    def _bill(self, known: Any) -> float:
        return float(self._fitted.costs.bill(known, self._sizes)[0])

    def _answered(self) -> Answer:
        fitted = self._fitted
        decided = fitted.policy.decide(self._rows()).checked(1, len(fitted.feature_names), len(fitted.classes))
        bought = replace(decided, acquired=self._known.copy())
        cost = float(paid(bought, fitted.costs, self._sizes)[0])
        if decided.probabilities is None or not fitted.classes:
            score = None if decided.score is None else float(decided.score[0])
            return Answer(None, False, None, None, {}, score, cost)
        codes, refusals = fitted.answering.answers(decided.probabilities)
        code, refused = int(codes[0]), bool(refusals[0])
        table, best = decided.probabilities[0].tolist(), fitted.classes[code]
        probabilities = dict(zip(fitted.classes, table, strict=True))
        return Answer(None if refused else best, refused, best, table[code], probabilities, None, cost)
