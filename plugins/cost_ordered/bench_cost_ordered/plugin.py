"""The method ``cost-ordered`` (CO-T, EMSCO §4.3): a stage per cost class, cheapest first, early exit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge, Gt
from bench_models.linear import ClassModel, fit_logistic, refuse_missing
from numpy.typing import NDArray

from bench_core import (
    DataFacts,
    Decisions,
    Method,
    Policy,
    Problem,
    RegisterMethod,
    Rows,
    hookimpl,
    next_of_stages,
    spread_by_cost,
)
from bench_cost_ordered.stages import stages_by_cost

__all__ = ["CostOrdered", "CostOrderedPolicy"]


BENCH_CONTRACT_VERSION = 1


@dataclass(frozen=True)
class CostOrdered(Method):
    """Cost-ordered T-stage classifier (CO-T): a stage per cost class, cheapest first, early exit.

    Every stage is an l2 logistic regression on the features of this stage and all earlier ones, fitted on all rows
    of the training part. A row leaves at the first stage whose highest class probability reaches the confidence
    threshold p̂ (EMSCO §2). The core refuses rows that are still below p̂ at the last stage. If the protocol
    has no threshold, no row is refused and p̂ is the trade-off: the family has one policy for each of
    `bench_core.Problem.exit_thresholds`, all with the same regressions.
    `bench_cost_ordered.stages.stages_by_cost` defines the cost classes.

    Attributes:
        C: inverse strength of the l2 penalty, above 0, as in scikit-learn.
        max_stages: most stages; cost classes are merged by quantile to fit. Without it, every class is a stage.

    Source: EMSCO §4.3 (after Trapeznikov et al. 2013, Wang et al. 2014).
    """

    version: ClassVar[int] = 1
    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "multiclass"})
    needs_threshold: ClassVar[bool] = True
    """A row stops at a confidence threshold. `inapplicable` also accepts data without one, for which the method has a
    policy for each of several thresholds."""
    C: Annotated[float, Gt(0)] = 1.0
    max_stages: Annotated[int, Ge(1)] | None = None

    def inapplicable(self, data: DataFacts) -> str | None:
        """Reason not to run: those of every method, except for the lack of a threshold."""
        return super().inapplicable(replace(data, threshold=data.threshold or 1.0))

    def fit(self, problem: Problem) -> Sequence[Policy]:
        """Fit every stage on the training part; the validation part only chooses the default among several thresholds.

        Raises:
            ValueError: features have missing values; the message names them.
        """
        thresholds = problem.exit_thresholds()
        refuse_missing(problem)
        stages = stages_by_cost(problem, self.max_stages)
        acquired = np.zeros((len(stages), problem.n_features), dtype=bool)
        models = []
        for number, features in enumerate(stages):
            acquired[number:, features] = True
            columns = problem.columns_of_set(np.flatnonzero(acquired[number]))
            models.append(fit_logistic(problem, columns, self.C))
        details = {
            "stages": [features.tolist() for features in stages],
            "converged": all(model.converged for model in models),
        }
        if len(thresholds) == 1:
            return [CostOrderedPolicy(thresholds[0], tuple(models), acquired, details=details)]
        policies = [
            CostOrderedPolicy(p, tuple(models), acquired, f"p̂={p:g}", {**details, "threshold": p}) for p in thresholds
        ]
        return spread_by_cost(problem, policies)


@dataclass(frozen=True, eq=False)
class CostOrderedPolicy(Policy):
    """A cascade of classifiers: a row moves on to the next stage until its answer is conclusive.

    Attributes:
        threshold: the confidence threshold p̂.
        models: one per stage.
        acquired: bool (stages, features): features that a row has acquired when it leaves at each stage.
    """

    threshold: float
    models: tuple[ClassModel, ...]
    acquired: NDArray[np.bool_]
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def decide(self, rows: Rows) -> Decisions:
        probabilities, left_at = self._walk(rows)
        stage = left_at + 1
        return Decisions(
            self.acquired[left_at], probabilities=probabilities, stage=stage, evaluations=stage.astype(float)
        )

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return next_of_stages(self.acquired, self._walk(rows)[1], known)

    def _walk(self, rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Class probabilities (rows, classes), and the stage at which each row leaves (rows,), counted from 0."""
        count = len(rows)
        probabilities = np.zeros((count, self.models[0].n_classes))
        left_at = np.full(count, len(self.models) - 1)
        waiting = np.arange(count)
        for number, model in enumerate(self.models):
            answer = model.probabilities(rows.X[waiting])
            probabilities[waiting] = answer
            left_at[waiting] = number
            waiting = waiting[~(answer.max(axis=1) >= self.threshold)]
            if not len(waiting):
                break
        return probabilities, left_at


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """Register ``cost-ordered``."""
    register("cost-ordered", CostOrdered)


@hookimpl(optionalhook=True)
def bench_policy_types() -> list[type]:
    """Return the types that a saved policy contains."""
    return [CostOrderedPolicy, ClassModel]
