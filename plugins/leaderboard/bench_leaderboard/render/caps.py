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
        "Accuracy in %. *cap k*: no row may cost more than k; a row that would buy more answers with what it has. "
        "*mean ≤ k*: the mean price on the validation part is at most k. For each number the policy is chosen on "
        "validation; every method also has the policy that buys nothing. –: it cannot be asked feature by feature."
    )
    return PagePart(_ORDER, ["## Hard budgets", "", explained, "", *lines])
