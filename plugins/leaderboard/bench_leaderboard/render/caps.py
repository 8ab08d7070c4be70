"""The section of a page on hard budgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan, nan

from bench_analysis import Analysed, Mean, cap_tables

from bench_leaderboard.parts import PagePart
from bench_leaderboard.render.markdown import number, table, text
from bench_leaderboard.render.tables import marked

__all__ = ["caps_part"]

_ORDER = 15


def caps_part(analysed: Analysed) -> PagePart | None:
    """Accuracy in % by hard budget beside accuracy by mean price, per data set; None for a suite without caps."""
    lines: list[str] = []
    several = analysed.suite.has_several_costs
    for found in cap_tables(analysed.records, analysed.suite):
        name = f"{found.dataset}, {found.costs}" if several(found.dataset) else found.dataset
        heads = ["method", *(f"cap {cap}" for cap in found.caps), *(f"mean ≤ {cap}" for cap in found.caps)]
        lines += [f"### {text(name)} under hard budgets", "", table(heads, _rows(found.rows)), ""]
    if not lines:
        return None
    explained = (
        "Accuracy in %. *cap k*: no row may pay more than k. A row that would buy more is answered from the features "
        "that it has. *mean ≤ k*: the policy's mean price on validation rows is at most k. Validation rows choose the "
        "policy for each number. **Bold**: the best mean of the column. Every method also has the policy that buys "
        "nothing. –: the method cannot be asked feature by feature."
    )
    return PagePart(_ORDER, ["## Hard budgets", "", explained, "", *lines])


def _rows(methods: Mapping[str, Sequence[Mean]]) -> list[list[str]]:
    columns = list(zip(*methods.values(), strict=True))
    best = [max((mean.value for mean in column if not isnan(mean.value)), default=nan) for column in columns]
    return [
        [text(method)]
        + [
            marked(number(mean, percent=True), "best" if mean.value == top else "")
            for mean, top in zip(means, best, strict=True)
        ]
        for method, means in methods.items()
    ]
