"""The methods ``cact-lasso`` (CaCT LASSO, EMSCO §4.3) and ``lasso`` (the Lasso path, for every task)."""

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

    The family has one policy per distinct model of the path. The first maximises ``g1 + g2 + (1 − g3*/Σc)`` on
    validation (metric ``combined``; ties go to the larger λ); the others follow by ascending λ. A policy acquires,
    for every row, the features with a nonzero coefficient in any class.

    The objective is ``Σ loss + λ Σ |β|`` with unpenalised intercepts, on the encoded columns. Two classes have one
    logit; more have the symmetric multinomial model of glmnet and of scikit-learn's saga solver.

    Attributes:
        highest: the largest λ; the grid is 0, step, 2 · step, …, highest.
        step: the distance between neighbouring λ, above 0.
        scale: the loss that λ Σ |β| is added to. ``sum`` is the sum over training rows, so that λ is ``1/C`` of
            scikit-learn, the library that the paper cites. ``mean`` is the mean over training rows, as in glmnet.
        include_empty_policy: whether the family includes the policy that acquires nothing (λ ≥ λ_max: class
            frequencies, cost 0). It does in any case when no other policy exists.
        ridge: strength of an l2 penalty on standardised columns, used only for λ = 0, where separable classes have no
            finite solution; see `families.fit_classifiers`.

    Source: EMSCO §4.3.
    """

    version: ClassVar[int] = 2
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
        """Requested λ, in ascending order, on the chosen scale."""
        count = int(np.floor(self.highest / self.step + 1e-9))
        return [float(f"{i * self.step:.12g}") for i in range(count + 1)]

    def fit(self, problem: Problem) -> Family:
        """Fit the path on the training part; choose the default policy on the validation part.

        Raises:
            ValueError: features have missing values; the message names them.
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

    Regression and ranking (pointwise, on the grade) minimise ``(1/2n) Σ (y − βx − b)² + λ Σ |β|``. Classification
    minimises the objective of ``cact-lasso`` with ``scale = "mean"``. The first policy has the least squared error or
    log loss on validation (ties go to the larger λ); the others follow by ascending λ.

    Attributes:
        lambdas: the λ, on the mean-loss scale; when empty, ``count`` values are chosen, evenly spaced in log λ from
            λ_max down to ``ratio · λ_max``, as glmnet does.
        count: number of λ chosen when ``lambdas`` is empty.
        ratio: the smallest λ chosen, as a share of λ_max.
        ridge: strength of the l2 penalty for λ = 0 in classification; see ``cact-lasso``.

    Source: Tibshirani 1996; Friedman, Hastie, Tibshirani 2010.
    """

    version: ClassVar[int] = 2
    lambdas: tuple[Annotated[float, Ge(0)], ...] = ()
    count: Annotated[int, Ge(2)] = 50
    ratio: Annotated[float, Interval(gt=0, lt=1)] = 1e-3
    ridge: Annotated[float, Gt(0)] = 1e-6

    def fit(self, problem: Problem) -> Family:
        """Fit the path on the training part; choose the default policy on the validation part.

        Raises:
            ValueError: features have missing values; the message names them.
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
    """Mean squared error, or mean log loss with probabilities clipped at 1e-15; 0 if there are no rows."""
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
    """Return the types that a saved policy contains."""
    from bench_models.linear import ClassModel, ScoreModel

    from bench_lasso.policies import LinearPolicy

    return [LinearPolicy, ClassModel, ScoreModel]
