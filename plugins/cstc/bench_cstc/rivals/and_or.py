"""The method ``and-or``: a cascade whose stages are trained jointly on features assigned beforehand (CSTC §6.3)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from bench_core import Decisions, Family, Method, Policy, Problem, Rows
from bench_cstc.columns import BoostedTrees, PlainColumns
from bench_cstc.walker import weighted_sum

if TYPE_CHECKING:
    from bench_cstc.rivals.and_or_fit import Ground
    from bench_cstc.rivals.and_or_loss import Fit
    from bench_cstc.rivals.outputs import Answer

__all__ = ["AndOrCascade", "CascadePolicy"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class AndOrCascade(Method):
    """AND-OR cascade: linear stages on ever dearer features, trained jointly; a row goes on while all say yes.

    A row is positive when every stage's score is above 0, and leaves at the first stage whose score is not. The
    loss of a positive row is its largest hinge over the stages, that of a negative one its smallest (see
    `bench_cstc.rivals.and_or_loss`, which says how the minimum is smoothed). Which features a stage may use is
    settled before training by price: stage k those of at most ``limits[k]``.

    Where the texts are silent: hinges are squared, so that there is a gradient; the trade-off with cost is an l1
    norm weighted with the prices of each column's features ("varying a loss/cost trade-off parameter", "it still
    has the ability to only use some of the assigned features"); stages are added left to right, each starting as
    a copy of the one before, and after every addition all are trained together; a larger λ starts from the
    smaller one's stages. A row's score, for probabilities and rankings, is the least score of the stages that it
    was seen by, which is what the loss trains. Prices that grow with item size enter by their training mean.

    Attributes:
        lambdas: trade-offs λ ≥ 0, one policy each. λ = 1 is the least at which one stage of all columns would give
            no priced column weight, whatever the scale of prices.
        rho: weight of a plain l1 norm, ≥ 0, in the same unit: 1 leaves no column weight.
        limits: highest price of a feature that each stage may use, ascending; features above the last are never
            used. Empty: ``stages`` limits that split the distinct prices evenly.
        stages: number of stages when ``limits`` is empty, 1 to 50; no more than there are distinct prices.
        features: ``linear``: columns as encoded; ``boosted``: the trees of a gradient boosting of the same target
            (CSTC §5), a tree standing at the first stage that may use all its features.
        trees, tree_depth, learning_rate, evaluation: of that boosting, as for ``stagewise``.
        positive_weight: weight of positive rows' losses, above 0; ``balanced`` gives both sides the same total.
        relevant_from: in a ranking, the lowest grade that counts as positive.
        temperature: τ > 0 of the smoothed minimum, in units of the margin.
        steps: most gradient steps after each addition of a stage, from 1; what has not converged is reported.
        tol: a step that changes the objective by less than this share of its start ends the descent; above 0.
        empty: whether the policy that reads nothing is in the family.

    Source: Dundar & Bi, Joint optimization of cascaded classifiers for computer aided detection, CVPR 2007, as
    described in CSTC §6.3.
    """

    version: ClassVar[int] = 1
    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "ranking"})
    lambdas: tuple[float, ...] = (0.003, 0.01, 0.03, 0.1, 0.3)
    rho: float = 1e-3
    limits: tuple[float, ...] = ()
    stages: int = 5
    features: Literal["linear", "boosted"] = "linear"
    trees: int = 300
    tree_depth: int = 4
    learning_rate: float = 0.1
    evaluation: float | Literal["scheme"] = "scheme"
    positive_weight: float | Literal["balanced"] = 1.0
    relevant_from: float = 1.0
    temperature: float = 0.1
    steps: int = 200
    tol: float = 1e-5
    empty: bool = False

    def __post_init__(self) -> None:
        from bench_cstc.rivals.outputs import check_ranges

        whole = {"trees": (1, 100_000), "tree_depth": (1, 12), "stages": (1, 50), "steps": (1, 1_000_000)}
        check_ranges(self, whole, ["learning_rate", "temperature", "tol"])
        if not self.lambdas:
            raise ValueError("lambdas needs at least one value")
        for name, values in (("lambdas", self.lambdas), ("rho", (self.rho,)), ("limits", self.limits)):
            for value in values:
                if not 0 <= value < math.inf:
                    raise ValueError(f"{name} must be finite and not negative, not {value}")
            if len(set(values)) < len(values):
                raise ValueError(f"{name} must differ from each other: {list(values)}")
        if list(self.limits) != sorted(self.limits):
            raise ValueError(f"limits must ascend: {list(self.limits)}")
        if not math.isfinite(self.relevant_from):
            raise ValueError(f"relevant_from must be finite, not {self.relevant_from}")

    def fit(self, problem: Problem) -> Family:
        """One policy per λ; the best on validation comes first.

        Raises:
            ValueError: missing values (linear features; the message names them), grades that are not numbers.
        """
        from bench_linear import refuse_missing

        from bench_cstc.rivals.and_or_fit import fit_cascades, ground
        from bench_cstc.rivals.outputs import best_first, constant, one_output

        outputs = one_output(problem, self.relevant_from, "and-or")
        if not outputs.targets:
            return Family([constant(problem)], diagnostics={"stages": 0})
        if self.features == "linear":
            refuse_missing(problem)
        base = ground(self, problem, outputs.targets[0])
        policies: list[Policy] = [constant(problem)] if self.empty else []
        history: dict[str, list[float]] = {}
        converged = []
        validation = base.columns.values(problem.validation.X)
        for lam, fit in fit_cascades(self, base):
            cascade = Cascade.of(base, fit, problem.n_features)
            scores, _ = cascade(validation)
            details = {
                "lambda": lam,
                "stages": len(fit.bias),
                "objective": fit.values[-1],
                "converged": fit.converged,
                "features": int(cascade.features[-1].sum()),
            }
            policies.append(
                CascadePolicy(cascade, outputs.answer(problem, [scores]), f"lambda={lam:g}", details)
            )
            history[f"objective, lambda={lam:g}"] = fit.values
            converged.append(fit.converged)
        diagnostics = {
            "stages": len(base.allowed),
            "converged": all(converged),
            "lambda_max": base.lambda_max,
        }
        return Family(best_first(problem, policies), history=history, diagnostics=diagnostics)


@dataclass(frozen=True, eq=False)
class Cascade:
    """Fitted stages on the columns' own scale.

    Attributes:
        columns: what the stages weigh.
        weights, bias: float64 (stages, columns), (stages,).
        paid: bool (stages, columns): what has been computed when a row leaves at a stage.
        features: bool (stages, features): what has been acquired then.
    """

    columns: PlainColumns | BoostedTrees
    weights: Floats
    bias: Floats
    paid: NDArray[np.bool_]
    features: NDArray[np.bool_]

    @classmethod
    def of(cls, base: Ground, fit: Fit, n_features: int) -> Cascade:
        """From weights on standardised columns."""
        weights = fit.weights / base.scale
        bias = np.array([b - w @ base.shift for w, b in zip(weights, fit.bias, strict=True)])
        paid = np.logical_or.accumulate(weights != 0, axis=0)
        features = np.zeros((len(weights), n_features), dtype=bool)
        for k, columns in enumerate(paid):
            for t in np.flatnonzero(columns):
                features[k, base.columns.features_of[t]] = True
        return cls(base.columns, weights, bias, paid, features)

    def __call__(self, phi: Floats) -> tuple[Floats, NDArray[np.int64]]:
        """Least score of the stages that saw each row, and the stage it left at, from 0.

        Args:
            phi: float64 (rows, columns).
        """
        score = np.full(len(phi), np.inf)
        stage = np.full(len(phi), len(self.bias) - 1, dtype=np.int64)
        here = np.arange(len(phi))
        for k in range(len(self.bias)):
            said = weighted_sum(phi[here], self.weights[k], float(self.bias[k]))
            score[here] = np.minimum(score[here], said)
            on = said > 0
            stage[here[~on]] = k
            here = here[on]
        return score, stage


@dataclass(frozen=True, eq=False)
class CascadePolicy(Policy):
    """One λ.

    Attributes:
        cascade: the stages.
        answer: scores → decisions.
    """

    cascade: Cascade
    answer: Answer
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def decide(self, rows: Rows) -> Decisions:
        """Ask stage after stage until one says no."""
        columns = self.cascade.columns
        score, stage = self.cascade(columns.values(rows.X))
        evaluations, cost = (stage + 1).astype(np.float64), None
        if columns.evaluation is not None:
            evaluations = self.cascade.paid.sum(axis=1).astype(np.float64)[stage]
            cost = (self.cascade.paid @ columns.evaluation)[stage]
        return self.answer([score], self.cascade.features[stage], stage + 1, evaluations, cost)
