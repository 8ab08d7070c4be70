"""Metrics of the paper's tables, and those by which a row of them is selected on validation."""

from __future__ import annotations

import numpy as np

from bench_core import Metric, Outcome, RequestError

__all__ = ["METRICS", "base_model_share", "base_models_within", "error_within", "speed_up"]

_CLASSES = frozenset({"binary", "multiclass"})
_UNFAITHFUL = 1e6
"""More base models than any ensemble has."""


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
    """Mean base models run, if at most k rows in a thousand differ from the full ensemble; else a million and more.

    To select by: the cheapest policy that is faithful enough, or else the most faithful one.
    """
    share = _disagreement(outcome)
    return _models(outcome) if share <= k / 1000 + 1e-12 else _UNFAITHFUL * (1.0 + share)


def _unfaithful(value: float) -> bool:
    """Whether a value of `base_models_within` is of a policy that differs more often."""
    return value >= _UNFAITHFUL


def error_within(outcome: Outcome, k: int) -> float:
    """Share of wrong labels, if at most k base models are run on average; else one more than k is exceeded by.

    To select by: the most accurate policy that is cheap enough, or else the cheapest one.
    """
    wrong = float(1.0 - outcome.correct.mean()) if len(outcome.y) else 0.0
    models = _models(outcome)
    return wrong if models <= k + 1e-9 else 1.0 + models - k


def _beyond(value: float) -> bool:
    """Whether a value of `error_within` is of a policy that runs more base models: no error is above 1."""
    return value > 1.0


def _models_of_all(outcome: Outcome) -> float:
    reference = outcome.reference
    runs = None if reference is None else reference.evaluations
    return float(np.mean(runs)) if runs is not None and len(runs) else 1.0


def speed_up(outcome: Outcome) -> float:
    """Base models of the full ensemble over mean base models run."""
    return _models_of_all(outcome) / _models(outcome)


def base_model_share(outcome: Outcome) -> float:
    """Mean base models run over those of the full ensemble: 1 over `speed_up`.

    It is a mean over rows, which a speed-up is not, so that a lottery over two policies has the mean of theirs.
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
