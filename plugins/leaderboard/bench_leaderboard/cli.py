"""The leaderboard's commands: they read options, call the package, print. Heavy imports happen inside them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench_core import cli_errors, hookimpl, listed_plugins, print_table, warn, with_sessions

if TYPE_CHECKING:
    from bench_core import SuiteSession

BENCH_CONTRACT_VERSION = 1

DROP = click.option(
    "--drop",
    multiple=True,
    metavar="NAME",
    help="Let published records of a data set, costs or method go that the suite's records do not hold; repeatable.",
)

PRIVATE = click.option(
    "--private",
    is_flag=True,
    envvar="BUDGETBENCH_PRIVATE",
    help="Take records that were made with --isolation none: for pages that nobody else is to believe.",
)


@hookimpl
def bench_register_commands(group: click.Group) -> None:
    """Pages, claims and comparisons; and what a run may drop of what is published."""
    for command in (leaderboard, claims, compare):
        group.add_command(command)
    run = group.commands["run"]
    if all(parameter.name != "drop" for parameter in run.params):
        PRIVATE(DROP(run))


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; fail when the committed files differ.")
@click.option(
    "--as-published",
    is_flag=True,
    help="Render what is published once more; the page says which records wait to be recomputed.",
)
@PRIVATE
@DROP
@with_sessions
def leaderboard(session: SuiteSession, check: bool, as_published: bool, drop: tuple[str, ...], private: bool) -> int:
    """Render the pages of suites from their records.

    The exit code is 1 when records of the store are damaged: nothing is written then, and a run computes them again.
    """
    from bench_core import DamagedRecordsError
    from bench_leaderboard import publish

    if check:
        wrong = publish.check(session, private)
        warn(session)
        for line in wrong:
            click.echo(line, err=True)
        return 1 if wrong else 0
    try:
        written = (
            publish.publish_again(session) if as_published else publish.publish(session, drop=drop, private=private)
        )
    except DamagedRecordsError as error:
        click.echo(f"bench: {error}", err=True)
        return 1
    finally:
        warn(session)
    for path in written:
        click.echo(str(path))
    return 0


@click.command()
@click.option(
    "--stress", is_flag=True, help="Disturb the records, and list the claims whose verdict nothing possible changes."
)
@with_sessions
def claims(session: SuiteSession, stress: bool) -> int:
    """Check the claims of suites against their published records.

    With --stress methods change places, validation values are dealt out anew, values are shifted and turned over. The
    exit code is 1 when a claim could not have come out otherwise and does not say so (by_construction).
    """
    from bench_leaderboard.commands.claims import rows_of_stress, rows_of_verdicts, silent, stressed

    if not stress:
        print_table(*rows_of_verdicts(session))
        return 0
    results = stressed(session)
    quiet = silent(results)
    print_table(*rows_of_stress(results))
    decided = sum(result.verdict != "cannot be told" for result in results)
    forced = sum(result.forced for result in results)
    click.echo(
        f"{session.suite.name}: {len(results)} claims, {decided} told, {forced} of them by construction, "
        f"{len(quiet)} without saying so"
    )
    return 1 if quiet else 0


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

    changed, differences, warnings = compare_stores(listed_plugins(), store_a, store_b, suite, metric)
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
