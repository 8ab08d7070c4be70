"""The command ``bench recommend``, which imports heavy modules when it runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
from bench_policies.cli_options import checked, columns_of, escaped_errors, table_options, table_options_given

from bench_core import hookimpl
from bench_core.suites import ISOLATION, JSON

BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_commands(group: click.Group) -> None:
    """Add the command."""
    group.add_command(recommend)


def _seconds(context: click.Context, parameter: click.Parameter, value: str) -> float:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smh]?)", value.strip())
    if not match or float(match[1]) == 0:
        raise click.BadParameter(f"{value!r} is not a time such as 90, 10m or 2h")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


@click.command()
@table_options
@click.option(
    "--method",
    "methods",
    multiple=True,
    help="A method to try; repeatable. Default: those of the open comparison that apply, then those of other plugins.",
)
@click.option(
    "--splits", type=click.IntRange(min=1), default=8, show_default=True, help="The largest number of splits."
)
@click.option("--time", "seconds", default="10m", show_default=True, callback=_seconds, help="Time limit: 90, 10m, 2h.")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), default=Path("recommendation"), show_default=True,
    help="Folder for the page.",
)  # fmt: skip
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Methods that run at the same time."
)
@ISOLATION
@JSON
@escaped_errors
def recommend(
    methods: tuple[str, ...],
    splits: int,
    seconds: float,
    out: Path,
    jobs: int,
    isolation: str,
    as_json: bool,
    **given: Any,
) -> int:
    """Recommend a method for a table, prices and a goal. With --isolation none, no time limit holds."""
    from bench_policies.folder import check_writable, refuse_inside_policy
    from bench_policies.trials import Setup
    from bench_policies.wording import for_terminal, one_line

    from bench_recommend.page import fit_command, methods_table, trivial_table, write_page
    from bench_recommend.recommending import recommend as recommend_for

    refuse_inside_policy(out / "recommendation.md")
    check_writable(out, out.resolve())  # before the search, which may take minutes
    _, dataset, goal = checked(given)
    try:
        recommendation = recommend_for(
            dataset,
            given["prices"],
            target=given["target"],
            columns=columns_of(given),
            goal=goal,
            setup=Setup(given["encode"], given["threshold"]),
            methods=methods,
            splits=splits,
            seconds=seconds,
            jobs=jobs,
            isolation=isolation,
            progress=lambda line: click.echo(one_line(line), err=True),
        )
    except KeyboardInterrupt:
        click.echo("bench: stopped; nothing was written", err=True)
        return 130
    options, parameters = table_options_given(given), recommendation.parameters
    command = fit_command(recommendation.method, str(given["data"]), options, parameters=parameters)
    page = write_page(recommendation, out, command)
    if as_json:
        from bench_core.suites import print_json

        fit_with = command if recommendation.best else None
        print_json({**recommendation.as_plain(), "command": fit_with, "page": str(page)})
        return 0 if recommendation.best else 1
    shown = [methods_table(recommendation, "simple"), trivial_table(recommendation, "simple"), recommendation.text]
    click.echo(for_terminal("\n\n".join(text for text in shown if text)) + "\n")
    if recommendation.best:
        click.echo(for_terminal(command))
    click.echo(for_terminal(str(page)))
    return 0 if recommendation.best else 1
