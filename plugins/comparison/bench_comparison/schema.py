"""The schema of ``[comparison]`` in a suite: its methods are compared over data sets, budget by budget."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

__all__ = ["PRICES", "ComparisonEntry", "Prices"]

Name = Annotated[str, Field(min_length=1, max_length=200)]
Prices = Literal["fees", "classes", "generated", "unit", "drawn"]
PRICES: dict[Prices, str] = {
    "fees": "fees that somebody charges",
    "classes": "cost classes of an article",
    "generated": "prices generated with the data",
    "unit": "unit prices",
    "drawn": "drawn prices",
}
"""Kinds of prices, in words."""


def _rising(values: list[float]) -> list[float]:
    if sorted(set(values)) != values:
        raise ValueError("must rise, without repetition")
    return values


Share = Annotated[float, Field(gt=0, le=1)]
Amount = Annotated[float, Field(ge=0)]
Amounts = Annotated[list[Amount], Field(min_length=1), AfterValidator(_rising)]


class ComparisonEntry(BaseModel):
    """``[comparison]``: methods are compared over data sets at budgets, and the front page says which to use.

    Attributes:
        budgets: shares of the price of all features.
        absolute: data set → further budgets, in the unit of its prices; for ``absolute.csv``.
        tolerance: the share of a budget by which the mean test cost over the splits may exceed it before a method
            counts as *over budget* there.
        fallback: name of the method that buys nothing.
        reference: names of methods; the best of them on validation with all features is 100 % of the scale of quality.
            Empty: the suite's `bench_comparison.kinds.REFERENCES`.
        prices: kind of prices → names of cost schemes. For others, ``use`` decides: ``uniform`` prices are
            ``unit``, those of ``random`` are ``drawn``, those of ``cost-classes`` are an article's ``classes``; those
            of ``from-data``, ``importance-quantiles`` and ``svm-weights`` are ``generated``; all others are ``fees``.
        metrics: further metrics that every record must have.
        kinds: method → its kind, see `bench_comparison.kinds.KINDS`; for methods that are not listed there.
        families: name → data sets that are near-duplicates and together count as one. Those of one table (the same
            source and parameters) are one family already.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    budgets: Annotated[list[Share], Field(min_length=1), AfterValidator(_rising)] = [0.05, 0.1, 0.2, 0.4, 1.0]
    absolute: dict[Name, Amounts] = {}
    tolerance: Annotated[float, Field(ge=0, le=1)] = 0.1
    fallback: str = ""
    reference: list[Name] = []
    prices: dict[Prices, list[Name]] = {}
    metrics: list[Name] = []
    kinds: dict[Name, Name] = {}
    families: dict[Name, list[Name]] = {}
