"""Fields that the kinds of ``[[claims]]`` share: the sentence, the data it is checked on, and its number."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = ["OURS", "STANDINGS", "Cause", "ClaimFields", "ComparedFields", "Match", "Name", "QuantityFields", "Relation"]

OURS = "ours"
"""The ``source`` of our own claims, which no paper makes."""

STANDINGS = ("same data", "stand-in", "absent")
"""The data that a claim is checked on; see `ClaimFields`."""

Name = Annotated[str, Field(min_length=1, max_length=200)]
Relation = Literal["=", "<", "<=", ">", ">="]


class Table(BaseModel):
    """A table of a suite file; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Cause(Table):
    """The reason why a claim is contradicted, or not seen on a stand-in, if it is known.

    Attributes:
        kind: what differs: our ``implementation``, the ``protocol`` (splits, grids, the number that is read) or the
            ``data`` (usual for stand-ins); or ``paper``: the paper contradicts itself.
        text: one sentence that gives the evidence.
    """

    kind: Literal["implementation", "protocol", "data", "paper"]
    text: Annotated[str, Field(min_length=1)]


class Match(Table):
    """The point at which a curve is read: a value of another metric on the test part, the same for all methods.

    Attributes:
        metric: a metric of which less is better, such as the share of rows decided differently from the full model.
        most: the value. With ``full`` it is raised to the smallest value at which every compared family has a policy of
            its own on every split (`bench_claims.quantities.Source.read_at`); the page reports the change.
        full: ``[value of the metric, value of the quantity]`` of the full model, which every family contains.
    """

    metric: Name
    most: Annotated[float, Field(gt=0)]
    full: Annotated[list[float], Field(min_length=2, max_length=2)] | None = None


class ClaimFields(Table):
    """The fields of every claim.

    Attributes:
        text: the paper's sentence, shortened. Required.
        source: its place in the paper, or ``ours`` for a claim of our own. Required.
        note: how we interpret it.
        standing: the data that the claim is checked on: the paper's own (``same data``); other data in its place
            (``stand-in``: generated, another set, an extract); or the paper's own, which is not available (``absent``;
            if there are records of it, it counts as ``same data``). Required.
        by_construction: why the verdict is forced in this suite; the claim is shown and counted separately.
        cause: shown if the claim is contradicted, or not seen on a stand-in.
        datasets: names in the suite; all if empty. The claim is about the mean over them.
        costs: cost scheme, if a data set has several; the first if empty.
    """

    text: str = ""
    source: str = ""
    note: str = ""
    standing: str = ""
    by_construction: str = ""
    cause: Cause | None = None
    datasets: list[Name] = []
    costs: str = ""


class QuantityFields(ClaimFields):
    """A number of a method's records; exactly one of ``metric``, ``averaged``, ``diagnostic`` and ``series``.

    Attributes:
        metric: a metric on the test part, of the policy that was selected on validation.
        averaged: metrics whose mean is the number, such as a cost at several costs of an error.
        rows: name in the claim → methods, one for each metric of ``averaged``, for methods that have one row per
            metric. Any other name is a method whose one row gives all metrics.
        diagnostic: a diagnostic of the fit, as the records hold it.
        series: name of a series in the fit's history, read at index ``at`` (its last value if it is shorter).
        over: name of a second series by which the first is divided, at the same index.
        statistic: ``mean`` over seeds, or ``median``, for counts that a few seeds may dominate.
        percent: whether a diagnostic or a series is shown as a percentage.
        undefined: the number that means "undefined" in the records.
        within: read the metric off the method's curve within this share of the price of all features, instead of at the
            selected policy; ``cost`` names the metric that is spent, if it is not the price.
        matched: read the metric off the method's curve at a given value of another metric on the test part, so that all
            methods are compared at the same value of it.
        reading: how a curve is read: its ``steps``, or the lotteries on its ``hull``
            (`bench_analysis.lottery`).
    """

    metric: str = ""
    averaged: list[Name] = []
    rows: dict[Name, list[Name]] = {}
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
    def _curves_have_a_reading(self) -> QuantityFields:
        if self.within is not None and self.matched is not None:
            raise ValueError("give 'within' or 'matched', not both")
        if self.read_off != bool(self.reading):
            raise ValueError(f"'{'matched' if self.matched else 'within'}' and 'reading' go together")
        if self.read_off and not self.metric:
            raise ValueError(f"'{'matched' if self.matched else 'within'}' needs a 'metric'")
        return self

    @property
    def read_off(self) -> bool:
        """Whether the metric is read off a curve instead of at the selected policy."""
        return self.within is not None or self.matched is not None

    @model_validator(mode="after")
    def _one_quantity(self) -> QuantityFields:
        if sum(map(bool, (self.metric, self.averaged, self.diagnostic, self.series))) != 1:
            raise ValueError("give exactly one of metric, averaged, diagnostic and series")
        if any(len(methods) != len(self.averaged) for methods in self.rows.values()):
            raise ValueError("'rows' names a method for each metric of 'averaged'")
        if bool(self.series) != (self.at is not None):
            raise ValueError("'series' and 'at' go together")
        if self.over and not self.series:
            raise ValueError("'over' needs a 'series' to divide")
        if self.statistic == "median" and len(self.datasets) != 1:
            raise ValueError("a median over seeds is of one data set: give one in datasets")
        return self


class ComparedFields(QuantityFields):
    """A quantity that is compared with a number of the paper.

    Attributes:
        value: the paper's number, in the records' unit (0.8 for 80 %).
        relation: ``=``: the quantity is about this number; otherwise an inequality.
        splits: how many splits the paper's number is the mean of, for ``=``.
        tolerance: the margin of "about", in the same unit, if it is not `bench_claims.claims.ABOUT`.
        reason: the reason for the tolerance; it is shown.
        queries: for a ranking metric with ``=`` on a fixed test part: its number of queries (the smaller one of the
            paper's and ours), so that the interval can allow for other queries.
    """

    takes_queries: ClassVar[bool] = True
    takes_median: ClassVar[bool] = False
    """Whether claims of this kind may have ``queries``, and a median."""

    relation: Relation = "="
    splits: Annotated[int, Field(ge=1)] = 1
    queries: Annotated[int, Field(ge=2)] | None = None
    tolerance: Annotated[float, Field(gt=0)] | None = None
    reason: str = ""

    @model_validator(mode="after")
    def _tolerance_has_a_reason(self) -> ComparedFields:
        if self.tolerance is not None and self.relation != "=":
            raise ValueError("'tolerance' is for relation '='")
        if (self.tolerance is not None) != bool(self.reason.strip()):
            raise ValueError("'tolerance' and the 'reason' for it go together")
        if self.relation == "=" and self.tolerance is None and getattr(self, "value", None) == 0:
            raise ValueError("a number about 0 needs a 'tolerance' and a 'reason': there is no tenth of 0")
        return self

    @model_validator(mode="after")
    def _queries_are_of_one_number(self) -> ComparedFields:
        if self.queries is not None and (self.relation != "=" or not self.takes_queries):
            raise ValueError("'queries' is for a value or a difference with relation '='")
        return self

    @model_validator(mode="after")
    def _means_only(self) -> ComparedFields:
        if self.statistic == "median" and (not self.takes_median or self.relation != "="):
            raise ValueError("a median is for kind 'value' with relation '='")
        return self
