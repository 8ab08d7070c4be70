"""``[[claims]]``: what a paper says, as data of a few kinds. Never code to evaluate.

What each kind asks of the records, and the rule of the verdicts, is in `bench_claims.claims`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

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

OURS = "ours"
"""The source of claims that no paper makes."""

STANDINGS = ("same data", "stand-in", "absent")
"""How far the data lets the verdict on a claim go; see `_Check`."""

Name = Annotated[str, Field(min_length=1, max_length=200)]
Relation = Literal["=", "<", "<=", ">", ">="]


class _Table(BaseModel):
    """A table of a suite: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Cause(_Table):
    """Why a claim is contradicted on the paper's own data, where the evidence is known.

    Attributes:
        kind: what differs: our ``implementation``, the ``protocol`` (splits, grids, what is read), the ``data``, or
            the ``paper`` contradicts itself.
        text: one sentence that names the evidence.
    """

    kind: Literal["implementation", "protocol", "data", "paper"]
    text: Annotated[str, Field(min_length=1)]


class Match(_Table):
    """Where a method's curve is read: at a value of another metric on the test part, the same for all methods.

    Attributes:
        metric: less of it is better: the share of rows decided otherwise than by the full model, or base models run.
        most: the value.
        full: ``[metric's, quantity's]`` values of a policy that every family has besides its own (the full model).
    """

    metric: Name
    most: Annotated[float, Field(gt=0)]
    full: Annotated[list[float], Field(min_length=2, max_length=2)] | None = None


class _Check(_Table):
    """What every claim says.

    Attributes:
        text: the paper's sentence, shortened. source: where it stands, or ``ours`` for a claim of our own.
        note: how it was read.
        standing: how far the data lets a verdict go: the paper's own data set (``same data``); other data in its place
            (``stand-in``: generated, another set, an extract); or the paper's own, which could not be had (``absent``;
            where records of it are there, the claim is about the same data). Every claim needs it.
        by_construction: why the claim cannot come out otherwise here; it is shown and counted by itself.
        cause: shown where the claim is contradicted on the same data.
        datasets: the suite's names; all when empty. The claim is about the mean over them.
        costs: cost scheme, where a data set has several; its first when empty.
    """

    text: str = ""
    source: str = ""
    note: str = ""
    standing: str = ""
    by_construction: str = ""
    cause: Cause | None = None
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
        undefined: the number by which the records code that the quantity is not defined.
        within: read the metric off the method's curve, within this share of the price of all features, instead of the
            selected row; ``cost`` is the metric that is spent, if not the price.
        matched: read the metric off the method's curve where another metric has a given value on the test part, so that
            methods are compared at the same value of it, not at that of their selected rows.
        reading: of a curve: its ``steps``, or the lotteries on its ``hull`` (`bench_leaderboard.analysis.lottery`).
    """

    metric: str = ""
    diagnostic: str = ""
    series: str = ""
    at: Annotated[int, Field(ge=0)] | None = None
    over: str = ""
    statistic: Literal["mean", "median"] = "mean"
    percent: bool = False
    undefined: float | None = None
    within: Annotated[float, Field(gt=0, le=1)] | None = None
    cost: Name = "cost"
    matched: Match | None = None
    reading: Literal["", "steps", "hull"] = ""

    @model_validator(mode="after")
    def _curves_have_a_reading(self) -> _Quantity:
        if self.within is not None and self.matched is not None:
            raise ValueError("give 'within' or 'matched', not both")
        if self.read_off != bool(self.reading):
            raise ValueError(f"'{'matched' if self.matched else 'within'}' and 'reading' go together")
        if self.read_off and not self.metric:
            raise ValueError(f"'{'matched' if self.matched else 'within'}' needs a 'metric'")
        return self

    @property
    def read_off(self) -> bool:
        """Whether the metric is read off a curve, instead of the selected row."""
        return self.within is not None or self.matched is not None

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
        relation: ``=``: it is about this number; the others are relations.
        splits: how many splits the paper's number is the mean of, for ``=``.
        tolerance: what "about" means here, in the same unit, where it is not `bench_claims.claims.ABOUT`.
        reason: why; it is shown.
        queries: of a ranking metric with ``=``, where the test part is given: how many queries it has (the paper's or
            ours, whichever has fewer), so that the interval can allow for other queries.
    """

    relation: Relation = "="
    splits: Annotated[int, Field(ge=1)] = 1
    queries: Annotated[int, Field(ge=2)] | None = None
    tolerance: Annotated[float, Field(gt=0)] | None = None
    reason: str = ""

    @model_validator(mode="after")
    def _tolerance_has_a_reason(self) -> _Compared:
        if self.tolerance is not None and self.relation != "=":
            raise ValueError("'tolerance' is for relation '='")
        if (self.tolerance is not None) != bool(self.reason.strip()):
            raise ValueError("'tolerance' and the 'reason' for it go together")
        if self.relation == "=" and self.tolerance is None and getattr(self, "value", None) == 0:
            raise ValueError("a number about 0 needs a 'tolerance' and a 'reason': there is no tenth of 0")
        return self

    @model_validator(mode="after")
    def _queries_are_of_one_number(self) -> _Compared:
        if self.queries is not None and (self.relation != "=" or isinstance(self, RatioCheck)):
            raise ValueError("'queries' is for a value or a difference with relation '='")
        return self

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
    """

    kind: Literal["value"]
    method: Name
    value: float | Literal["threshold"]
    form: Literal["plain", "one-minus"] = "plain"

    @model_validator(mode="after")
    def _threshold_needs_a_relation(self) -> ValueCheck:
        if self.value == "threshold" and (self.relation == "=" or self.form != "plain"):
            raise ValueError("value = 'threshold' needs a relation other than '=', and no form")
        return self


class RatioCheck(_Compared):
    """``kind = "ratio"``: mean of ``method`` over mean of ``against``, data set by data set.

    Attributes:
        form: ``one-minus`` for "so much below", ``minus-one`` for "so much above".
        against_dataset: the data set that ``against`` is taken of, where it is another one with the same splits.
    """

    kind: Literal["ratio"]
    method: Name
    against: Name
    against_dataset: str = ""
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
    ValueCheck | RatioCheck | DifferenceCheck | OrderCheck | ExtremeCheck | DominanceCheck, Field(discriminator="kind")
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
        if self.of.standing or self.of.cause or self.of.by_construction:
            raise ValueError("standing, cause and by_construction stand beside 'of', not in it")
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
    path, model = list(loc[:2]), None
    rest = list(loc[2:])
    while rest:
        part = rest.pop(0)
        if part in CHECKS and (len(path) == 2 or path[-1] == "of") and model is not CHECKS[part]:
            model = CHECKS[part]
        else:
            path.append(part)
    return tuple(path), model
