"""Training of the full ensemble, with its learning rate chosen on validation (QWYC §5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bench_core import Problem, RequestError
from bench_qwyc.model import Ensemble

__all__ = [
    "EnsembleConfig",
    "Kind",
    "fit_candidates",
    "fitted",
    "full_labels",
    "full_scores",
    "shared_candidates",
    "validation_error",
]

Kind = Literal[
    "hist-gradient-boosting", "gradient-boosting", "random-forest", "lightgbm", "subsets-joint", "subsets-independent"
]


@dataclass(frozen=True)
class EnsembleConfig:
    """Parameters of the full ensemble; the fields are those of `bench_qwyc.fitted_ensemble.EnsembleMethod`."""

    ensemble: Kind
    n_estimators: int
    max_depth: int
    learning_rates: tuple[float, ...]
    strongest: int
    subset: int
    hidden: int
    precision: str


def fitted(config: EnsembleConfig, problem: Problem) -> tuple[Ensemble, float]:
    """The full ensemble and its learning rate: the one of least validation error, the first among equals."""
    candidates = shared_candidates(config, problem)
    errors = [validation_error(ensemble, problem) for ensemble in candidates]
    best = int(np.argmin(errors)) if len(candidates) > 1 else 0
    return candidates[best], config.learning_rates[best] if config.learning_rates else 0.0


def validation_error(ensemble: Ensemble, problem: Problem) -> float:
    """Error rate of the full ensemble on the validation part."""
    return float((full_labels(ensemble, problem.validation.X) != problem.validation.y).mean())


def full_scores(ensemble: Ensemble, scores: NDArray[Any]) -> NDArray[Any]:
    """Full scores, summed in the natural order: (rows,) or (rows, K)."""
    total = np.array(np.broadcast_to(ensemble.bias if scores.ndim == 3 else ensemble.bias[0], scores.shape[1:]))
    for model_scores in scores:
        total += model_scores
    return total


def full_labels(ensemble: Ensemble, X: NDArray[np.float64]) -> NDArray[np.int64]:
    """Class codes that the full ensemble predicts: int64 (rows,)."""
    total = full_scores(ensemble, ensemble.scores(X))
    chosen = (total >= ensemble.beta).astype(np.int64) if ensemble.binary else total.argmax(axis=1)
    return np.asarray(ensemble.classes[chosen])


def shared_candidates(config: EnsembleConfig, problem: Problem) -> list[Ensemble]:
    """The ensembles of `fit_candidates`, fitted once for all methods of a suite with the same configuration."""
    return problem.shared(("bench_qwyc", config), lambda: fit_candidates(config, problem))


def fit_candidates(config: EnsembleConfig, problem: Problem) -> list[Ensemble]:
    """One ensemble per learning rate; a single one for ensembles without a learning rate.

    Raises:
        RequestError: the training part has one class only, the ensemble does not accept its missing values, or
            LightGBM is not installed.
    """
    if len(np.unique(problem.train.y)) < 2:
        raise RequestError("the training part has rows of one class only; an ensemble needs two")
    columns = _strongest(config, problem)
    if config.ensemble.startswith("subsets"):
        from bench_qwyc.subsets import fit_subsets

        refuse_missing(problem, f"ensemble = {config.ensemble!r}")
        return [
            fit_subsets(
                problem.train.X,
                problem.train.y,
                models=config.n_estimators,
                subset=config.subset,
                hidden=config.hidden,
                joint=config.ensemble == "subsets-joint",
                columns=columns,
                feature_of_column=problem.feature_of_column,
                n_features=problem.n_features,
                rng=problem.rng("subsets"),
                dtype=config.precision,
            )
        ]
    rates = config.learning_rates if config.ensemble != "random-forest" else config.learning_rates[:1]
    return [_trees(config, problem, columns, rate) for rate in rates]


def _seed(problem: Problem, use: str) -> int:
    return int(problem.rng(use).integers(2**31 - 1))


def _strongest(config: EnsembleConfig, problem: Problem) -> NDArray[np.int64]:
    """Columns of the features of greatest Gini importance in a random forest (our choice: the paper names none).

    Without a choice, all columns that hold a value in the training part.
    """
    if not 0 < config.strongest < problem.n_features:
        held = np.flatnonzero(~np.isnan(problem.train.X).all(axis=0))
        return held if len(held) else np.arange(len(problem.feature_of_column))
    from sklearn.ensemble import RandomForestClassifier

    refuse_missing(problem, "the importance of features")
    forest = RandomForestClassifier(100, random_state=_seed(problem, "importance"), min_samples_leaf=5, n_jobs=1)
    forest.fit(problem.train.X, problem.train.y)
    share = np.bincount(problem.feature_of_column, forest.feature_importances_, problem.n_features)
    strongest = np.argsort(-share, kind="stable")[: config.strongest]
    columns: NDArray[np.int64] = problem.columns_of_set(strongest)
    return columns


def refuse_missing(problem: Problem, what: str) -> None:
    """Raise a RequestError that names the first feature with missing values, if any."""
    for part in (problem.train, problem.validation):
        holes = np.flatnonzero(np.isnan(part.X).any(axis=0))
        if len(holes):
            name = problem.feature_names[problem.feature_of_column[holes[0]]]
            raise RequestError(
                f"{what} cannot read missing values, and feature {name!r} has some; choose an encoding that imputes"
            )


def _trees(config: EnsembleConfig, problem: Problem, columns: NDArray[np.int64], rate: float) -> Ensemble:
    import warnings

    from threadpoolctl import threadpool_limits

    from bench_qwyc.adapters import adapt

    model = _classifier(config, problem, rate)
    X = np.ascontiguousarray(problem.train.X[:, columns])
    # Threads synchronise at every node, which costs more on a busy machine than it gains on an idle one.
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(X, problem.train.y)
        return adapt(
            model,
            problem.train.X,
            problem.feature_of_column,
            n_features=problem.n_features,
            n_classes=problem.n_classes,
            columns=columns,
            dtype=config.precision,
        )


def _classifier(config: EnsembleConfig, problem: Problem, rate: float) -> Any:
    from sklearn import ensemble

    seed = _seed(problem, "ensemble")
    depth = config.max_depth or None
    if config.ensemble == "hist-gradient-boosting":
        return ensemble.HistGradientBoostingClassifier(
            max_iter=config.n_estimators,
            max_depth=depth,
            max_leaf_nodes=None,
            learning_rate=rate,
            early_stopping=False,
            random_state=seed,
        )
    if config.ensemble == "gradient-boosting":
        refuse_missing(problem, "gradient-boosting")
        return ensemble.GradientBoostingClassifier(
            n_estimators=config.n_estimators, max_depth=depth, learning_rate=rate, random_state=seed
        )
    if config.ensemble == "random-forest":
        return ensemble.RandomForestClassifier(
            n_estimators=config.n_estimators, max_depth=depth, random_state=seed, n_jobs=problem.threads
        )
    try:
        from lightgbm import LGBMClassifier
    except ImportError:
        raise RequestError("ensemble = 'lightgbm' needs LightGBM: pip install 'budgetbench-qwyc[lightgbm]'") from None
    return LGBMClassifier(
        n_estimators=config.n_estimators,
        max_depth=config.max_depth or -1,
        num_leaves=min(2 ** (config.max_depth or 5), 4096),
        learning_rate=rate,
        boost_from_average=False,
        random_state=seed,
        n_jobs=1,
        deterministic=True,
        force_row_wise=True,
        verbosity=-1,
    )
