"""The base class of the four methods: fit a full ensemble, compute its scores, prices and orders, build the family."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, MinLen
from numpy.typing import NDArray

from bench_core import DataFacts, Family, Method, Problem, RequestError
from bench_qwyc.checks import error_budget
from bench_qwyc.model import Ensemble
from bench_qwyc.optimise import Stopping, optimise
from bench_qwyc.orderings import Ordering, make_order
from bench_qwyc.policy import StoppingPolicy
from bench_qwyc.training import EnsembleConfig, Kind, fitted, validation_error

__all__ = ["EnsembleMethod", "FittedEnsemble"]

_READ_MISSING = ("hist-gradient-boosting", "random-forest", "lightgbm")
"""Ensembles that accept missing values."""


@dataclass(frozen=True)
class EnsembleMethod(Method):
    """Early stopping of a full ensemble.

    Attributes:
        ensemble: the full ensemble: ``hist-gradient-boosting``, ``gradient-boosting``, ``random-forest``
            (scikit-learn), ``lightgbm``, or small networks on random feature subsets, a stand-in for lattices, trained
            jointly (``subsets-joint``) or independently (``subsets-independent``).
        n_estimators: number T of base models; for several classes a boosting round is one base model.
        max_depth: maximum number of tests on a path of a tree; 0 for no limit.
        learning_rates: learning rates of boosting; of several, the one with the least validation error is chosen.
        strongest: number of features to use, those of greatest importance; 0 uses all.
        subset: number of features of a small network.
        hidden: number of hidden units of a small network.
        precision: the type in which scores are added and compared.
        prices: evaluation cost of a base model in the objective of the order: ``unit`` is 1 each, as in the paper's
            experiments; ``path`` is its mean number of tests on training rows; ``features`` is the price of all
            features it may read (a feature that two base models read counts twice, as in §2 of the paper).
        optimise_on: the part on which order and thresholds are optimised; only the MSE orders use its labels.
        full: whether the family ends with the full ensemble, which no row leaves early. On the rows that the ensemble
            was trained on, decisions are sure after few base models; on other rows, the policy of α = 0 may therefore
            differ from the full ensemble.
    """

    ensemble: Kind = "hist-gradient-boosting"
    n_estimators: Annotated[int, Ge(1)] = 100
    max_depth: Annotated[int, Ge(0)] = 5
    learning_rates: Annotated[tuple[Annotated[float, Gt(0)], ...], MinLen(1)] = (0.1,)
    strongest: Annotated[int, Ge(0)] = 0
    subset: Annotated[int, Ge(1)] = 8
    hidden: Annotated[int, Ge(1)] = 8
    precision: Literal["float64", "float32"] = "float64"
    prices: Literal["unit", "path", "features"] = "unit"
    optimise_on: Literal["train", "validation", "both"] = "train"
    full: bool = field(default=False, metadata={"omit_default": True})

    version: ClassVar[int] = 2
    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "multiclass"})
    takes_missing: ClassVar[bool] = True

    def inapplicable(self, data: DataFacts) -> str | None:
        """Say why the method cannot run, or None: missing values that the ensemble does not accept, networks or
        filter-and-score with more than two classes, or a reason of every method.
        """
        if data.missing and (self.ensemble not in _READ_MISSING or self.strongest):
            what = "strongest" if self.ensemble in _READ_MISSING else f"ensemble = {self.ensemble!r}"
            return f"{what} takes no missing values; encode = 'impute' fills them"
        if self.ensemble.startswith("subsets") and data.n_classes > 2:
            return f"ensemble = {self.ensemble!r} needs two classes; there are {data.n_classes}"
        if getattr(self, "stop", "both") != "both" and data.n_classes > 2:
            return f"filter-and-score rejects the negatives of two classes; there are {data.n_classes}"
        return super().inapplicable(data)

    @property
    def config(self) -> EnsembleConfig:
        """The parameters that determine the full ensemble."""
        return EnsembleConfig(**{name: getattr(self, name) for name in EnsembleConfig.__dataclass_fields__})

    def fit(self, problem: Problem) -> Family:
        """Fit the full ensemble, then the family along the trade-off; the family's reference is the full ensemble.

        Raises:
            RequestError: the ensemble cannot be fitted on this problem; the message says why.
        """
        ensemble, rate = fitted(self.config, problem)
        prices = _model_prices(self.prices, ensemble, problem)
        fitted_ensemble = FittedEnsemble(self, problem, ensemble, prices)
        policies = self.policies(fitted_ensemble)
        reference = StoppingPolicy(
            ensemble, model_prices=fitted_ensemble.billed_prices, threads=problem.threads, label="full ensemble"
        )
        diagnostics: dict[str, Any] = {
            "base_models": ensemble.models,
            "learning_rate": rate,
            "validation_error_full": validation_error(ensemble, problem),
        }
        diagnostics["order"] = policies[0].order.tolist()
        return Family([*policies, reference] if self.full else policies, reference, diagnostics=diagnostics)

    @abstractmethod
    def policies(self, fitted_ensemble: FittedEnsemble) -> list[StoppingPolicy]:
        """The family, the default policy first."""


class FittedEnsemble:
    """A fitted ensemble with its scores, prices, orders and stopping policies."""

    def __init__(
        self, method: EnsembleMethod, problem: Problem, ensemble: Ensemble, prices: NDArray[np.float64]
    ) -> None:
        self.method, self.problem, self.ensemble, self.prices = method, problem, ensemble, prices

    @property
    def billed_prices(self) -> NDArray[np.float64] | None:
        """Prices for ``evaluation_cost``, (T,); None if all base models cost the same to run."""
        return self.prices * self.problem.costs.evaluation if self.method.prices == "path" else None

    def billed(self, ensemble: Ensemble) -> NDArray[np.float64] | None:
        """`billed_prices` of another ensemble that was fitted on the same problem."""
        if self.method.prices != "path":
            return None
        return _model_prices("path", ensemble, self.problem) * self.problem.costs.evaluation

    def _rows(self, name: str) -> NDArray[Any]:
        parts = {"train": ["train"], "validation": ["validation"], "both": ["train", "validation"]}
        return np.concatenate([getattr(getattr(self.problem, part), name) for part in parts[self.method.optimise_on]])

    @cached_property
    def scores(self) -> NDArray[Any]:
        """Base scores of the rows of `optimise_on`: (T, rows) or (T, rows, K)."""
        return self.ensemble.scores(self._rows("X"), self.problem.threads)

    @property
    def bias(self) -> Any:
        """Start of the sums: a number, or (K,) for K classes."""
        return self.ensemble.bias[0] if self.ensemble.binary else self.ensemble.bias

    def order(self, ordering: Ordering) -> NDArray[np.int64]:
        """A pre-selected order: int64 (T,). A label not in training counts as negative, or as no class if K > 2."""
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
        """One policy per α; values of α with the same error budget share one optimisation.

        Raises:
            RequestError: filter-and-score with more than two classes.
        """
        if not two_sided and not self.ensemble.binary:
            raise RequestError("filter-and-score rejects the negatives of two classes; use stop = 'both'")
        by_size: dict[int, Stopping] = {}
        policies = []
        for alpha in alphas:
            budget = error_budget(alpha, self.scores.shape[1])
            if budget not in by_size:
                by_size[budget] = optimise(
                    self.scores,
                    alpha,
                    order=order,
                    costs=self.prices,
                    bias=self.bias,
                    beta=self.ensemble.beta,
                    two_sided=two_sided,
                    threads=self.problem.threads,
                )
            rule = by_size[budget]
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


def _model_prices(kind: str, ensemble: Ensemble, problem: Problem) -> NDArray[np.float64]:
    prices = np.ones(ensemble.models)
    if kind == "path":
        prices = ensemble.path_lengths(problem.train.X)
    elif kind == "features":
        sizes = problem.train.sizes if problem.costs.depends_on_size else None
        size = None if sizes is None else np.repeat(np.median(sizes), ensemble.models)
        prices = problem.costs.evaluation + problem.costs.bill(ensemble.uses, size)
    return prices if prices.any() else np.ones(ensemble.models)
