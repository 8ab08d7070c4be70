"""The method ``rbf-svm``: a support vector machine on all features, CSTC's reference for MNIST (§6.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, MinLen, Predicate
from numpy.typing import NDArray

from bench_core import Decisions, Family, Method, Policy, Problem, Rows, distinct
from bench_cstc.baselines.ranges import Positive

if TYPE_CHECKING:
    from bench_models.answers import Answer, Outputs, Scorer
    from bench_models.targets import Target

__all__ = ["MachinePolicy", "RbfSvm"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RbfSvm(Method):
    """Support vector machine with an RBF kernel on all features, at full cost; C and γ chosen on validation.

    "We trained an SVM with an RBF kernel. To select hyperparameters C and γ we used 100 rounds of Bayesian optimization
    on a validation set (we found C = 753.1768, γ = 0.0198)" (CSTC §6.7). Here: every C × γ of a grid, then ``rounds``
    rounds of Bayesian optimisation over ln C and ln γ within the grid's range (a Gaussian process on the validation
    error, expected improvement). The SVM with the least error, trained on the training part, is kept (in a tie, the
    earliest). Two classes have one scikit-learn SVC; more classes have one each against the rest, with the same C and
    γ. Probabilities come from Platt's sigmoid, fitted out of fold on the training part with the chosen C and γ.

    Attributes:
        C: grid of inverse strengths of the penalty, above 0.
        gamma: grid of kernel parameters γ, above 0.
        gamma_unit: ``scale``: γ is in units of 1 / (columns × their variance), so that 1 is scikit-learn's ``"scale"``;
            ``absolute``: as in exp(−γ‖x − x'‖²).
        standardise: whether columns are standardised first (by training mean and deviation); use false for pixels.
        rounds: rounds of Bayesian optimisation, at least 0; the paper uses 100.
        search_rows: maximum number of training rows for comparing candidates, drawn at random; 0 for all. The final SVM
            is trained on all rows.
    """

    version: ClassVar[int] = 2
    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "multiclass"})
    C: Annotated[tuple[Positive, ...], MinLen(1), Predicate(distinct)] = (1.0, 10.0, 100.0, 1000.0)
    gamma: Annotated[tuple[Positive, ...], MinLen(1), Predicate(distinct)] = (0.1, 0.3, 1.0, 3.0)
    gamma_unit: Literal["scale", "absolute"] = "scale"
    standardise: bool = True
    rounds: Annotated[int, Ge(0)] = 0
    search_rows: Annotated[int, Ge(0)] = 0

    def fit(self, problem: Problem) -> Family:
        """Choose C and γ on validation; train and calibrate on the training part.

        Raises:
            ValueError: features have missing values; the message names them.
        """
        from bench_models.answers import constant, several_outputs
        from bench_models.linear import refuse_missing
        from bench_models.search import search

        refuse_missing(problem)
        outputs = several_outputs(problem, 1.0)
        if not outputs.targets:
            return Family([constant(problem)], diagnostics={"classes": len(outputs.present)})
        scaling = Scaling.of(problem.train.X, self.standardise)
        Z, validation = scaling(problem.train.X), scaling(problem.validation.X)
        spread = float(Z.var())
        unit = 1.0 / (Z.shape[1] * spread) if self.gamma_unit == "scale" and spread > 0 else 1.0
        rows = self._searched(problem, outputs)
        y = np.asarray(problem.validation.y)

        def error(C: float, gamma: float) -> float:
            scores = [m.decision_function(validation) for m in _machines(Z, outputs.targets, C, gamma * unit, rows)]
            if len(scores) == 1:
                labels = np.where(scores[0] > 0, outputs.present[1], outputs.present[0])
            else:
                labels = np.array(outputs.present)[np.argmax(scores, axis=0)]
            return float((labels != y).mean())

        tried: list[tuple[float, float, float]] = []
        if len(y) and len(self.C) * len(self.gamma) + self.rounds > 1:
            tried = search(error, self.C, self.gamma, self.rounds, problem.rng("search"))
            C, gamma, _ = min(tried, key=lambda setting: setting[2])
        else:
            C, gamma = self.C[0], self.gamma[0]
        machines = _machines(Z, outputs.targets, C, gamma * unit, np.arange(len(Z)))

        def learn(part: Problem, target: Target) -> Scorer:
            scaled = Scaling.of(part.train.X, self.standardise)
            (machine,) = _machines(scaled(part.train.X), [target], C, gamma * unit, np.arange(len(part.train)))
            return lambda rows: machine.decision_function(scaled(rows.X))[None]

        (answer,) = outputs.answers(problem, 1, learn)
        details = {"C": C, "gamma": gamma * unit, "support vectors": int(sum(len(m.support_) for m in machines))}
        policy = MachinePolicy(problem.n_features, scaling, machines, answer, details=details)
        history = {"C": [t[0] for t in tried], "gamma": [t[1] * unit for t in tried]}
        return Family([policy], history={**history, "validation error": [t[2] for t in tried]})

    def _searched(self, problem: Problem, outputs: Outputs) -> NDArray[np.int64]:
        """Training rows for the search; all rows if the sample would lack a class."""
        rows = np.arange(len(problem.train))
        if 0 < self.search_rows < len(rows):
            some = np.sort(problem.rng("search rows").choice(rows, self.search_rows, replace=False))
            if all(len(np.unique(t.y[some])) == 2 for t in outputs.targets):
                return some
        return rows


def _machines(Z: Floats, targets: Sequence[Target], C: float, gamma: float, rows: NDArray[np.int64]) -> tuple[Any, ...]:
    from sklearn.svm import SVC

    return tuple(
        SVC(C=C, gamma=gamma, cache_size=500, random_state=0).fit(Z[rows], t.y[rows].astype(np.int64)) for t in targets
    )


@dataclass(frozen=True, eq=False)
class Scaling:
    """``(X − shift) / scale``, both float64 (columns,)."""

    shift: Floats
    scale: Floats

    @classmethod
    def of(cls, X: Floats, standardise: bool) -> Scaling:
        columns = X.shape[1]
        if not standardise:
            return cls(np.zeros(columns), np.ones(columns))
        spread = X.std(axis=0)
        still = spread <= 1e-12 * np.abs(X).max(axis=0, initial=1e-300)
        return cls(X.mean(axis=0), np.where(still, 1.0, spread))

    def __call__(self, X: Floats) -> Floats:
        return np.ascontiguousarray((X - self.shift) / self.scale)


@dataclass(frozen=True, eq=False)
class MachinePolicy(Policy):
    """Acquire all features and run the SVM, or one per class.

    Attributes:
        n_features: number of features; all are acquired.
        scaling: scaling of the columns.
        machines: scikit-learn's SVC, one per output.
        answer: converts scores to decisions.
    """

    n_features: int
    scaling: Scaling
    machines: tuple[Any, ...]
    answer: Answer
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def decide(self, rows: Rows) -> Decisions:
        """Decide in one stage with all features; raises ValueError for a missing value."""
        n = len(rows)
        Z = self.scaling(rows.X)
        if np.isnan(Z).any():
            raise ValueError("a value that the machine reads is missing")
        scores = [m.decision_function(Z) if n else np.zeros(0) for m in self.machines]
        acquired = np.ones((n, self.n_features), dtype=bool)
        return self.answer(scores, acquired, np.ones(n, dtype=np.int64), np.full(n, float(len(self.machines))))

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """All unknown features."""
        return ~known
