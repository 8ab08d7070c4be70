"""The sections over all data sets: means of means, average ranks, tests."""

from __future__ import annotations

from math import isnan

from bench_leaderboard import dominators, head_of, marked, number, plain_number, table, text

from bench_comparison.overall import Comparison, Overall
from bench_comparison.statistics import FEW_DATA_SETS, WILCOXON_NEEDS
from bench_core.suites import Suite

__all__ = ["overall_sections"]


def overall_sections(suite: Suite, overall: Overall) -> list[str]:
    """The table over all data sets, and the ranks with their tests, or why there are none; empty without a mean."""
    return [*_means(suite, overall), *_ranks(suite, overall)] if overall.metrics else []


def _means(suite: Suite, overall: Overall) -> list[str]:
    lines = ["## Over all data sets", ""]
    several = [d for d, _ in overall.datasets if suite.has_several_costs(d)]
    averaged = f"Mean over {len(overall.datasets)} data sets of their means over seeds"
    if any(isnan(mean.margin) for means in overall.means.values() for mean in means.values()):
        notes = [f"{averaged}. One split of a data set has been run: no interval can be given."]
    else:
        notes = [
            f"{averaged}, ± half the width of the 95 % interval over seeds, with the variance of the tables below "
            "(data sets taken as they are; Welch–Satterthwaite degrees of freedom)."
        ]
    if len(overall.datasets) >= WILCOXON_NEEDS:
        notes.append(
            "≈ asks another question than ±: whether the rows would differ on other data sets. It is Wilcoxon's "
            "signed-rank test over the data sets' means, corrected by Holm."
        )
    if "cost" in overall.left_out or ("cost-share" in overall.metrics and "cost" in suite.metrics):
        notes.append("Prices of different data sets have different units: cost is averaged as a share only.")
    if several:
        notes.append("A data set with several cost schemes counts under its first.")
    if overall.absent:
        notes.append(f"Without a record, so not here: {text(', '.join(overall.absent))}.")
    if overall.incomplete:
        notes.append(f"Left out, as a method has no result there: {text(', '.join(overall.incomplete))}.")
    if overall.over_budget:
        notes.append(f"*Over budget* on a data set, so not here: {text(', '.join(overall.over_budget))}.")
    if overall.partial:
        notes.append(f"Not run on every data set, so not here: {text(', '.join(overall.partial))}.")
    lines += [" ".join(notes), ""]
    head = ["Method", *(head_of(suite.metric(n)) for n in overall.metrics), "Trials"]
    if overall.dominated:
        head.append("Dominated by")
    body = []
    for method, (done, expected) in overall.counts.items():
        means = overall.means.get(method)
        cells = [
            marked(number(means[n], suite.metric(n).percent), overall.marks[n].get(method, "")) if means else "–"
            for n in overall.metrics
        ]
        row = [text(method), *cells, f"{done}" if done == expected else f"{done} of {expected}"]
        if overall.dominated:
            row.append(dominators(overall.dominated, method))
        body.append(row)
    if len(overall.datasets) < WILCOXON_NEEDS:
        lines += [f"With fewer than {WILCOXON_NEEDS} data sets nothing is tested against the best (in bold).", ""]
    return [*lines, table(head, body), ""]


def _ranks(suite: Suite, overall: Overall) -> list[str]:
    lines = ["### Average ranks", ""]
    if overall.refused:
        return [
            *lines,
            f"No ranks: the grid has holes, and a missing result is not imputed. {text(overall.refused)}.",
            "",
        ]
    if not overall.comparisons:
        return []
    count, first = len(overall.datasets), next(iter(overall.comparisons.values()))
    lines += [
        f"Mean rank over {count} data sets, by the means over seeds; 1 is best. Two methods whose ranks differ by less "
        f"than the critical difference of {plain_number(first.difference, 3)} cannot be told apart (Nemenyi, 5 %).",
        "",
    ]
    metrics = list(overall.comparisons)
    head = ["Method", *(text(suite.metric(n).title or n) for n in metrics)]
    body = [
        [text(method), *(f"{overall.comparisons[n].ranks[i]:.3f}" for n in metrics)]
        for i, method in enumerate(first.methods)
    ]
    lines += [table(head, body), ""]
    if overall.few:
        lines += [_low_power(count, len(first.methods), first.difference), ""]
    tests = [_friedman(suite, comparison) for comparison in overall.comparisons.values() if comparison.friedman]
    return [*lines, *tests, *([""] if tests else []), *_pairs(suite, overall)]


def _low_power(count: int, methods: int, difference: float) -> str:
    least = 2 / 2**count
    widest = methods - 1
    note = (
        f"**Power is low.** {count} data sets are fewer than {FEW_DATA_SETS}, so the tests detect only large "
        f"differences. A large p-value does not show that methods are equal. The critical difference is "
        f"{100 * difference / widest:.0f} % of the largest possible difference of ranks."
    )
    if count < WILCOXON_NEEDS:
        note += (
            f" Wilcoxon's signed-rank test over {count} data sets cannot give a p-value below {least:g} whatever the "
            "results, so it is not made."
        )
    return note


def _friedman(suite: Suite, comparison: Comparison) -> str:
    test = comparison.friedman
    if test is None:
        return ""
    title = text(suite.metric(comparison.metric).title or comparison.metric)
    return (
        f"- {title}: Friedman χ² = {test.statistic:.2f}, p {_equals(test.p)}; without the correction for ties "
        f"{test.uncorrected:.2f}, Iman–Davenport F = {plain_number(test.f_statistic, 3)}, p {_equals(test.f_p)}."
    )


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _equals(value: float) -> str:
    return _p(value) if value < 0.001 else f"= {_p(value)}"


def _pairs(suite: Suite, overall: Overall) -> list[str]:
    kinds = {
        "Wilcoxon's signed-rank test over the data sets' means, corrected within each column by Holm.": "wilcoxon",
        "Nemenyi's test of average ranks, which corrects for all pairs.": "nemenyi",
    }
    lines = []
    for note, kind in kinds.items():
        tested = {
            name: getattr(comparison, kind)
            for name, comparison in overall.comparisons.items()
            if getattr(comparison, kind)
        }
        if not tested:
            continue
        head = ["Pair", *(text(suite.metric(name).title or name) for name in tested)]
        body = [
            [f"{text(a)} – {text(b)}", *(_p(pairs[a, b]) for pairs in tested.values())]
            for a, b in next(iter(tested.values()))
        ]
        lines += [f"p-values of {note}", "", table(head, body), ""]
    return ["### Pairs of methods", "", *lines] if lines else []
