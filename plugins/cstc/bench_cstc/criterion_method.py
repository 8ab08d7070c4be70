"""The CSTC criterion in a suite: a policy that acquires nothing, with its data set's Jaccard matrix in the records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Interval

from bench_core import Family, Method, Problem

__all__ = ["LabelOverlapMethod"]


@dataclass(frozen=True)
class LabelOverlapMethod(Method):
    """Constant prediction that acquires nothing, with the CSTC criterion of the data set in its diagnostics (§6.8).

    The policy's answer is the mean target, or the shares of the classes, at cost 0. Diagnostics: ``overlap a vs b | b
    vs c`` for every two classifiers of neighbouring labels, ``falling`` (share of the steps away from the matrix's
    diagonal at which the coefficient does not rise), ``adjacent`` and ``furthest`` (mean coefficients of pairs at the
    smallest and the greatest distance). History: ``overlap_by_distance``, ``features_selected``. With fewer than three
    labels there are no diagnostics.

    Attributes:
        strength: l1 weight, as a share of the smallest that selects no feature; between 0 and 1.
        levels: number of ranges of a target with more than ten values, at least 3.

    Source: Xu, Kusner, Weinberger, Chen, Chapelle, JMLR 15, 2014, §6.8.
    """

    version: ClassVar[int] = 1

    strength: Annotated[float, Interval(gt=0, lt=1)] = 0.1
    levels: Annotated[int, Ge(3)] = 5

    def fit(self, problem: Problem) -> Family:
        """Fit the constant, and compute the criterion on the training part.

        Raises:
            ValueError: features have missing values.
        """
        from bench_models.linear import ConstantPolicy, refuse_missing

        from bench_cstc.criterion import label_overlap

        y = problem.train.y
        if problem.n_classes:
            counts = np.bincount(np.asarray(y, dtype=np.int64), minlength=problem.n_classes).astype(np.float64)
            policy = ConstantPolicy(problem.n_features, tuple((counts / counts.sum()).tolist()))
        else:
            policy = ConstantPolicy(problem.n_features, value=float(np.mean(y)))
        if len(np.unique(y)) < 3:
            return Family([policy])
        refuse_missing(problem)
        overlap = label_overlap(problem.train.X, y, problem.feature_of_column, self.strength, self.levels)
        diagnostics = {
            f"overlap {overlap.pairs[i]} | {overlap.pairs[j]}": float(overlap.matrix[i, j])
            for i in range(len(overlap.pairs))
            for j in range(i + 1, len(overlap.pairs))
        }
        by_distance = overlap.by_distance
        if len(by_distance) > 1:
            diagnostics |= {"falling": overlap.falling, "adjacent": by_distance[1], "furthest": by_distance[-1]}
        history = {
            "overlap_by_distance": by_distance,
            "features_selected": [float(count) for count in overlap.selected.sum(axis=1)],
        }
        return Family([policy], history=history, diagnostics=diagnostics)
