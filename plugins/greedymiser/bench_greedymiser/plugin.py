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
    from numpy.typing import NDArray

    from bench_greedymiser.boosting import Boosted
    from bench_greedymiser.calibrate import Link
    from bench_greedymiser.ensemble import Ensemble
    from bench_greedymiser.losses import Loss
    from bench_greedymiser.policy import PrefixPolicy

__all__ = ["GreedyMiser"]

_FOLDS = 3
"""Number of folds of the training part, for calibration."""


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

    The family has one policy per λ and kept prefix of the ensemble, thinned out by cost where the λ are automatic
    (`bench_core.spread_by_cost`); the first is the best on validation.

    The paper's cost c(H) charges each row for all features of the ensemble (``acquire = "ensemble"``). A row needs only
    the features on its own paths, and the budgeted forests that are compared with GreedyMiser are charged for exactly
    these ("the average number of unique features used by test examples", BUDGETPRUNE Table 1). So ``"paths"`` is the
    default; it never costs more.

    Attributes:
        n_estimators: most boosting rounds, at least 1. A round grows one tree, or one per class for more than two
            classes. Boosting ends early at a round in which no tree splits.
        max_depth: most splits on a path of a tree, 1..10.
        learning_rate: factor applied to each tree's prediction, above 0.
        lambdas: trade-offs λ ≥ 0, each with its own ensemble; 0 ignores prices. ``auto``: from 0 to where nothing is
            bought, spread over what the ensembles cost (`bench_models.tradeoff`).
        count: number of automatic λ at most.
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
        calibrate: source of class probabilities. ``platt`` fits Platt's sigmoid for every policy, one-vs-rest and
            normalised for more than two classes, as GM* needs: on the scores that three ensembles, each grown without
            a third of the training part, give to that third. The validation part, which selects, is not used. ``none``
            uses the loss's own link (sigmoid or softmax; squared loss is clipped to [0, 1]).
        prefixes: numbers of rounds to keep as policies, where 0 means no tree. ``geometric`` keeps 1, 2, 4, … and all
            rounds; ``all`` keeps every number of rounds from 1 on.
        acquire: features that a row is charged for: ``paths``, those on its own paths, or ``ensemble``, all features
            of the policy's trees.
        include_empty_policy: whether the family includes policies that acquire nothing (class frequencies, cost 0).
            One is included in any case when no other policy exists.

    Missing values need no encoding: a cut sends them to the side where they fit best.
    """

    version: ClassVar[int] = 4
    takes_missing: ClassVar[bool] = True
    n_estimators: Annotated[int, Interval(ge=1, le=1_000_000)] = 300
    max_depth: Annotated[int, Interval(ge=1, le=10)] = 4
    learning_rate: Annotated[float, Gt(0)] = 0.1
    lambdas: Literal["auto"] | Lambdas = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)
    count: Annotated[int, Ge(2)] = 12
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
        """Grow an ensemble for every λ and calibrate its prefixes, on the training part; rank them on validation.

        Raises:
            ValueError: logistic loss without classes, or a learning rate so large that boosting diverges.
        """
        from bench_models.folds import folds, others, taking
        from bench_models.tradeoff import grid_in_cost

        from bench_core import default_policy_first, spread_by_cost, validation_score
        from bench_greedymiser.losses import loss_of

        loss = loss_of(self.loss, problem)
        grower = _Grower(self, problem)
        calibrated = bool(problem.n_classes) and self.calibrate == "platt"
        parts = folds(problem, _FOLDS) if calibrated and len(problem.train) > 1 else []
        growers = [_Grower(self, taking(problem, others(problem, rows))) for rows in parts]
        lambdas = grid_in_cost(grower.cost, self.count) if self.lambdas == "auto" else self.lambdas
        policies: list[PrefixPolicy] = []
        history: dict[str, Sequence[float]] = {}
        for value in lambdas:
            boosted = grower.grown(value)
            history[f"loss, lambda={value:g}"] = boosted.losses
            history[f"price, lambda={value:g}"] = [grower.prices.of(used) for used in boosted.ensemble.used]
            unseen = [(rows, other.grown(value).ensemble) for rows, other in zip(parts, growers, strict=True)]
            policies += self._policies(problem, loss, boosted, value, unseen)
        if not self.include_empty_policy and any(policy.details["features"] for policy in policies):
            policies = [policy for policy in policies if policy.details["features"]]
        if self.lambdas == "auto":
            ordered = spread_by_cost(problem, policies)
        else:
            rows = problem.validation.rows()
            ordered = default_policy_first(policies, [validation_score(problem, p.decide(rows)) for p in policies])
        return Family(
            ordered, history=history, diagnostics={"loss": type(loss).__name__.lower(), "lambdas": list(lambdas)}
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
        self,
        problem: Problem,
        loss: Loss,
        boosted: Boosted,
        value: float,
        unseen: Sequence[tuple[NDArray[np.int64], Ensemble]],
    ) -> list[PrefixPolicy]:
        """Policies of one ensemble; ``unseen`` are rows of the training part, and an ensemble grown without them."""
        from bench_greedymiser.policy import PrefixPolicy

        ensemble, train = boosted.ensemble, problem.train
        states = [(rows, other, *other.empty(len(rows))) for rows, other in unseen]
        policies = []
        for before, rounds in pairwise([0, *self._prefix_lengths(ensemble.rounds)]):
            for rows, other, scores, acquired in states:
                first, last = min(before, other.rounds), min(rounds, other.rounds)
                other.advance(train.X[rows], first, last, scores, acquired)
            policy = PrefixPolicy(
                ensemble,
                rounds,
                self._link(problem, loss, [(train.y[rows], scores) for rows, _, scores, _ in states]),
                self.acquire == "ensemble",
                label=f"lambda={value:g}, trees={rounds}",
                details={"lambda": value, "trees": rounds, "features": int(ensemble.used[rounds].sum())},
            )
            policies.append(policy)
        return policies

    def _link(
        self, problem: Problem, loss: Loss, unseen: Sequence[tuple[NDArray[np.int64], NDArray[np.float64]]]
    ) -> Link | None:
        """The link to class probabilities; ``unseen`` are labels and scores of rows that no tree was grown on."""
        from bench_greedymiser.calibrate import Clipped, Odds, Soft, fit_sigmoids
        from bench_greedymiser.losses import Logistic, Softmax

        if not problem.n_classes:
            return None
        if unseen:
            y, scores = (np.concatenate(parts) for parts in zip(*unseen, strict=True))
            return fit_sigmoids(scores, y)
        if isinstance(loss, Softmax):
            return Soft()
        return Odds() if isinstance(loss, Logistic) else Clipped()


class _Grower:
    """Ensembles of one training part; each λ is grown once."""

    def __init__(self, method: GreedyMiser, problem: Problem) -> None:
        from bench_greedymiser.bins import fit_bins
        from bench_greedymiser.losses import loss_of
        from bench_greedymiser.prices import mean_prices

        self._method, self._problem = method, problem
        self._bins, self._loss = fit_bins(problem.train.X, method.max_bins), loss_of(method.loss, problem)
        self.prices = mean_prices(problem)
        self._grown: dict[float, Boosted] = {}

    def grown(self, value: float) -> Boosted:
        """The ensemble of a λ."""
        from bench_greedymiser.boosting import boost

        if value not in self._grown:
            method = self._method
            self._grown[value] = boost(
                self._bins,
                self._problem.feature_of_column,
                self._loss,
                self.prices.times(value * method._scale(self._loss, self.prices.total)),
                rounds=method.n_estimators,
                depth=method.max_depth,
                learning_rate=method.learning_rate,
                least=method.min_samples_leaf,
                newton=method.leaf == "newton",
            )
        return self._grown[value]

    def cost(self, value: float) -> float:
        """The mean cost of a training row under all trees of a λ."""
        problem, ensemble = self._problem, self.grown(value).ensemble
        scores, acquired = ensemble.empty(len(problem.train))
        ensemble.advance(problem.train.X, 0, ensemble.rounds, scores, acquired)
        if self._method.acquire == "ensemble":
            acquired[:] = ensemble.used[-1]
        return float(problem.costs.bill(acquired, problem.train.sizes).mean())


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
