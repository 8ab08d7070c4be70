"""When training saw a single class there is nothing to search: answer it, acquire nothing."""

from __future__ import annotations

import numpy as np

from bench_core import Decisions, Family, Policy, Problem, Rows

__all__ = ["constant_family"]


class _Constant(Policy):
    label = "constant"

    def __init__(self, code: int, n_classes: int, n_features: int) -> None:
        self.code, self.n_classes, self.n_features = code, n_classes, n_features

    def decide(self, rows: Rows) -> Decisions:
        probabilities = np.zeros((len(rows), self.n_classes))
        probabilities[:, self.code] = 1.0
        return Decisions(np.zeros((len(rows), self.n_features), dtype=bool), probabilities)


def constant_family(problem: Problem) -> Family:
    """A family of one policy that always gives the only class of the training part."""
    policy = _Constant(int(problem.train.y[0]), problem.n_classes, problem.n_features)
    return Family([policy], diagnostics={"constant": True})
