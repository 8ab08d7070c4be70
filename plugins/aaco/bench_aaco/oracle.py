"""The fitted look-ahead: training rows, a predictor of any set of features, candidate sets, prices."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from bench_models.partial import Candidates, PartialPredictor, set_losses
from bench_models.threads import run_ranges
from numpy.typing import NDArray

from bench_aaco.candidates import distinct_sets, draw_candidates, units_of
from bench_aaco.remembered import RememberedLosses
from bench_core import Problem

__all__ = ["Oracle", "Prices", "fit_oracle"]

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
class Oracle:
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

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes only: cached values are neither copied nor saved."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

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
        extra = self.candidates.member[best[0]]
        parts = self._parts(extra)
        without = Candidates(np.vstack([extra & ~parts, extra]))
        return np.asarray(self._most_needed(parts, self.losses_of_nothing(without)[None], nothing)[0])

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
        losses = self.mean_losses(near, known, self.candidates)
        best = np.empty(len(X), dtype=np.int64)
        best_sets(losses, known, self.candidates.member, *self.prices[:3], lambda_, best)
        buying = np.flatnonzero(best >= 0)
        # The unknown features of a set may differ from row to row.
        new, which = distinct_sets(self.candidates.member[best[buying]] & ~known[buying])
        for number, extra in enumerate(new):
            rows, parts = buying[which == number], self._parts(extra)
            if len(parts) == 1:
                wanted[rows] = parts[0]
                continue
            without = Candidates(np.vstack([extra & ~parts, extra]))
            wanted[rows] = self._most_needed(parts, self.mean_losses(near[rows], known[rows], without), known[rows])
        return wanted

    def _parts(self, extra: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return a set divided into its units: bool (units, features)."""
        return np.asarray(extra & (self.prices.unit == np.unique(self.prices.unit[extra])[:, None]))

    def _most_needed(
        self, parts: NDArray[np.bool_], losses: NDArray[np.float64], known: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return the unit of a set whose removal raises the loss most, per price; free units are bought at once.

        Args:
            parts: bool (units, features): the set.
            losses: float64 (rows, 2 + units): of the empty set, of the set without each unit, of the set.
            known: bool (rows, features).

        Returns:
            bool (rows, features).
        """
        price = np.stack([self.price(part, known) for part in parts], axis=1)
        gain = (losses[:, 1:-1] - losses[:, -1:]) / np.maximum(price, _TINY)
        free: NDArray[np.bool_] = np.asarray(price <= _TINY)
        chosen = np.where(free.any(axis=1, keepdims=True), free, np.arange(len(parts)) == gain.argmax(axis=1)[:, None])
        return np.asarray((chosen[:, :, None] & parts).any(axis=1))

    def price(self, part: NDArray[np.bool_], known: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the price of a unit for each row: float64 (rows,)."""
        own, group, group_price, _ = self.prices
        total = np.full(len(known), float(own[part].sum()))
        for g in np.unique(group[part]):
            if g >= 0:
                total += np.where(known[:, group == g].any(axis=1), 0.0, group_price[g])
        return total

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

    def mean_losses(
        self, near: NDArray[np.int64], known: NDArray[np.bool_], candidates: Candidates
    ) -> NDArray[np.float64]:
        """Return each row's expected losses, over its nearest references: float64 (rows, 1 + sets).

        Rows with the same known features share references, whose losses are then computed once.
        """
        own = candidates is self.candidates
        remembered = self._remembered if own else RememberedLosses(len(self.y), 1 + len(candidates), most=0)
        losses = remembered.of(
            near, known, lambda rows, masks: set_losses(self.predictor, self.X[rows], self.y[rows], masks, candidates)
        )
        k = near.shape[1]
        total = losses[:, 0].copy()
        for neighbour in range(1, k):  # one after the other: the order of the sum does not depend on the batch
            total += losses[:, neighbour]
        return np.asarray(total / k)

    def losses_of_nothing(self, candidates: Candidates) -> NDArray[np.float64]:
        """Return the mean losses over all references when nothing is known: float64 (1 + sets,)."""
        nothing = np.zeros((len(self.y), self.features), dtype=bool)
        return np.asarray(set_losses(self.predictor, self.X, self.y, nothing, candidates).mean(axis=0))


def fit_oracle(
    problem: Problem, *, predictor: PartialPredictor, neighbours: int, subsets: int, reference_rows: int
) -> Oracle:
    """Draw candidates and references, and compute the losses when nothing is known.

    Args:
        problem: its training part, prices and seed are used.
        predictor: the fitted predictor.
        neighbours, subsets, reference_rows: see `bench_aaco.plugin.AACO`.
    """
    train, unit = problem.train, units_of(problem)
    rng = problem.rng("aaco", "oracle")
    candidates = draw_candidates(rng, unit, subsets)
    rows = np.arange(len(train))
    if len(rows) > reference_rows:
        rows = np.sort(np.argsort(rng.bit_generator.random_raw(len(rows)), kind="stable")[:reference_rows])
    mean, spread = np.zeros(train.X.shape[1]), np.ones(train.X.shape[1])
    for c in range(train.X.shape[1]):
        present = train.X[~np.isnan(train.X[:, c]), c]
        if len(present):
            mean[c] = present.mean()
            spread[c] = present.std() if present.std() > 0 else 1.0
    own = problem.costs.feature_prices(train.sizes).mean(axis=0)
    group_price = problem.costs.group_prices_at(train.sizes).mean(axis=0)
    group = np.full(len(unit), -1) if problem.costs.groups is None else problem.costs.groups
    paid = np.isin(np.arange(len(group_price)), group)
    full = float(own.sum() + group_price[paid].sum())
    share = 1.0 / full if full > 0 else 1.0
    prices = Prices(own * share, np.array(group, dtype=np.int64), group_price * share, unit)
    columns = np.array(problem.feature_of_column, dtype=np.int64)
    bare = Oracle(
        predictor, train.X[rows], np.array(train.y[rows], dtype=np.int64), rows, mean, spread, columns,
        candidates, prices, neighbours, np.zeros(1 + len(candidates)), problem.threads,
    )  # fmt: skip
    return replace(bare, first_losses=bare.losses_of_nothing(candidates))
