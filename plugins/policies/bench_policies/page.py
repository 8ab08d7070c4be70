"""The page of a recommendation: Markdown and a figure."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tabulate import tabulate

from bench_policies.recommending import Recommendation
from bench_policies.wording import one_line, with_half


def fit_command(best: str, data: str, options: Mapping[str, Any], folder: str = "policy") -> str:
    """Return the command that fits a recommended method.

    Args:
        best: the method's name.
        data: the table's file.
        options: the options that ``bench recommend`` and ``bench fit`` share; None and False are left out, and an
            option is repeated for every item of a list.
        folder: the folder of the policy.
    """
    words = ["bench", "fit", data]
    for name, value in options.items():
        for item in value if isinstance(value, list | tuple) else [value]:
            if item is not None and item is not False:
                integral = isinstance(item, float) and item.is_integer()
                words += [f"--{name}", str(int(item) if integral else item)]
    return shlex.join([*words, "--method", best, "--out", folder])


def methods_table(recommendation: Recommendation, form: str = "pipe") -> str:
    """Return a table with a row per method: status, quality and cost; the reason where it was not measured.

    More than two methods that were not measured for the same reason are named in a sentence below the table instead.
    """
    alike = (
        recommendation.table[recommendation.table["splits"] == 0]
        .groupby(["status", "why"], sort=False)["method"]
        .agg(list)
    )
    together: dict[Any, list[str]] = {key: names for key, names in alike.items() if len(names) > 2}
    rows = []
    classes, goal = recommendation.dataset["task"] != "regression", recommendation.goal
    more = {} if goal.error_costs is None else {"total": "Mean total"}
    if recommendation.dataset["threshold"] is not None or goal.refused_cost is not None:
        more["coverage"] = "Answered %"
    for row in recommendation.table.to_dict("records"):
        if row["splits"] == 0 and (row["status"], row["why"]) in together:
            continue
        factor = 100.0 if classes else -1.0
        rows.append([
            row["method"], row["status"], with_half(row, "quality", factor), with_half(row, "cost", 1.0),
            *(with_half(row, name, 100.0 if name == "coverage" else 1.0) for name in more),
            int(row["splits"]), f"{row['fit seconds']:.2g}", row["why"],
        ])  # fmt: skip
    quality = "Right answers %" if classes else "Mean squared error"
    heads = ["Method", "Status", quality, "Mean cost", *more.values(), "Splits", "Fit s", "Why"]
    table = tabulate(rows, headers=heads, tablefmt=form, disable_numparse=True)
    sentences = [f"{status}, {why}: {', '.join(names)}." for (status, why), names in together.items()]
    return "\n\n".join([table, *(sentence[0].upper() + sentence[1:] for sentence in sentences)])


def trivial_table(recommendation: Recommendation, form: str = "pipe") -> str:
    """Return a table of the five best answers that need no feature; empty for regression."""
    if not len(recommendation.trivial):
        return ""
    total = recommendation.goal.error_costs is not None
    rows = [
        [one_line(row["answer"]), with_half(row, "quality", 100.0), *([with_half(row, "total", 1.0)] if total else [])]
        for row in recommendation.trivial[:5].to_dict("records")
    ]
    heads = ["Without any feature", "Right answers %", *(["Mean total"] if total else [])]
    return tabulate(rows, headers=heads, tablefmt=form, disable_numparse=True)


def front_table(recommendation: Recommendation) -> str:
    """Return a table of the curve's points that no other point dominates, by cost."""
    front = recommendation.curve[recommendation.curve["front"].astype(bool)].sort_values(["cost", "budget"])
    front = front.drop_duplicates(["method", "cost", "quality"])  # a larger budget may lead to the same policy
    factor = 100.0 if recommendation.dataset["task"] != "regression" else -1.0
    rows = [
        [row["method"], f"{row['budget']:.4g}", with_half(row, "cost", 1.0), with_half(row, "quality", factor)]
        for row in front.to_dict("records")
    ]
    quality = "Right answers %" if factor == 100.0 else "Mean squared error"
    return tabulate(rows, headers=["Method", "Budget", "Mean cost", quality], tablefmt="pipe", disable_numparse=True)


def write_page(recommendation: Recommendation, folder: Path, command: str) -> Path:
    """Write ``recommendation.md`` and ``tradeoff.svg`` to a folder, and return the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = _draw(recommendation, folder / "tradeoff.svg")
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
        "half of the rows are for training, a quarter for choosing a policy, and a quarter for testing. "
        "The core audited and billed every answer.",
        "",
        *(["## Trade-off", "", "![Quality by cost](tradeoff.svg)", ""] if drawn else []),
        "Each point is a method within a mean budget, measured on the test parts. No other point dominates these "
        "points of the front:",
        "",
        front_table(recommendation),
        "",
        "## Methods",
        "",
        methods_table(recommendation),
        "",
        trivial_table(recommendation),
        "",
        "*dropped*: in the worse half after the first split, or later worse than the best by more than the 95 % "
        "interval. *left out*: the time limit was reached. *cannot*: the method does not apply here.",
        "",
    ]
    page = folder / "recommendation.md"
    page.write_text("\n".join(lines), encoding="utf-8")
    return page


def _draw(recommendation: Recommendation, path: Path) -> bool:
    if not len(recommendation.curve):
        return False
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.4), layout="constrained")
    axes = figure.subplots()
    classes = recommendation.dataset["task"] != "regression"
    factor = 100.0 if classes else -1.0
    marks: Sequence[str] = "osD^vP*X<>"
    for number, (name, part) in enumerate(recommendation.curve.groupby("method", sort=True)):
        ordered = part.sort_values("cost")
        axes.plot(
            ordered["cost"], factor * ordered["quality"], marker=marks[number % len(marks)], markersize=4,
            linewidth=2.2 if name == recommendation.best else 1.0, label=str(name),
        )  # fmt: skip
    front = recommendation.curve[recommendation.curve["front"].astype(bool)].sort_values("cost")
    axes.plot(front["cost"], factor * front["quality"], color="black", linestyle=":", linewidth=1.2, label="front")
    axes.set_xlabel("mean cost of a row")
    axes.set_ylabel("right answers, % of all rows" if classes else "mean squared error")
    axes.grid(alpha=0.25)
    axes.legend(fontsize=8)
    with matplotlib.rc_context({"svg.hashsalt": "budgetbench"}):
        figure.savefig(path, metadata={"Date": None})
    return True
