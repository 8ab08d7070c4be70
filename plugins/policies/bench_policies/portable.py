"""Apply an exported policy, with Python's standard library alone.

Copy this file beside the document that ``bench fit --export`` wrote::

    from portable import Portable

    policy = Portable.read("policy.json")
    answer = policy.decide({"age": 50, "glucose": 148})
    answer["label"], answer["probability"], answer["cost"], answer["acquired"]

Labels, purchases and the costs of features are those of the policy itself. Base models (``evaluation``) are not in
``cost``. Probabilities may differ in the last digit, as the
exponential functions of two mathematical libraries may.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Mapping
from typing import Any

FORMAT = "budgetbench-policy-1"
"""The first value of every document."""
OTHER = "(other)"
"""The category of all rare categories of a column, and of new ones."""


class Portable:
    """An exported policy.

    Args:
        document: the JSON document as Python values.

    Raises:
        ValueError: it is not an exported policy of this format.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        if not isinstance(document, Mapping) or document.get("format") != FORMAT:
            raise ValueError(f"not a policy in the format {FORMAT}")
        self.document = document
        self.features = document["features"]
        self.names = {feature["name"]: number for number, feature in enumerate(self.features)}
        self.columns = [
            (number, level)
            for number, feature in enumerate(self.features)
            for level in (feature["levels"] if feature["levels"] is not None else [None])
        ]
        """For every column, the number of its feature and the category that it encodes as 1; None for a number."""

    @classmethod
    def read(cls, path: str) -> Portable:
        """Read a document from a file."""
        with open(path, encoding="utf-8") as file:
            return cls(json.load(file))

    def decide(self, row: Mapping[str, Any], size: float | None = None) -> dict[str, Any]:
        """Decide on a row.

        Args:
            row: values by feature; only those that the policy buys are read. None is a missing value.
            size: the item's size, where prices depend on it.

        Returns:
            ``label`` (None where refused), ``best``, ``probability``, ``probabilities`` and ``refused`` for classes,
            ``value`` for regression; ``acquired``: the names of the features that were bought; ``cost``: their price.

        Raises:
            KeyError: the row has no value for a feature that is bought.
            ValueError: a value is not a finite number or not a known category, or is missing where it may not be; or
                prices depend on the item's size, and ``size`` is missing.
        """
        bought = set(self.document["policy"]["features"] or ())
        model = self.document["policy"]["model"]

        def value(column: int) -> float:
            bought.add(self.columns[column][0])
            return self._column(row, column)

        for feature in sorted(bought):
            self._number(row, feature)
        outputs = _MODELS[model["kind"]](model, value)
        answer = self._answer(outputs) if self.document["classes"] else {"value": outputs[0]}
        acquired = sorted(bought)
        return {**answer, "acquired": [self.features[f]["name"] for f in acquired], "cost": self._cost(acquired, size)}

    def _number(self, row: Mapping[str, Any], number: int) -> float:
        """Return a value as a number: a category as its position, a missing value as its replacement or NaN."""
        feature = self.features[number]
        name = feature["name"]
        if name not in row:
            raise KeyError(f"the row has no value for {name}")
        given = row[name]
        if given is None or (isinstance(given, float) and math.isnan(given)):
            if feature["fill"] is None and not self.document["takes_missing"]:
                raise ValueError(f"{name} is missing, and this policy takes no missing values")
            return math.nan if feature["fill"] is None else feature["fill"]
        if feature["categories"] is not None:
            text = next((form for form in (*texts_of(given), OTHER) if form in feature["categories"]), None)
            if text is None:
                raise ValueError(f"{name} has no category {given!r}; known: {', '.join(feature['categories'])}")
            return float(feature["categories"].index(text))
        value = float(given)
        if not math.isfinite(value) or (feature["numbers"] is not None and value not in feature["numbers"]):
            raise ValueError(f"{name} has no value {given!r}")
        return value

    def _column(self, row: Mapping[str, Any], column: int) -> float:
        number, level = self.columns[column]
        feature = self.features[number]
        value = (self._number(row, number) - feature["shift"]) / feature["scale"]
        return value if level is None else float(value == level)

    def _answer(self, probabilities: list[float]) -> dict[str, Any]:
        rule, classes = self.document["answering"], self.document["classes"]
        most = max(probabilities)
        refused = rule["threshold"] is not None and not most >= rule["threshold"]
        best = probabilities.index(most)
        if rule["error_costs"] is not None:
            expected = [0.0] * len(classes)
            for probability, costs in zip(probabilities, rule["error_costs"], strict=True):
                expected = [total + probability * cost for total, cost in zip(expected, costs, strict=True)]
            least = min(expected)
            refused = refused or (rule["refused_cost"] is not None and least > rule["refused_cost"])
            equal = [p if e == least else -1.0 for p, e in zip(probabilities, expected, strict=True)]
            best = equal.index(max(equal))
        return {
            "label": None if refused else classes[best],
            "best": classes[best],
            "probability": probabilities[best],
            "probabilities": dict(zip(classes, probabilities, strict=True)),
            "refused": refused,
        }

    def _cost(self, acquired: list[int], size: float | None) -> float:
        costs = self.document["costs"]
        total = sum(_price(costs["prices"][feature], size) for feature in acquired)
        if costs["groups"] is not None and costs["group_prices"] is not None:
            opened = sorted({costs["groups"][feature] for feature in acquired} - {-1})
            total += sum(_price(costs["group_prices"][group], size) for group in opened)
        return float(total)


