"""The protocol of predictors from any set of known features, and the losses of candidate sets under a predictor."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bench_core import Problem, RequestError
from bench_models.partial.masks import Candidates

__all__ = ["LEAST", "PartialPredictor", "fit_installed", "installed_types", "removal_losses", "set_losses"]

LEAST = 1e-12
"""Smaller probabilities are replaced by this one before the logarithm is taken."""
_GROUP = "budgetbench.predictors"


class PartialPredictor(Protocol):
    """A classifier that predicts from any set of known features.

    A row's answer depends neither on its batch nor on the values of unknown features. A predictor that can evaluate
    many sets of a row at once may have methods ``set_losses`` and ``removal_losses`` with the arguments of the
    functions of these names, except the first.
    """

    def probabilities(self, X: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return class probabilities, float64 (rows, classes).

        Args:
            X: float64 (rows, columns); values of unknown features are arbitrary; NaN in known ones is missing.
            known: bool (rows, features).
        """


def set_losses(
    predictor: PartialPredictor,
    X: NDArray[np.float64],
    y: NDArray[np.int64],
    known: NDArray[np.bool_],
    candidates: Candidates,
) -> NDArray[np.float64]:
    """Return the log loss of each row if one of the sets becomes known in addition.

    Args:
        predictor: the predictor.
        X: float64 (rows, columns): complete rows.
        y: int64 (rows,): their classes.
        known: bool (rows, features).
        candidates: sets of features.

    Returns:
        float64 (rows, 1 + sets), in nats; the first column is the loss with the known features only.
    """
    own = getattr(predictor, "set_losses", None)
    if own is not None:
        losses: NDArray[np.float64] = own(X, y, known, candidates)
        return losses
    nothing = np.zeros(known.shape[1], dtype=bool)
    return np.stack([_losses(predictor, X, y, known | extra) for extra in (nothing, *candidates.member)], axis=1)


def removal_losses(
    predictor: PartialPredictor,
    X: NDArray[np.float64],
    y: NDArray[np.int64],
    known: NDArray[np.bool_],
    part: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return each row's log losses after it acquires a set of features, and after it acquires all but one part of it.

    The sets of two rows may differ.

    Args:
        predictor: the predictor.
        X: float64 (rows, columns): complete rows.
        y: int64 (rows,): their classes.
        known: bool (rows, features).
        part: int64 (rows, features): number of the part, from 0, that a feature belongs to; −1 outside the row's set.

    Returns:
        float64 (rows, 1 + parts), in nats: with the complete set, then without each part.
    """
    own = getattr(predictor, "removal_losses", None)
    if own is not None:
        losses: NDArray[np.float64] = own(X, y, known, part)
        return losses
    parts = range(-1, 1 + int(part.max(initial=-1)))
    return np.stack([_losses(predictor, X, y, known | ((part >= 0) & (part != without))) for without in parts], axis=1)


def _losses(
    predictor: PartialPredictor, X: NDArray[np.float64], y: NDArray[np.int64], known: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """The log loss of each row: float64 (rows,)."""
    return np.asarray(-np.log(np.maximum(predictor.probabilities(X, known)[np.arange(len(X)), y], LEAST)))


def fit_installed(name: str, problem: Problem, unit_of_feature: NDArray[np.int64]) -> PartialPredictor:
    """Fit a predictor of another distribution, by its name.

    The name is an entry point of the group ``budgetbench.predictors``, which refers to a module with two functions:
    ``fit(problem, unit_of_feature)``, where ``unit_of_feature`` is int64 (features,) and features of one unit are known
    together, and ``policy_types()``, which returns the types that a saved policy with such a predictor contains.

    Raises:
        RequestError: the predictor is not installed.
    """
    found = entry_points(group=_GROUP, name=name)
    if not found:
        raise RequestError(f"predictor {name!r} is not installed; pip install budgetbench-{name}")
    predictor: PartialPredictor = next(iter(found)).load().fit(problem, unit_of_feature)
    return predictor


def installed_types() -> list[type]:
    """Return the types that saved policies with installed predictors contain."""
    return [cls for entry in entry_points(group=_GROUP) for cls in entry.load().policy_types()]
