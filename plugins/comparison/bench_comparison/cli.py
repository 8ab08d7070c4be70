"""``bench compare``: reads options, calls the package, prints. Heavy imports happen inside it."""

from __future__ import annotations

from pathlib import Path

import click

from bench_core import hookimpl
from bench_core.suites import cli_errors, listed_plugins, print_table

BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_commands(group: click.Group) -> None:
    """The command."""
    group.add_command(compare)


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

    A side may also be the folder of a committed export (leaderboard/SUITE). The exit code is 1 if no trial is in both.
    """
    from bench_comparison.compare import compare_stores, rows_of_changes, rows_of_differences

    changed, differences, warnings = compare_stores(listed_plugins(), store_a, store_b, suite, metric)
    for line in warnings:
        click.echo(line, err=True)
    print_table(*rows_of_changes(changed))
    if all(kind.startswith("only in") for change in changed for kind in change.counts):
        click.echo(f"bench: no trial is in both {store_a} and {store_b}", err=True)
        return 1
    head, rows = rows_of_differences(differences)
    if rows:
        click.echo()
        print_table(head, rows)
    else:
        usual = "the suite's metrics" if suite else "the usual metrics of each task (--metric and --suite name others)"
        click.echo(f"No metric differs on the trials that both have done, of {', '.join(metric) or usual}.")
    return 0
