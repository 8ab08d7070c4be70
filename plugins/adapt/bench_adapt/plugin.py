"""The methods ``adapt-lin`` and ``adapt-gbrt``."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Gt, Interval, MinLen, Predicate

from bench_core import Family, Method, Problem, RegisterMethod, distinct, hookimpl

if TYPE_CHECKING:
    from bench_adapt.boosted import BoostedFitter
    from bench_adapt.linear import LinearFitter

__all__ = ["AdaptGBRT", "AdaptLin"]

BENCH_CONTRACT_VERSION = 1

Gammas = Annotated[tuple[Annotated[float, Ge(0)], ...], MinLen(1), Predicate(distinct)]
Shares = Annotated[tuple[Annotated[float, Interval(gt=0, lt=1)], ...], MinLen(1), Predicate(distinct)]


@dataclass(frozen=True)
class _Adapt(Method):
    """Alternating minimisation over a grid of γ and P_full; see `bench_adapt.alternate`."""

    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "multiclass"})
    gammas: Gammas = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
    p_full: Shares = (0.05, 0.2, 0.4, 0.7)
    rounds: Annotated[int, Ge(1)] = 5
    accurate_estimators: Annotated[int, Ge(1)] = 100

    @abstractmethod
    def _fitter(self, problem: Problem, gamma: float) -> LinearFitter | BoostedFitter: ...

    def fit(self, problem: Problem) -> Family:
        """Fit the accurate model, then a pair at each γ and P_full; the default policy is the best on validation.

        Where no column of the training part has two values, the family is a constant.
        """
        from bench_models.linear import ConstantPolicy

        from bench_adapt.fitting import fit_family

        X = problem.train.X
        if ((X[:1] == X) | (np.isnan(X) & np.isnan(X[:1]))).all():
            return Family([ConstantPolicy.learnt(problem)])

        return fit_family(
            problem, partial(self._fitter, problem), self.gammas, self.p_full, self.rounds, self.accurate_estimators
        )


@dataclass(frozen=True)
class AdaptLin(_Adapt):
    """ADAPT-LIN: a sparse linear model and a sparse linear gate before an accurate model.

    The gate sends on the rows that the linear model cannot answer. Both share the features that they read, by a group
    norm. The accurate model is LightGBM on all features.

    Attributes:
        gammas: weights γ of prices, in nats for the price of all features; the greater γ, the fewer features are read.
        p_full: P_full: greatest mean, over training rows, of the probability of going on that the gate learns from. The
            gate sends a row on if its probability is above one half, so the share of rows that go on is mostly smaller
            than a small P_full, and may be greater than a large one.
        rounds: fits of the pair, each for new shares of rows.
        accurate_estimators: boosting rounds of the accurate model.

    Source: Nan, Saligrama, Adaptive classification for prediction under a budget, NIPS 2017, Algorithm 1.
    """

    version: ClassVar[int] = 2

    def _fitter(self, problem: Problem, gamma: float) -> LinearFitter:
        from bench_models.linear import refuse_missing

        from bench_adapt.fitting import feature_shares
        from bench_adapt.linear import LinearFitter

        refuse_missing(problem)
        return LinearFitter(problem, feature_shares(problem), gamma)


@dataclass(frozen=True)
class AdaptGBRT(_Adapt):
    """ADAPT-GBRT: boosted trees as a cheap model and a gate before an accurate model.

    The gate sends on the rows that the cheap model cannot answer. Both are grown together, and a split on a feature
    that neither has read must lower the loss by γ times its price, which is divided among the columns of a category.
    The accurate model is LightGBM on all features.

    Attributes:
        gammas, p_full, rounds, accurate_estimators: as for `AdaptLin`.
        n_estimators, max_leaf_nodes, learning_rate, min_samples_leaf: parameters of the pair's trees.

    Source: Nan, Saligrama, Adaptive classification for prediction under a budget, NIPS 2017, Algorithm 2.
    """

    version: ClassVar[int] = 2
    takes_missing: ClassVar[bool] = True
    n_estimators: Annotated[int, Ge(1)] = 50
    max_leaf_nodes: Annotated[int, Ge(2)] = 8
    learning_rate: Annotated[float, Gt(0)] = 0.1
    min_samples_leaf: Annotated[int, Ge(1)] = 5

    def _fitter(self, problem: Problem, gamma: float) -> BoostedFitter:
        from bench_adapt.boosted import BoostedFitter
        from bench_adapt.fitting import column_shares

        return BoostedFitter(
            problem, column_shares(problem), gamma, self.n_estimators, self.max_leaf_nodes, self.learning_rate,
            self.min_samples_leaf,
        )  # fmt: skip


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """Register ``adapt-lin`` and ``adapt-gbrt``."""
    register("adapt-lin", AdaptLin)
    register("adapt-gbrt", AdaptGBRT)


@hookimpl(optionalhook=True)
def bench_policy_types() -> list[type]:
    """Return the types that a saved policy contains."""
    from bench_models.boosting import BoostedModel
    from bench_models.linear import ConstantPolicy
    from bench_models.trees import FlatTrees

    from bench_adapt.boosted import BoostedPair
    from bench_adapt.linear import LinearPair
    from bench_adapt.policy import GatedPolicy

    return [ConstantPolicy, GatedPolicy, LinearPair, BoostedPair, BoostedModel, FlatTrees]