def texts_of(given: Any) -> list[str]:
    """The categories that a value may mean: ``True`` also means ``true``, and ``1.0``, also as text, ``1``."""
    text = str(given)
    if isinstance(given, bool):
        return [text, text.lower()]
    if isinstance(given, float) and given.is_integer():
        return [text, str(int(given))]
    return [text, text.removesuffix(".0")] if isinstance(given, str) else [text]


def _price(coefficients: list[float], size: float | None) -> float:
    if any(coefficients[1:]) and size is None:
        raise ValueError("prices depend on the item's size, which is missing")
    if size is not None and not 0 <= size < math.inf:
        raise ValueError(f"the item's size must be a finite number from 0, not {size!r}")
    return sum(coefficient * (size or 0.0) ** power for power, coefficient in enumerate(coefficients))


def _linear(model: Mapping[str, Any], value: Callable[[int], float]) -> list[float]:
    read = [value(column) for column in model["columns"]]
    scores = []
    for score, coefficients in zip(model["intercept"], model["coef"], strict=True):
        for coefficient, x in zip(coefficients, read, strict=True):
            score += coefficient * x
        scores.append(score)
    if model["classes"] is None:
        return scores
    shares = _logistic(scores[0]) if len(model["classes"]) == 2 else _softmax(scores)
    table = [0.0] * model["n_classes"]
    for trained, share in zip(model["classes"], shares, strict=True):
        table[trained] = round(share * 10 ** model["digits"]) / 10 ** model["digits"] if "digits" in model else share
    return table


def _logistic(score: float) -> list[float]:
    small = math.exp(-abs(score))
    likelier, other = 1.0 / (1.0 + small), small / (1.0 + small)
    return [other, likelier] if score >= 0 else [likelier, other]


def _softmax(scores: list[float]) -> list[float]:
    most = max(scores)
    weights = [math.exp(score - most) for score in scores]
    total = 0.0
    for weight in weights:
        total += weight
    return [weight / total for weight in weights]


def _constant(model: Mapping[str, Any], value: Callable[[int], float]) -> list[float]:
    probabilities: list[float] | None = model["probabilities"]
    return list(probabilities) if probabilities is not None else [model["value"]]


def _tree(model: Mapping[str, Any], value: Callable[[int], float]) -> list[float]:
    leaf = _leaf(model["nodes"], value, model["single"])
    return leaf if isinstance(leaf, list) else [leaf]


def _boosted(model: Mapping[str, Any], value: Callable[[int], float]) -> list[float]:
    scores = [0.0] * model["outputs"]
    for number, nodes in enumerate(model["trees"]):
        scores[number % model["outputs"]] += _leaf(nodes, value, False)
    if model["classes"] == 0:
        return scores
    if len(scores) > 1:
        return _softmax(scores)
    small = math.exp(-abs(scores[0]))
    second = (1.0 if scores[0] >= 0 else small) / (1.0 + small)
    return [1.0 - second, second]


def _mean(model: Mapping[str, Any], value: Callable[[int], float]) -> list[float]:
    """Return the weighted mean of models, of which linear ones read a missing value as 0."""

    def filled(column: int) -> float:
        x = value(column)
        return 0.0 if math.isnan(x) else x

    total: list[float] = []
    for weight, member in zip(model["weights"], model["models"], strict=True):
        answer = _MODELS[member["kind"]](member, filled if member["kind"] == "linear" else value)
        total = [before + weight * one for before, one in zip(total or [0.0] * len(answer), answer, strict=True)]
    return total


def _leaf(nodes: list[Mapping[str, Any]], value: Callable[[int], float], single: bool) -> Any:
    node = nodes[0]
    while "value" not in node:
        x = value(node["column"])
        if single and not math.isnan(x):
            x = _float32(x)
        node = nodes[node["missing"] if math.isnan(x) else node["left"] if x <= node["threshold"] else node["right"]]
    return node["value"]


def _float32(x: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", x))[0])
    except OverflowError:
        return math.copysign(math.inf, x)


_MODELS = {"linear": _linear, "constant": _constant, "tree": _tree, "boosted": _boosted, "mean": _mean}
