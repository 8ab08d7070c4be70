"""The leaderboard's commands: they read options, call the package, print. Heavy imports happen inside them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench_core import cli_errors, hookimpl, installed_plugins, print_table, warn, with_session, with_sessions

if TYPE_CHECKING:
    from bench_core import SuiteSession

BENCH_CONTRACT_VERSION = 1

DROP = click.option(
    "--drop",
    multiple=True,
    metavar="NAME",
    help="Let published records of a data set, costs or method go that the suite's records do not hold; repeatable.",
)
OUT = click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("leaderboard"),
    show_default=True,
    help="Directory of pages.",
)


@hookimpl
def bench_register_commands(group: click.Group) -> None:
    """Pages, their proof, exports, comparisons and the site; and what a run may drop of what is published."""
    for command in (leaderboard, verify, export, compare, site):
        group.add_command(command)
    run = group.commands["run"]
    if all(parameter.name != "drop" for parameter in run.params):
        DROP(run)


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; fail when the committed files differ.")
@click.option(
    "--as-published",
    is_flag=True,
    help="Render what is published once more; the page says which records wait to be recomputed.",
)
@DROP
@with_sessions
def leaderboard(session: SuiteSession, check: bool, as_published: bool, drop: tuple[str, ...]) -> int:
    """Render the pages of suites from their records."""
    from bench_leaderboard import publish

    if check:
        wrong = publish.check(session)
        warn(session)
        for line in wrong:
            click.echo(line, err=True)
        return 1 if wrong else 0
    try:
        written = publish.publish_again(session) if as_published else publish.publish(session, drop=drop)
    finally:
        warn(session)
    for path in written:
        click.echo(str(path))
    return 0


@click.command()
@click.option("--sample", default="5%", show_default=True, help="How many records: a number, or a share.")
@click.option("--seed", type=click.IntRange(min=0), help="Of the sample; a fresh one by default.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Worker processes.")
@with_sessions
def verify(session: SuiteSession, sample: str, seed: int | None, jobs: int) -> int:
    """Recompute a random sample of suites' published records, and compare them with what is published."""
    from secrets import randbelow

    from bench_core import Options
    from bench_leaderboard.commands.verify import verify as recompute

    seed = randbelow(2**32) if seed is None else seed
    found = recompute(session, sample, seed, Options(jobs=jobs))
    for one in found.verdicts:
        if one.outcome != "equal":
            trial = one.planned.trial
            machine = "" if one.same_machine else " (published by other kernels, or it is not known by which)"
            place = f"{trial.method} on {trial.dataset} ({trial.costs}), seed {trial.seed}"
            click.echo(f"{place}: {one.outcome}: {one.said}{machine}", err=True)
    counts = {
        word: sum(one.outcome == word for one in found.verdicts)
        for word in ("equal", "differs", "not recomputed")
    }
    said = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    total = f"{len(found.verdicts)} of {found.published} published records"
    click.echo(f"{session.suite.name}: {total} recomputed (seed {seed}): {said}")
    return 1 if found.refuted else 0


@click.command()
@click.option(
    "--format", "form", type=click.Choice(["csv", "parquet", "json"]), default="csv", show_default=True
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write; standard output otherwise.",
)
@with_session
def export(session: SuiteSession, form: str, output: Path | None) -> int:
    """Write a suite's records as one table: a row per trial, policy and part, a column per metric."""
    from bench_leaderboard.analysis.export import records_of
    from bench_leaderboard.commands.export import export_table, exported
    from bench_leaderboard.render import write_files

    data = exported(export_table(records_of(session), session.suite), form)
    warn(session)
    if output is None:
        sys.stdout.buffer.write(data)
    else:
        write_files({output: data})
    return 0


@click.command()
@click.argument("store_a", type=click.Path(path_type=Path, file_okay=False))
@click.argument("store_b", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--suite",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Compare this suite's trials, by its labels, selection and metrics.",
)
@click.option("--metric", multiple=True, help="Compare by this metric; repeatable.")
@cli_errors
def compare(store_a: Path, store_b: Path, suite: Path | None, metric: tuple[str, ...]) -> int:
    """Show what changed from store A to store B, paired by data set and seed, with 95 % intervals.

    A side may also be the folder of a committed export (leaderboard/SUITE).
    """
    from bench_leaderboard.commands.compare import compare_stores, rows_of_changes, rows_of_differences

    changed, differences, warnings = compare_stores(installed_plugins(), store_a, store_b, suite, metric)
    for line in warnings:
        click.echo(line, err=True)
    print_table(*rows_of_changes(changed))
    head, rows = rows_of_differences(differences)
    if rows:
        click.echo()
        print_table(head, rows)
    else:
        click.echo("No metric differs on the trials that both have done.")
    return 0


@click.command()
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False))
@OUT
@cli_errors
def site(directory: Path, out: Path) -> int:
    """Write the leaderboard's pages as HTML into DIRECTORY, and check every link in them."""
    from bench_leaderboard.render.links import dead_links
    from bench_leaderboard.render.site import build_site

    written = build_site(out, directory)
    dead = dead_links((path for path in written if path.suffix == ".html"), directory)
    for line in dead:
        click.echo(f"bench: {line}", err=True)
    click.echo(f"{len(written)} files in {directory}" + (f", {len(dead)} dead links" if dead else ""))
    return 1 if dead else 0
