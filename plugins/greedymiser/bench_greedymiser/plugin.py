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

    Stage-wise regression (Friedman 2001) with depth-limited regression trees. The impurity of a tree is the mean
    squared error to the negative gradient, plus λ × the price of every feature that no earlier tree uses. A
    feature acquired at any node is free at all nodes grown after it, in the same tree (level by level, left to
    right), in the other classes' trees and in later rounds. An acquisition group's price is paid once, with its
    first feature; a feature of several columns is one feature. Prices that grow with item size are averaged over
    the training rows.

    The family is every kept prefix × λ; its first policy is the best on validation.

    Which features a row acquires: the paper's cost c(H) charges each input for all features of the ensemble
    (``acquire = "ensemble"``). A row needs only those on its own paths, and the budgeted forests that
    GreedyMiser is compared with are charged for just these ("the average number of unique features used by test
    examples", BUDGETPRUNE Table 1), so ``"paths"`` is the default; it never costs more.

    Attributes:
        n_estimators: boosting rounds: one tree each, for more than two classes one per class; from 1. A round in which
            no tree splits is the end.
        max_depth: most splits on a path of a tree, 1..10.
        learning_rate: what a tree's prediction is multiplied by; above 0.
        lambdas: trade-offs λ ≥ 0, each with an ensemble of its own; 0 ignores prices.
        unit: what λ is measured in. ``relative``: λ = 1 means that acquiring everything must explain as much
            squared error as there is at the start, whatever the scale of prices and targets. ``price``: the
            paper's: mean squared error (of one output) per unit of price.
        loss: ``squared`` (regression; grades of a ranking; 0/1 targets of classes), ``logistic`` (two classes;
            more: multi-class logistic, one ensemble per class), ``auto``: logistic where there are classes.
        leaf: ``mean``: a leaf predicts the mean negative gradient, which is stage-wise regression;
            ``newton``: it takes Friedman's Newton step (the same for squared loss).
        min_samples_leaf: fewest training rows of a leaf, from 1.
        max_bins: most bins of a column, 2..255, at training quantiles; splits are exact when a column has no more
            distinct values than that.
        calibrate: ``platt``: class probabilities by Platt's sigmoid, fitted on the validation part for every
            policy, one-vs-rest and normalised for more than two classes (what the star of GM* needs); ``none``:
            the loss's own (sigmoid, softmax; for squared loss clipped to [0, 1]).
        prefixes: numbers of rounds to keep as policies, 0 for no tree at all; ``geometric`` is 1, 2, 4, … and
            all rounds; ``all`` is every one.
        acquire: ``paths`` or ``ensemble``, see above.
        include_empty_policy: whether policies that read nothing (the class frequencies, cost 0) are in the family;
            one always is when there is no other.

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
        """As every method; or a loss of classes where there are none."""
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
        """What turns λ into mean squared error per unit of price."""
        if self.unit == "price":
            return 1.0
        start = loss.residual(np.tile(loss.start(), (len(loss.targets), 1)))
        return float(np.square(start).mean()) / total if total > 0 else 0.0

    def _prefix_lengths(self, rounds: int) -> list[int]:
        """The prefixes to keep of an ensemble of that many rounds."""
        if self.prefixes == "all":
            return list(range(min(rounds, 1), rounds + 1))
        if self.prefixes == "geometric":
            wanted = [2**i for i in range(rounds.bit_length() + 1)]
            return sorted({min(r, rounds) for r in wanted} | {rounds})
        return sorted({min(int(r), rounds) for r in self.prefixes})

    def _policies(
        self, problem: Problem, loss: Loss, boosted: Boosted, value: float
    ) -> tuple[list[PrefixPolicy], list[tuple[float, float]]]:
        """Policies of one ensemble, and their validation scores; one pass over its trees."""
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
    """What a saved policy holds."""
    from bench_models.linear import Platt
    from bench_models.trees import AdditiveTrees, FlatTrees

    from bench_greedymiser.calibrate import Clipped, Odds, Sigmoids, Soft
    from bench_greedymiser.ensemble import Ensemble
    from bench_greedymiser.policy import PrefixPolicy

    return [PrefixPolicy, Ensemble, AdditiveTrees, FlatTrees, Clipped, Odds, Platt, Sigmoids, Soft]
