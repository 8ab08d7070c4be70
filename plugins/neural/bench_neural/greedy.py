"""Methods that next buy the unit with the most expected information about the target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Gt, Interval

from bench_core import DataFacts, Family, Problem
from bench_neural.settings import Count, Neural, Points, Sequential

__all__ = ["DIME", "EDDI", "GDFS"]


@dataclass(frozen=True)
class GDFS(Sequential):
    """Greedy dynamic feature selection: a policy network trained by relaxed selections.

    Attributes:
        budgets: prices that a row may spend; when empty, ``count`` values from the cheapest feature to all.
        count: number of budgets chosen when ``budgets`` is empty.
        first_temperature, last_temperature, stages: temperatures of the Concrete distribution, evenly spaced in log.

    Source: Covert, Qiu, Lu, Kim, White, Lee, Learning to maximize mutual information for dynamic feature selection,
    ICML 2023.
    """

    version: ClassVar[int] = 1
    budgets: Points = ()
    count: Count = 10
    first_temperature: Annotated[float, Gt(0)] = 1.0
    last_temperature: Annotated[float, Gt(0)] = 0.1
    stages: Annotated[int, Ge(1)] = 5

    def fit(self, problem: Problem) -> Family:
        """Train the predictor on random masks, then it and the policy network on the policy's own sequences."""
        import numpy as np

        from bench_neural.families import budget_points, family
        from bench_neural.gdfs import train_gdfs
        from bench_neural.policy import Network, ScorePolicy

        prepared, setting, predictor = self.trained(problem)
        units = prepared.view.units
        temperatures = np.geomspace(self.first_temperature, self.last_temperature, self.stages).tolist()
        f, pi, losses = train_gdfs(
            problem, prepared, setting, predictor, self.updates, self._depth(units.count), temperatures, self.patience
        )
        common = self._fields(problem, prepared, f, predictor)
        scores = Network.of(pi)
        points = budget_points(problem, units, self.budgets, self.count)
        return family(
            problem, lambda point: ScorePolicy(**common, scores=scores, **point), points, {"loss on the fold": losses}
        )


@dataclass(frozen=True)
class DIME(Sequential):
    """Dynamic selection by a network that estimates conditional mutual information.

    Attributes:
        stop: when a row stops buying: ``lambda`` (the best estimate per price is too low), ``confidence`` (the answer
            is sure; not for regression) or ``budget``.
        values: operating points in the unit of ``stop``: nats per price, probabilities, prices; when empty, ``count``
            values are chosen.
        count: number of operating points chosen when ``values`` is empty.
        spacing: how λ are chosen: ``log``: evenly in log; ``cost``: from 0 to where nothing is bought, so that the
            policies' costs are evenly spread (`bench_models.tradeoff`).
        first_epsilon, last_epsilon, stages: shares of random purchases in training, evenly spaced in log.

    Source: Gadgil, Covert, Lee, Estimating conditional mutual information for dynamic feature selection, ICLR 2024.
    """

    version: ClassVar[int] = 2
    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "multiclass", "regression"})
    stop: Literal["lambda", "confidence", "budget"] = "lambda"
    values: Points = ()
    count: Count = 10
    spacing: Literal["log", "cost"] = field(default="log", metadata={"omit_default": True})
    first_epsilon: Annotated[float, Interval(gt=0, le=1)] = 0.5
    last_epsilon: Annotated[float, Interval(gt=0, le=1)] = 0.05
    stages: Annotated[int, Ge(1)] = 4

    def inapplicable(self, data: DataFacts) -> str | None:
        """Reason not to run: those of every method, or ``confidence`` for a regression."""
        if self.stop == "confidence" and data.task == "regression":
            return "stop = 'confidence' needs probabilities; the task is regression"
        return super().inapplicable(data)

    def fit(self, problem: Problem) -> Family:
        """Train the predictor on random masks, then it and the value network on sequences of purchases."""
        import numpy as np

        from bench_neural.dime import train_dime
        from bench_neural.families import (
            budget_points,
            confidences,
            family,
            named,
            penalties,
            penalties_in_cost,
            penalty_point,
        )
        from bench_neural.policy import ValuePolicy

        prepared, setting, predictor = self.trained(problem)
        units = prepared.view.units
        epsilons = np.geomspace(self.first_epsilon, self.last_epsilon, self.stages).tolist()
        layers, losses = train_dime(
            problem, prepared, setting, predictor, self.updates, self._depth(units.count), epsilons, self.patience
        )
        common = self._fields(problem, prepared, layers, predictor)

        def make(point: Mapping[str, Any]) -> ValuePolicy:
            return ValuePolicy(**common, **point)

        if self.stop == "budget":
            points = budget_points(problem, units, self.values, self.count)
        elif self.stop == "lambda" and self.spacing == "cost" and not self.values:
            points = penalties_in_cost(problem, units, make, self.count)
        elif self.stop == "lambda":
            grid = sorted(set(self.values)) or penalties(problem, units, self.count)
            points = [penalty_point(units, value) for value in grid]
        else:
            grid = sorted(set(self.values)) or confidences(problem.n_classes, self.count)
            points = [{"confidence": value, **named("confidence", value)} for value in grid]
        return family(problem, make, points, {"loss on the fold": losses})


@dataclass(frozen=True)
class EDDI(Neural):
    """Efficient dynamic discovery: information about the class, by samples of a partial variational auto-encoder.

    Attributes:
        budgets: prices that a row may spend; when empty, ``count`` values from the cheapest feature to all.
        count: number of budgets chosen when ``budgets`` is empty.
        updates: most updates of the auto-encoder.
        latent: dimensions of its latent variable.
        samples: samples of the unknown values in an expectation; the time to decide is proportional to them.

    Source: Ma, Tschiatschek, Palla, Hernández-Lobato, Nowozin, Zhang, EDDI: efficient dynamic discovery of high-value
    information with partial VAE, ICML 2019.
    """

    version: ClassVar[int] = 3
    budgets: Points = ()
    count: Count = 10
    updates: Annotated[int, Ge(1)] = 2000
    latent: Annotated[int, Ge(1)] = 16
    samples: Annotated[int, Ge(1)] = 10

    def fit(self, problem: Problem) -> Family:
        """Train the predictor and the auto-encoder, each on random masks."""
        from bench_neural.eddi import train_eddi
        from bench_neural.families import budget_points, family
        from bench_neural.information import InformationPolicy

        prepared, setting, predictor = self.trained(problem)
        imputer, losses = train_eddi(problem, prepared, setting, self.updates, self.latent, self.samples, self.patience)
        common = self._answers(problem, prepared, predictor) | {"imputer": imputer}
        points = budget_points(problem, prepared.view.units, self.budgets, self.count)
        return family(
            problem, lambda point: InformationPolicy(**common, **point), points, {"loss on the fold": losses}, 100
        )
