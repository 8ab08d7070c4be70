"""The method ``greedymiser`` (Xu, Weinberger, Chapelle: The Greedy Miser, ICML 2012)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, Interval, MinLen

from bench_core import DataFacts, Family, Lambdas, Method, Problem, RegisterMethod, hookimpl

if TYPE_CHECKING:
    from bench_greedymiser.boosting import Boosted
    from bench_greedymiser.calibrate import Link
    from bench_greedymiser.losses import Loss
    from bench_greedymiser.policy import PrefixPolicy

__all__ = ["GreedyMiser"]


BENCH_CONTRACT_VERSION = 1


@dataclass(frozen=True)
class GreedyMiser(Method):
    """Boosted regression trees that pay for every feature the first time one of them uses it (GreedyMiser).

    The method is stage-wise regression (Friedman 2001) with depth-limited regression trees. The impurity of a tree is
    its mean squared error on the negative gradient, plus λ times the price of every feature that no earlier tree
    uses. A feature acquired at a node is free at all nodes grown after it: in the same tree (level by level, left to
    right), in the other classes' trees, and in later rounds. An acquisition group's price is paid once, with its
    first feature. A feature of several columns is paid once. Prices that grow with item size are averaged over the
    training rows.

    The family has one policy per λ and kept prefix of the ensemble; the first is the best on validation.

    The paper's cost c(H) charges each row for all features of the ensemble (``acquire = "ensemble"``). A row needs only
    the features on its own paths, and the budgeted forests that are compared with GreedyMiser are charged for exactly
    these ("the average number of unique features used by test examples", BUDGETPRUNE Table 1). So ``"paths"`` is the
    default; it never costs more.

    Attributes:
        n_estimators: most boosting rounds, at least 1. A round grows one tree, or one per class for more than two
            classes. Boosting ends early at a round in which no tree splits.
        max_depth: most splits on a path of a tree, 1..10.
        learning_rate: factor applied to each tree's prediction, above 0.
        lambdas: trade-offs λ ≥ 0, each with its own ensemble; 0 ignores prices.
        unit: unit of λ. ``relative`` does not depend on the scale of prices and targets: with λ = 1, acquiring all
            features must explain the squared error of the constant model. ``price`` is the paper's unit: mean squared
            error (of one output) per unit of price.
        loss: ``squared`` (regression, ranking grades, or 0/1 targets of classes), ``logistic`` (for more than two
            classes multi-class logistic, with one ensemble per class), or ``auto``: logistic for classification,
            squared otherwise.
        leaf: the prediction of a leaf. ``mean`` is the mean negative gradient (stage-wise regression); ``newton`` is
            Friedman's Newton step, which is the same for squared loss.
        min_samples_leaf: fewest training rows of a leaf, at least 1.
        max_bins: most bins of a column, 2..255, at training quantiles. Splits are exact for a column with at most
            this many distinct values.
        calibrate: source of class probabilities. ``platt`` fits Platt's sigmoid on the validation part for every
            policy, one-vs-rest and normalised for more than two classes, as GM* needs. ``none`` uses the loss's own
            link (sigmoid or softmax; squared loss is clipped to [0, 1]).
        prefixes: numbers of rounds to keep as policies, where 0 means no tree. ``geometric`` keeps 1, 2, 4, … and all
            rounds; ``all`` keeps every number of rounds from 1 on.
        acquire: features that a row is charged for: ``paths``, those on its own paths, or ``ensemble``, all features
            of the policy's trees.
        include_empty_policy: whether the family includes policies that acquire nothing (class frequencies, cost 0).
            One is included in any case when no other policy exists.

    Missing values need no encoding: a cut sends them to the side where they fit best.
    """

    version: ClassVar[int] = 3
    takes_missing: ClassVar[bool] = True
    n_estimators: Annotated[int, Interval(ge=1, le=1_000_000)] = 300
    max_depth: Annotated[int, Interval(ge=1, le=10)] = 4
    learning_rate: Annotated[float, Gt(0)] = 0.1
    lambdas: Lambdas = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)
    unit: Literal["relative", "price"] = "relative"
    loss: Literal["auto", "squared", "logistic"] = "auto"
    leaf: Literal["mean", "newton"] = "mean"
    min_samples_leaf: Annotated[int, Interval(ge=1, le=2**31)] = 1
    max_bins: Annotated[int, Interval(ge=2, le=255)] = 255
    calibrate: Literal["platt", "none"] = "platt"
    prefixes: Literal["geometric", "all"] | Annotated[tuple[Annotated[int, Ge(0)], ...], MinLen(1)] = "geometric"
    acquire: Literal["paths", "ensemble"] = "paths"
    include_empty_policy: bool = True

    def inapplicable(self, data: DataFacts) -> str | None:
        """Reason not to run: those of every method, or logistic loss for a task without classes."""
        if self.loss == "logistic" and not data.n_classes:
            return f"loss = 'logistic' needs classes; the task is {data.task}"
        return super().inapplicable(data)

    def fit(self, problem: Problem) -> Family:
        """Grow an ensemble for every λ on the training part; calibrate and rank prefixes on validation.

        Raises:
            ValueError: logistic loss without classes, or a learning rate so large that boosting diverges.
        """
        from bench_core import default_policy_first
        from bench_greedymiser.bins import fit_bins
        from bench_greedymiser.boosting import boost
        from bench_greedymiser.losses import loss_of
        from bench_greedymiser.prices import mean_prices

        bins = fit_bins(problem.train.X, self.max_bins)
        loss = loss_of(self.loss, problem)
        prices = mean_prices(problem)
        policies: list[PrefixPolicy] = []
        validation_scores: list[tuple[float, float]] = []
        history: dict[str, Sequence[float]] = {}
        for value in self.lambdas:
            boosted = boost(
                bins,
                problem.feature_of_column,
                loss,
                prices.times(value * self._scale(loss, prices.total)),
                rounds=self.n_estimators,
                depth=self.max_depth,
                learning_rate=self.learning_rate,
                least=self.min_samples_leaf,
                newton=self.leaf == "newton",
            )
            history[f"loss, lambda={value:g}"] = boosted.losses
            history[f"price, lambda={value:g}"] = [prices.of(used) for used in boosted.ensemble.used]
            prefix_policies, prefix_scores = self._policies(problem, loss, boosted, value)
            policies += prefix_policies
            validation_scores += prefix_scores
        if not self.include_empty_policy and any(policy.details["features"] for policy in policies):
            remaining = [i for i, policy in enumerate(policies) if policy.details["features"]]
            policies, validation_scores = [policies[i] for i in remaining], [validation_scores[i] for i in remaining]
        return Family(
            default_policy_first(policies, validation_scores),
            history=history,
            diagnostics={"loss": type(loss).__name__.lower()},
        )

    def _scale(self, loss: Loss, total: float) -> float:
        """Factor that converts λ to mean squared error per unit of price."""
        if self.unit == "price":
            return 1.0
        start = loss.residual(np.tile(loss.start(), (len(loss.targets), 1)))
        return float(np.square(start).mean()) / total if total > 0 else 0.0

    def _prefix_lengths(self, rounds: int) -> list[int]:
        """Prefixes to keep of an ensemble, as ascending numbers of rounds."""
        if self.prefixes == "all":
            return list(range(min(rounds, 1), rounds + 1))
        if self.prefixes == "geometric":
            wanted = [2**i for i in range(rounds.bit_length() + 1)]
            return sorted({min(r, rounds) for r in wanted} | {rounds})
        return sorted({min(int(r), rounds) for r in self.prefixes})

    def _policies(
        self, problem: Problem, loss: Loss, boosted: Boosted, value: float
    ) -> tuple[list[PrefixPolicy], list[tuple[float, float]]]:
        """Policies of one ensemble, and their validation scores."""
        from bench_core import validation_score
        from bench_greedymiser.policy import PrefixPolicy

        ensemble, part = boosted.ensemble, problem.validation
        scores, acquired = ensemble.empty(len(part))
        policies, validation_scores = [], []
        for before, rounds in pairwise([0, *self._prefix_lengths(ensemble.rounds)]):
            ensemble.advance(part.X, before, rounds, scores, acquired)
            policy = PrefixPolicy(
                ensemble,
                rounds,
                self._link(problem, loss, scores),
                self.acquire == "ensemble",
                label=f"lambda={value:g}, trees={rounds}",
                details={"lambda": value, "trees": rounds, "features": int(ensemble.used[rounds].sum())},
            )
            policies.append(policy)
            validation_scores.append(validation_score(problem, policy.decided(scores, acquired)))
        return policies, validation_scores

    def _link(self, problem: Problem, loss: Loss, scores: np.ndarray) -> Link | None:
        from bench_greedymiser.calibrate import Clipped, Odds, Soft, fit_sigmoids
        from bench_greedymiser.losses import Logistic, Softmax

        if not problem.n_classes:
            return None
        if self.calibrate == "platt" and len(problem.validation):
            return fit_sigmoids(scores, problem.validation.y)
        if isinstance(loss, Softmax):
            return Soft()
        return Odds() if isinstance(loss, Logistic) else Clipped()


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """Register ``greedymiser``."""
    register("greedymiser", GreedyMiser)


@hookimpl(optionalhook=True)
def bench_policy_types() -> list[type]:
    """Return the types that a saved policy contains."""
    from bench_models.linear import Platt
    from bench_models.trees import AdditiveTrees, FlatTrees

    from bench_greedymiser.calibrate import Clipped, Odds, Sigmoids, Soft
    from bench_greedymiser.ensemble import Ensemble
    from bench_greedymiser.policy import PrefixPolicy

    return [PrefixPolicy, Ensemble, AdditiveTrees, FlatTrees, Clipped, Odds, Platt, Sigmoids, Soft]
