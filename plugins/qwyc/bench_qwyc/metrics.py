"""Metrics of the paper's tables, and metrics that select a table's row on validation."""

from __future__ import annotations

import numpy as np

from bench_core import Metric, Outcome, RequestError

__all__ = ["METRICS", "base_model_share", "base_models_within", "error_within", "speed_up"]

_CLASSES = frozenset({"binary", "multiclass"})
_UNFAITHFUL = 1e6
"""A number above the size of any ensemble."""


def _models(outcome: Outcome) -> float:
    runs = outcome.decisions.evaluations
    return 1.0 if runs is None or not len(runs) else float(np.mean(runs))


def _disagreement(outcome: Outcome) -> float:
    reference = outcome.reference
    if reference is None or reference.probabilities is None:
        raise RequestError("the method has no full ensemble to compare with")
    if not len(outcome.label):
        return 0.0
    return float((outcome.label != reference.probabilities.argmax(axis=1)).mean())


def base_models_within(outcome: Outcome, k: int) -> float:
    """Mean base models run if at most k ‰ of the rows differ from the full ensemble; otherwise at least a million.

    As a selection metric it picks the cheapest policy that is faithful enough, or the most faithful one if none is.
    """
    share = _disagreement(outcome)
    return _models(outcome) if share <= k / 1000 + 1e-12 else _UNFAITHFUL * (1.0 + share)


def _unfaithful(value: float) -> bool:
    """Whether a value of `base_models_within` belongs to a policy above the allowed differences."""
    return value >= _UNFAITHFUL


def error_within(outcome: Outcome, k: int) -> float:
    """Error rate if at most k base models are run on average; otherwise 1 plus the excess over k.

    As a selection metric it picks the most accurate policy that is cheap enough, or the cheapest one if none is.
    """
    wrong = float(1.0 - outcome.correct.mean()) if len(outcome.y) else 0.0
    models = _models(outcome)
    return wrong if models <= k + 1e-9 else 1.0 + models - k


def _beyond(value: float) -> bool:
    """Whether a value of `error_within` belongs to a policy above k base models; an error rate is at most 1."""
    return value > 1.0


def _models_of_all(outcome: Outcome) -> float:
    reference = outcome.reference
    runs = None if reference is None else reference.evaluations
    return float(np.mean(runs)) if runs is not None and len(runs) else 1.0


def speed_up(outcome: Outcome) -> float:
    """Number of base models of the full ensemble divided by the mean number run."""
    return _models_of_all(outcome) / _models(outcome)


def base_model_share(outcome: Outcome) -> float:
    """Mean number of base models run divided by the number of the full ensemble: 1 / `speed_up`.

    Unlike a speed-up it is a mean over rows, so a random mixture of two policies has the mean of their values.
    """
    return _models(outcome) / _models_of_all(outcome)


METRICS = (
    Metric("speed-up", speed_up, "max", "Speed-up", _CLASSES, reference=True),
    Metric("base-model-share", base_model_share, "min", "Base models of all", _CLASSES, percent=True, reference=True),
    Metric(
        "base-models-within@k",
        base_models_within,
        "min",
        "Base models, ≤ @k ‰ different",
        _CLASSES,
        reference=True,
        missed=_unfaithful,
    ),
    Metric("error-within@k", error_within, "min", "Error, ≤ @k base models", _CLASSES, missed=_beyond),
)
