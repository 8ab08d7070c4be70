"""The commands of published records: they read options, call the package, print. Heavy imports happen inside them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench_core import RequestError, hookimpl
from bench_core.suites import ISOLATION, warn, with_session, with_sessions
from bench_records.cli_merge import merge
from bench_records.cli_submit import submit

if TYPE_CHECKING:
    from bench_core.suites import SuiteSession

BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_commands(group: click.Group) -> None:
    """Add the commands for tables of records, merged stores, verification and submissions."""
    for command in (export, merge, verify, submit):
        group.add_command(command)


@click.command()
@click.option("--sample", default="5%", show_default=True, help="How many published trials: a number, or a share.")
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the sample; random by default.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Worker processes.")
@ISOLATION
@click.option(
    "--kernels",
    metavar="NAME",
    help="Only records computed with these BLAS kernels, such as Haswell, and inapplicable trials.",
)
@click.option("--note", is_flag=True, help="With strict: note equal records in verified.json, beside the page.")
@with_sessions
def verify(
    session: SuiteSession, sample: str, seed: int | None, jobs: int, isolation: str, kernels: str | None, note: bool
) -> int:
    """Recompute a random sample of suites' published records, and compare them with what is published.

    Records that name this machine's processor, kernels and libraries must be equal bit for bit. Any other record is
    refuted if a metric differs by more than changed decisions on two rows, or on 0.2 % of the rows, can explain; or if
    a recomputed policy is not published. If it differs by less, or its data is unavailable, it is undecided. A trial
    that is published as failed or not applicable is refuted if it now succeeds; it is undecided if a limit of time or
    memory had ended it. The last line counts undecided records by reason. The exit code is 1 if a record is refuted.
    """
    from secrets import randbelow

    from bench_core.execution import Options
    from bench_records import verification as verifying

    if note and isolation != "strict":
        raise RequestError("--note needs --isolation strict: other verifications are not noted")
    seed = randbelow(2**32) if seed is None else seed
    verified = verifying.verify(session, sample, seed, Options(jobs=jobs, isolation=isolation), kernels)
    for verdict in verified.verdicts:
        if verdict.outcome in ("undecided", "refuted"):
            trial = verdict.planned.trial
            machine = (
                "" if verdict.same_machine else " (it does not name this machine's processor, kernels and libraries)"
            )
            place = f"{trial.method} on {trial.dataset} ({trial.costs}), seed {trial.seed}"
            click.echo(f"{place}: {verdict.outcome}: {verdict.reason}{machine}", err=True)
    total = f"{len(verified.verdicts)} of {verified.published} published records"
    click.echo(f"{session.suite.name}: {total} recomputed (seed {seed}): {verified.summary}")
    if note:
        click.echo(f"{verifying.note(session, verified)}; render the page again: bench leaderboard --as-published")
    return 1 if verified.refuted else 0


@click.command()
@click.option("--format", "form", type=click.Choice(["csv", "parquet", "json"]), default="csv", show_default=True)
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), help="File to write; standard output otherwise."
)
@click.option("--budgets", is_flag=True, help="Write a row per trial and budget instead.")
@with_session
def export(session: SuiteSession, form: str, output: Path | None, budgets: bool) -> int:
    """Write a suite's records as one table: a row per trial, policy and part, a column per metric.

    With --budgets, a row per trial and budget: the test results of the policy that validation selects for the budget.
    The budgets are those of the suite's [comparison], or 5, 10, 20, 40 and 100 % of the price.

    An existing file is replaced, but not the suite's file, nor a file of its store or of its published records.

    In CSV, a ' is put before texts that a spreadsheet would run as formulas. Parquet and JSON hold them unchanged.
    """
    from bench_records.committed import records_of
    from bench_records.files import check_output, write_files
    from bench_records.hints import command_for
    from bench_records.tables import budget_table, export_table, exported

    if output is not None:
        check_output(output, Path(session.suite.path), [session.store.path, session.folder])
    records = records_of(session)
    if not len(records.policies):
        stored = f"{session.folder} and {session.store.path} have no record of the suite"
        raise RequestError(f"{stored}; run: {command_for(session)}")
    table = budget_table(session, records) if budgets else export_table(records, session.suite)
    data = exported(table, form)
    warn(session)
    if output is None:
        sys.stdout.buffer.write(data)
    else:
        write_files({output.resolve(): data})
    return 0
