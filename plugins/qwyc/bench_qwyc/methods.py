"""The methods ``qwyc``, ``early-stopping``, ``fan`` and ``smaller-ensemble`` (§5): one ensemble, four ways to stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, Interval, MinLen

from bench_core import Problem
from bench_qwyc.fan import make_bins
from bench_qwyc.fitted_ensemble import EnsembleMethod, FittedEnsemble
from bench_qwyc.model import Ensemble
from bench_qwyc.orderings import Ordering
from bench_qwyc.policy import StoppingPolicy
from bench_qwyc.training import EnsembleConfig, fit_candidates, full_labels, shared_candidates

__all__ = ["EarlyStopping", "EnsembleMethod", "Fan", "Qwyc", "SmallerEnsemble"]

ALPHAS = (0.005, 0.0, 0.001, 0.0025, 0.0075, 0.01, 0.02, 0.05)
GAMMAS = (2.0, 0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 4.0)
SIZES = (5, 10, 20, 40, 80, 160, 320)


Alphas = Annotated[tuple[Annotated[float, Interval(ge=0, lt=1)], ...], MinLen(1)]


@dataclass(frozen=True)
class Qwyc(EnsembleMethod):
    """QWYC*: the order of base models and the thresholds to stop early, optimised together.

    Attributes:
        alphas: share of rows that may be decided otherwise than by the full ensemble; one policy each, the first is
            the default policy.
        stop: ``both``, or ``filter-and-score``: only negatives stop early.

    Source: Wang, Gupta, You, "Quit When You Can", Algorithms 1 and 2. Several classes (by the lead of the best class
    over the second) are ours.
    """

    alphas: Alphas = ALPHAS
    stop: Literal["both", "filter-and-score"] = "both"

    def policies(self, fitted_ensemble: FittedEnsemble) -> list[StoppingPolicy]:
        return fitted_ensemble.stopping_policies(self.alphas, None, self.stop == "both")


@dataclass(frozen=True)
class EarlyStopping(EnsembleMethod):
    """Thresholds to stop early for base models in a given order (QWYC's Algorithm 2 alone).

    Attributes:
        ordering: ``natural``, ``random`` (another one for every seed), ``individual-mse``, ``greedy-mse``.
        alphas, stop: as for ``qwyc``.

    Source: Wang, Gupta, You, Algorithm 2 and App. B.
    """

    ordering: Ordering = "natural"
    alphas: Alphas = ALPHAS
    stop: Literal["both", "filter-and-score"] = "both"

    def policies(self, fitted_ensemble: FittedEnsemble) -> list[StoppingPolicy]:
        return fitted_ensemble.stopping_policies(self.alphas, fitted_ensemble.order(self.ordering), self.stop == "both")


@dataclass(frozen=True)
class Fan(EnsembleMethod):
    """Fan's early stopping: thresholds from mean and spread of the missing score, in bins of the partial score.

    Attributes:
        ordering: as for ``early-stopping``; Fan* is ``individual-mse``.
        widths: λ, widths of the bins; of the mean score, where the ensemble is a mean.
        gammas: γ, how many standard deviations away the decision must be. One policy per width and γ; the first
            is the default policy.
        stop: as for ``qwyc``.

    Source: Fan, Chu, Wang, Yu (2002), as described by Wang, Gupta, You, App. C. Two classes only.
    """

    ordering: Ordering = "individual-mse"
    widths: Annotated[tuple[Annotated[float, Gt(0)], ...], MinLen(1)] = (0.01,)
    gammas: Annotated[tuple[Annotated[float, Ge(0)], ...], MinLen(1)] = GAMMAS
    stop: Literal["both", "filter-and-score"] = "both"

    tasks: ClassVar[frozenset[str]] = frozenset({"binary"})

    def policies(self, fitted_ensemble: FittedEnsemble) -> list[StoppingPolicy]:
        ensemble, order = fitted_ensemble.ensemble, fitted_ensemble.order(self.ordering)
        unit = ensemble.models if ensemble.link == "mean" else 1
        policies = []
        for width in self.widths:
            bins = make_bins(fitted_ensemble.scores, order, width * unit, float(fitted_ensemble.bias))
            policies += [
                StoppingPolicy(
                    ensemble,
                    bins,
                    gamma=gamma,
                    two_sided=self.stop == "both",
                    model_prices=fitted_ensemble.billed_prices,
                    threads=fitted_ensemble.problem.threads,
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
        sizes: numbers of base models, one policy each, the first is the default policy; those above ``n_estimators``
            are left out.

    Source: Wang, Gupta, You, §5 and App. D.2.
    """

    sizes: Annotated[tuple[Annotated[int, Ge(1)], ...], MinLen(1)] = SIZES

    def policies(self, fitted_ensemble: FittedEnsemble) -> list[StoppingPolicy]:
        candidates = shared_candidates(self.config, fitted_ensemble.problem)
        sizes = [size for size in self.sizes if size <= fitted_ensemble.ensemble.models] or [
            fitted_ensemble.ensemble.models
        ]
        errors = {
            size: [self._error(ensemble, size, fitted_ensemble.problem) for ensemble in candidates] for size in sizes
        }
        policies = []
        for size in sizes:
            at = int(np.argmin(errors[size]))
            small = candidates[at].first(min(size, candidates[at].models))
            if self.ensemble == "subsets-joint":
                small = fit_candidates(
                    EnsembleConfig(**{**vars(self.config), "n_estimators": size}), fitted_ensemble.problem
                )[0]
            policies.append(
                StoppingPolicy(
                    small,
                    model_prices=None
                    if fitted_ensemble.billed_prices is None
                    else fitted_ensemble.billed_prices[: small.models],
                    threads=fitted_ensemble.problem.threads,
                    label=f"size={size}",
                    details={"size": size, "learning_rate": self.learning_rates[min(at, len(self.learning_rates) - 1)]},
                )
            )
        return policies

    @staticmethod
    def _error(ensemble: Ensemble, size: int, problem: Problem) -> float:
        labels = full_labels(ensemble.first(min(size, ensemble.models)), problem.validation.X)
        return float((labels != problem.validation.y).mean())
