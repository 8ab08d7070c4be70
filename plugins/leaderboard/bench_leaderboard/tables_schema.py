"""``[[tables]]``, ``[[paper]]``, ``[[grid_ends]]`` of a suite: further tables, the paper's numbers, ends of grids."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = ["GridEndEntry", "PaperEntry", "TableEntry"]

Name = Annotated[str, Field(min_length=1, max_length=200)]


class TableEntry(BaseModel):
    """``[[tables]]``: a further table on the page, of values that methods stored in their records.

    Attributes:
        kind: ``diagnostics`` (values of the fit, mean and range over seeds), ``history`` (a series) or ``policies``
            (a row for every policy of a family).
        fields: names of the diagnostics; for ``policies`` quantities: ``validation.<metric>``, ``test.<metric>`` or
            ``history.<series>`` (a number per policy); ``heads``: what the columns are called; ``percent``: the
            series are shares, to be shown as percentages.
        series: name of the history's series; ``at``: places in it; ``axis``: what a place is called.
        paper: data set → method → the paper's number, for ``diagnostics``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    kind: Literal["diagnostics", "history", "policies"]
    title: Name
    note: str = ""
    methods: Annotated[list[str], Field(min_length=1)]
    fields: list[str] = []
    heads: list[str] = []
    percent: bool = False
    series: str = ""
    at: list[Annotated[int, Field(ge=0)]] = []
    axis: str = "step"
    paper: dict[str, dict[str, float]] = {}

    @model_validator(mode="after")
    def _heads_name_fields(self) -> TableEntry:
        if self.heads and len(self.heads) != len(self.fields):
            raise ValueError("heads names every one of fields")
        return self


class PaperEntry(BaseModel):
    """``[[paper]]``: a number of the paper's tables, shown beside ours.

    Attributes:
        dataset, costs: where it is shown; ``costs`` is needed only when the data set is priced in several ways.
        method: as the suite calls it; a method that the suite does not have gets a row of its own.
        metric: name of the metric.
        value: the number in the metric's own unit: 0.701 for 70.1 %.
        source: where in the paper.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    dataset: Name
    method: Name
    metric: Name
    value: float
    source: str = ""
    costs: str = ""


class GridEndEntry(BaseModel):
    """``[[grid_ends]]``: why a grid ends where it does, for the page's table of grids whose end wins.

    Attributes:
        parameter: as the methods call it: ``lambdas``.
        end: the end that the reason is for.
        why: the reason.
        methods: names of the methods; if empty, all that have the parameter.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    parameter: Name
    end: Literal["least", "greatest"]
    why: Annotated[str, Field(min_length=1)]
    methods: list[str] = []
