"""PolyDom as a library: build an index of models from a learner and priced features, and query it within a budget.

from bench_polydom import Feature, build_index

index = build_index(
    SGDClassifier(loss="hinge", penalty="l1"), X, y,
    [Feature("size", [0], [1.0]), Feature("histogram", range(1, 65), [20.0, 0.01])],
    alpha=0.01,
)
choice = index.lookup(size=1_000_000, budget=5_000.0)
choice.features          # ('size',): what to compute
choice.predict(row)      # with those columns, in the order of choice.columns
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_polydom.best_first import best_first_search
from bench_polydom.candidates import Candidates, features_of, prune
from bench_polydom.index import PolyDomIndex
from bench_polydom.lattice import Covering, Expansion, search
from bench_polydom.learning import Trainer
from bench_polydom.polynomials import checked_prices, evaluate
from bench_polydom.progressive import PROGRESSIVE_ALPHAS, progressive_search

__all__ = ["Choice", "Feature", "ModelIndex", "build_index"]


@dataclass(frozen=True)
class Feature:
    """A feature with a price.

    Attributes:
        name: unique name.
        columns: the columns of X that the feature provides, at least one.
        price: coefficients of the price as a polynomial of the item's size, lowest power first; a number for a price
            that does not depend on the size. Any unit of time or money.
    """

    name: str
    columns: Sequence[int]
    price: Sequence[float] | float


@dataclass(frozen=True, eq=False)
class Choice:
    """A model returned by a look-up.

    Attributes:
        features: names of the features to compute; empty for the majority class.
        columns: the columns that `predict` expects, in this order.
        accuracy: accuracy estimated when the index was built.
        price: coefficients of the total price of the features, lowest power first.
        model: the fitted model.
    """

    features: tuple[str, ...]
    columns: tuple[int, ...]
    accuracy: float
    price: tuple[float, ...]
    model: Any

    @property
    def is_majority(self) -> bool:
        """Whether this is the majority class: no set of features within the budget is more accurate."""
        return not self.features

    def cost(self, size: float) -> float:
        """Total price of the features for an item of this size."""
        return float(evaluate(np.array([self.price]), size)[0])

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels.

        Args:
            X: (rows, columns) with the columns `columns`, or (columns,) for a single row.

        Raises:
            ValueError: the number of columns is wrong.
        """
        table = np.atleast_2d(np.asarray(X))
        if table.shape[1] != len(self.columns) and self.columns:
            raise ValueError(
                f"{len(self.columns)} columns are needed, not {table.shape[1]}; the model reads {self.columns}"
            )
        labels: NDArray[Any] = np.asarray(self.model.predict(table))
        return labels


@dataclass(frozen=True, eq=False)
class ModelIndex:
    """An index of models by item size and budget.

    Attributes:
        features: the features, in the order given.
        index: the poly-dominance index.
        choices: the model of every candidate.
        expansion: the result of the lattice search: expanded sets, failures, and the α it was completed for.
    """

    features: tuple[Feature, ...]
    index: PolyDomIndex
    choices: tuple[Choice, ...]
    expansion: Expansion = field(default_factory=lambda: Expansion({}))

    def lookup(self, size: float, budget: float) -> Choice:
        """The most accurate model whose features cost at most the budget for an item of this size.

        Its accuracy is within the index's α of the best over all sets of features, provided that the learner obeys
        A(S) ≤ A(S') + e for S ⊂ S' and the index was built without covering. If no model within the budget is better,
        the majority class is returned.

        Raises:
            ValueError: size or budget is negative or NaN, or the size is beyond `MAX_SIZE`.
        """
        return self.choices[self.index.lookup(size, budget)]

    def save(self, path: str | Path) -> None:
        """Write the index to a file, without pickle (see `bench_polydom.persist`)."""
        from bench_polydom.persist import save

        save(path, self.features, self.index, self.choices, self.expansion)

    @classmethod
    def load(cls, path: str | Path, trusted: Sequence[str] = ()) -> ModelIndex:
        """Read a file written by `save`; ``trusted`` names types that skops may load besides scikit-learn's."""
        from bench_polydom.persist import load

        features, index, choices, expansion = load(path, trusted)
        return cls(
            tuple(Feature(*fields) for fields in features),
            index,
            tuple(Choice(*fields) for fields in choices),
            expansion,
        )


