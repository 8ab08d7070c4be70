"""``bench leaderboard``: reads options, calls the package, prints. Heavy imports happen inside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bench_core import hookimpl
from bench_core.suites import warn, with_sessions

if TYPE_CHECKING:
    from bench_core.suites import SuiteSession

BENCH_CONTRACT_VERSION = 1

DROP = click.option(
    "--drop",
    multiple=True,
    metavar="NAME",
    help="Allow published records of this data set, cost scheme or method to be lost; repeatable.",
)

PRIVATE = click.option(
    "--private",
    is_flag=True,
    envvar="BUDGETBENCH_PRIVATE",
    help="Include records that were made with --isolation none (for your own use).",
)


@hookimpl
def bench_register_commands(group: click.Group) -> None:
    """``bench leaderboard``, and the options of ``bench run`` on what is published."""
    group.add_command(leaderboard)
    run = group.commands["run"]
    if all(parameter.name != "drop" for parameter in run.params):
        PRIVATE(DROP(run))


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; fail when the committed files differ.")
@click.option(
    "--as-published",
    is_flag=True,
    help="Render the published records again; the page says which of them are being recomputed.",
)
@click.option("--figures", is_flag=True, help="With --check: draw every figure, instead of comparing their inputs.")
@PRIVATE
@DROP
@with_sessions
def leaderboard(
    session: SuiteSession, check: bool, as_published: bool, figures: bool, drop: tuple[str, ...], private: bool
) -> int:
    """Render the pages of suites from their records.

    The exit code is 1 when records of the store are damaged: nothing is written then, and a run computes them again.
    """
    from bench_core.records import DamagedRecordsError
    from bench_leaderboard import publish

    if check:
        wrong = publish.check(session, private, figures)
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
