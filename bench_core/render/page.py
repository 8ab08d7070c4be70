"""A suite's page: a pure function of the suite and its records."""

from __future__ import annotations

from bench_core.analysis.records import Records
from bench_core.analysis.selection import select
from bench_core.analysis.summary import Row, summarise
from bench_core.canonical import sha256_text
from bench_core.render.extras import extra_sections
from bench_core.render.markdown import number, table, text
from bench_core.suite import Suite

__all__ = ["render_page"]


def render_page(suite: Suite, records: Records) -> str:
    """The leaderboard page of a suite, in Markdown, ending in a newline."""
    head = suite.file.suite
    parts = [f"# {text(head.title or head.name)}", ""]
    for said in (head.description, f"Source: {head.source}" if head.source else ""):
        if said:
            parts += [text(said), ""]
    parts += [*_reading(suite), ""]
    chosen = select(records, suite)
    for (dataset, costs), rows in summarise(chosen, suite, list(suite.metrics)).items():
        parts += _section(suite, records, rows, dataset, costs)
    parts += extra_sections(suite, records)
    parts += _failures(records)
    parts += [
        "## How to reproduce",
        "",
        "```",
        f"bench run {suite.path_in_repository}",
        "```",
        "",
        f"Suite SHA-256 `{sha256_text(suite.text)[:16]}`.",
    ]
    return "\n".join(parts).rstrip() + "\n"


def _reading(suite: Suite) -> list[str]:
    return [
        "Every row is the policy that validation selected (the rule is in the last column), evaluated on the test "
        "part: the mean over seeds, ± half the width of the 95 % t interval. Costs are what the core charged for "
        "the features a policy acquired, after the audit."
    ]


def _section(suite: Suite, records: Records, rows: list[Row], dataset: str, costs: str) -> list[str]:
    metrics = suite.metrics
    shown = [name for name in metrics if any(name in row.means for row in rows)]
    said = [f"## {text(dataset)}" + (f" · {text(costs)}" if suite.has_several_costs(dataset) else ""), ""]
    if not shown:
        return [*said, "No trial of this data set is done.", ""]
    head = ["Method", *(text(metrics[n].title or n) + (" %" if metrics[n].percent else "") for n in shown)]
    body = []
    for row in rows:
        cells = [number(row.means[n], metrics[n].percent) if n in row.means else "–" for n in shown]
        count = f"{row.done}" if row.done == row.expected else f"{row.done} of {row.expected}"
        body.append([text(row.method), *cells, count, text(row.rule)])
    return [*said, *_facts(suite, records, dataset, costs), table([*head, "Seeds", "Selected by"], body), ""]


def _facts(suite: Suite, records: Records, dataset: str, costs: str) -> list[str]:
    """A line on the data: rows of each part, features, threshold, full price, content hash."""
    names = [
        name
        for method in suite.methods_on(dataset)
        for name in records.trials.get((dataset, costs, method), ())
    ]
    if not names:
        return []
    name = names[0]
    info, identity = records.infos[name], records.identities[name]
    rows = info["rows"]
    threshold = identity["threshold"]
    refused = f"; confidence threshold p̂ = {threshold:g}" if threshold is not None else ""
    return [
        f"{len(info['features'])} features; {rows['train']} training, {rows['validation']} validation and "
        f"{rows['test']} test rows{refused}; data `{identity['dataset'][:12]}`.",
        "",
    ]


def _failures(records: Records) -> list[str]:
    frame = records.policies
    failed = frame[frame["status"] == "failed"] if len(frame) else frame
    if failed.empty:
        return []
    body = [
        [text(row.method), text(row.dataset), str(row.seed), text(_why(records.infos[str(row.name)]))]
        for row in failed.drop_duplicates("name").head(50).itertuples(index=False)
    ]
    more = len(failed) - len(body)
    lines = ["## Failed trials", "", table(["Method", "Data set", "Seed", "Why"], body), ""]
    return [*lines, f"And {more} more.", ""] if more > 0 else lines


def _why(info: dict[str, object]) -> str:
    error = info["error"]
    return f"{error['type']}: {error['message']}" if isinstance(error, dict) else str(error)
