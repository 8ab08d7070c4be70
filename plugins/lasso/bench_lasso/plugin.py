"""The methods ``cact-lasso`` (CaCT LASSO, EMSCO §4.3) and ``lasso`` (a plain path for every task)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, Interval

from bench_core import Family, Method, Outcome, Problem, RegisterMethod, hookimpl

__all__ = ["CaCTLasso", "Lasso"]


BENCH_CONTRACT_VERSION = 1


@dataclass(frozen=True)
class CaCTLasso(Method):
    """Cost-and-coverage-tuned LASSO: l1 logistic regression for λ in {0, 0.1, …, 100}, tuned on validation.

    The family is one policy per λ whose model differs; the first is the one with the highest
    ``g1 + g2 + (1 − g3*/Σc)`` on validation (metric ``combined``; the larger λ among equals), the others follow
    by ascending λ. A policy acquires the features with a nonzero coefficient, in any class, for every row.

    Objective: ``Σ loss + λ Σ |β|``, intercepts unpenalised, on columns as encoded. Two classes: one logit; more: the
    symmetric multinomial, which is both glmnet's and what scikit-learn's saga solves.

    Attributes:
        highest, step: the grid of λ, from 0.
        scale: ``sum``: λ weighs against the sum of the losses, so that it is scikit-learn's ``1/C``, the library that
            the paper cites. ``mean``: against their mean, as in glmnet; λ times the number of training rows.
        include_empty_policy: whether the policy that reads nothing (λ ≥ λ_max: class frequencies, cost 0) is in the
            family; it always is when there is no other.
        ridge: λ = 0 is unpenalised but for this much of an l2 penalty on standardised columns, because there is
            no finite solution where the classes can be separated; see `families.fit_classifiers`.

    Source: EMSCO §4.3.
    """

    version: ClassVar[int] = 1
    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "multiclass"})
    highest: Annotated[float, Gt(0)] = 100.0
    step: Annotated[float, Gt(0)] = 0.1
    scale: Literal["mean", "sum"] = "sum"
    include_empty_policy: bool = True
    ridge: Annotated[float, Gt(0)] = 1e-6

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.step > self.highest:
            raise ValueError(f"step must not be above highest, {self.highest}, not {self.step}")

    def grid(self) -> list[float]:
        """The λ asked for, ascending, on the chosen scale."""
        count = int(np.floor(self.highest / self.step + 1e-9))
        return [float(f"{i * self.step:.12g}") for i in range(count + 1)]

    def fit(self, problem: Problem) -> Family:
        """Fit the path on the training part, choose on the validation part.

        Raises:
            ValueError: missing values; the message names the features.
        """
        from bench_core import combined, default_policy_first
        from bench_lasso.families import fit_classifiers, penalty_max
        from bench_lasso.policies import outcome_on, policies_of

        unit = float(max(len(problem.train), 1)) if self.scale == "sum" else 1.0
        fitted = fit_classifiers(problem, [penalty / unit for penalty in self.grid()], self.ridge)
        if not self.include_empty_policy and any(len(fit.model.columns) for fit in fitted):
            fitted = [fit for fit in fitted if len(fit.model.columns)]
        policies = policies_of(problem, fitted, unit)
        values = [combined(outcome_on(policy, problem, problem.validation)) for policy in policies]
        lambdas = [float(policy.details["lambda"]) for policy in policies]
        return Family(
            default_policy_first(policies, list(zip(values, lambdas, strict=True))),
            history={"lambda": lambdas, "validation_combined": values},
            diagnostics={
                "lambda_max": penalty_max(problem) * unit,
                "lambdas": len(self.grid()),
                "distinct": len(policies),
            },
        )


@dataclass(frozen=True)
class Lasso(Method):
    """Lasso path for any task: l1 linear or logistic regression, one policy per λ.

    Regression and ranking (pointwise, on the grade): ``(1/2n) Σ (y − βx − b)² + λ Σ |β|``. Classification: as
    ``cact-lasso``, mean-loss scale. The first policy is the best on validation by squared error or log loss (the
    larger λ among equals); the others follow by ascending λ.

    Attributes:
        lambdas: the λ; when empty, ``count`` values spaced evenly in log from λ_max down to ``ratio · λ_max``.
        count, ratio: the automatic grid, as glmnet's.
        ridge: see ``cact-lasso``; only for λ = 0 in classification.

    Source: Tibshirani 1996; Friedman, Hastie, Tibshirani 2010.
    """

    version: ClassVar[int] = 1
    lambdas: tuple[Annotated[float, Ge(0)], ...] = ()
    count: Annotated[int, Ge(2)] = 50
    ratio: Annotated[float, Interval(gt=0, lt=1)] = 1e-3
    ridge: Annotated[float, Gt(0)] = 1e-6

    def fit(self, problem: Problem) -> Family:
        """Fit the path on the training part, choose on the validation part.

        Raises:
            ValueError: missing values; the message names the features.
        """
        from bench_models.linear import refuse_missing

        from bench_core import default_policy_first
        from bench_lasso.families import fit_classifiers, fit_regressions, penalty_max
        from bench_lasso.policies import outcome_on, policies_of

        refuse_missing(problem)
        highest = penalty_max(problem)
        grid = list(self.lambdas) or (highest * np.geomspace(1.0, self.ratio, self.count)).tolist()
        fitted = fit_classifiers(problem, grid, self.ridge) if problem.n_classes else fit_regressions(problem, grid)
        policies = policies_of(problem, fitted)
        values = [_loss(outcome_on(policy, problem, problem.validation)) for policy in policies]
        lambdas = [float(policy.details["lambda"]) for policy in policies]
        return Family(
            default_policy_first(policies, [(-loss, lambda_) for loss, lambda_ in zip(values, lambdas, strict=True)]),
            history={"lambda": lambdas, "validation_loss": values},
            diagnostics={"lambda_max": highest, "lambdas": len(grid), "distinct": len(policies)},
        )


def _loss(outcome: Outcome) -> float:
    """Mean squared error, or mean log loss (probabilities held above 1e-15); 0 on no rows."""
    if not len(outcome.y):
        return 0.0
    if outcome.decisions.score is not None:
        return float(np.mean(np.square(outcome.decisions.score - outcome.y)))
    table = outcome.decisions.probabilities
    if table is None:
        return 0.0
    return float(-np.log(np.maximum(table[np.arange(len(table)), outcome.y], 1e-15)).mean())


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """Register ``cact-lasso`` and ``lasso``."""
    register("cact-lasso", CaCTLasso)
    register("lasso", Lasso)


@hookimpl(optionalhook=True)
def bench_policy_types() -> list[type]:
    """What a saved policy holds."""
    from bench_models.linear import ClassModel, ScoreModel

    from bench_lasso.policies import LinearPolicy

    return [LinearPolicy, ClassModel, ScoreModel]
