"""``[comparison]`` of a suite: that its methods are to be compared over data sets, budget by budget."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

__all__ = ["PRICES", "ComparisonEntry", "Prices", "UseEntry"]

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


class UseEntry(BaseModel):
    """``[[comparison.uses]]``: a use that readers come with; the front page says what to take for it.

    Attributes:
        title: what it is called: ``Cheap medical tests``.
        datasets: names of data sets that stand for it.
        methods: names of the methods that are compared; all when empty.
        cost: what is to be saved: ``cost``, what features cost; or a metric such as ``mean-base-models``, as a share
            of the largest value that any of these methods has on the data set.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    title: Name
    datasets: Annotated[list[Name], Field(min_length=1)]
    methods: list[Name] = []
    cost: Name = "cost"


class ComparisonEntry(BaseModel):
    """``[comparison]``: methods are compared over data sets at budgets, and the front page says what came out.

    Attributes:
        budgets: shares of the price of all features.
        absolute: data set → further budgets, in the unit of its prices; for ``absolute.csv``.
        tolerance: by how much of it a budget may be exceeded on the test part, on average over the splits, before a
            method counts as *over budget* there.
        fallback: name of the method that answers without looking at anything.
        static: names of the methods that look at the same features of every row; the best of them on validation is
            the best fixed subset.
        reference: names of methods; the best of them on validation with all features is 100 % of the scale of quality.
            Empty: the suite's `bench_comparison.kinds.REFERENCES`.
        prices: kind of prices → names of cost schemes. The others go by what they use: ``uniform`` prices are
            ``unit``, those of ``random`` are ``drawn``, those of ``cost-classes`` are an article's ``classes``; those
            of ``from-data``, ``importance-quantiles`` and ``svm-weights`` are ``generated``; others are ``fees``.
        metrics: further metrics that every record must have.
        kinds: method → its kind, see `bench_comparison.kinds.KINDS`; for those that the comparison does not know.
        families: name → data sets that are near-duplicates and together count as one. Those of one table (the same
            source and parameters) are one family already.
        uses: what readers come with.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    budgets: Annotated[list[Share], Field(min_length=1), AfterValidator(_rising)] = [0.05, 0.1, 0.2, 0.4, 1.0]
    absolute: dict[Name, Amounts] = {}
    tolerance: Annotated[float, Field(ge=0, le=1)] = 0.1
    fallback: str = ""
    static: list[Name] = []
    reference: list[Name] = []
    prices: dict[Prices, list[Name]] = {}
    metrics: list[Name] = []
    kinds: dict[Name, Name] = {}
    families: dict[Name, list[Name]] = {}
    uses: list[UseEntry] = []
