"""``[[claims]]`` and ``[[paper]]``: what a paper says, as data of a few kinds. Never code to evaluate.

What each kind asks of the records, and the rule of the verdicts, is in `bench_leaderboard.analysis.claims`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = [
    "CHECKS",
    "Check",
    "DifferenceCheck",
    "DominanceCheck",
    "ExtremeCheck",
    "OrderCheck",
    "PaperEntry",
    "RatioCheck",
    "ShareCheck",
    "ValueCheck",
    "checks_within",
    "without_kind",
]

Name = Annotated[str, Field(min_length=1, max_length=200)]
Relation = Literal["=", "<", "<=", ">", ">="]


class _Table(BaseModel):
    """A table of a suite: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class PaperEntry(_Table):
    """``[[paper]]``: a number of the paper's tables, shown beside ours.

    Attributes:
        dataset, costs: where; ``costs`` is needed only when the data set is priced in several ways.
        method: as the suite calls it; a method that the suite does not have gets a row of its own.
        metric: in the metric's own unit: 0.701 for 70.1 %.
        source: where in the paper.
    """

    dataset: Name
    method: Name
    metric: Name
    value: float
    source: str = ""
    costs: str = ""


class _Check(_Table):
    """What every claim says.

    Attributes:
        text: the paper's sentence, shortened. source: where it stands. note: how it was read.
        datasets: the suite's names; all when empty. The claim is about the mean over them.
        costs: cost scheme, where a data set has several; its first when empty.
    """

    text: str = ""
    source: str = ""
    note: str = ""
    datasets: list[Name] = []
    costs: str = ""


class _Quantity(_Check):
    """A number of a method's records; exactly one of ``metric``, ``diagnostic`` and ``series``.

    Attributes:
        metric: on the test part, of the policy that validation selected.
        diagnostic: a value of the fit, as the method left it in its records.
        series: name of a series of the fit's history, taken at place ``at`` (its last value if it stopped before).
        over: name of a second series: the quantity is the first over it, at the same place.
        statistic: ``mean`` over seeds, or ``median``, for counts that a few seeds may dominate.
        percent: a diagnostic or a series is a share, to be shown as a percentage.
    """

    metric: str = ""
    diagnostic: str = ""
    series: str = ""
    at: Annotated[int, Field(ge=0)] | None = None
    over: str = ""
    statistic: Literal["mean", "median"] = "mean"
    percent: bool = False

    @model_validator(mode="after")
    def _one_quantity(self) -> _Quantity:
        if sum(map(bool, (self.metric, self.diagnostic, self.series))) != 1:
            raise ValueError("give exactly one of metric, diagnostic and series")
        if bool(self.series) != (self.at is not None):
            raise ValueError("'series' and 'at' go together")
        if self.over and not self.series:
            raise ValueError("'over' needs a 'series' to divide")
        if self.statistic == "median" and len(self.datasets) != 1:
            raise ValueError("a median over seeds is of one data set: give one in datasets")
        return self


class _Compared(_Quantity):
    """A quantity beside a number of the paper.

    Attributes:
        value: the paper's number, in the unit of what is shown (0.8 for 80 %).
        relation: ``=`` is checked with the tolerance; the others are relations.
        tolerance: how far ours may be off, in the same unit; by default as `default_tolerance` of the claims says.
    """

    relation: Relation = "="
    tolerance: Annotated[float, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _means_only(self) -> _Compared:
        if self.statistic == "median" and (not isinstance(self, ValueCheck) or self.relation != "="):
            raise ValueError("a median is for kind 'value' with relation '='")
        return self


class ValueCheck(_Compared):
    """``kind = "value"``: a method's number is the paper's.

    Attributes:
        value: the number, or ``"threshold"`` for the data set's confidence threshold p̂ (with a relation).
        form: ``one-minus`` shows and checks 1 − the quantity (rejected instead of covered).
        baseline: a number, or ``"threshold"``: "same direction" means on the same side of it as the paper's.
    """

    kind: Literal["value"]
    method: Name
    value: float | Literal["threshold"]
    form: Literal["plain", "one-minus"] = "plain"
    baseline: float | Literal["threshold"] | None = None

    @model_validator(mode="after")
    def _threshold_needs_a_relation(self) -> ValueCheck:
        if self.value == "threshold" and (self.relation == "=" or self.form != "plain"):
            raise ValueError("value = 'threshold' needs a relation other than '=', and no form")
        return self


class RatioCheck(_Compared):
    """``kind = "ratio"``: mean of ``method`` over mean of ``against``, data set by data set.

    Attributes:
        form: ``one-minus`` for "so much below", ``minus-one`` for "so much above".
    """

    kind: Literal["ratio"]
    method: Name
    against: Name
    value: float
    form: Literal["plain", "one-minus", "minus-one"] = "plain"


class DifferenceCheck(_Compared):
    """``kind = "difference"``: mean of ``method`` minus mean of ``against``."""

    kind: Literal["difference"]
    method: Name
    against: Name
    value: float


class OrderCheck(_Quantity):
    """``kind = "order"``: the methods' means stand in this order, the highest (or lowest) first."""

    kind: Literal["order"]
    methods: Annotated[list[Name], Field(min_length=2)]
    first: Literal["highest", "lowest"] = "highest"


class ExtremeCheck(_Quantity):
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


class DominanceCheck(_Check):
    """``kind = "dominance"``: ``method`` dominates every method of ``against``, or none of them dominates it.

    Attributes:
        objectives: metrics; when empty those of the tables (`bench_leaderboard.analysis.dominance`).
    """

    kind: Literal["dominance"]
    method: Name
    against: Annotated[list[Name], Field(min_length=1)]
    relation: Literal["dominates", "non-dominated"] = "dominates"
    objectives: list[Name] = []


Simple = Annotated[
    ValueCheck | RatioCheck | DifferenceCheck | OrderCheck | ExtremeCheck | DominanceCheck,
    Field(discriminator="kind"),
]


class ShareCheck(_Check):
    """``kind = "share"``: ``of`` holds on so many of the data sets, each by itself."""

    kind: Literal["share"]
    of: Simple
    count: Annotated[int, Field(ge=0)]

    @model_validator(mode="after")
    def _names_data_sets_once(self) -> ShareCheck:
        if self.of.datasets or self.of.costs:
            raise ValueError("name the data sets beside 'of', not in it")
        return self


Check = Annotated[
    ValueCheck | RatioCheck | DifferenceCheck | OrderCheck | ExtremeCheck | DominanceCheck | ShareCheck,
    Field(discriminator="kind"),
]

CHECKS: dict[str, type[_Check]] = {
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


def without_kind(loc: tuple[Any, ...]) -> tuple[tuple[Any, ...], type[_Check] | None]:
    """A place in a claim without the kinds that pydantic puts into it, and the model of that kind."""
    if loc[:1] != ("claims",):
        return loc, None
    said, model = list(loc[:2]), None
    rest = list(loc[2:])
    while rest:
        part = rest.pop(0)
        if part in CHECKS and (len(said) == 2 or said[-1] == "of") and model is not CHECKS[part]:
            model = CHECKS[part]
        else:
            said.append(part)
    return tuple(said), model
