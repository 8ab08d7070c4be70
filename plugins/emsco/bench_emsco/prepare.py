"""Preparation of a search from the core's problem: subset models, integer prices, policies; used by both methods.

During the search, prices that grow with item size are averaged over the validation rows (the paper has constant
prices). The core's bill is exact in any case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core import Policy, Problem, plain
from bench_emsco.chromosome import Chromosomes, cumulative_masks
from bench_emsco.policy import MultiStagePolicy, Stage
from bench_emsco.prices import SubsetPrices
from bench_emsco.sets import members, unique_sets
from bench_emsco.subset_cache import SubsetCache

__all__ = ["Search", "policies_of", "prepare"]

_BATCH = 2048


@dataclass(frozen=True)
class Search:
    """The inputs of a search.

    Attributes:
        cache: decisions of every subset's classifier on the validation rows, fitted on request.
        prices: price of every subset, in integer units if they are exact.
        classes: int64: class codes that occur in the training part, ascending.
        thresholds: confidence thresholds p̂, in the order of `SubsetCache.use`.
    """

    cache: SubsetCache
    prices: SubsetPrices
    classes: NDArray[np.int64]
    thresholds: tuple[float, ...]


def prepare(problem: Problem, C: float, method: str) -> Search:
    """Set up the search, for all thresholds of the problem: they share the classifiers.

    Raises:
        ValueError: a feature has missing values; the message names it.
    """
    thresholds = problem.exit_thresholds()
    for part in (problem.train, problem.validation):
        missing = np.isnan(part.X).any(axis=0)
        if missing.any():
            name = problem.feature_names[problem.feature_of_column[missing.argmax()]]
            raise ValueError(f"{method}: feature {name!r} has missing values; use an encoding that imputes")
    classes = np.unique(problem.train.y)
    # No classifier predicts a label that is not in training; its code −1 is never right.
    position = np.searchsorted(classes, problem.validation.y)
    known = classes[np.minimum(position, len(classes) - 1)] == problem.validation.y
    cache = SubsetCache(
        problem.train.X,
        np.searchsorted(classes, problem.train.y),
        problem.validation.X,
        np.where(known, position, -1),
        max(2, len(classes)),
        thresholds,
        column_of_feature=problem.feature_of_column,
        C=C,
        threads=problem.threads,
    )
    return Search(cache, _prices(problem), classes, thresholds)


def _prices(problem: Problem) -> SubsetPrices:
    costs, sizes = problem.costs, problem.validation.sizes
    feature_prices = costs.feature_prices(sizes).mean(axis=0)
    if costs.groups is None or costs.group_prices is None:
        return SubsetPrices(feature_prices, rows=len(problem.validation))
    groups = [np.flatnonzero(costs.groups == group).tolist() for group in range(len(costs.group_prices))]
    at_sizes = costs.group_prices_at(sizes).mean(axis=0)
    return SubsetPrices(feature_prices, groups, at_sizes, rows=len(problem.validation))


def policies_of(
    search: Search, problem: Problem, number: int, chromosomes: Chromosomes, objectives: Sequence[dict[str, Any]]
) -> list[Policy]:
    """One policy per chromosome, in order; classifiers of shared subsets are fitted once.

    Args:
        search: from `prepare`.
        problem: the problem.
        number: number of the threshold.
        chromosomes: (m, n).
        objectives: further details of each policy, besides its chromosome.
    """
    threshold = search.thresholds[number]
    # With a single threshold, policies are named as in the paper.
    prefix, beside = ("", {}) if len(search.thresholds) == 1 else (f"p̂={threshold:g} ", {"threshold": threshold})
    stages = chromosomes.max(axis=1) + 1
    masks = cumulative_masks(chromosomes, int(stages.max()))
    subsets, subset_of = unique_sets(masks.reshape(-1, *masks.shape[2:]))
    subset_of = subset_of.reshape(masks.shape[:2])
    acquired = members(subsets, np.arange(problem.n_features))
    built: list[Stage] = []
    for start in range(0, len(subsets), _BATCH):  # a fit stores a number for every column, also outside its subset
        fits = search.cache.models.fit(subsets[start : start + _BATCH], threads=problem.threads)
        for mask, weights in zip(fits.masks, fits.coefficients, strict=True):
            columns = search.cache.columns(mask)
            built.append(Stage(acquired[len(built)], columns, weights[:, np.concatenate([[0], columns + 1])]))
    return [
        MultiStagePolicy(
            [built[index] for index in row[:count]],
            search.classes,
            problem.n_classes,
            threshold,
            label=f"{prefix}{place + 1}",
            details=plain({"chromosome": chromosome, **about, **beside}),
        )
        for place, (row, count, chromosome, about) in enumerate(
            zip(subset_of, stages, chromosomes, objectives, strict=True)
        )
    ]
