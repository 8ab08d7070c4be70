"""Conversion of fitted scikit-learn and LightGBM ensembles to `Ensemble`, checked against their decision functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from bench_models.trees import NAN_LEFT, NAN_RIGHT, FlatTrees, sibling_order
from numpy.typing import NDArray

from bench_qwyc.model import Ensemble, Packed, blank_subsets

__all__ = ["SUPPORTED", "adapt"]

SUPPORTED = (
    "HistGradientBoostingClassifier, GradientBoostingClassifier, RandomForestClassifier, ExtraTreesClassifier, "
    "LGBMClassifier"
)
Array = NDArray[Any]
_FIELDS = ("column", "threshold", "left", "missing_left", "value")
_KINDS = (np.int64, np.float64, np.int64, np.bool_, np.float64)


def adapt(
    model: Any,
    X: NDArray[np.float64],
    feature_of_column: NDArray[np.int64],
    *,
    n_features: int,
    n_classes: int,
    columns: NDArray[np.int64] | None = None,
    dtype: str = "float64",
) -> Ensemble:
    """Convert a fitted classifier to an additive ensemble.

    Args:
        model: one of `SUPPORTED`, fitted on class codes.
        X: float64 (rows, columns of the problem): rows on which the sum of the base models is compared with the
            model's own decision function.
        feature_of_column: int64 (columns,): the feature of each column.
        n_features: number of features of the problem.
        n_classes: number of classes of the problem.
        columns: columns that the model was fitted on, in its order; None for all.
        dtype: type in which scores are added.

    Raises:
        TypeError: the ensemble is of a type that is not supported.
        ValueError: the sum of the base models differs from the decision function, or a split is not of the form
            ``x <= threshold``.
    """
    name = type(model).__name__
    readers = {
        "HistGradientBoostingClassifier": _hist,
        "GradientBoostingClassifier": _gradient,
        "RandomForestClassifier": _forest,
        "ExtraTreesClassifier": _forest,
        "LGBMClassifier": _lightgbm,
    }
    if name not in readers:
        raise TypeError(f"{name} is not a supported additive ensemble; use one of {SUPPORTED}")
    used = np.arange(len(feature_of_column)) if columns is None else np.asarray(columns, dtype=np.int64)
    nodes, bias, link = readers[name](model)
    owner = np.asarray(feature_of_column, dtype=np.int64)
    trees = nodes.packed(used, owner, np.dtype(dtype))
    ensemble = Ensemble(
        packed=Packed(True, trees, nodes.trees_per_model, blank_subsets()),
        models=trees.trees // nodes.trees_per_model,
        bias=np.asarray(bias, dtype=dtype),
        link=link,
        classes=np.asarray(model.classes_, dtype=np.int64),
        n_classes=n_classes,
        n_features=n_features,
    )
    _check(ensemble, model, X, used)
    return ensemble


def _check(ensemble: Ensemble, model: Any, X: NDArray[np.float64], used: NDArray[np.int64]) -> None:
    """Raise ValueError unless the base models add up to the model's decision function."""
    rows = X[:: max(1, len(X) // 500)]
    scores = ensemble.scores(rows)
    total = ensemble.bias.astype(np.float64) if not ensemble.binary else float(ensemble.bias[0])
    total = total + scores.sum(axis=0, dtype=np.float64)
    if ensemble.link == "mean":
        expected = model.predict_proba(rows[:, used]) * ensemble.models
        expected = 2 * expected[:, 1] - ensemble.models if ensemble.binary else expected
    elif hasattr(model, "decision_function"):
        expected = model.decision_function(rows[:, used])
    else:
        expected = model.predict(rows[:, used], raw_score=True)
    tolerance = 1e-9 if scores.dtype == np.float64 else 1e-4
    scale = np.abs(scores).sum(axis=0, dtype=np.float64) + 1.0
    off = np.abs(total - expected) / scale
    if not (off <= tolerance).all():
        worst = int(np.nanargmax(np.where(np.isnan(off), np.inf, off).max(axis=-1) if off.ndim > 1 else off))
        raise ValueError(
            f"{type(model).__name__}: its base models do not add up to its decision function: on one row they "
            f"give {total[worst]}, it says {expected[worst]}"
        )


@dataclass
class _Nodes:
    """Builder of flat trees."""

    trees_per_model: int
    single: bool = False
    root: list[int] = field(default_factory=list)
    parts: dict[str, list[Array]] = field(default_factory=lambda: {name: [] for name in _FIELDS})
    count: int = 0

    def add(self, column: Any, threshold: Any, left: Any, right: Any, missing_left: Any, value: Any) -> None:
        """Add a tree. Children are node numbers of the tree; ``column`` is −1 for leaves; siblings become adjacent."""
        self.root.append(self.count)
        column, left = np.asarray(column), np.asarray(left)
        old, place = sibling_order(np.zeros(1, dtype=np.int64), column, left, np.asarray(right))
        left = self.count + np.where(column >= 0, place[left], 0)
        given = (column, threshold, left, missing_left, value)
        for name, kind, part in zip(_FIELDS, _KINDS, given, strict=True):
            array: Array = np.array(part, dtype=kind)[old]
            self.parts[name].append(array if array.ndim == 2 or name != "value" else array[:, None])
        self.count += len(old)

    def packed(
        self, columns: NDArray[np.int64], feature_of_column: NDArray[np.int64], dtype: np.dtype[Any]
    ) -> FlatTrees:
        """The flat trees, with the model's columns renumbered as the problem's."""
        joined = {name: np.concatenate(parts) for name, parts in self.parts.items()}
        column = np.where(joined["column"] >= 0, columns[joined["column"]], -1)
        return FlatTrees(
            root=np.array(self.root, dtype=np.int64),
            column=column.astype(np.int32),
            threshold=joined["threshold"],
            left=joined["left"].astype(np.int32),
            missing=np.where(joined["missing_left"], NAN_LEFT, NAN_RIGHT).astype(np.int8),
            value=np.ascontiguousarray(joined["value"], dtype=dtype),
            unit_of_column=np.require(feature_of_column, requirements="W"),
            single=self.single,
        )


_Read = tuple[_Nodes, Any, Any]


def _hist(model: Any) -> _Read:
    """Read scikit-learn's histogram boosting; splits compare float64."""
    predictors: Sequence[Sequence[Any]] = model._predictors
    nodes = _Nodes(len(predictors[0]))
    for iteration in predictors:
        for predictor in iteration:
            table = predictor.nodes
            if table["is_categorical"].any():
                raise ValueError(
                    "HistGradientBoostingClassifier: splits on categories are not of the form x <= threshold; "
                    "fit it without categorical_features"
                )
            leaf = table["is_leaf"].astype(bool)
            nodes.add(
                np.where(leaf, -1, table["feature_idx"]),
                table["num_threshold"],
                table["left"],
                table["right"],
                table["missing_go_to_left"],
                table["value"],
            )
    return nodes, np.ravel(model._baseline_prediction), "logistic"


def _sklearn_tree(nodes: _Nodes, tree: Any, value: Array) -> None:
    missing = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count))
    leaf = tree.children_left < 0
    nodes.add(
        np.where(leaf, -1, tree.feature),
        tree.threshold,
        tree.children_left,
        tree.children_right,
        np.asarray(missing).astype(bool),
        value,
    )


