"""A problem built by hand, for tests that compare a method with a simple reference implementation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bench_core.contract.costs import Costs
from bench_core.contract.dataset import Part
from bench_core.contract.method import Problem


def build(n_classes: int = 2, rows: int = 150, features: int = 5, seed: int = 0, **changes: Any) -> Problem:
    """Gaussian features; the first two determine the class (or the value if ``n_classes`` is 0)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features))
    signal = 2 * X[:, 0] - X[:, 1] + rng.logistic(size=rows)
    y: Any = signal
    if n_classes:
        y = np.searchsorted(np.quantile(signal, np.arange(1, n_classes) / n_classes), signal)
    cut = rows * 2 // 3
    problem = Problem(
        train=Part(X[:cut], y[:cut]),
        validation=Part(X[cut:], y[cut:]),
        costs=Costs(np.arange(1.0, features + 1)),
        task="regression" if not n_classes else "binary" if n_classes == 2 else "multiclass",
        n_classes=n_classes,
        feature_names=tuple(f"f{i}" for i in range(features)),
        feature_of_column=np.arange(features),
        threshold=0.75 if n_classes else None,
    )
    return replace(problem, **changes)


@pytest.fixture
def make_problem() -> Callable[..., Problem]:
    return build
