"""Policies that run base models in order, stop by a rule, and record the features that were read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from bench_models.threads import run_ranges
from bench_models.trees import checked_known
from numpy.typing import NDArray

from bench_core import Decisions, Policy, Rows, next_of_stages
from bench_qwyc.fan import Bins
from bench_qwyc.model import Ensemble
from bench_qwyc.optimise import Stopping

__all__ = ["StoppingPolicy", "probabilities"]

Array = NDArray[Any]
_BLOCK = 512


def probabilities(ensemble: Ensemble, score: Array, runs: Array, label: Array) -> NDArray[np.float64]:
    """Class probabilities of full or partial scores; the most probable class is the decision.

    The probability of a row that stopped early comes from its partial score: the sigmoid (softmax) for boosting, the
    mean over the base models run for averages. If it contradicts the decision, because a threshold lies on the other
    side of β, it is moved to just beyond one half, so that the row has the lowest possible confidence.

    Args:
        ensemble: the ensemble.
        score: (rows,) or (rows, K): scores.
        runs: (rows,): number of base models run.
        label: int (rows,): the decided output (0 or 1 for one output).

    Returns:
        float64 (rows, classes of the problem).
    """
    from scipy.special import expit, softmax

    values = np.asarray(score, dtype=np.float64)
    if ensemble.binary:
        values = values - float(ensemble.beta)
        if ensemble.link == "logistic":
            p = expit(values)
        else:
            p = np.clip((1.0 + (values / runs if ensemble.link == "mean" else values)) / 2.0, 0.0, 1.0)
        p = np.where(label == 1, np.maximum(p, 0.5 + 2.0**-53), np.minimum(p, 0.5))
        table = np.column_stack([1.0 - p, p])
    else:
        if ensemble.link == "logistic":
            table = softmax(values, axis=1)
        else:
            table = np.clip(values, 0.0, None)
            table = table / np.maximum(table.sum(axis=1, keepdims=True), 1e-300)
        rows = np.flatnonzero(table.argmax(axis=1) != label)  # two classes made equal by rounding
        table[rows, label[rows]] = np.nextafter(table[rows].max(axis=1), 2.0)
    if len(ensemble.classes) == ensemble.n_classes:
        return np.asarray(table, dtype=np.float64)
    padded = np.zeros((len(table), ensemble.n_classes))
    padded[:, ensemble.classes] = table
    return padded


@dataclass(frozen=True, eq=False)
class StoppingPolicy(Policy):
    """An ensemble with an order and a stopping rule; without a rule, all base models run.

    Attributes:
        ensemble: the base models.
        rule: thresholds (`Stopping`), Fan's bins, or None.
        gamma: Fan's confidence γ.
        two_sided: whether positives may stop early (Fan only; in `Stopping` the thresholds determine it).
        model_prices: (T,): prices for ``evaluation_cost``; None if all base models cost the same.
        threads: maximum number of threads that decide rows in parallel.
    """

    ensemble: Ensemble
    rule: Stopping | Bins | None = None
    gamma: float = 0.0
    two_sided: bool = True
    model_prices: NDArray[np.float64] | None = None
    threads: int = 1
    label: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def order(self) -> NDArray[np.int64]:
        """Base models in the order in which they are run."""
        return np.arange(self.ensemble.models) if self.rule is None else self.rule.order

    def decide(self, rows: Rows) -> Decisions:
        e = self.ensemble
        read, runs, score, label = self._walked(e.readable(rows.X))
        cost = None
        if self.model_prices is not None:
            cost = np.concatenate([[0.0], np.cumsum(self.model_prices[self.order])])[runs]
        return Decisions(
            acquired=self._acquired(read, runs),
            probabilities=probabilities(e, score, runs, label),
            stage=runs,
            evaluations=runs.astype(np.float64),
            evaluation_cost=cost,
        )

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The unknown features that each row's next base model needs first."""
        e = self.ensemble
        X = e.readable(rows.X)
        _, runs, _, _ = self._walked(X)
        if not e.packed.is_trees:
            return next_of_stages(self._stages, runs - 1, known)
        from bench_qwyc._kernels_walk import next_of_trees

        wanted = np.zeros(known.shape, dtype=bool)
        next_of_trees(e.packed, X, self.order, runs, checked_known(known), wanted)
        return wanted

    @property
    def _stages(self) -> NDArray[np.bool_]:
        """Features of the base models up to each position of the order: bool (T, features)."""
        return np.asarray(np.logical_or.accumulate(self.ensemble.uses[self.order], axis=0))

    def _walked(self, X: Array) -> tuple[Array, Array, Array, Array]:
        """Features read by trees, base models run, score and label of each row."""
        e = self.ensemble
        read = np.zeros((len(X), e.n_features), dtype=bool)
        runs = np.zeros(len(X), dtype=np.int64)
        shape: Any = len(X) if e.binary else (len(X), len(e.bias))
        score, label = np.zeros(shape, dtype=e.bias.dtype), np.zeros(len(X), dtype=np.int64)
        self._run(X, read, runs, score, label)
        return read, runs, score, label

    def _acquired(self, read: Array, runs: Array) -> Array:
        """Features acquired, bool (rows, features): those that trees read, or all features of the networks run."""
        return read if self.ensemble.packed.is_trees else self._stages[runs - 1]

    def _run(self, X: Array, seen: Array, runs: Array, score: Array, label: Array) -> None:
        from bench_qwyc import _kernels_walk as walk

        e, order = self.ensemble, self.order
        beta = e.bias.dtype.type(e.beta)
        low = high = np.zeros(0, dtype=e.bias.dtype)
        if self.rule is None:
            low, high = np.full(len(order), -np.inf, low.dtype), np.full(len(order), np.inf, low.dtype)
        elif isinstance(self.rule, Stopping):
            low, high = self.rule.low, self.rule.high

        def work(start: int, stop: int) -> None:
            if isinstance(self.rule, Bins):
                b = self.rule
                walk.decide_bins(
                    e.packed, X, order, b.width, b.first, b.number, b.mean, b.spread, self.gamma, self.two_sided,
                    e.bias, beta, start, stop, seen, runs, score, label,
                )  # fmt: skip
            elif e.binary:
                walk.decide_thresholds(
                    e.packed, X, order, low, high, e.bias, beta, start, stop, seen, runs, score, label
                )
            else:
                walk.decide_margins(e.packed, X, order, high, e.bias, start, stop, seen, runs, score, label)

        run_ranges(work, len(X), self.threads, _BLOCK)