def _gradient(model: Any) -> _Read:
    """Read scikit-learn's gradient boosting; splits compare float32. Its start must be one number per class."""
    nodes = _Nodes(model.estimators_.shape[1], single=True)
    for iteration in model.estimators_:
        for estimator in iteration:
            tree = estimator.tree_
            _sklearn_tree(nodes, tree, model.learning_rate * tree.value[:, 0, 0])
    start = np.asarray(model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32)))
    return nodes, start.ravel(), "logistic"


def _forest(model: Any) -> _Read:
    """Read a forest: trees vote 2p − 1 in [−1, 1] (two classes) or class frequencies; splits compare float32."""
    nodes = _Nodes(1, single=True)
    classes = len(model.classes_)
    for estimator in model.estimators_:
        tree = estimator.tree_
        shares = tree.value[:, 0, :]
        shares = shares / shares.sum(axis=1, keepdims=True)
        _sklearn_tree(nodes, tree, shares[:, 1] - shares[:, 0] if classes == 2 else shares)
    return nodes, np.zeros(1 if classes == 2 else classes), "mean"


def _lightgbm(model: Any) -> _Read:
    """Read LightGBM; splits compare float64. An initial score (``boost_from_average``) is part of the first tree."""
    dump = model.booster_.dump_model()
    classes = int(dump["num_tree_per_iteration"])
    nodes = _Nodes(classes)
    for info in dump["tree_info"]:
        rows: list[tuple[int, float, int, int, bool, float]] = []
        _lightgbm_node(info["tree_structure"], rows)
        nodes.add(*zip(*rows, strict=True))
    if not nodes.root:
        raise ValueError("LGBMClassifier: it has no trees")
    return nodes, np.zeros(classes), "logistic"


def _lightgbm_node(node: dict[str, Any], rows: list[tuple[int, float, int, int, bool, float]]) -> int:
    at = len(rows)
    if "split_feature" not in node:
        rows.append((-1, 0.0, 0, 0, False, float(node["leaf_value"])))
        return at
    if node["decision_type"] != "<=" or node["missing_type"] == "Zero":
        raise ValueError(
            "LGBMClassifier: splits on categories, and zero taken for missing, are not of the form x <= threshold"
        )
    rows.append((-1, 0.0, 0, 0, False, 0.0))
    threshold = float(node["threshold"])
    # If no training value was missing, LightGBM treats a missing value as 0.
    missing_left = bool(node["default_left"]) if node["missing_type"] == "NaN" else threshold >= 0.0
    left = _lightgbm_node(node["left_child"], rows)
    right = _lightgbm_node(node["right_child"], rows)
    rows[at] = (int(node["split_feature"]), threshold, left, right, missing_left, 0.0)
    return at
