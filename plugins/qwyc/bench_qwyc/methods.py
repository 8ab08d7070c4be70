"""The methods ``qwyc``, ``early-stopping``, ``fan`` and ``smaller-ensemble`` (QWYC §5)."""

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
    """QWYC*: joint optimisation of the order of base models and the early-stopping thresholds.

    Attributes:
        alphas: shares α of rows whose decision may differ from the full ensemble's; one policy each. The first is the
            default policy.
        stop: the decisions that may stop early: ``both``, or ``filter-and-score`` for negatives only.

    Source: Wang, Gupta, You, "Quit When You Can", Algorithms 1 and 2. The extension to several classes, by the lead
    of the best class over the second, is ours.
    """

    alphas: Alphas = ALPHAS
    stop: Literal["both", "filter-and-score"] = "both"

    def policies(self, fitted_ensemble: FittedEnsemble) -> list[StoppingPolicy]:
        return fitted_ensemble.stopping_policies(self.alphas, None, self.stop == "both")


@dataclass(frozen=True)
class EarlyStopping(EnsembleMethod):
    """Early-stopping thresholds for base models in a pre-selected order (QWYC's Algorithm 2 alone).

    Attributes:
        ordering: the order of base models: ``natural``, ``random`` (drawn from the problem's seed),
            ``individual-mse`` or ``greedy-mse``.
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
    """Fan's early stopping: thresholds from the distribution of the remaining score in bins of the partial score.

    The family has one policy per bin width and γ; the first is the default policy.

    Attributes:
        ordering: as for ``early-stopping``; Fan* uses ``individual-mse``.
        widths: widths λ of the bins, in the unit of the score (of the mean score, for an averaged ensemble).
        gammas: confidences γ: least distance of the expected full score from β, in standard deviations.
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
    """Smaller ensembles without early stopping: the baseline "GBT alone".

    A smaller boosted ensemble, forest or ensemble of independent networks is a prefix of the full one; jointly trained
    networks are trained again. With several learning rates, each size has its own, chosen on validation.

    Attributes:
        sizes: numbers of base models; one policy each. The first is the default policy; sizes above ``n_estimators``
            are omitted.

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
                    model_prices=fitted_ensemble.billed(small),
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
