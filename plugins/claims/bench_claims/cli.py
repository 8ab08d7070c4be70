"""The command ``bench claims``: parses options, calls the package and prints. Heavy modules are imported inside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bench_core import hookimpl
from bench_core.suites import print_table, with_sessions

if TYPE_CHECKING:
    from bench_core.suites import SuiteSession

BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_commands(group: click.Group) -> None:
    """The command."""
    group.add_command(claims)


@click.command()
@click.option(
    "--stress", is_flag=True, help="Perturb the records; list claims whose verdict no possible perturbation changes."
)
@with_sessions
def claims(session: SuiteSession, stress: bool) -> int:
    """Check the claims of suites against their published records.

    --stress exchanges methods, permutes validation values, shifts values and reverses their signs. The exit code is 1
    if a claim's verdict is forced by construction and the claim does not declare it (by_construction).
    """
    from bench_claims.commands import rows_of_stress, rows_of_verdicts, stressed, undeclared

    if not session.suite.section("claims"):
        click.echo(f"{session.suite.name} has no claims")
        return 0
    if not stress:
        print_table(*rows_of_verdicts(session))
        return 0
    results = stressed(session)
    quiet = undeclared(results)
    print_table(*rows_of_stress(results))
    decided = sum(result.verdict in ("holds", "contradicted") for result in results)
    forced = sum(result.forced for result in results)
    click.echo(
        f"{session.suite.name}: {len(results)} claims, {decided} decided, {forced} forced by construction, "
        f"{len(quiet)} of these without declaring it"
    )
    return 1 if quiet else 0
