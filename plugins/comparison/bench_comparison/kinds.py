"""Kinds of methods, and which methods are variants of one algorithm: what must not be counted twice.

A suite can give a method that is not listed here a kind (`bench_comparison.schema.ComparisonEntry.kinds`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench_comparison.schema import ComparisonEntry

if TYPE_CHECKING:
    from bench_core.suites import Suite

__all__ = ["EMPTY", "EVERYTHING", "FIXED", "KINDS", "OTHER", "REFERENCES", "SIMPLEST", "Kind", "Place", "places_of"]


@dataclass(frozen=True)
class Kind:
    """A kind of method.

    Attributes:
        name: in a sentence.
        read: what its methods do.
        dynamic: whether the features bought for a row depend on the values seen in it so far.
    """

    name: str
    read: str
    dynamic: bool = True


EVERYTHING, EMPTY, FIXED, OTHER = "everything or nothing", "without looking", "fixed subset", "other"

KINDS = (
    Kind(FIXED, "buys the same features for every row", dynamic=False),
    Kind("trees", "a decision tree; a row pays for the tests on its path"),
    Kind("cascades", "stages of classifiers, in a chain or a tree; easy rows leave early"),
    Kind("boosting", "trees that are added one by one, each paying for what it newly reads"),
    Kind("forests", "random forests, pruned or grown by price"),
    Kind("early stopping", "an ensemble whose members vote one by one until the answer is clear"),
    Kind("look-ahead", "estimates for each row, from similar rows, what the next feature or the next few would bring"),
    Kind("neural", "a network that chooses the next feature"),
    Kind(OTHER, "of a kind that the suite does not name"),
    Kind(EVERYTHING, "buys all features or, if they cost too much, none", dynamic=False),
    Kind(EMPTY, "buys nothing", dynamic=False),
)

SIMPLEST = (EVERYTHING, *(kind.name for kind in KINDS if kind.name not in (EVERYTHING, EMPTY, OTHER)), OTHER)
"""The kinds by how much it takes to explain them, the simplest first: a classifier of all features; a subset, with its
list of features; a tree, with a path for each row; several models; at last models of what the next feature brings.
Within a kind, the method that is trained the fastest is the simplest."""

_KINDS_OF = {
    FIXED: {
        "stump": "Stump",
        "lasso": "LASSO",
        "cact-lasso": "LASSO",
        "forward-selection": "Forward selection",
        "affordable-subset": "Affordable subset",
        "single-cost-sensitive": "Single cost-sensitive classifier",
        "polydom": "PolyDom",
        "greedy": "Greedy",
        "greedy-acc": "Greedy",
        "greedy-cost": "Greedy",
        "mask-static": "PT-S",
        "cae": "CAE",
    },
    "trees": {"c45": "C4.5", "eg2": "EG2", "idx": "IDX", "cs-id3": "CS-ID3", "icet": "ICET"},
    "cascades": {
        "cost-ordered": "CO-T",
        "emsco": "EMSCO",
        "exhaustive": "EMSCO",
        "cstc": "CSTC",
        "cscc": "CSTC",
        "cronus": "CSTC",
        "and-or": "AND-OR",
        "adapt-gbrt": "ADAPT",
        "adapt-lin": "ADAPT",
    },
    "boosting": {
        "greedymiser": "GreedyMiser",
        "cegb": "CEGB",
        "adaboost-rs": "AdaBoostRS",
        "stagewise": "Stage-wise boosting",
    },
    "early stopping": {
        "qwyc": "QWYC",
        "early-stopping": "QWYC",
        "fan": "Fan",
        "early-exit": "Early exit",
        "smaller-ensemble": "Smaller ensemble",
    },
    "forests": {"budgetprune": "BUDGETPRUNE", "ccp": "CCP", "greedyprune": "GreedyPrune", "budgetrf": "BudgetRF"},
    "look-ahead": {"aaco": "AACO", "greedy-cmi": "Greedy CMI"},
    "neural": {"gdfs": "GDFS", "dime": "DIME", "eddi": "EDDI", "cwcf": "CwCF", "ol": "OL"},
    EVERYTHING: {"single-stage": "Logistic regression", "lightgbm": "LightGBM", "rbf-svm": "RBF-SVM"},
    EMPTY: {"majority": "Majority"},
}
"""Kind → registered name of a method → its algorithm. Methods of one algorithm are variants, and count once."""

_SAME_FOR_EVERY_ROW = frozenset({"stagewise", "adaboost-rs"})
"""Methods of a dynamic kind that read the same features of every row."""

REFERENCES = ("single-stage", "lightgbm")
"""The reference with all features: the better of these on validation, split by split.

It does not depend on which methods compete. "The best method with all features" would, and the best of many is partly
lucky. One of the two is linear and the other is not, so that one suits small tables and one suits large tables."""


@dataclass(frozen=True)
class Place:
    """A method's kind and algorithm.

    Attributes:
        kind: its kind.
        algorithm: its algorithm.
        dynamic: whether the features it buys for a row depend on the values seen in it so far.
    """

    kind: str
    algorithm: str
    dynamic: bool


def places_of(suite: Suite, entry: ComparisonEntry) -> dict[str, Place]:
    """Method's label → its kind and algorithm, in the suite's order.

    The suite's ``kinds`` come first, then the table of this module; a method in neither is of the kind ``other`` and
    an algorithm of its own.
    """
    known = {use: (kind, name) for kind, uses in _KINDS_OF.items() for use, name in uses.items()}
    dynamic = {kind.name: kind.dynamic for kind in KINDS}
    places = {}
    for method in suite.file.methods:
        kind, algorithm = known.get(method.use, (OTHER, method.label))
        kind = EMPTY if method.label == entry.fallback else entry.kinds.get(method.label, kind)
        places[method.label] = Place(kind, algorithm, dynamic[kind] and method.use not in _SAME_FOR_EVERY_ROW)
    return places
