"""The method ``single-stage`` (EMSCO §4.3: "a traditional single-stage classifier")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Gt
from bench_models.linear import ClassModel, ScoreModel, fit_logistic, fit_ridge, refuse_missing
from numpy.typing import NDArray

from bench_core import Decisions, Method, Policy, Problem, RegisterMethod, Rows, hookimpl

__all__ = ["SingleStage", "SingleStagePolicy"]


BENCH_CONTRACT_VERSION = 1


@dataclass(frozen=True)
class SingleStage(Method):
    """One linear model on all features, acquired for every row.

    Classification uses l2 logistic regression (multinomial for more than two classes), fitted on the training part
    until the gradient is below 1e-10. Regression and ranking use ridge regression on the value or the grade
    (pointwise). The method never refuses a row; the paper's benchmark needs ``reject = false`` in the suite.

    Attributes:
        C: inverse strength of the l2 penalty, above 0, as in scikit-learn (ridge: ``alpha = 1 / C``).

    Source: EMSCO §4.3.
    """

    version: ClassVar[int] = 1
    C: Annotated[float, Gt(0)] = 1.0

    def fit(self, problem: Problem) -> Sequence[Policy]:
        """Fit on the training part; the validation part is not used.

        Raises:
            ValueError: features have missing values; the message names them.
        """
        refuse_missing(problem)
        columns = np.arange(problem.train.X.shape[1])
        if problem.n_classes:
            model = fit_logistic(problem, columns, self.C)
            details = {"iterations": model.iterations, "converged": model.converged}
            return [SingleStagePolicy(problem.n_features, model, details=details)]
        return [SingleStagePolicy(problem.n_features, fit_ridge(problem, columns, self.C))]


@dataclass(frozen=True, eq=False)
class SingleStagePolicy(Policy):
    """A policy that acquires all features and decides once."""

    n_features: int
    model: ClassModel | ScoreModel
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def decide(self, rows: Rows) -> Decisions:
        acquired = np.ones((len(rows), self.n_features), dtype=bool)
        stage = np.ones(len(rows), dtype=np.int64)
        if isinstance(self.model, ClassModel):
            return Decisions(acquired, probabilities=self.model.probabilities(rows.X), stage=stage)
        return Decisions(acquired, score=self.model.score(rows.X), stage=stage)

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return ~known

    def exported(self) -> dict[str, Any]:
        """The policy as JSON values, in the form that ``bench fit --export`` writes."""
        return {"features": list(range(self.n_features)), "model": self.model.exported()}


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """Register ``single-stage``."""
    register("single-stage", SingleStage)


@hookimpl(optionalhook=True)
def bench_policy_types() -> list[type]:
    """Return the types that a saved policy contains."""
    return [SingleStagePolicy, ClassModel, ScoreModel]
