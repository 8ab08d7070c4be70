"""A cache of the evaluation rows that each subset's classifier decides, fitted on request (EMSCO, sections 2 and 4.2).

Chromosomes share stages, so a run needs far fewer models than it evaluates stages. The cache stores two bit masks over
the evaluation rows per subset; the objectives of a chain of subsets then need only bit operations and population
counts.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from bench_models.subsets.models import SubsetModels, check_labels, check_matrix, design_lines, subset_columns
from bench_models.subsets.sets import ONE_WORD, Sets, check_sets, members
from bench_models.threads import resolve_threads, run_ranges
from numpy.typing import ArrayLike, NDArray

from bench_emsco.sets import as_integer, distinct_sets, new_sets

__all__ = ["Lookup", "SubsetCache"]

DIRECT_FEATURES = 20
_BATCH = 2048
_BLOCK = 64


class Lookup(NamedTuple):
    """Arrays for `_kernels_lookup.find`; replaced when the cache grows, so do not keep references to them."""

    direct: NDArray[np.int32]
    keys: NDArray[np.uint64]
    slots: NDArray[np.int32]


class _Part(NamedTuple):
    """Evaluation rows and the classifiers that decide them; ``first`` is the bit of the first of these rows."""

    models: SubsetModels
    design: NDArray[np.float64]
    labels: NDArray[np.int64]
    first: int


class SubsetCache:
    """Lazily fitted subset models and their decisions on evaluation rows.

    Args:
        X_train: float64 (rows, columns): training rows, encoded and standardised.
        y_train: (rows,): codes 0..n_classes-1, each present.
        X_eval: the rows on which objectives are measured, in the same encoding.
        y_eval: their codes; -1 is a label that no classifier predicts, so it is never right.
        n_classes: 2 (binary logistic regression) or more (multinomial).
        threshold: a row is confident if its highest class probability is at least this. Several thresholds share the
            fits; `use` selects the one that ``confident`` and ``right`` refer to, initially the first.
        column_of_feature: see `bench_models.subsets.models.feature_index`; by default one column per feature.
        C: inverse strength of the l2 penalty.
        threads: number of threads; by default at most two.

    Attributes (index i = order of first request; after `fill_all`, i == subset):
        masks: `capacity` sets (see `sets`): the subset at each index; valid below `n_fitted`.
        confident: uint64 (capacity, words): confident rows.
        right: uint64 (capacity, words): confident rows whose most probable class, the first among equals, is correct.
        n_fitted: number of known subsets.
        work: work spent on their fits (see `SubsetModels.work`).
        not_converged: subsets whose solver stopped early; a RuntimeWarning reports their number.
        n_features: number of features.
        n_rows: number of evaluation rows.
        n_words: number of words per bit mask.

    The bits of a subset depend on that subset alone, not on the order of requests or the number of threads.

    Raises:
        ValueError: an argument is malformed or out of range.
    """

    def __init__(
        self,
        X_train: ArrayLike,
        y_train: ArrayLike,
        X_eval: ArrayLike,
        y_eval: ArrayLike,
        n_classes: int,
        threshold: float | Sequence[float],
        *,
        column_of_feature: Sequence[ArrayLike] | ArrayLike | None = None,
        C: float = 1.0,
        threads: int | None = None,
    ) -> None:
        from . import _kernels_lookup

        self.thresholds = tuple(float(p) for p in np.atleast_1d(threshold))
        for given in self.thresholds:
            if not 0.0 <= given <= 1.0:
                raise ValueError(f"threshold must be in 0..1, got {given}")
        models = SubsetModels(X_train, y_train, n_classes, C=C, column_of_feature=column_of_feature)
        evaluation = check_matrix("X_eval", X_eval)
        if evaluation.shape[1] != models.owner.size:
            raise ValueError(f"X_eval has {evaluation.shape[1]} columns, X_train has {models.owner.size}")
        labels = check_labels("y_eval", y_eval, evaluation.shape[0], n_classes, lowest=-1)
        self._threads = resolve_threads(threads)
        self._kernels = _kernels_lookup
        self.models = models
        self.n_features = models.n_features
        self.n_fitted, self.work = 0, 0
        self.not_converged: list[int] = []
        self.masks = new_sets(256, self.n_features)
        self._used = 0
        self._evaluate([_Part(models, design_lines(evaluation), labels, 0)])
        self._index_of: dict[bytes, int] | None = None if self.n_features <= ONE_WORD else {}
        direct = self.n_features <= DIRECT_FEATURES
        self.lookup = Lookup(
            np.full(1 << self.n_features if direct else 0, -1, dtype=np.int32),
            np.zeros(1 if direct else 1024, dtype=np.uint64),
            np.full(1 if direct else 1024, -1, dtype=np.int32),
        )

    def _evaluate(self, parts: list[_Part]) -> None:
        """Set the evaluation rows of a cache that has no subset yet."""
        self._parts = parts
        self.n_rows = sum(len(part.labels) for part in parts)
        self.n_words = -(-self.n_rows // 64)
        self.most_work = sum(part.models.most_work for part in parts)
        self._confident, self._right = np.zeros((2, len(self.thresholds), 256, self.n_words), dtype=np.uint64)

    @classmethod
    def joined(cls, caches: Sequence[SubsetCache]) -> SubsetCache:
        """One cache for the evaluation rows of several, in order; each row is decided by its own cache's classifiers.

        The caches have the same thresholds and owners of columns, no subset yet, and are not used any more. ``models``
        and `coefficients` are those of the first.

        Raises:
            ValueError: there is no cache, or they differ.
        """
        if not caches:
            raise ValueError("no cache to join")
        result = caches[0]
        for other in caches[1:]:
            same = other.thresholds == result.thresholds and np.array_equal(other.models.owner, result.models.owner)
            if not same or other.n_fitted or result.n_fitted:
                raise ValueError("caches to join must have the same thresholds and columns, and no subset")
            result._evaluate(result._parts + [p._replace(first=p.first + result.n_rows) for p in other._parts])
        return result

    @property
    def confident(self) -> NDArray[np.uint64]:
        """Confident rows of each subset at the threshold in use, (capacity, words)."""
        return self._confident[self._used]

    @property
    def right(self) -> NDArray[np.uint64]:
        """Confident and right rows of each subset at the threshold in use, (capacity, words)."""
        return self._right[self._used]

    def use(self, number: int) -> None:
        """Select the threshold of ``confident`` and ``right`` by its number; raises IndexError if there is none."""
        self._used = range(len(self.thresholds))[number]

    def indices(self, masks: ArrayLike) -> NDArray[np.int64]:
        """Index of each of m subsets, int64 (m,); unknown subsets are fitted first, in one batch.

        Raises:
            ValueError: a subset has a feature that X_train does not have.
        """
        subsets = check_sets(masks, self.n_features)
        places = self._find(subsets)
        if places.min(initial=0) < 0:
            self._add(distinct_sets(subsets[places < 0]))
            places = self._find(subsets)
        return places

    def _find(self, subsets: Sets) -> NDArray[np.int64]:
        """Index of each subset; -1 if it is unknown."""
        if self._index_of is not None:
            known = self._index_of
            return np.array([known.get(subset.tobytes(), -1) for subset in subsets], dtype=np.int64)
        places = np.empty(subsets.size, dtype=np.int64)
        self._kernels.find_many(subsets, *self.lookup, places)
        return places

    def _enter(self, subsets: Sets, first: int) -> None:
        """Register the subsets in the look-up tables, at the indices from `first` on."""
        if self._index_of is not None:
            self._index_of.update((subset.tobytes(), first + i) for i, subset in enumerate(subsets))
            return
        self._kernels.insert_many(subsets, first, *self.lookup)

    def fill_all(self, prices: ArrayLike | None = None, max_work: int | None = None) -> NDArray[np.int64]:
        """Fit every subset; afterwards the index of a subset is the subset itself, and earlier indices are invalid.

        Args:
            prices: (2**n,): price of each subset; only needed with ``max_work``.
            max_work: work that all fits may take; None for no limit. The set of all features and the cheapest others
                are fitted, and the classifiers of the rest decide no row.

        Returns:
            Subsets that are not fitted, ascending.

        Raises:
            ValueError: there are more than 20 features.
        """
        if self.n_features > DIRECT_FEATURES:
            raise ValueError(f"fill_all is for at most {DIRECT_FEATURES} features, there are {self.n_features}")
        unknown = np.flatnonzero(self.lookup.direct < 0)
        left_out = unknown[:0]
        if max_work is not None:
            unknown, left_out = self._affordable(unknown, np.asarray(prices), max_work - self.work)
        self._add(unknown.astype(np.uint64))
        total = self.n_fitted + len(left_out)
        self._reserve(total)
        self.masks[self.n_fitted : total] = left_out
        self.n_fitted = total
        order = np.argsort(self.masks[: self.n_fitted])
        self.masks = self.masks[order]
        for bits in (*self._confident, *self._right):  # not all at once: they may take gigabytes
            bits[:total] = bits[order]
        self._confident, self._right = self._confident[:, :total], self._right[:, :total]
        self.lookup.direct[:] = np.arange(self.lookup.direct.size)
        return left_out

    def _affordable(
        self, subsets: NDArray[np.int64], prices: NDArray[Any], room: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The full set and the cheapest subsets within the limit of work, and the other subsets; both ascending."""
        full = self.lookup.direct.size - 1
        rising = subsets[np.lexsort((prices[subsets], subsets != full))]
        spent = np.cumsum(self._work(members(rising.astype(np.uint64), self.models.owner)))
        count = max(int(np.searchsorted(spent, room, side="right")), int((subsets == full).sum()))
        return np.sort(rising[:count]), np.sort(rising[count:])

    def _work(self, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.sum([part.models.work(chosen) for part in self._parts], axis=0, dtype=np.int64)

    def coefficients(self, mask: int | Sets) -> NDArray[np.float64]:
        """The fit of one subset, (1, 1 + d) or (K, 1 + d): intercept first, then the subset's columns, ascending.

        Use it with `bench_models.subsets.models.stage_probabilities` on X[:, cache.columns(mask)]. The model is fitted
        again on each call; the fit is a pure function of the subset, so it is the model of the stored bits.
        """
        fits = self.models.fit(np.asarray(mask, dtype=np.uint64), threads=1)
        return fits.coefficients[0][:, np.concatenate([[0], self.columns(mask) + 1])]

    def columns(self, mask: int | Sets) -> NDArray[np.int64]:
        """Columns of X that a subset uses, ascending."""
        return subset_columns(mask, self.models.owner)

    def _add(self, fresh: Sets) -> None:
        first, total = self.n_fitted, self.n_fitted + len(fresh)
        self._reserve(total)
        failed: list[int] = []
        for begin in range(0, len(fresh), _BATCH):
            subsets = fresh[begin : begin + _BATCH]
            rows = slice(first + begin, first + begin + len(subsets))
            self._confident[:, rows] = self._right[:, rows] = 0
            converged = [self._decide(part, subsets, rows) for part in self._parts]
            failed += [as_integer(subset) for subset in subsets[~np.all(converged, axis=0)]]
        self.masks[first:total] = fresh
        self._enter(fresh, first)
        self.n_fitted = total
        if failed:
            self.not_converged += failed
            warnings.warn(f"{len(failed)} subset regressions did not converge", RuntimeWarning, stacklevel=3)

    def _decide(self, part: _Part, subsets: Sets, rows: slice) -> NDArray[np.bool_]:
        """Fit subsets, set their bits of a part's evaluation rows, and return which fits converged."""
        from ._kernels_decide import decide_range

        fits = part.models.fit(subsets, threads=self._threads)
        self.work += int(part.models.work(fits.chosen).sum())
        thresholds = np.array(self.thresholds)

        def work(start: int, stop: int) -> None:
            decide_range(
                part.design, len(part.labels), part.first, part.labels, fits.chosen, fits.coefficients,
                thresholds, start, stop, rows.start, self._confident, self._right,
            )  # fmt: skip

        run_ranges(work, len(subsets), self._threads, _BLOCK)
        return fits.converged

    def _reserve(self, total: int) -> None:
        capacity = len(self.masks)
        if total > capacity:
            larger = max(total, 2 * capacity)
            masks = new_sets(larger, self.n_features)
            confident, right = np.zeros((2, len(self.thresholds), larger, self.n_words), dtype=np.uint64)
            masks[: self.n_fitted] = self.masks[: self.n_fitted]
            confident[:, : self.n_fitted] = self._confident[:, : self.n_fitted]
            right[:, : self.n_fitted] = self._right[:, : self.n_fitted]
            self.masks, self._confident, self._right = masks, confident, right
        hashed = self._index_of is None and not self.lookup.direct.size
        if hashed and 2 * total > self.lookup.keys.size:
            size = 1 << (2 * total - 1).bit_length()
            self.lookup = Lookup(self.lookup.direct, np.zeros(size, dtype=np.uint64), np.full(size, -1, dtype=np.int32))
            self._enter(self.masks[: self.n_fitted], 0)
