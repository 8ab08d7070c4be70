"""The page of a recommendation: Markdown and a figure."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench_policies.measures import MEASURES, MSE, Measure
from bench_policies.wording import one_line, table_text, with_half

from bench_core import RequestError
from bench_recommend.recommending import Recommendation
from bench_recommend.tradeoff import draw_tradeoff


def fit_command(
    best: str,
    data: str,
    options: Mapping[str, Any],
    folder: str = "policy",
    parameters: Mapping[str, Any] | None = None,
) -> str:
    """Return the command that fits a recommended method.

    Args:
        best: the method's name.
        data: the table's file.
        options: the options that ``bench recommend`` and ``bench fit`` share; None and False are left out, and an
            option is repeated for every item of a list.
        folder: the folder of the policy.
        parameters: the method's parameters that differ from its defaults.
    """
    words = ["bench", "fit", data]
    for name, value in options.items():
        for item in value if isinstance(value, list | tuple) else [value]:
            if item is not None and item is not False:
                integral = isinstance(item, float) and item.is_integer()
                words += [f"--{name}", str(int(item) if integral else item)]
    given = ["--parameters", json.dumps(dict(parameters))] if parameters else []
    return shlex.join([*words, "--method", best, *given, "--out", folder])


def methods_table(recommendation: Recommendation, form: str = "pipe") -> str:
    """Return a table with a row per method: status, quality, cost, and the reason if it was not measured.

    If more than two methods were not measured for the same reason, a sentence below the table names them instead.
    """
    alike = (
        recommendation.table[recommendation.table["splits"] == 0]
        .groupby(["status", "why"], sort=False)["method"]
        .agg(list)
    )
    together: dict[Any, list[str]] = {key: names for key, names in alike.items() if len(names) > 2}
    rows = []
    goal, measure = recommendation.goal, _measure(recommendation)
    more = {} if goal.error_costs is None else {"total": "Mean total"}
    if recommendation.dataset["threshold"] is not None or goal.refused_cost is not None:
        more["coverage"] = "Answered %"
    for row in recommendation.table.to_dict("records"):
        if row["splits"] == 0 and (row["status"], row["why"]) in together:
            continue
        rows.append([
            row["method"], row["status"], with_half(row, "quality", measure.factor),
            with_half(row, "cost", 1.0, most=recommendation.full_cost),
            *(with_half(row, name, 100.0 if name == "coverage" else 1.0) for name in more),
            int(row["splits"]), f"{row['fit seconds']:.2g}", row["why"],
        ])  # fmt: skip
    heads = ["Method", "Status", measure.heading, "Mean cost", *more.values(), "Splits", "Fit s", "Why"]
    table = table_text(rows, heads, form)
    sentences = [f"{status}, {why}: {', '.join(names)}." for (status, why), names in together.items()]
    return "\n\n".join([table, *(sentence[0].upper() + sentence[1:] for sentence in sentences)])


def trivial_table(recommendation: Recommendation, form: str = "pipe") -> str:
    """Return a table of the five best answers that need no feature."""
    if not len(recommendation.trivial):
        return ""
    total, measure = recommendation.goal.error_costs is not None, _measure(recommendation)
    rows = [
        [
            one_line(row["answer"]),
            with_half(row, "quality", measure.factor),
            *([with_half(row, "total", 1.0)] if total else []),
        ]
        for row in recommendation.trivial[:5].to_dict("records")
    ]
    heads = ["Without any feature", measure.heading, *(["Mean total"] if total else [])]
    return table_text(rows, heads, form)


def front_table(recommendation: Recommendation) -> str:
    """Return a table of the curve's points that no other point dominates, by cost."""
    front = recommendation.curve[recommendation.curve["front"].astype(bool)].sort_values(["cost", "budget"])
    front = front.drop_duplicates(["method", "cost", "quality"])  # a larger budget may lead to the same policy
    measure = _measure(recommendation)
    rows = [
        [
            row["method"],
            f"{row['budget']:.4g}",
            with_half(row, "cost", 1.0, most=recommendation.full_cost),
            with_half(row, "quality", measure.factor),
        ]
        for row in front.to_dict("records")
    ]
    return table_text(rows, ["Method", "Budget", "Mean cost", measure.heading])


def write_page(recommendation: Recommendation, folder: Path, command: str) -> Path:
    """Write ``recommendation.md`` and ``tradeoff.svg`` to a folder, and return the page's path.

    Raises:
        RequestError: a file cannot be written.
    """
    page = folder / "recommendation.md"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        drawn = draw_tradeoff(recommendation, folder / "tradeoff.svg")
        page.write_text(_page_text(recommendation, command, drawn), encoding="utf-8")
    except OSError as error:
        raise RequestError(f"{error.filename or page} cannot be written: {error.strerror or error}") from None
    return page


def _page_text(recommendation: Recommendation, command: str, drawn: bool) -> str:
    about = recommendation.dataset
    lines = [
        f"# Which method for {one_line(about['name'])}",
        "",
        recommendation.text,
        "",
        *(["```", command, "```", ""] if recommendation.best else []),
        f"{about['rows']} rows, {about['features']} features; "
        f"all features together cost {recommendation.full_cost:.4g}. "
        f"{recommendation.splits} random split{'s'[: recommendation.splits != 1]} in {recommendation.seconds:.0f} s: "
        "half of the rows are for training, a fifth for tuning and for choosing a policy, a fifth for comparing "
        "methods, and a tenth for these figures. No method saw the last two. The core audited and billed every answer.",
        "",
        *(["Check these columns: " + "; ".join(recommendation.notes) + ".", ""] if recommendation.notes else []),
        *(["## Trade-off", "", "![Quality by cost](tradeoff.svg)", ""] if drawn else []),
        "Each point is a method within a mean budget, measured on rows that no method saw, and on the same splits as "
        "all others. No other point dominates these points of the front:",
        "",
        front_table(recommendation),
        "",
        "## Methods",
        "",
        methods_table(recommendation),
        "",
        trivial_table(recommendation),
        "",
        "*dropped*: worse than the best by more than the paired 95 % interval, or in the worse half of many. "
        "*left out*: the time limit was reached. *cannot*: the method does not apply here.",
        "",
    ]
    return "\n".join(lines)


def _measure(recommendation: Recommendation) -> Measure:
    return MSE if recommendation.dataset["task"] == "regression" else MEASURES[recommendation.goal.measure]
