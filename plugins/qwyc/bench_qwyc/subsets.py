"""An additive ensemble of small networks on random feature subsets: a public stand-in for lattices (QWYC App. D.1).

Each base model reads a few features and is smooth: f_t(x) = Σ_h w_th φ(a_th · x + b_th), where
φ(u) = u (27 + u²) / (27 + 9u²) for |u| ≤ 3 and ±1 beyond, which is close to tanh and ten times as fast. Inner weights
are drawn at random, for standardised columns. Outer weights solve a ridge regression on the labels (−1, 1): jointly
for all base models (experiments 3–4), or independently for each base model, with their mean as the score
(experiments 5–6).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_core import RequestError
from bench_qwyc.model import Ensemble, Packed, Subsets, blank_trees

__all__ = ["fit_subsets"]

_RIDGE = 1e-2
_BLOCK = 4096


def fit_subsets(
    X: NDArray[np.float64],
    y: NDArray[np.int64],
    *,
    models: int,
    subset: int,
    hidden: int,
    joint: bool,
    columns: NDArray[np.int64],
    feature_of_column: NDArray[np.int64],
    n_features: int,
    rng: np.random.Generator,
    dtype: str = "float64",
) -> Ensemble:
    """Fit the ensemble.

    Args:
        X: float64 (rows, columns): training rows without missing values.
        y: int64 (rows,): class codes of two classes.
        models: number T of base models.
        subset: features per base model; all of them if there are fewer.
        hidden: hidden units of a base model.
        joint: whether all outer weights are fitted together.
        columns: columns that may be used.
        feature_of_column: int64 (columns,): the feature of each column.
        n_features: number of features of the problem.
        rng: source of the subsets and the inner weights.
        dtype: type in which scores are added.

    Raises:
        RequestError: the number of classes is not two.
    """
    classes = np.unique(y)
    if len(classes) != 2:
        raise RequestError(f"an ensemble of feature subsets needs two classes, there are {len(classes)}")
    packed = _draw(X, models, subset, hidden, columns, feature_of_column, n_features, rng)
    target = np.where(y == classes[1], 1.0, -1.0)
    outer = _joint(packed, X, target) if joint else _independent(packed, X, target)
    packed = packed._replace(outer=outer)
    return Ensemble(
        packed=Packed(False, blank_trees(dtype, np.asarray(feature_of_column, dtype=np.int64)), 1, packed),
        models=models,
        bias=np.zeros(1, dtype=dtype),
        link="linear" if joint else "mean",
        classes=classes.astype(np.int64),
        n_classes=2,
        n_features=n_features,
    )


def _draw(
    X: NDArray[np.float64],
    models: int,
    subset: int,
    hidden: int,
    columns: NDArray[np.int64],
    feature_of_column: NDArray[np.int64],
    n_features: int,
    rng: np.random.Generator,
) -> Subsets:
    features = np.unique(feature_of_column[columns])
    size = min(subset, len(features))
    parts = []
    for _ in range(models):
        chosen = np.zeros(n_features, dtype=bool)
        chosen[rng.choice(features, size, replace=False)] = True
        parts.append(columns[chosen[feature_of_column[columns]]])
    start = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    width = np.repeat(np.sqrt(np.diff(start)), np.diff(start))
    read = np.concatenate(parts)
    spread = X.std(axis=0)[read]
    # Standardising is folded into the weights: a · (x − m) / s + b.
    inner = 1.5 * rng.normal(size=(hidden, int(start[-1]))) / width / np.where(spread > 1e-12, spread, 1.0)
    centre = np.add.reduceat(inner * X.mean(axis=0)[read], start[:-1], axis=1).T
    return Subsets(
        start=start,
        columns=read.astype(np.int32),
        inner=inner,
        offset=rng.normal(size=(models, hidden)) - centre,
        outer=np.zeros((models, hidden)),
    )


def _hidden(s: Subsets, X: NDArray[np.float64], model: int) -> NDArray[np.float64]:
    """Activations of one base model: (rows, hidden)."""
    from bench_qwyc._kernels_models import squash

    part = slice(s.start[model], s.start[model + 1])
    out: NDArray[np.float64] = X[:, s.columns[part]] @ s.inner[:, part].T + s.offset[model]
    squash(out)
    return out


def _solve(gram: Any, moment: Any, rows: int) -> NDArray[np.float64]:
    from scipy.linalg import solve

    gram[np.diag_indices_from(gram)] += _RIDGE * rows
    return np.asarray(solve(gram, moment, assume_a="pos", overwrite_a=True))


def _independent(s: Subsets, X: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.float64]:
    """Outer weights by one ridge regression per base model: float64 (T, hidden)."""
    outer = np.zeros_like(s.offset)
    for model in range(len(outer)):
        H = _hidden(s, X, model)
        outer[model] = _solve(H.T @ H, H.T @ target, len(X))
    return outer


def _joint(s: Subsets, X: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.float64]:
    """Outer weights by one ridge regression for all base models, with normal equations summed over blocks of rows."""
    models, hidden = s.offset.shape
    gram, moment = np.zeros((models * hidden, models * hidden)), np.zeros(models * hidden)
    for begin in range(0, len(X), _BLOCK):
        rows = slice(begin, begin + _BLOCK)
        H = np.concatenate([_hidden(s, X[rows], model) for model in range(models)], axis=1)
        gram += H.T @ H
        moment += H.T @ target[rows]
    return _solve(gram, moment, len(X)).reshape(models, hidden)
