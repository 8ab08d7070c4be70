"""What the kinds of ``[[claims]]`` have in common: the sentence, where it is checked, and the number it is about."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = ["OURS", "STANDINGS", "Cause", "ClaimFields", "ComparedFields", "Match", "Name", "QuantityFields", "Relation"]

OURS = "ours"
"""The source of claims that no paper makes."""

STANDINGS = ("same data", "stand-in", "absent")
"""How far the data lets the verdict on a claim go; see `ClaimFields`."""

Name = Annotated[str, Field(min_length=1, max_length=200)]
Relation = Literal["=", "<", "<=", ">", ">="]


class Table(BaseModel):
    """A table of a suite: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Cause(Table):
    """Why a claim is contradicted, or not seen on a stand-in, where the evidence is known.

    Attributes:
        kind: what differs: our ``implementation``, the ``protocol`` (splits, grids, what is read), the ``data``, or
            the ``paper`` contradicts itself. On stand-ins mostly the ``data``.
        text: one sentence that names the evidence.
    """

    kind: Literal["implementation", "protocol", "data", "paper"]
    text: Annotated[str, Field(min_length=1)]


class Match(Table):
    """Where a method's curve is read: at a value of another metric on the test part, the same for all methods.

    Attributes:
        metric: less of it is better: the share of rows decided otherwise than by the full model, or base models run.
        most: the value. With ``full`` it is raised to the least value at which each family compared has a policy of its
            own on every split (`bench_claims.quantities.Source.read_at`); the page says so.
        full: ``[metric's, quantity's]`` values of a policy that every family has besides its own (the full model).
    """

    metric: Name
    most: Annotated[float, Field(gt=0)]
    full: Annotated[list[float], Field(min_length=2, max_length=2)] | None = None


class ClaimFields(Table):
    """What every claim says.

    Attributes:
        text: the paper's sentence, shortened. source: where it stands, or ``ours`` for a claim of our own.
        note: how it was read.
        standing: how far the data lets a verdict go: the paper's own data set (``same data``); other data in its place
            (``stand-in``: generated, another set, an extract); or the paper's own, which is not available (``absent``;
            where records of it are there, the claim is about the same data). Every claim needs it.
        by_construction: why the claim cannot come out otherwise here; it is shown and counted by itself.
        cause: shown where the claim is contradicted, or not seen on a stand-in.
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


class QuantityFields(ClaimFields):
    """A number of a method's records; exactly one of ``metric``, ``averaged``, ``diagnostic`` and ``series``.

    Attributes:
        metric: on the test part, of the policy that validation selected.
        averaged: metrics whose mean it is, such as a cost at several costs of an error.
        rows: name in the claim → methods, one for each of ``averaged``, whose rows its mean is of: where a method has a
            row for each of them. Other names are methods, read in every metric.
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
        reading: of a curve: its ``steps``, or the lotteries on its ``hull`` (`bench_analysis.lottery`).
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
        """Whether the metric is read off a curve, instead of the selected row."""
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

    takes_queries: ClassVar[bool] = True
    takes_median: ClassVar[bool] = False
    """Whether the kind can have ``queries``, and a median."""

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
