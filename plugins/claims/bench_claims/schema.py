"""``[[claims]]``: what a paper says, as data of a few kinds. Never code to evaluate.

What each kind asks of the records, and the rule of the verdicts, is in `bench_claims.claims`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from bench_claims.fields import OURS, STANDINGS, Cause, ClaimFields, ComparedFields, Match, Name, QuantityFields

__all__ = [
    "CHECKS",
    "OURS",
    "STANDINGS",
    "Cause",
    "Check",
    "DifferenceCheck",
    "DominanceCheck",
    "ExtremeCheck",
    "Match",
    "OrderCheck",
    "RatioCheck",
    "ShareCheck",
    "ValueCheck",
    "checks_within",
    "without_kind",
]


class ValueCheck(ComparedFields):
    """``kind = "value"``: a method's number is the paper's.

    Attributes:
        value: the number, or ``"threshold"`` for the data set's confidence threshold p̂ (with a relation).
        form: ``one-minus`` shows and checks 1 − the quantity (rejected instead of covered).
    """

    takes_median = True

    kind: Literal["value"]
    method: Name
    value: float | Literal["threshold"]
    form: Literal["plain", "one-minus"] = "plain"

    @model_validator(mode="after")
    def _threshold_needs_a_relation(self) -> ValueCheck:
        if self.value == "threshold" and (self.relation == "=" or self.form != "plain"):
            raise ValueError("value = 'threshold' needs a relation other than '=', and no form")
        return self


class RatioCheck(ComparedFields):
    """``kind = "ratio"``: mean of ``method`` over mean of ``against``, data set by data set.

    Attributes:
        form: ``one-minus`` for "so much below", ``minus-one`` for "so much above".
        against_dataset: the data set that ``against`` is taken of, where it is another one with the same splits.
    """

    takes_queries = False

    kind: Literal["ratio"]
    method: Name
    against: Name
    against_dataset: str = ""
    value: float
    form: Literal["plain", "one-minus", "minus-one"] = "plain"


class DifferenceCheck(ComparedFields):
    """``kind = "difference"``: mean of ``method`` minus mean of ``against``."""

    kind: Literal["difference"]
    method: Name
    against: Name
    value: float


class OrderCheck(QuantityFields):
    """``kind = "order"``: the methods' means stand in this order, the highest (or lowest) first."""

    kind: Literal["order"]
    methods: Annotated[list[Name], Field(min_length=2)]
    first: Literal["highest", "lowest"] = "highest"


class ExtremeCheck(QuantityFields):
    """``kind = "extreme"``: the highest (lowest) mean among methods; ``place = 2`` for the second highest."""

    kind: Literal["extreme"]
    method: Name
    among: Annotated[list[Name], Field(min_length=2)]
    which: Literal["highest", "lowest"]
    place: Annotated[int, Field(ge=1)] = 1

    @model_validator(mode="after")
    def _is_one_of_them(self) -> ExtremeCheck:
        if self.method not in self.among or self.place > len(self.among):
            raise ValueError("'method' must be one of 'among', and 'place' at most their number")
        return self


class DominanceCheck(ClaimFields):
    """``kind = "dominance"``: ``method`` dominates every method of ``against``, or none of them dominates it.

    Attributes:
        objectives: metrics; when empty those of the tables (`bench_analysis.dominance`).
    """

    kind: Literal["dominance"]
    method: Name
    against: Annotated[list[Name], Field(min_length=1)]
    relation: Literal["dominates", "non-dominated"] = "dominates"
    objectives: list[Name] = []


Simple = Annotated[
    ValueCheck | RatioCheck | DifferenceCheck | OrderCheck | ExtremeCheck | DominanceCheck, Field(discriminator="kind")
]


class ShareCheck(ClaimFields):
    """``kind = "share"``: ``of`` holds on so many of the data sets, each by itself."""

    kind: Literal["share"]
    of: Simple
    count: Annotated[int, Field(ge=0)]

    @model_validator(mode="after")
    def _names_data_sets_once(self) -> ShareCheck:
        if self.of.datasets or self.of.costs:
            raise ValueError("name the data sets beside 'of', not in it")
        if self.of.standing or self.of.cause or self.of.by_construction:
            raise ValueError("standing, cause and by_construction stand beside 'of', not in it")
        return self


Check = Annotated[
    ValueCheck | RatioCheck | DifferenceCheck | OrderCheck | ExtremeCheck | DominanceCheck | ShareCheck,
    Field(discriminator="kind"),
]

CHECKS: dict[str, type[ClaimFields]] = {
    "value": ValueCheck,
    "ratio": RatioCheck,
    "difference": DifferenceCheck,
    "order": OrderCheck,
    "extreme": ExtremeCheck,
    "dominance": DominanceCheck,
    "share": ShareCheck,
}


def checks_within(check: Any) -> Iterator[Any]:
    """The check, and the one inside it when it is a share."""
    yield check
    if isinstance(check, ShareCheck):
        yield check.of


def without_kind(loc: tuple[Any, ...]) -> tuple[tuple[Any, ...], type[ClaimFields] | None]:
    """A place in a claim without the kinds that pydantic puts into it, and the model of that kind."""
    if loc[:1] != ("claims",):
        return loc, None
    path, model = list(loc[:2]), None
    rest = list(loc[2:])
    while rest:
        part = rest.pop(0)
        if part in CHECKS and (len(path) == 2 or path[-1] == "of") and model is not CHECKS[part]:
            model = CHECKS[part]
        else:
            path.append(part)
    return tuple(path), model
