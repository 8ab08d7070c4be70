"""The methods ``qwyc``, ``early-stopping``, ``fan`` and ``smaller-ensemble`` (§5): one ensemble, four ways to stop."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from bench_core import Family, Method, Problem, Rows
from bench_core.errors import RequestError
from bench_qwyc.fan import make_bins
from bench_qwyc.model import Ensemble
from bench_qwyc.optimise import Stopping, optimise
from bench_qwyc.orderings import Ordering, make_order
from bench_qwyc.policy import StoppingPolicy
from bench_qwyc.training import Kind, Recipe, fit_candidates, fitted, full_labels, validation_error

__all__ = ["EarlyStopping", "EnsembleMethod", "Fan", "Qwyc", "SmallerEnsemble"]

ALPHAS = (0.005, 0.0, 0.001, 0.0025, 0.0075, 0.01, 0.02, 0.05)
GAMMAS = (2.0, 0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 4.0)
SIZES = (5, 10, 20, 40, 80, 160, 320)


@dataclass(frozen=True)
class EnsembleMethod(Method):
    """A full ensemble, and how its evaluation is cut short.

    Attributes:
        ensemble: what is fitted: ``hist-gradient-boosting``, ``gradient-boosting``, ``random-forest`` (scikit-learn),
            ``lightgbm``, or small networks on random feature subsets, a stand-in for lattices, fitted together
            (``subsets-joint``) or each by itself (``subsets-independent``).
        size: T, its number of base models (for several classes a boosting round is one base model).
        max_depth: of a tree; 0 for no limit.
        learning_rates: of boosting; with several, validation picks the ensemble of least error.
        strongest: use only so many features, the strongest; 0 for all.
        subset, hidden: features and width of a small network.
        precision: the type in which scores are added and compared.
        prices: what a base model costs in the order's objective: ``unit`` 1 each (the paper's), ``path`` its mean
            number of tests on training rows, ``features`` the price of all features it may read (a feature
            read by two base models counts twice, as §2 says).
        optimise_on: rows that order and thresholds are optimised on; their labels are used by the MSE orders only.
    """

    ensemble: Kind = "hist-gradient-boosting"
    size: int = 100
    max_depth: int = 5
    learning_rates: tuple[float, ...] = (0.1,)
    strongest: int = 0
    subset: int = 8
    hidden: int = 8
    precision: Literal["float64", "float32"] = "float64"
    prices: Literal["unit", "path", "features"] = "unit"
    optimise_on: Literal["train", "validation", "both"] = "train"

    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "multiclass"})

    def __post_init__(self) -> None:
        if self.size < 1 or self.subset < 1 or self.hidden < 1:
            raise ValueError("size, subset and hidden must be at least 1")
        if self.max_depth < 0 or self.strongest < 0:
            raise ValueError("max_depth and strongest must not be negative (0: no limit)")
        if not self.learning_rates or any(not 0 < rate < np.inf for rate in self.learning_rates):
            raise ValueError("learning_rates must be one or more numbers above 0")

    @property
    def recipe(self) -> Recipe:
        """What decides the full ensemble."""
        return Recipe(**{name: getattr(self, name) for name in Recipe.__dataclass_fields__})

    def fit(self, problem: Problem) -> Family:
        """Fit the full ensemble, then the family along the trade-off; the reference is the full ensemble.

        Raises:
            RequestError: the ensemble cannot be fitted on this problem; the message says why.
        """
        ensemble, rate = fitted(self.recipe, problem)
        prices = _model_prices(self.prices, ensemble, problem)
        stock = _Stock(self, problem, ensemble, prices)
        policies = self.policies(stock)
        reference = StoppingPolicy(
            ensemble, model_prices=stock.billed_prices, threads=problem.threads, label="full ensemble"
        )
        diagnostics: dict[str, Any] = {
            "base_models": ensemble.models,
            "learning_rate": rate,
            "validation_error_full": validation_error(ensemble, problem),
        }
        diagnostics["order"] = policies[0].order.tolist()
        chosen, runs = _representative(policies, reference, problem)
        counts = np.bincount(runs, minlength=ensemble.models + 1)
        diagnostics["histogram_of"] = chosen.label
        diagnostics["validation_histogram"] = counts[1:].tolist()
        history = {"remaining": 1.0 - np.cumsum(counts) / max(len(runs), 1)}
        return Family(policies, reference, history=history, diagnostics=diagnostics)

    @abstractmethod
    def policies(self, stock: _Stock) -> list[StoppingPolicy]:
        """The family, the favourite first."""


class _Stock:
    """A fitted ensemble with what the four methods need of it."""

    def __init__(
        self, method: EnsembleMethod, problem: Problem, ensemble: Ensemble, prices: NDArray[np.float64]
    ) -> None:
        self.method, self.problem, self.ensemble, self.prices = method, problem, ensemble, prices
        self._scores: NDArray[Any] | None = None

    @property
    def billed_prices(self) -> NDArray[np.float64] | None:
        """Prices for ``evaluation_cost``: only where base models differ in what running them costs."""
        return self.prices * self.problem.costs.evaluation if self.method.prices == "path" else None

    def _rows(self, name: str) -> NDArray[Any]:
        parts = {"train": ["train"], "validation": ["validation"], "both": ["train", "validation"]}
        return np.concatenate([getattr(getattr(self.problem, part), name) for part in parts[self.method.optimise_on]])

    @property
    def scores(self) -> NDArray[Any]:
        """Base scores of the rows that are optimised on."""
        if self._scores is None:
            self._scores = self.ensemble.scores(self._rows("X"), self.problem.threads)
        return self._scores

    @property
    def bias(self) -> Any:
        """What sums start from."""
        return self.ensemble.bias[0] if self.ensemble.binary else self.ensemble.bias

    def order(self, ordering: Ordering) -> NDArray[np.int64]:
        """A given order; a label whose class the ensemble does not know counts as none of its outputs."""
        codes = self._rows("y")
        known = np.isin(codes, self.ensemble.classes)
        labels = np.where(known, np.searchsorted(self.ensemble.classes, codes), 0 if self.ensemble.binary else -1)
        return make_order(
            ordering,
            self.scores,
            labels,
            self.ensemble.bias,
            self.problem.rng("order"),
            averaged=self.ensemble.link == "mean",
        )

    def stopping_policies(
        self, alphas: Sequence[float], order: NDArray[np.int64] | None, two_sided: bool
    ) -> list[StoppingPolicy]:
        """A policy per α. Two α that allow as many errors share one optimisation."""
        if not two_sided and not self.ensemble.binary:
            raise RequestError("filter-and-score rejects the negatives of two classes; use stop = 'both'")
        made: dict[int, Stopping] = {}
        policies = []
        for alpha in alphas:
            budget = int(np.floor(alpha * self.scores.shape[1] + 1e-6))
            if budget not in made:
                made[budget] = optimise(
                    self.scores,
                    alpha,
                    order=order,
                    costs=self.prices,
                    bias=self.bias,
                    beta=self.ensemble.beta,
                    two_sided=two_sided,
                    threads=self.problem.threads,
                )
            rule = made[budget]
            details = {
                "alpha": alpha,
                "optimised_disagreement": rule.disagreement,
                "optimised_mean_base_models": rule.mean_models,
                "optimised_mean_cost": rule.mean_cost(self.prices),
            }
            policies.append(
                StoppingPolicy(
                    self.ensemble,
                    rule,
                    model_prices=self.billed_prices,
                    threads=self.problem.threads,
                    label=f"alpha={alpha:g}",
                    details=details,
                )
            )
        return policies


def _representative(
    policies: Sequence[StoppingPolicy], reference: StoppingPolicy, problem: Problem
) -> tuple[StoppingPolicy, NDArray[np.int64]]:
    """The policy for the histogram of base models run (Figures 5 and 6), and that number for each validation row.

    It is the one that needs the fewest among those that differ from the full ensemble on at most 0.5 % of the validation
    rows, or else the one that differs least.
    """
    rows = Rows(problem.validation.X, problem.validation.sizes)

    def decided(policy: StoppingPolicy) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        found = policy.decide(rows)
        return np.asarray(found.probabilities).argmax(axis=1), np.asarray(found.stage)

    truth, _ = decided(reference)
    best: tuple[tuple[bool, float, float], StoppingPolicy, NDArray[np.int64]] | None = None
    for policy in policies:
        labels, runs = decided(policy)
        share = float((labels != truth).mean()) if len(truth) else 0.0
        faithful = share <= 0.005
        mean = float(runs.mean()) if len(runs) else 0.0
        key = (not faithful, 0.0 if faithful else share, mean)
        if best is None or key < best[0]:
            best = key, policy, runs
    if best is None:
        raise ValueError("a family needs a policy")
    return best[1], best[2]


def _model_prices(kind: str, ensemble: Ensemble, problem: Problem) -> NDArray[np.float64]:
    prices = np.ones(ensemble.models)
    if kind == "path":
        prices = ensemble.path_lengths(problem.train.X)
    elif kind == "features":
        sizes = problem.train.sizes if problem.costs.depends_on_size else None
        size = None if sizes is None else np.repeat(np.median(sizes), ensemble.models)
        prices = problem.costs.evaluation + problem.costs.bill(ensemble.uses, size)
    return prices if prices.any() else np.ones(ensemble.models)


def _check_alphas(alphas: tuple[float, ...]) -> None:
    if not alphas or any(not 0 <= alpha < 1 for alpha in alphas):
        raise ValueError("alphas must be one or more shares in [0, 1)")


@dataclass(frozen=True)
class Qwyc(EnsembleMethod):
    """QWYC*: the order of base models and the thresholds to stop early, optimised together.

    Attributes:
        alphas: share of rows that may be decided otherwise than by the full ensemble; one policy each, the first is
            the favourite.
        stop: ``both``, or ``filter-and-score``: only negatives stop early.

    Source: Wang, Gupta, You, "Quit When You Can", Algorithms 1 and 2. Several classes (by the lead of the best class over
    the second) are ours.
    """

    alphas: tuple[float, ...] = ALPHAS
    stop: Literal["both", "filter-and-score"] = "both"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_alphas(self.alphas)

    def policies(self, stock: _Stock) -> list[StoppingPolicy]:
        return stock.stopping_policies(self.alphas, None, self.stop == "both")


@dataclass(frozen=True)
class EarlyStopping(EnsembleMethod):
    """Thresholds to stop early for base models in a given order (QWYC's Algorithm 2 alone).

    Attributes:
        ordering: ``natural``, ``random`` (another one for every seed), ``individual-mse``, ``greedy-mse``.
        alphas, stop: as for ``qwyc``.

    Source: Wang, Gupta, You, Algorithm 2 and App. B.
    """

    ordering: Ordering = "natural"
    alphas: tuple[float, ...] = ALPHAS
    stop: Literal["both", "filter-and-score"] = "both"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_alphas(self.alphas)

    def policies(self, stock: _Stock) -> list[StoppingPolicy]:
        return stock.stopping_policies(self.alphas, stock.order(self.ordering), self.stop == "both")


@dataclass(frozen=True)
class Fan(EnsembleMethod):
    """Fan's early stopping: thresholds from mean and spread of the missing score, in bins of the partial score.

    Attributes:
        ordering: as for ``early-stopping``; Fan* is ``individual-mse``.
        widths: λ, widths of the bins; of the mean score, where the ensemble is a mean.
        gammas: γ, how many standard deviations away the decision must be. One policy per width and γ; the first
            is the favourite.
        stop: as for ``qwyc``.

    Source: Fan, Chu, Wang, Yu (2002), as described by Wang, Gupta, You, App. C. Two classes only.
    """

    ordering: Ordering = "individual-mse"
    widths: tuple[float, ...] = (0.01,)
    gammas: tuple[float, ...] = GAMMAS
    stop: Literal["both", "filter-and-score"] = "both"

    tasks: ClassVar[frozenset[str]] = frozenset({"binary"})

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.widths or any(not 0 < width < np.inf for width in self.widths):
            raise ValueError("widths must be one or more numbers above 0")
        if not self.gammas or any(not 0 <= gamma < np.inf for gamma in self.gammas):
            raise ValueError("gammas must be one or more numbers, not negative")

    def policies(self, stock: _Stock) -> list[StoppingPolicy]:
        ensemble, order = stock.ensemble, stock.order(self.ordering)
        unit = ensemble.models if ensemble.link == "mean" else 1
        policies = []
        for width in self.widths:
            bins = make_bins(stock.scores, order, width * unit, float(stock.bias))
            policies += [
                StoppingPolicy(
                    ensemble,
                    bins,
                    gamma=gamma,
                    two_sided=self.stop == "both",
                    model_prices=stock.billed_prices,
                    threads=stock.problem.threads,
                    label=f"lambda={width:g} gamma={gamma:g}",
                    details={"lambda": width, "gamma": gamma, "mean_bins": bins.mean_bins},
                )
                for gamma in self.gammas
            ]
        return policies


@dataclass(frozen=True)
class SmallerEnsemble(EnsembleMethod):
    """Smaller ensembles, always evaluated whole: the baseline "GBT alone".

    A boosted ensemble or a forest of fewer trees is the beginning of the full one, and independent networks likewise;
    jointly fitted networks are fitted anew. With several learning rates each size has its own, chosen on validation.

    Attributes:
        sizes: numbers of base models, one policy each, the first is the favourite; those above ``size`` are left out.

    Source: Wang, Gupta, You, §5 and App. D.2.
    """

    sizes: tuple[int, ...] = SIZES

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.sizes or any(size < 1 for size in self.sizes):
            raise ValueError("sizes must be one or more numbers of base models, from 1")

    def policies(self, stock: _Stock) -> list[StoppingPolicy]:
        candidates = fit_candidates(self.recipe, stock.problem)
        sizes = [size for size in self.sizes if size <= stock.ensemble.models] or [stock.ensemble.models]
        errors = {size: [self._error(one, size, stock.problem) for one in candidates] for size in sizes}
        policies = []
        for size in sizes:
            at = int(np.argmin(errors[size]))
            small = candidates[at].first(min(size, candidates[at].models))
            if self.ensemble == "subsets-joint":
                small = fit_candidates(Recipe(**{**vars(self.recipe), "size": size}), stock.problem)[0]
            policies.append(
                StoppingPolicy(
                    small,
                    model_prices=None if stock.billed_prices is None else stock.billed_prices[: small.models],
                    threads=stock.problem.threads,
                    label=f"size={size}",
                    details={"size": size, "learning_rate": self.learning_rates[min(at, len(self.learning_rates) - 1)]},
                )
            )
        return policies

    @staticmethod
    def _error(ensemble: Ensemble, size: int, problem: Problem) -> float:
        labels = full_labels(ensemble.first(min(size, ensemble.models)), problem.validation.X)
        return float((labels != problem.validation.y).mean())
