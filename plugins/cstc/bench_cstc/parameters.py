"""The parameters that ``cstc``, ``cscc``, ``cronus`` and ``single-cost-sensitive`` share (Xu et al., JMLR 2014)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Interval

from bench_core import DataFacts, Lambdas, Method

if TYPE_CHECKING:
    from bench_cstc.family import TreeSettings

__all__ = ["TreeParameters"]


@dataclass(frozen=True)
class TreeParameters(Method):
    """The parameters of the trees and cascades of cost-sensitive classifiers.

    Attributes:
        lambdas: trade-offs λ ≥ 0, one policy each; fitted in ascending order, each warm-started from the previous one.
            The default has the proportions of §6.2's eight (1/3, 1/2, 1, 2, …, 6), divided by 6.3.
        unit: unit of λ and ρ. ``relative``: λ = 1 is the smallest λ at which a single classifier gives no priced column
            a weight, ρ = 1 the smallest ρ at which it gives no column a weight, whatever the scale of prices, columns
            and targets. ``price``: as in Eq. 12: λ is mean squared error per unit of price, ρ is mean squared error per
            unit of weight, on columns as encoded.
        rho: ρ ≥ 0, the weight of the l1 norm.
        rho_ratios: ratios ρ / λ above 0, both as in Eq. 12, whatever ``unit`` is; at 1, the norm and the cost of a
            column of price 1 have the same weight. For every λ above 0, the ratio whose finished tree is best on
            validation by ``criterion`` is taken (in a tie, the greatest). The paper also chooses ρ by validation; its ρ
            of 0.5 to 5 have the order of its λ of 1/3 to 6 (§6.6, Fig. 11). If empty, ``rho`` is used for every λ.
        features: the columns of classifiers: ``linear``, the encoded columns; ``boosted``, the trees of a gradient
            boosting on the same target (§5).
        n_estimators, max_depth, learning_rate: parameters of the boosting.
        evaluation: e_t, the price of evaluating one boosted tree, ≥ 0; ``scheme`` takes the cost scheme's price
            of an evaluation.
        cost_terms: costs in the objective (§6.6): ``features``, ``evaluation`` (of boosted trees) or ``both``. The bill
            does not depend on it; λ = 0 ignores all costs.
        positive_weight: w_y of the positive class (Eq. 19; of every class against the rest for more than two; of grades
            above 0 in a ranking), above 0; ``balanced`` gives both classes the same total weight.
        fine_tune: rows on which a classifier that predicts is fitted again without the cost (§3.5): those that leave at
            it (``hard``); all rows, weighted by the probability of leaving at it (``soft``, the paper's formula); none
            (``off``).
        stop_fine_tuning: whether fine-tuning stops where ``criterion`` is best on validation (§6.2).
        early_stopping: whether the descent stops when validation gets worse (§5.3); ``auto``: with boosted trees.
        split_quantile: share of the training rows at a node that its first threshold sends up, in (0, 1).
        steepness: factor of the sigmoid's argument in Eq. 4, above 0.
        intercept: whether every classifier has an unpenalised intercept.
        criterion: criterion on validation for pruning, greedy building and early stopping: ``loss`` (squared),
            ``ndcg@5`` or ``precision@5`` (rankings, binary tasks); ``auto``: NDCG@5 for rankings, otherwise the loss.
        max_iter: maximum number of sweeps of the descent over all nodes, at least 0. The policy's details and the
            family's diagnostics report a descent that has not converged.
        tol: relative change of the objective below which the descent ends, above 0.
        include_empty_policy: whether the family may contain policies that read nothing; it contains one in any case if
            there is no other.
        report_purchases: whether the diagnostics contain, for each λ, the share of the nodes below the root that buy a
            feature which no node above them buys.

    Source: Xu, Kusner, Weinberger, Chen, Chapelle, Classifier cascades and trees for minimizing feature evaluation
    cost, JMLR 15, 2014.
    """

    version: ClassVar[int] = 2
    takes_missing: ClassVar[bool] = True
    variant: ClassVar[Literal["cstc", "cscc", "cronus"]] = "cstc"
    lambdas: Lambdas = (0.053, 0.079, 0.159, 0.317, 0.476, 0.635, 0.794, 0.952)
    unit: Literal["relative", "price"] = "relative"
    rho: Annotated[float, Ge(0)] = 1e-3
    rho_ratios: tuple[Annotated[float, Gt(0)], ...] = field(default=(), metadata={"omit_default": True})
    features: Literal["linear", "boosted"] = "linear"
    n_estimators: Annotated[int, Interval(ge=1, le=100_000)] = 300
    max_depth: Annotated[int, Interval(ge=1, le=12)] = 4
    learning_rate: Annotated[float, Gt(0)] = 0.1
    evaluation: Annotated[float, Ge(0)] | Literal["scheme"] = "scheme"
    cost_terms: Literal["both", "features", "evaluation"] = "both"
    positive_weight: Annotated[float, Gt(0)] | Literal["balanced"] = 1.0
    fine_tune: Literal["hard", "soft", "off"] = "hard"
    stop_fine_tuning: bool = field(default=False, metadata={"omit_default": True})
    early_stopping: Literal["auto", "on", "off"] = "auto"
    split_quantile: Annotated[float, Interval(gt=0, lt=1)] = 0.5
    steepness: Annotated[float, Gt(0)] = 1.0
    intercept: bool = True
    criterion: Literal["auto", "loss", "ndcg@5", "precision@5"] = "auto"
    max_iter: Annotated[int, Interval(ge=0, le=10_000)] = 20
    tol: Annotated[float, Gt(0)] = 1e-3
    include_empty_policy: bool = True
    report_purchases: bool = field(default=False, metadata={"omit_default": True})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cost_terms == "evaluation" and self.features == "linear":
            raise ValueError("cost_terms = 'evaluation' needs features = 'boosted': nothing else is evaluated")

    @property
    @abstractmethod
    def levels(self) -> int:
        """Levels of the tree, stages of the cascade."""

    def settings(self) -> TreeSettings:
        """The settings of the optimiser."""
        from bench_cstc.family import TreeSettings

        stops = self.early_stopping == "on" or (self.early_stopping == "auto" and self.features == "boosted")
        return TreeSettings(
            variant=self.variant,
            levels=self.levels,
            rho=self.rho,
            rho_ratios=self.rho_ratios,
            structure=getattr(self, "structure", "full"),
            split_quantile=self.split_quantile,
            steep=self.steepness,
            intercept=self.intercept,
            fine_tune=self.fine_tune,
            stop_fine_tuning=self.stop_fine_tuning,
            early_stopping=stops,
            max_iter=self.max_iter,
            tol=self.tol,
        )

    def inapplicable(self, data: DataFacts) -> str | None:
        """Say why the method cannot run, or None: missing values with linear features, or a reason of every method."""
        if data.missing and self.features == "linear":
            return "features = 'linear' takes no missing values; encode = 'impute' fills them"
        return super().inapplicable(data)
