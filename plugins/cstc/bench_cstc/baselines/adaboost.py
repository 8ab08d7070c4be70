"""Discrete AdaBoost with decision trees (Freund & Schapire 1999), and the features that the trees read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core import Problem
from bench_cstc.baselines.merge import merge_equal

__all__ = ["Voters", "adaboost"]

Floats = NDArray[np.float64]

_SURE = 1e-10
"""Lower bound of a tree's error, since a tree without errors would get an infinite weight."""


@dataclass(frozen=True, eq=False)
class Voters:
    """Trees that vote −1 or +1.

    Attributes:
        trees: scikit-learn's low-level trees.
        signs: per tree, float64 (nodes,): −1 or +1.
        alpha: float64 (trees,): their weights, above 0.
        features_of: per tree, the features that it splits on.
        errors: float64 (trees,): weighted training errors.
    """

    trees: list[Any]
    signs: list[Floats]
    alpha: Floats
    features_of: list[NDArray[np.int64]]
    errors: Floats

    def votes(self, X: Floats, chosen: NDArray[np.int64]) -> Floats:
        """The votes of some trees: float64 (rows, chosen)."""
        narrow = np.ascontiguousarray(X, dtype=np.float32)
        out = np.empty((len(X), len(chosen)))
        for place, t in enumerate(chosen):
            out[:, place] = self.signs[t][self.trees[t].apply(narrow)] if len(X) else 0.0
        return out


def adaboost(problem: Problem, y: Floats, weights: Floats, trees: int, depth: int) -> Voters:
    """Boost on the training part.

    Each round fits a tree (Gini impurity) to the weighted rows; α = ½ ln((1 − ε)/ε); rows are then reweighted by exp(−α
    y h) and normalised, which divides the weights of wrong rows by 2ε and those of right rows by 2(1 − ε).
    Boosting ends at a tree that is no better than chance, or at one without errors, which is kept with the weight of an
    error of 1e-10. Equal rows with equal labels always get the same votes, so they are merged.

    The last bits of the weights decide between equally good stumps. Weights are computed by sums and divisions, whose
    last bits are the same on every machine, and not by exp and log. α is rounded to twelve digits.

    Args:
        problem: the training part.
        y: float64 (rows,): ±1.
        weights: float64 (rows,): initial weights.
        trees, depth: maximum number of rounds, and of splits on a path.
    """
    from sklearn.tree import DecisionTreeClassifier

    Z, y, weights = merge_equal(problem.train.X, y, weights)
    X = np.ascontiguousarray(Z, dtype=np.float32)
    w = weights / weights.sum()
    seed = int(problem.rng("adaboost").integers(2**31 - 1))
    voters = Voters([], [], np.zeros(0), [], np.zeros(0))
    alphas, errors = [], []
    for _ in range(trees):
        tree = DecisionTreeClassifier(max_depth=depth, random_state=seed).fit(X, y, sample_weight=w)
        inner = tree.tree_
        up = int(np.flatnonzero(tree.classes_ == 1.0)[0]) if 1.0 in tree.classes_ else -1
        values = inner.value[:, 0, :]
        share = values[:, up] / values.sum(axis=1) if up >= 0 else np.zeros(len(values))
        sign = np.where(share > 0.5, 1.0, -1.0)
        wrong = sign[inner.apply(X)] != y
        error = float(w[wrong].sum())
        if error >= 0.5 - 1e-12:
            break
        alpha = round(0.5 * math.log((1.0 - max(error, _SURE)) / max(error, _SURE)), 12)
        used = np.unique(inner.feature[inner.feature >= 0])
        voters.trees.append(inner)
        voters.signs.append(sign)
        voters.features_of.append(np.unique(problem.feature_of_column[used]))
        alphas.append(alpha)
        errors.append(error)
        if error <= _SURE:
            break
        w = w / np.where(wrong, 2.0 * error, 2.0 * (1.0 - error))
    return Voters(voters.trees, voters.signs, np.array(alphas), voters.features_of, np.array(errors))
