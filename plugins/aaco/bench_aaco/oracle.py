"""The fitted look-ahead: training rows, a predictor of any set of features, candidate sets, prices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from bench_models.partial import Candidates, PartialPredictor, removal_losses, set_losses
from bench_models.remembered import FieldsOnly
from bench_models.threads import run_ranges
from numpy.typing import NDArray

from bench_aaco.remembered import RememberedLosses

__all__ = ["Oracle", "Prices"]

_BLOCK, _AT_ONCE = 64, 2048
_TINY = 1e-12


class Prices(NamedTuple):
    """Prices as shares of the price of all features, at the mean over training rows.

    Attributes:
        own: float64 (features,).
        group: int64 (features,): acquisition groups; −1 for none.
        group_price: float64 (groups,): paid with a group's first feature.
        unit: int64 (features,): unit of purchase: one feature, or the features of a group without own prices.
    """

    own: NDArray[np.float64]
    group: NDArray[np.int64]
    group_price: NDArray[np.float64]
    unit: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Oracle(FieldsOnly):
    """The look-ahead of a problem, shared by the policies of all λ.

    Attributes:
        predictor: answers from any set of known features.
        X: float64 (references, columns): training rows.
        y: int64 (references,): their classes.
        row: int64 (references,): their numbers in the training part.
        mean, spread: float64 (columns,): for standardising; the spread of a constant column is 1.
        feature_of_column: int64 (columns,), ascending.
        candidates: sets of further features.
        prices: prices and units.
        neighbours: number k of nearest training rows.
        first_losses: float64 (1 + sets,): mean losses over all references when nothing is known.
        threads: most threads.
    """

    predictor: PartialPredictor
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    row: NDArray[np.int64]
    mean: NDArray[np.float64]
    spread: NDArray[np.float64]
    feature_of_column: NDArray[np.int64]
    candidates: Candidates
    prices: Prices
    neighbours: int
    first_losses: NDArray[np.float64]
    threads: int = 1

    @property
    def features(self) -> int:
        """Number of features."""
        return len(self.prices.own)

    @cached_property
    def _references(self) -> NDArray[np.float64]:
        return np.ascontiguousarray(((self.X - self.mean) / self.spread).T)

    @cached_property
    def _remembered(self) -> RememberedLosses:
        return RememberedLosses(len(self.y), 1 + len(self.candidates))

    @cached_property
    def _width(self) -> NDArray[np.float64]:
        return np.bincount(self.feature_of_column, minlength=self.features).astype(np.float64)

    def first(self, lambda_: float) -> NDArray[np.bool_]:
        """Return the unit that is bought when nothing is known: bool (features,)."""
        from bench_aaco.kernels import best_sets

        nothing, best = np.zeros((1, self.features), dtype=bool), np.empty(1, dtype=np.int64)
        best_sets(self.first_losses[None], nothing, self.candidates.member, *self.prices[:3], lambda_, best)
        if best[0] < 0:
            return np.asarray(nothing[0])
        extra = self.candidates.member[best]
        part = np.repeat(self._parts(extra), len(self.y), axis=0)
        known = np.zeros((len(self.y), self.features), dtype=bool)
        losses = removal_losses(self.predictor, self.X, self.y, known, part).mean(axis=0)
        return np.asarray(self._most_needed(extra, losses[None], nothing)[0])

    def wanted(
        self,
        X: NDArray[np.float64],
        known: NDArray[np.bool_],
        lambda_: float,
        first: NDArray[np.bool_],
        itself: NDArray[np.int64] | None = None,
    ) -> NDArray[np.bool_]:
        """Return the unit that each row buys next; nothing for a row that is to be answered.

        Args:
            X: float64 (rows, columns); values of unknown features are not read.
            known: bool (rows, features).
            lambda_: trade-off λ.
            first: the result of the method `first` for this λ.
            itself: int64 (rows,): the reference that each row is; None for new rows.

        Returns:
            bool (rows, features).
        """
        wanted = np.zeros_like(known)
        some = known.any(axis=1)
        wanted[~some] = first
        places = np.flatnonzero(some)
        for start in range(0, len(places), _AT_ONCE):
            rows = places[start : start + _AT_ONCE]
            wanted[rows] = self._wanted(X[rows], known[rows], lambda_, None if itself is None else itself[rows])
        return wanted

    def _wanted(
        self, X: NDArray[np.float64], known: NDArray[np.bool_], lambda_: float, itself: NDArray[np.int64] | None
    ) -> NDArray[np.bool_]:
        from bench_aaco.kernels import best_sets

        wanted = np.zeros_like(known)
        near = self.nearest(X, known, itself)
        losses = self.mean_losses(near, known)
        best = np.empty(len(X), dtype=np.int64)
        best_sets(losses, known, self.candidates.member, *self.prices[:3], lambda_, best)
        buying = np.flatnonzero(best >= 0)
        extra = self.candidates.member[best[buying]] & ~known[buying]
        wanted[buying] = extra
        several = self._parts(extra).max(axis=1, initial=-1) > 0  # others buy their set, which is one unit
        rows, extra = buying[several], extra[several]
        if len(rows):
            losses = self._losses_of_removals(near[rows], known[rows], extra)
            wanted[rows] = self._most_needed(extra, losses, known[rows])
        return wanted

    def _parts(self, extra: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the place of each feature's unit among those of a row's set; −1 outside it: int64 (rows, features)."""
        holds = np.zeros((len(extra), int(self.prices.unit.max()) + 1), dtype=bool)
        for feature, unit in enumerate(self.prices.unit):
            holds[:, unit] |= extra[:, feature]
        return np.where(extra, (holds.cumsum(axis=1) - 1)[:, self.prices.unit], -1)

    def _most_needed(
        self, extra: NDArray[np.bool_], losses: NDArray[np.float64], known: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return the unit of a set whose removal raises the loss most, per price; free units are bought at once.

        Args:
            extra: bool (rows, features): the set of each row; it contains no known feature.
            losses: float64 (rows, 1 + units): with the set, then without each of its units.
            known: bool (rows, features).

        Returns:
            bool (rows, features).
        """
        price = self.price(known)
        without = np.take_along_axis(losses, 1 + np.maximum(self._parts(extra), 0), axis=1)
        gain = np.where(extra, (without - losses[:, :1]) / np.maximum(price, _TINY), -np.inf)
        free = extra & (price <= _TINY)
        best = self.prices.unit[gain.argmax(axis=1)]
        return np.asarray(np.where(free.any(axis=1, keepdims=True), free, extra & (self.prices.unit == best[:, None])))

    def price(self, known: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the price of each feature's unit as the next purchase: float64 (rows, features)."""
        own, group, group_price, _ = self.prices
        price = np.repeat(own[None], len(known), axis=0)
        for g, shared in enumerate(group_price):
            members = group == g
            price[:, members] += np.where(known[:, members].any(axis=1), 0.0, shared)[:, None]
        return price

    def journeys(self, rows: NDArray[np.int64], steps: int, lambda_: float) -> NDArray[np.int64]:
        """Return the step, from 1, at which references buy each feature: int64 (rows, features); 0 means never.

        None of these rows is its own neighbour.

        Args:
            rows: int64 (rows,): references.
            steps: most steps.
            lambda_: trade-off λ.
        """
        bought = np.zeros((len(rows), self.features), dtype=np.int64)
        asking, first = np.arange(len(rows)), self.first(lambda_)
        for step in range(1, steps + 1):
            wanted = self.wanted(self.X[rows[asking]], bought[asking] > 0, lambda_, first, rows[asking])
            bought[asking] += step * wanted
            asking = asking[wanted.any(axis=1)]
        return bought

    def nearest(
        self, X: NDArray[np.float64], known: NDArray[np.bool_], itself: NDArray[np.int64] | None = None
    ) -> NDArray[np.int64]:
        """Return the nearest references of rows of which something is known: int64 (rows, k).

        Args:
            X: float64 (rows, columns).
            known: bool (rows, features).
            itself: int64 (rows,): the reference that each row is, which is left out; None for new rows.
        """
        from bench_aaco.kernels import nearest_rows

        Z = np.ascontiguousarray((X - self.mean) / self.spread)
        k = min(self.neighbours + (itself is not None), len(self.y))
        found = np.zeros((len(X), k), dtype=np.int64)

        def work(start: int, stop: int) -> None:
            nearest_rows(Z, known, self._references, self.feature_of_column, self._width, start, stop, found)

        run_ranges(work, len(X), self.threads, _BLOCK)
        if itself is None or k == 1:
            return found
        # The row itself is put last; if it is not among the neighbours, the farthest is.
        order = np.argsort(found == itself[:, None], axis=1, kind="stable")
        return np.ascontiguousarray(np.take_along_axis(found, order, axis=1)[:, :-1])

    def mean_losses(self, near: NDArray[np.int64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return each row's expected losses, over its nearest references: float64 (rows, 1 + candidate sets).

        Rows with the same known features share references, whose losses are then computed once.
        """

        def compute(rows: NDArray[np.int64], masks: NDArray[np.bool_]) -> NDArray[np.float64]:
            return set_losses(self.predictor, self.X[rows], self.y[rows], masks, self.candidates)

        return _mean(self._remembered.of(near, known, compute))

    def _losses_of_removals(
        self, near: NDArray[np.int64], known: NDArray[np.bool_], extra: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Return each row's expected losses with its set, then without each unit of it: float64 (rows, 1 + units)."""

        def compute(rows: NDArray[np.int64], masks: NDArray[np.bool_]) -> NDArray[np.float64]:
            known, part = masks[:, : self.features], self._parts(masks[:, self.features :])
            return removal_losses(self.predictor, self.X[rows], self.y[rows], known, part)

        shared = RememberedLosses(len(self.y), 2 + int(self._parts(extra).max()), most=0)
        return _mean(shared.of(near, np.hstack([known, extra]), compute))


def _mean(losses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over references, float64 (rows, sets), of losses, float64 (rows, k, sets)."""
    total = losses[:, 0].copy()
    for neighbour in range(1, losses.shape[1]):  # one by one, so that the order of the sum does not depend on the batch
        total += losses[:, neighbour]
    return np.asarray(total / losses.shape[1])
