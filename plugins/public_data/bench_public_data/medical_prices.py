"""Prices of the tests in medical data sets, in Canadian dollars (Turney 1995, Appendix A).

P. D. Turney, Cost-Sensitive Classification: Empirical Evaluation of a Hybrid Genetic Decision Tree Induction
Algorithm, JAIR 2, 369-409, 1995. The prices come from the fee schedule of the Ontario Health Insurance Program. Tests
that share a procedure (a blood sample, a stress test) share its cost, which is paid with the first of them. The article
has five data sets. Its prices also apply to three further tables with the same tests: ``heart-h`` (the tests of
heart-cleveland, at another hospital), ``sick`` and ``hypothyroid`` (the tests of thyroid).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bench_core import Costs, CostScheme, DataError, DataFacts, Dataset, did_you_mean
from bench_public_data.uci_archives import ARCHIVES

__all__ = ["PRICES", "Group", "PriceList", "TurneyPrices"]

_QUESTION = 1.00
_BLOOD = 2.10


@dataclass(frozen=True)
class Group:
    """Tests that share a cost.

    Attributes:
        shared: the shared cost in dollars, paid once, with the first test.
        tests: feature → its own price in dollars.
    """

    shared: float
    tests: Mapping[str, float]


@dataclass(frozen=True)
class PriceList:
    """The prices of one data set.

    Attributes:
        features: names of all features; those without a price below (questions, observations) cost 1 dollar.
        groups: tests that share a cost.
        single: feature → price in dollars, for tests without a shared cost.
    """

    features: tuple[str, ...]
    groups: tuple[Group, ...]
    single: Mapping[str, float] = field(default_factory=dict)

    def costs(self) -> Costs:
        """Return the prices in the order of the features, with the groups."""
        prices = np.full(len(self.features), _QUESTION)
        member = np.full(len(self.features), -1, dtype=np.int64)
        for feature, price in self.single.items():
            prices[self.features.index(feature)] = price
        for number, group in enumerate(self.groups):
            for feature, price in group.tests.items():
                place = self.features.index(feature)
                prices[place], member[place] = price, number
        return Costs(prices, member, np.array([group.shared for group in self.groups]))


_HEART = (
    Group(_BLOOD, {"chol": 5.17, "fbs": 3.10}),
    Group(101.90, {"thalach": 1.00, "thal": 1.00}),
    Group(86.30, {"exang": 1.00, "oldpeak": 1.00, "slope": 1.00}),
)
_HEART_SINGLE = {"restecg": 15.50, "ca": 100.90}
_THYROID = {"tsh": 20.68, "t3": 9.31, "tt4": 12.41, "t4u": 9.31}
_GARAVAN = PriceList(
    (
        "age", "sex", "on_thyroxine", "query_on_thyroxine", "on_antithyroid_medication", "sick", "pregnant",
        "thyroid_surgery", "I131_treatment", "query_hypothyroid", "query_hyperthyroid", "lithium", "goitre", "tumor",
        "hypopituitary", "psych", "TSH", "T3", "TT4", "T4U",
    ),
    (Group(_BLOOD, {test.upper(): price for test, price in _THYROID.items()}),),
)  # fmt: skip

PRICES: dict[str, PriceList] = {
    # Appendix A.2
    "heart-cleveland": PriceList(ARCHIVES[45].features, _HEART, _HEART_SINGLE),
    # Appendix A.3
    "hepatitis": PriceList(
        ARCHIVES[46].features,
        (Group(_BLOOD, {"bilirubin": 5.17, "alk_phosphate": 5.17, "sgot": 5.17, "albumin": 5.17, "protime": 6.20}),),
    ),
    # Appendix A.1
    "liver-bupa": PriceList(
        ARCHIVES[60].features,
        (Group(_BLOOD, {"mcv": 5.17, "alkphos": 5.17, "sgpt": 5.17, "sgot": 5.17, "gammagt": 7.76}),),
    ),
    # Appendix A.5
    "thyroid": PriceList(ARCHIVES[102].features, (Group(_BLOOD, _THYROID),)),
    # Appendix A.4
    "pima": PriceList(
        ("pregnancies", "glucose", "blood_pressure", "skin_thickness", "insulin", "bmi", "pedigree", "age"),
        (Group(_BLOOD, {"glucose": 15.51, "insulin": 20.68}),),
    ),
    # Not in the article: the tests of A.2 and A.5 under the names of OpenML 51, 38 and 57.
    "heart-h": PriceList(
        tuple("chest_pain" if feature == "cp" else feature for feature in ARCHIVES[45].features), _HEART, _HEART_SINGLE
    ),
    "sick": _GARAVAN,
    "hypothyroid": _GARAVAN,
}


@dataclass(frozen=True)
class TurneyPrices(CostScheme):
    """Prices of medical tests in Canadian dollars (Turney 1995, App. A): heart-cleveland, hepatitis, thyroid, ….

    Tests that share a blood sample or an exercise test pay for it once per row. The names of the features must be
    those of one of the data sets, in any order.

    Attributes:
        prices_of: the data set whose prices are used; empty: the one with the same features.
    """

    prices_of: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.prices_of and self.prices_of not in PRICES:
            raise ValueError(
                f"prices_of: there are no prices of {self.prices_of!r}; {did_you_mean(self.prices_of, PRICES)}"
            )

    def price(self, dataset: Dataset, train: NDArray[np.int64], seed: int) -> Costs:
        prices = self._list(dataset.name, dataset.feature_names)
        costs = prices.costs()
        order = [prices.features.index(feature) for feature in dataset.feature_names]
        member = None if costs.groups is None else costs.groups[order]
        return Costs(costs.prices[order], member, costs.group_prices)

    def units(self, data: DataFacts) -> int:
        prices = self._list(data.name, data.feature_names)
        return len(prices.features) - sum(len(group.tests) - 1 for group in prices.groups)

    def _list(self, dataset: str, features: tuple[str, ...]) -> PriceList:
        for prices in PRICES.values():
            if not self.prices_of and set(prices.features) == set(features):
                return prices
        if not self.prices_of:
            raise DataError(
                f"data set {dataset!r}: no data set with prices in Turney 1995 has the same features; with prices: "
                f"{', '.join(PRICES)}"
            )
        prices = PRICES[self.prices_of]
        for feature in features:
            if feature not in prices.features:
                raise DataError(
                    f"data set {dataset!r}: feature {feature!r} has no price in {self.prices_of!r}; "
                    f"{did_you_mean(feature, prices.features)}"
                )
        missing = [feature for feature in prices.features if feature not in features]
        if missing:
            raise DataError(
                f"data set {dataset!r}: no feature {missing[0]!r}, which prices_of = {self.prices_of!r} needs"
            )
        return prices
