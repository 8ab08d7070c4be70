"""The fitted look-ahead: reference rows, a naive Bayes predictor for any set of features, candidates, prices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench_core import Problem

__all__ = ["Bins", "Look", "Oracle", "fit_oracle", "lambda_grid"]


class Look(NamedTuple):
    """The arrays that the compiled look-ahead reads.

    Attributes:
        codes: int64 (references, columns): row of `table` of each value.
        y: int64 (references,): class codes.
        Z: float64 (references, columns): standardised values.
        prior: float64 (classes,): logarithms of the smoothed class frequencies.
        table: float64 (bins of all columns, classes): log likelihoods.
        start: int64 (features + 1,): feature f has the columns ``start[f]`` … ``start[f + 1] − 1``.
        member_start: int64 (candidates + 1,): candidate s has the features
            ``members[member_start[s]:member_start[s + 1]]``, ascending.
        members: int64 (features of all candidates,): feature indices, candidate by candidate.
        own: float64 (features,): prices, as shares of the price of all features.
        group: int64 (features,): acquisition groups; −1 for none.
        group_price: float64 (groups,): prices of the groups, in the same unit; paid with a group's first feature.
    """

    codes: NDArray[np.int64]
    y: NDArray[np.int64]
    Z: NDArray[np.float64]
    prior: NDArray[np.float64]
    table: NDArray[np.float64]
    start: NDArray[np.int64]
    member_start: NDArray[np.int64]
    members: NDArray[np.int64]
    own: NDArray[np.float64]
    group: NDArray[np.int64]
    group_price: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Bins:
    """The binning and standardisation of columns, learned on the training part.

    Attributes:
        edges: for every column, ascending float64: the code of a value is the number of edges below it; missing
            values have the column's last code.
        offset: int64 (columns,): row of a column's first code in the table of log likelihoods.
        mean: float64 (columns,): means of the training values.
        spread: float64 (columns,): their standard deviations; 1 for a constant column.
    """

    edges: tuple[NDArray[np.float64], ...]
    offset: NDArray[np.int64]
    mean: NDArray[np.float64]
    spread: NDArray[np.float64]

    @classmethod
    def of(cls, X: NDArray[np.float64], max_bins: int) -> Bins:
        """Learn bins that hold about equally many training rows.

        Args:
            X: float64 (rows, columns); NaN is a missing value.
            max_bins: most bins of a column, besides the one for missing values.
        """
        edges, mean, spread = [], np.zeros(X.shape[1]), np.ones(X.shape[1])
        for c in range(X.shape[1]):
            known = np.sort(X[~np.isnan(X[:, c]), c])
            cuts = np.unique(known[[len(known) * i // max_bins for i in range(1, max_bins)]]) if len(known) else known
            edges.append(cuts[cuts < known[-1]] if len(known) else known)
            if len(known):
                mean[c] = known.mean()
                spread[c] = known.std() if known.std() > 0 else 1.0
        sizes = [len(cuts) + 2 for cuts in edges]
        return cls(tuple(edges), np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64), mean, spread)

    def codes(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        """Rows of the table of log likelihoods: int64 (rows, columns)."""
        codes = np.empty(X.shape, dtype=np.int64)
        for c, cuts in enumerate(self.edges):
            code = np.searchsorted(cuts, X[:, c], side="left")
            codes[:, c] = self.offset[c] + np.where(np.isnan(X[:, c]), len(cuts) + 1, code)
        return codes

    @property
    def entries(self) -> int:
        """Number of codes of all columns."""
        return sum(len(cuts) + 2 for cuts in self.edges)

    def standardised(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Standardised values: float64 (rows, columns); missing values stay NaN."""
        return np.ascontiguousarray((X - self.mean) / self.spread)


