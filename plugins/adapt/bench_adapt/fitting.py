"""Fitting a family: the accurate model, and a pair for every γ and P_full."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from bench_models.boosting import BoostedModel, fit_boosted
from bench_models.prices import MeanPrices
from numpy.typing import NDArray

from bench_adapt.alternate import alternate
from bench_adapt.policy import GatedPolicy
from bench_core import Family, Part, Problem, default_policy_first, validation_score

__all__ = ["column_shares", "feature_shares", "fit_family", "out_of_fold_losses"]

_FOLDS = 3
_LEAST = 1e-12


def feature_shares(problem: Problem) -> NDArray[np.float64]:
    """Prices of features as shares of the price of all, float64 (features,); a group's is divided among its members.

    Prices that grow with item size enter by their mean over the training rows.
    """
    price = MeanPrices.of(problem).split
    total = float(price.sum())
    return np.asarray(price / total if total > 0 else price)


def column_shares(problem: Problem) -> NDArray[np.float64]:
    """`feature_shares`, divided among each feature's columns: float64 (columns,)."""
    width = np.bincount(problem.feature_of_column, minlength=problem.n_features)
    return np.asarray((feature_shares(problem) / np.maximum(width, 1))[problem.feature_of_column])


def out_of_fold_losses(problem: Problem, n_estimators: int) -> NDArray[np.float64]:
    """Log losses of the accurate model on training rows that it was not trained on: float64 (rows,).

    On its own training rows it would hardly err, and the gate would send all rows on.
    """
    part = problem.train
    order = np.lexsort((problem.rng("adapt", "folds").bit_generator.random_raw(len(part)), part.y))
    fold = np.empty(len(part), dtype=np.int64)
    fold[order] = np.arange(len(part)) % _FOLDS
    losses = np.empty(len(part))
    for number in range(_FOLDS):
        out = fold == number
        rest = replace(problem, train=Part(part.X[~out], part.y[~out]))
        table = _accurate(rest, n_estimators).probabilities(part.X[out])
        losses[out] = -np.log(np.maximum(table[np.arange(int(out.sum())), part.y[out]], _LEAST))
    return losses


def _accurate(problem: Problem, n_estimators: int) -> BoostedModel:
    return fit_boosted(problem, np.arange(problem.train.X.shape[1]), n_estimators)


def fit_family(
    problem: Problem,
    fitter: Callable[[float], Any],
    gammas: Sequence[float],
    p_full: Sequence[float],
    rounds: int,
    accurate_estimators: int,
) -> Family:
    """Fit a pair at each γ and P_full; the default policy is the best on validation.

    Args:
        problem: binary or multiclass.
        fitter: for a γ, an object that fits pairs (`LinearFitter`, `BoostedFitter`).
        gammas, p_full, rounds, accurate_estimators: see `bench_adapt.plugin`.
    """
    accurate, losses = problem.shared(
        ("adapt", accurate_estimators),
        lambda: (_accurate(problem, accurate_estimators), out_of_fold_losses(problem, accurate_estimators)),
    )
    y = problem.train.y
    prior = np.bincount(y, minlength=problem.n_classes) / len(y)
    start = -np.log(np.maximum(prior, _LEAST))[y]
    split = accurate.booster.feature_importance("split") > 0
    read = np.zeros(problem.n_features, dtype=bool)
    read[problem.feature_of_column[accurate.columns[split]]] = True
    policies, scores = [], []
    for gamma in gammas:
        for share in p_full:
            fit = fitter(gamma)
            alternate(fit, y, losses, start, share, rounds)
            pair = fit.pair()
            cheap = np.zeros(problem.n_features, dtype=bool)
            cheap[problem.feature_of_column[pair.columns]] = True
            details = {"gamma": gamma, "p_full": share, "features": int(cheap.sum())}
            policies.append(
                GatedPolicy(
                    pair, accurate, np.stack([cheap, cheap | read]), prior, f"gamma={gamma:g} p_full={share:g}", details
                )
            )
            scores.append(validation_score(problem, policies[-1].decide(problem.validation.rows())))
    return Family(default_policy_first(policies, scores))
