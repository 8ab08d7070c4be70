"""The section of a page on hard budgets."""

from __future__ import annotations

from bench_analysis import Analysed, cap_tables

from bench_leaderboard.parts import PagePart
from bench_leaderboard.render.markdown import number, table, text

__all__ = ["caps_part"]

_ORDER = 15


def caps_part(analysed: Analysed) -> PagePart | None:
    """Accuracy in % by hard budget beside accuracy by mean price, per data set; None for a suite without caps."""
    lines: list[str] = []
    several = analysed.suite.has_several_costs
    for found in cap_tables(analysed.records, analysed.suite):
        name = f"{found.dataset}, {found.costs}" if several(found.dataset) else found.dataset
        heads = ["method", *(f"cap {cap}" for cap in found.caps), *(f"mean ≤ {cap}" for cap in found.caps)]
        rows = [[text(method), *(number(mean, True) for mean in means)] for method, means in found.rows.items()]
        lines += [f"### {text(name)} under hard budgets", "", table(heads, rows), ""]
    if not lines:
        return None
    explained = (
        "Accuracy in %. *cap k*: no row may pay more than k. A row that would buy more is answered from the features "
        "that it has. *mean ≤ k*: the policy's mean price on validation rows is at most k. Validation rows choose the "
        "policy for each number. Every method also has the policy that buys nothing. –: the method cannot be asked "
        "feature by feature."
    )
    return PagePart(_ORDER, ["## Hard budgets", "", explained, "", *lines])
