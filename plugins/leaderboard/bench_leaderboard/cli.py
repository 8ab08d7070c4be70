"""The leaderboard's commands: they read options, call the package, print. Heavy imports happen inside them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench_core import hookimpl
from bench_core.suites import ISOLATION, cli_errors, listed_plugins, print_table, warn, with_session, with_sessions
from bench_leaderboard.cli_submit import submit

if TYPE_CHECKING:
    from bench_core.suites import SuiteSession

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
    """Pages, their proof, exports and comparisons; and what a run may drop of what is published."""
    for command in (leaderboard, claims, verify, export, compare, submit):
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
    from bench_core.records import DamagedRecordsError
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
@click.option("--sample", default="5%", show_default=True, help="How many records: a number, or a share.")
@click.option("--seed", type=click.IntRange(min=0), help="Of the sample; a fresh one by default.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Worker processes.")
@ISOLATION
@click.option("--note", is_flag=True, help="With strict: note in verified.json beside the page what came out equal.")
@with_sessions
def verify(session: SuiteSession, sample: str, seed: int | None, jobs: int, isolation: str, note: bool) -> int:
    """Recompute a random sample of suites' published records, and compare them with what is published.

    With --isolation strict, a method is refuted that passed messages between trials through a template.

    Records that say they were made by the same processor, kernels and libraries must be equal bit for bit. Elsewhere
    a record is refuted where a metric differs by more than two turned rows, or 0.2 % of the rows, explain; what
    differs by less, or cannot be recomputed for want of its data, is listed as undecided. The exit code is 1 when a
    record is refuted.
    """
    from secrets import randbelow

    from bench_core import RequestError
    from bench_core.execution import Options
    from bench_leaderboard.commands import verify as verifying

    if note and isolation != "strict":
        raise RequestError("--note: only what is verified with --isolation strict is noted")
    seed = randbelow(2**32) if seed is None else seed
    verified = verifying.verify(session, sample, seed, Options(jobs=jobs, isolation=isolation))
    for verdict in verified.verdicts:
        if verdict.outcome in ("undecided", "refuted"):
            trial = verdict.planned.trial
            machine = (
                "" if verdict.same_machine else " (it does not name this machine's processor, kernels and libraries)"
            )
            place = f"{trial.method} on {trial.dataset} ({trial.costs}), seed {trial.seed}"
            click.echo(f"{place}: {verdict.outcome}: {verdict.reason}{machine}", err=True)
    counts = {word: sum(verdict.outcome == word for verdict in verified.verdicts) for word in verifying.OUTCOMES}
    summary = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    total = f"{len(verified.verdicts)} of {verified.published} published records"
    click.echo(f"{session.suite.name}: {total} recomputed (seed {seed}): {summary}")
    if note:
        click.echo(f"{verifying.note(session, verified)}; render the page again: bench leaderboard --as-published")
    return 1 if verified.refuted else 0


@click.command()
@click.option("--format", "form", type=click.Choice(["csv", "parquet", "json"]), default="csv", show_default=True)
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), help="File to write; standard output otherwise."
)
@click.option("--budgets", is_flag=True, help="Rather a row per trial and budget: what it answers there.")
@with_session
def export(session: SuiteSession, form: str, output: Path | None, budgets: bool) -> int:
    """Write a suite's records as one table: a row per trial, policy and part, a column per metric.

    With --budgets a row per trial and budget: the policy that validation picks for it, on the test part. The budgets
    are those of the suite's [comparison], or 5, 10, 20, 40 and 100 % of the price.

    In CSV a text that a spreadsheet would run as a formula has a ' before it; Parquet and JSON hold it as it is.
    """
    from bench_leaderboard.analysis.export import records_of
    from bench_leaderboard.commands.export import budget_table, export_table, exported
    from bench_leaderboard.render import write_files

    records = records_of(session)
    table = budget_table(records, session.suite) if budgets else export_table(records, session.suite)
    data = exported(table, form)
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
