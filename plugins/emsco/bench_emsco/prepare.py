"""Preparation of a search from the core's problem: subset models, integer prices, policies; used by both methods.

A search maximises quality on its *evaluation rows*. In the paper, they are the validation rows (§4.3), which select
among the policies as well: the policies then look better on validation than on new rows. `SearchRows` "training" leaves
the validation rows alone: each half of the training part is decided by classifiers learned from the other half. There
are two halves, not more parts, because each part needs a classifier of its own for every subset of features. With both
settings, the policies that are returned have classifiers learned from the complete training part.

During the search, prices that grow with item size are averaged over the evaluation rows (the paper has constant
prices). The core's bill is exact in any case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bench_models.folds import folds, others, taking
from bench_models.subsets.models import SubsetModels
from bench_models.subsets.sets import members
from numpy.typing import NDArray

from bench_core import Part, Policy, Problem, plain
from bench_emsco.chromosome import Chromosomes, cumulative_masks
from bench_emsco.parameters import SearchRows
from bench_emsco.policy import MultiStagePolicy, Stage
from bench_emsco.prices import SubsetPrices
from bench_emsco.sets import unique_sets
from bench_emsco.subset_cache import SubsetCache

__all__ = ["Search", "policies_of", "prepare", "searchable"]

_FOLDS = 2
_BATCH = 2048


@dataclass(frozen=True)
class Search:
    """The inputs of a search.

    Attributes:
        cache: decisions of every subset's classifier on the evaluation rows, fitted on request.
        models: learns the classifiers of the returned policies, from the complete training part.
        prices: price of every subset, in integer units if they are exact.
        classes: int64: class codes that occur in the training part, ascending.
        thresholds: confidence thresholds p̂, in the order of `SubsetCache.use`.
    """

    cache: SubsetCache
    models: SubsetModels
    prices: SubsetPrices
    classes: NDArray[np.int64]
    thresholds: tuple[float, ...]


def searchable(problem: Problem, rows: SearchRows) -> bool:
    """Whether every classifier of a search has at least two classes to learn."""
    y = problem.train.y
    learned = [y] if rows == "validation" else [y[others(problem, half)] for half in folds(problem, _FOLDS)]
    return all(len(np.unique(labels)) > 1 for labels in learned)


def _halves(problem: Problem) -> list[tuple[Part, Part]]:
    """The parts to learn from and to decide, for each half of the training part."""
    halves = folds(problem, _FOLDS)
    return [(taking(problem, others(problem, half)).train, taking(problem, half).train) for half in halves]


def prepare(problem: Problem, C: float, method: str, rows: SearchRows = "validation") -> Search:
    """Set up the search, for all thresholds of the problem: they share the classifiers.

    Args:
        problem: the problem; see `searchable`.
        C: inverse strength of the classifiers' l2 penalty.
        method: name of the method, for messages.
        rows: part that has the evaluation rows.

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
    if rows == "validation":
        cache = _cache(problem, problem.train, problem.validation, C)
        return Search(cache, cache.models, _prices(problem, problem.validation), classes, thresholds)
    cache = SubsetCache.joined([_cache(problem, learn, decide, C) for learn, decide in _halves(problem)])
    models = SubsetModels(
        problem.train.X,
        np.searchsorted(classes, problem.train.y),
        len(classes),
        C=C,
        column_of_feature=problem.feature_of_column,
    )
    return Search(cache, models, _prices(problem, problem.train), classes, thresholds)


def _cache(problem: Problem, learn: Part, decide: Part, C: float) -> SubsetCache:
    """Classifiers learned from one part and their decisions on another."""
    classes = np.unique(learn.y)
    # No classifier predicts a label that it has not seen; its code −1 is never right.
    position = np.searchsorted(classes, decide.y)
    known = classes[np.minimum(position, len(classes) - 1)] == decide.y
    return SubsetCache(
        learn.X,
        np.searchsorted(classes, learn.y),
        decide.X,
        np.where(known, position, -1),
        len(classes),
        problem.exit_thresholds(),
        column_of_feature=problem.feature_of_column,
        C=C,
        threads=problem.threads,
    )


def _prices(problem: Problem, evaluated: Part) -> SubsetPrices:
    costs, sizes = problem.costs, evaluated.sizes
    feature_prices = costs.feature_prices(sizes).mean(axis=0)
    if costs.groups is None or costs.group_prices is None:
        return SubsetPrices(feature_prices, rows=len(evaluated))
    groups = [np.flatnonzero(costs.groups == group).tolist() for group in range(len(costs.group_prices))]
    at_sizes = costs.group_prices_at(sizes).mean(axis=0)
    return SubsetPrices(feature_prices, groups, at_sizes, rows=len(evaluated))


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
        fits = search.models.fit(subsets[start : start + _BATCH], threads=problem.threads)
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