@dataclass(frozen=True, eq=False)
class Oracle:
    """The look-ahead of a problem, shared by the policies of all λ.

    Attributes:
        look: the arrays of the compiled look-ahead.
        bins: the binning of the predictor.
        feature_of_column: int64 (columns,), ascending.
    """

    look: Look
    bins: Bins
    feature_of_column: NDArray[np.int64]

    @property
    def features(self) -> int:
        """Number of features."""
        return len(self.look.own)

    @cached_property
    def first_losses(self) -> NDArray[np.float64]:
        """Mean log loss with no feature, then with each candidate; float64 (1 + candidates,).

        When nothing is known, every reference row is a neighbour, so these losses are the same for all rows.
        """
        from bench_aaco.kernels import losses_of_candidates

        return np.asarray(losses_of_candidates(self.look))

    @cached_property
    def first_prices(self) -> NDArray[np.float64]:
        """Prices of the sets of `first_losses`, as shares of the price of all features; float64 (1 + candidates,)."""
        look = self.look
        prices = [0.0]
        for s in range(len(look.member_start) - 1):
            chosen = look.members[look.member_start[s] : look.member_start[s + 1]]
            opened = np.unique(look.group[chosen])
            prices.append(float(look.own[chosen].sum() + look.group_price[opened[opened >= 0]].sum()))
        return np.array(prices)

    def first(self, lambda_: float) -> int:
        """Index of the candidate chosen when nothing is known; −1 for the empty set."""
        return int(np.argmin(self.first_losses + lambda_ * self.first_prices)) - 1

    def naive_bayes(self, X: NDArray[np.float64], acquired: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Class probabilities from the acquired features: float64 (rows, classes)."""
        codes = self.bins.codes(X)
        logs = np.repeat(self.look.prior[None, :], len(X), axis=0)
        for c, feature in enumerate(self.feature_of_column):
            logs += np.where(acquired[:, feature, None], self.look.table[codes[:, c]], 0.0)
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        total = np.zeros(len(X))
        for column in weights.T:
            total += column
        return np.asarray(weights / total[:, None])


def fit_oracle(problem: Problem, subsets: int, reference_rows: int, max_bins: int) -> Oracle:
    """Fit the predictor on all training rows; draw the candidates and the reference rows.

    Args:
        problem: its training part, prices and seed are used.
        subsets: number of random candidate sets.
        reference_rows: most reference rows.
        max_bins: most bins of a column.
    """
    train, n = problem.train, problem.n_features
    words = problem.rng("aaco").bit_generator.random_raw  # NumPy keeps the raw stream stable between versions
    y = np.asarray(train.y, dtype=np.int64)
    bins = Bins.of(train.X, max_bins)
    codes = bins.codes(train.X)
    counts = np.ones((bins.entries, problem.n_classes))  # Laplace's smoothing
    for c in range(codes.shape[1]):
        np.add.at(counts, (codes[:, c], y), 1.0)
    table = np.empty_like(counts)
    ends = np.append(bins.offset, bins.entries)
    for c in range(codes.shape[1]):
        of_column = slice(ends[c], ends[c + 1])
        table[of_column] = np.log(counts[of_column] / counts[of_column].sum(axis=0))
    shares = np.bincount(y, minlength=problem.n_classes) + 1.0
    sets = [np.array([feature]) for feature in range(n)]
    for _ in range(subsets):
        size = 1 + int(words(1)[0] % np.uint64(n))
        sets.append(np.sort(np.argsort(words(n), kind="stable")[:size]))
    rows = np.sort(np.argsort(words(max(len(y), 1))[: len(y)], kind="stable")[:reference_rows])
    sizes = train.sizes if problem.costs.depends_on_size else None
    own = problem.costs.feature_prices(sizes).mean(axis=0)
    group_price = problem.costs.group_prices_at(sizes).mean(axis=0)
    group = np.full(n, -1, dtype=np.int64) if problem.costs.groups is None else problem.costs.groups
    opened = np.unique(group[group >= 0])
    full = float(own.sum() + group_price[opened].sum())
    unit = full if full > 0 else 1.0
    look = Look(
        codes=codes[rows],
        y=y[rows],
        Z=bins.standardised(train.X[rows]),
        prior=np.log(shares / shares.sum()),
        table=table,
        start=np.searchsorted(problem.feature_of_column, np.arange(n + 1)).astype(np.int64),
        member_start=np.concatenate([[0], np.cumsum([len(subset) for subset in sets])]).astype(np.int64),
        members=np.concatenate(sets).astype(np.int64),
        own=np.array(own / unit),
        group=np.array(group, dtype=np.int64),
        group_price=np.array(group_price / unit),
    )
    return Oracle(look, bins, np.array(problem.feature_of_column, dtype=np.int64))


def lambda_grid(oracle: Oracle, count: int) -> list[float]:
    """``count`` values of λ, evenly spaced in log λ.

    At the lowest λ all features cost a tenth of the log loss of the class frequencies; at the highest the cheapest
    feature costs all of it. The grid is [0] if every feature is free or that loss is 0.
    """
    nothing = float(oracle.first_losses[0])
    singles = oracle.first_prices[1 : oracle.features + 1]
    paid = singles[singles > 0]
    if not len(paid) or nothing <= 0:
        return [0.0]
    return [float(f"{value:.6g}") for value in np.geomspace(0.1 * nothing, nothing / paid.min(), count)]
