"""The method ``and-or``: a cascade whose stages are trained jointly on features assigned beforehand (CSTC §6.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Interval, Predicate
from numpy.typing import NDArray

from bench_core import DataFacts, Family, Lambdas, Method, Part, Policy, Problem, distinct
from bench_cstc.baselines.ranges import Count, Depth, Evaluation, Positive, PositiveWeight

if TYPE_CHECKING:
    from bench_models.answers import Scorer
    from bench_models.targets import Target

    from bench_cstc.baselines.and_or_fit import TrainingContext
    from bench_cstc.baselines.and_or_loss import Fit
    from bench_cstc.baselines.and_or_policy import Cascade

__all__ = ["AndOrCascade"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class AndOrCascade(Method):
    """AND-OR cascade: linear stages on ever more expensive features, trained jointly; rows with positive scores go on.

    A row leaves at the first stage whose score is not above 0; its label is positive if Platt's sigmoid is above 1/2.
    The loss of a positive row is its largest hinge over the stages, that of a negative one its smallest (see
    `bench_cstc.baselines.and_or_loss`, also for the smoothing of the minimum). Stages get their features before
    training, by price: stage k may use those of at most ``limits[k]``.

    Our choices where the papers say nothing: hinges are squared, to have a gradient. The trade-off with cost is an l1
    norm weighted with the prices of each column's features ("varying a loss/cost trade-off parameter", "it still has
    the ability to only use some of the assigned features"). Stages are added from left to right, each starting as a
    copy of the previous one, and all are trained together after every addition; a larger λ starts from the stages of
    the previous λ. A row's score, for probabilities and rankings, is the smallest score of the stages that it reaches,
    as in the loss. Prices that grow with item size are averaged over the training rows.

    Attributes:
        lambdas: trade-offs λ ≥ 0, one policy each. λ = 1 is the smallest at which a single stage on all columns gives
            no priced column a weight, whatever the scale of prices.
        rho: weight of an unpriced l1 norm, ≥ 0, in the same unit: at 1 no column has weight.
        limits: highest price of a feature that each stage may use, ascending; features above the last are never used.
            If empty, ``stages`` limits that divide the distinct prices evenly.
        stages: number of stages if ``limits`` is empty, 1 to 50, but at most the number of distinct prices.
        features: ``linear``: columns as encoded; ``boosted``: trees as columns (CSTC §5). Every stage has its own
            gradient boosting on the features that it may use, and may also use the trees of earlier stages.
        n_estimators, max_depth, learning_rate, evaluation: of each boosting, as for ``stagewise``.
        positive_weight: weight of positive rows' losses, above 0; ``balanced`` gives both classes the same total.
        relevant_from: in a ranking, the lowest grade that counts as positive.
        temperature: τ > 0 of the smoothed minimum, in units of the margin.
        max_iter: maximum number of gradient steps after each addition of a stage, at least 1; the diagnostics report
            fits that have not converged.
        tol: the descent ends at a step that changes the objective by less than this share (above 0) of its start.
        include_empty_policy: whether the family contains the policy that reads nothing.

    Source: Dundar & Bi, Joint optimization of cascaded classifiers for computer aided detection, CVPR 2007, as
    described in CSTC §6.3.
    """

    version: ClassVar[int] = 4
    takes_missing: ClassVar[bool] = True
    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "ranking"})
    lambdas: Lambdas = (0.003, 0.01, 0.03, 0.1, 0.3)
    rho: Annotated[float, Ge(0)] = 1e-3
    limits: Annotated[tuple[Annotated[float, Ge(0)], ...], Predicate(distinct)] = ()
    stages: Annotated[int, Interval(ge=1, le=50)] = 5
    features: Literal["linear", "boosted"] = "linear"
    n_estimators: Count = 300
    max_depth: Depth = 4
    learning_rate: Positive = 0.1
    evaluation: Evaluation = "scheme"
    positive_weight: PositiveWeight = 1.0
    relevant_from: float = 1.0
    temperature: Positive = 0.1
    max_iter: Annotated[int, Interval(ge=1, le=1_000_000)] = 500
    tol: Positive = 1e-5
    include_empty_policy: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if list(self.limits) != sorted(self.limits):
            raise ValueError(f"limits must ascend: {list(self.limits)}")

    def inapplicable(self, data: DataFacts) -> str | None:
        """Say why the method cannot run, or None: missing values with linear features, or a reason of every method."""
        if data.missing and self.features == "linear":
            return "features = 'linear' takes no missing values; encode = 'impute' fills them"
        return super().inapplicable(data)

    def fit(self, problem: Problem) -> Family:
        """One policy per λ; the best on validation comes first.

        Raises:
            ValueError: ``linear`` features have missing values (the message names them), or grades are not numbers.
        """
        from bench_models.answers import best_first, constant, one_output
        from bench_models.columns import Boosting, price_of_evaluation
        from bench_models.linear import refuse_missing

        from bench_cstc.baselines.and_or_fit import fit_cascades, training_context
        from bench_cstc.baselines.and_or_policy import Cascade, CascadePolicy

        outputs = one_output(problem, self.positive_weight, self.relevant_from, "and-or")
        if not outputs.targets:
            return Family([constant(problem)], diagnostics={"stages": 0})
        if self.features == "linear":
            refuse_missing(problem)
        boosting = None
        if self.features == "boosted":
            price = price_of_evaluation(problem, self.evaluation)
            boosting = Boosting(self.n_estimators, self.max_depth, self.learning_rate, price)

        def fitted(part: Problem, target: Target) -> tuple[TrainingContext, list[tuple[float, Fit, Cascade]]]:
            base = training_context(part, target, self.limits, self.stages, boosting)
            fits = fit_cascades(base, self.lambdas, self.rho, self.temperature, self.max_iter, self.tol)
            return base, [(lambda_, fit, Cascade.of(base, fit, part.n_features)) for lambda_, fit in fits]

        def learn(part: Problem, target: Target) -> Scorer:
            base, found = fitted(part, target)

            def scores(rows: Part) -> Floats:
                values = base.columns.values(rows.X)
                return np.array([cascade(values)[0] for _, _, cascade in found])

            return scores

        base, found = fitted(problem, outputs.targets[0])
        answers = outputs.answers(problem, len(found), learn)
        policies: list[Policy] = [constant(problem)] if self.include_empty_policy else []
        history: dict[str, list[float]] = {}
        converged = []
        for (lambda_, fit, cascade), answer in zip(found, answers, strict=True):
            details = {
                "lambda": lambda_,
                "stages": len(fit.bias),
                "objective": fit.values[-1],
                "converged": fit.converged,
                "features": int(cascade.features[-1].sum()),
            }
            policies.append(CascadePolicy(cascade, answer, f"lambda={lambda_:g}", details))
            history[f"objective, lambda={lambda_:g}"] = fit.values
            converged.append(fit.converged)
        diagnostics = {"stages": len(base.allowed), "converged": all(converged), "lambda_max": base.lambda_max}
        return Family(best_first(problem, policies), history=history, diagnostics=diagnostics)