def build_index(
    learner: Any,
    X: Any,
    y: Any,
    features: Sequence[Feature],
    *,
    alpha: float = 0.0,
    e: float = 0.0,
    validation: tuple[Any, Any] | None = None,
    folds: int = 5,
    covering: Covering = "none",
    max_sets: float = math.inf,
    max_seconds: float = math.inf,
    order: str = "layers",
    builder: str = "envelope",
) -> ModelIndex:
    """Train the models that may be needed, and index them (PolyDom).

    Args:
        learner: any scikit-learn classifier. Set its ``random_state`` to make the index reproducible.
        X: (rows, columns): training rows with every feature computed.
        y: (rows,): training labels.
        features: the features and their prices; at most 22.
        alpha: accuracy that may be given up to train fewer models.
        e: the largest amount by which a superset of features may be less accurate than a subset.
        validation: (X, y) on which accuracy is measured; None uses cross-validation on the training rows.
        folds: number of folds of the cross-validation.
        covering: ``below`` prunes more, and is sound where features have diminishing returns; ``both`` is the paper's
            algorithm, which prunes most and has no guarantee (see `bench_polydom.lattice`).
        max_sets: precomputation budget: maximum number of models to train. α starts at 2 and is lowered to ``alpha``
            as far as the budget allows (progressive mode).
        max_seconds: precomputation budget in seconds, used in the same way.
        order: ``layers`` searches as in the paper. ``best-first`` expands the widest gap first: a smaller α then trains
            a superset of the models, and a precomputation budget reaches the smallest possible α; it has no covering.
        builder: the algorithm that builds the index: ``envelope`` or ``sweep``, with the same result.

    Raises:
        ValueError: there are no rows, two features have one name, a column does not exist or belongs to two features,
            a price has a negative or NaN coefficient, a tolerance is negative, or the learner fails on every set
            (failures on some sets are recorded in ``expansion.failures``).

    Source: "Indexing Cost Sensitive Prediction".
    """
    table, labels = np.asarray(X), np.asarray(y)
    if table.ndim != 2 or len(table) != len(labels) or not len(table):
        raise ValueError(f"X must be (rows, columns) and y as long, not {table.shape} and {labels.shape}")
    if order not in ("layers", "best-first") or (order == "best-first" and covering != "none"):
        raise ValueError(f"order must be 'layers', or 'best-first' without covering, not {order!r}")
    if builder not in ("envelope", "sweep"):
        raise ValueError(f"builder must be 'envelope' or 'sweep', not {builder!r}")
    prices = _checked_features(features, table.shape[1])
    trainer = Trainer(learner, table, labels, [np.asarray(f.columns, dtype=np.int64) for f in features], folds=folds)
    if validation is not None:
        trainer.X_test, trainer.y_test = np.asarray(validation[0]), np.asarray(validation[1])
    if order == "best-first":
        expansion = best_first_search(
            trainer.accuracy, len(features), alpha, e, max_sets=max_sets, max_seconds=max_seconds
        )
    elif math.isfinite(max_sets) or math.isfinite(max_seconds):
        ladder = [*(step for step in PROGRESSIVE_ALPHAS if step > alpha), alpha]
        expansion = progressive_search(
            trainer.accuracy, len(features), ladder, e, covering=covering,
            max_sets=max_sets, max_seconds=max_seconds,
        )  # fmt: skip
    else:
        expansion = search(trainer.accuracy, len(features), alpha, e, covering=covering)
    if features and not any(expansion.accuracy.keys() - {0}) and expansion.failures:
        mask, why = next(iter(expansion.failures.items()))
        raise ValueError(f"the learner failed on every set of features, first on {_named(features, mask)}: {why}")
    candidates = prune(expansion.candidates(prices))
    return _assemble(tuple(features), candidates, trainer, expansion, builder)


def _assemble(
    features: tuple[Feature, ...], candidates: Candidates, trainer: Trainer, expansion: Expansion, builder: Any
) -> ModelIndex:
    index = PolyDomIndex.build(candidates, builder)
    choices = []
    for mask, accuracy, curve in zip(
        candidates.masks.tolist(), candidates.accuracy.tolist(), candidates.curves.tolist(), strict=True
    ):
        chosen = features_of(mask)
        columns = tuple(trainer.columns_of(chosen).tolist())
        names = tuple(features[f].name for f in chosen)
        choices.append(Choice(names, columns, accuracy, tuple(curve), trainer.model(chosen)))
    return ModelIndex(features, index, tuple(choices), expansion)


def _checked_features(features: Sequence[Feature], n_columns: int) -> NDArray[np.float64]:
    owner: dict[int, str] = {}
    names: Mapping[str, None] = {}
    for feature in features:
        if feature.name in names:
            raise ValueError(f"two features are called {feature.name!r}")
        names = {**names, feature.name: None}
        for column in feature.columns:
            if not 0 <= column < n_columns:
                raise ValueError(f"feature {feature.name!r}: X has no column {column}, it has {n_columns} columns")
            if column in owner:
                raise ValueError(f"column {column} is given by {owner[column]!r} and by {feature.name!r}")
            owner[int(column)] = feature.name
        if not len(feature.columns):
            raise ValueError(f"feature {feature.name!r} gives no column")
        try:
            checked_prices([feature.price])
        except ValueError as error:
            raise ValueError(f"feature {feature.name!r}: {error}") from None
    return checked_prices([feature.price for feature in features])


def _named(features: Sequence[Feature], mask: int) -> str:
    return "{" + ", ".join(features[f].name for f in features_of(mask)) + "}"
