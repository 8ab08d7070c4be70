"""Methods that learn what to buy by Q-learning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Interval, Predicate

from bench_core import Family, Problem, distinct
from bench_neural.settings import Count, Neural, Points, Sequential

__all__ = ["OL", "CwCF"]


@dataclass(frozen=True)
class CwCF(Neural):
    """Classification with costly features: buy or classify, by deep Q-learning.

    Attributes:
        lambdas: trade-offs λ > 0, the loss of reward per unit of price; when empty, ``count`` values are chosen.
        count: number of λ chosen when ``lambdas`` is empty.
        reward: reward of an answer: ``error`` (−1 if it is wrong; CwCF) or ``log-loss`` (minus its log loss; JAFA).
        updates: most updates of Q.
        steps: actions of each row between two updates; Retrace's targets span all of them.
        target_rate: share of the network in each update of its slow copy, the target network.
        first_epsilon, last_epsilon: share of random actions, falling evenly over the first half of the updates.

    Source: Janisch, Pevný, Lisý, Classification with costly features using deep reinforcement learning, AAAI 2019;
    reward ``log-loss``: Shim, Hwang, Yang, Joint active feature acquisition and classification, NeurIPS 2018.
    """

    version: ClassVar[int] = 1
    lambdas: Annotated[tuple[Annotated[float, Gt(0)], ...], Predicate(distinct)] = ()
    count: Count = 10
    reward: Literal["error", "log-loss"] = "error"
    updates: Annotated[int, Ge(1)] = 2000
    steps: Annotated[int, Ge(1)] = 4
    target_rate: Annotated[float, Interval(gt=0, le=1)] = 0.01
    first_epsilon: Annotated[float, Interval(gt=0, le=1)] = 1.0
    last_epsilon: Annotated[float, Interval(gt=0, le=1)] = 0.1

    def fit(self, problem: Problem) -> Family:
        """Train the predictor on random masks, then Q on episodes with the λ of the family."""
        import numpy as np

        from bench_neural.cwcf import Learning, train_cwcf
        from bench_neural.families import family, named, penalties
        from bench_neural.policy import ActionPolicy, Network

        prepared, setting, predictor = self.trained(problem)
        scale = prepared.view.units.scale
        grid = np.array(sorted(set(self.lambdas)) or penalties(problem, prepared.view.units, self.count, self.reward))
        logs = np.log(grid)
        codes = 2 * (logs - logs.mean()) / max(float(np.ptp(logs)), 1.0)
        learning = Learning(self.reward, self.steps, self.target_rate, self.first_epsilon, self.last_epsilon)
        q, losses = train_cwcf(
            problem, prepared, setting, learning, predictor, grid * scale, codes, self.updates, self.patience
        )
        common = self._answers(problem, prepared, predictor) | {"q": Network.of(q)}
        points = [
            {"code": float(code), **named("lambda", float(value))} for code, value in zip(codes, grid, strict=True)
        ]
        return family(problem, lambda point: ActionPolicy(**common, **point), points, {"loss on the fold": losses})


@dataclass(frozen=True)
class OL(Sequential):
    """Opportunistic learning: Q-learning on the change of the predictor's certainty per price.

    Attributes:
        stop: when a row stops buying: ``confidence`` (the answer is sure) or ``budget``.
        values: operating points in the unit of ``stop``: probabilities, prices; when empty, ``count`` values are
            chosen.
        count: number of operating points chosen when ``values`` is empty.
        samples: samples of dropout in a certainty.
        discount: factor of the next state's value in the targets of Q.
        target_rate: share of the network in each update of its slow copy, the target network.
        first_epsilon, last_epsilon: share of random purchases, falling evenly over the first half of the updates.

    Source: Kachuee, Goldstein, Kärkkäinen, Darabi, Sarrafzadeh, Opportunistic learning: budgeted cost-sensitive
    learning from data streams, ICLR 2019.
    """

    version: ClassVar[int] = 1
    updates: Annotated[int, Ge(1)] = 1500
    stop: Literal["confidence", "budget"] = "confidence"
    values: Points = ()
    count: Count = 10
    samples: Annotated[int, Ge(1)] = 8
    discount: Annotated[float, Interval(ge=0, lt=1)] = 0.0
    target_rate: Annotated[float, Interval(gt=0, le=1)] = 0.01
    first_epsilon: Annotated[float, Interval(gt=0, le=1)] = 1.0
    last_epsilon: Annotated[float, Interval(gt=0, le=1)] = 0.1

    def fit(self, problem: Problem) -> Family:
        """Train the predictor on random masks, then it and Q on sequences of purchases."""
        from bench_neural.families import budget_points, confidences, family, named
        from bench_neural.ol import Learning, train_ol
        from bench_neural.policy import RewardPolicy

        prepared, setting, predictor = self.trained(problem)
        units = prepared.view.units
        learning = Learning(self.samples, self.discount, self.target_rate, self.first_epsilon, self.last_epsilon)
        depth = self._depth(units.count)
        layers, losses = train_ol(problem, prepared, setting, learning, predictor, self.updates, depth, self.patience)
        common = self._fields(problem, prepared, layers, predictor)
        if self.stop == "budget":
            points = budget_points(problem, units, self.values, self.count)
        else:
            grid = sorted(set(self.values)) or confidences(problem.n_classes, self.count)
            points = [{"confidence": value, **named("confidence", value)} for value in grid]
        return family(problem, lambda point: RewardPolicy(**common, **point), points, {"loss on the fold": losses})
