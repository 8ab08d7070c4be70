"""The library: a learner, features with prices, a tolerance → an index of models that answers within a budget.

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
from bench_polydom.lattice import PROGRESSIVE_ALPHAS, Covering, Expansion, progressive_search, search
from bench_polydom.learning import Trainer
from bench_polydom.polynomials import checked_prices, evaluate

__all__ = ["Choice", "Feature", "ModelIndex", "build_index"]


@dataclass(frozen=True)
class Feature:
    """Something that is computed at a price.

    Attributes:
        name: unique.
        columns: the columns of X it gives; a feature can give many.
        price: coefficients of its price as a polynomial of the item's size, lowest power first; a number for a
            price that does not depend on it. In any unit of time or money.
    """

    name: str
    columns: Sequence[int]
    price: Sequence[float] | float


@dataclass(frozen=True, eq=False)
class Choice:
    """A model to use.

    Attributes:
        features: names of the features to compute; none for the majority class.
        columns: the columns that `predict` expects, in this order.
        accuracy: estimated when the index was built.
        price: coefficients of what the features cost together.
        model: the fitted model.
    """

    features: tuple[str, ...]
    columns: tuple[int, ...]
    accuracy: float
    price: tuple[float, ...]
    model: Any

    @property
    def is_majority(self) -> bool:
        """Whether nothing is computed: no set of features is within the budget and better than the majority."""
        return not self.features

    def cost(self, size: float) -> float:
        """What the features cost for an item of a size."""
        return float(evaluate(np.array([self.price]), size)[0])

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels of rows that hold the columns `columns`: (rows, columns); one row may be one-dimensional."""
        table = np.atleast_2d(np.asarray(X))
        if table.shape[1] != len(self.columns) and self.columns:
            raise ValueError(f"{len(self.columns)} columns are needed, not {table.shape[1]}: {self.columns}")
        labels: NDArray[Any] = np.asarray(self.model.predict(table))
        return labels


@dataclass(frozen=True, eq=False)
class ModelIndex:
    """Models by item size and budget.

    Attributes:
        features: in the order given.
        index: the poly-dominance index.
        choices: the model of every candidate.
        expansion: how the lattice was searched: sets expanded, failures, the α it was completed for.
    """

    features: tuple[Feature, ...]
    index: PolyDomIndex
    choices: tuple[Choice, ...]
    expansion: Expansion = field(default_factory=lambda: Expansion({}))

    def lookup(self, size: float, budget: float) -> Choice:
        """The most accurate model whose features cost at most the budget for an item of this size.

        Within α (that the index was built for) of the best of all sets of features, as far as the learner obeys
        A(S) ≤ A(S') + e and covering is "none". The majority class when nothing that fits is better.

        Raises:
            ValueError: a negative or NaN size or budget.
        """
        return self.choices[self.index.lookup(size, budget)]

    def save(self, path: str | Path) -> None:
        """Write it to a file, without pickle (see `bench_polydom.persist`)."""
        from bench_polydom.persist import save

        save(self, path)

    @classmethod
    def load(cls, path: str | Path, trusted: Sequence[str] = ()) -> ModelIndex:
        """Read what `save` wrote; ``trusted`` as skops asks for it."""
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
    """Train what may be needed and index it (PolyDom).

    Args:
        learner: any scikit-learn classifier; a black box. Give it a ``random_state`` to get the same index again.
        X, y: training rows, with every feature computed.
        features: what can be computed, at which price; at most 22 of them.
        alpha: how much accuracy may be given up for training fewer models.
        e: by how much a superset of features may be less accurate than a subset.
        validation: (X, y) to measure accuracy on; cross-validated on the training rows when None.
        folds: of the cross-validation.
        covering: ``below`` prunes more, and is sound where features have diminishing returns; ``both`` is the paper's
            algorithm, which prunes most and promises nothing (see `bench_polydom.lattice`).
        max_sets, max_seconds: a precomputation budget: α starts at 2 and is lowered to ``alpha`` as far as the
            budget goes (progressive mode).
        order: ``layers`` searches as the paper does, ``best-first`` the widest gap first: of two indexes the one
            with the smaller α then trained all that the other did, and a precomputation budget gives the smallest α
            it can. Without covering.
        builder: ``envelope`` or ``sweep``.

    Raises:
        ValueError: no rows, two features of one name, a column that X does not have or that two features give, a
            price with a negative or NaN coefficient, a negative tolerance, or a learner that fails on every set
            (a learner that fails on some is recorded in ``expansion.failures``).
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
                raise ValueError(f"feature {feature.name!r}: X has no column {column}, it has {n_columns}")
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
