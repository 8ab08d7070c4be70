"""``bench plan``, ``bench list`` and ``bench doctor``: read options, call the package, print.

Heavy imports happen inside the commands.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench_core import hookimpl
from bench_core.suites import (
    JSON,
    MIRROR,
    OFFLINE,
    ONLY,
    SEEDS,
    STORE,
    cli_errors,
    listed_plugins,
    print_json,
    print_table,
    warn,
    with_session,
)

if TYPE_CHECKING:
    from bench_core.suites import SuiteSession

BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_commands(group: click.Group) -> None:
    """Add the commands."""
    for command in (plan, list_, doctor):
        group.add_command(command)


@click.command()
@ONLY
@SEEDS
@JSON
@with_session
def plan(session: SuiteSession, only: tuple[str, ...], seeds: int | None, as_json: bool) -> int:
    """Show a suite's trials, and which are already done."""
    from bench_core.suites import inapplicable_lines, parse_only
    from bench_inspect.plans import PLAN_HEAD, describe_plan, plan_as_plain

    asked = session.plan(seeds, parse_only(only, session.suite))
    rows, stale = describe_plan(session, asked)
    notes = [*stale, *inapplicable_lines(asked)]
    warn(session)
    if as_json:
        print_json(plan_as_plain(asked, PLAN_HEAD, rows, notes))
        return 1 if asked.unavailable else 0
    print_table(PLAN_HEAD, rows)
    for line in notes:
        click.echo(line)
    for label, message in asked.unavailable.items():
        click.echo(f"data set {label!r} {message}", err=True)
    rare = [state for state in ("over the limit", "not applicable") if asked.count(state)]
    states = ["done", "failed", *rare]
    counts = ", ".join(f"{asked.count(state)} {state}" for state in states)
    click.echo(f"{len(asked.planned)} trials: {counts}, {len(asked.to_run())} to compute")
    return 1 if asked.unavailable else 0


def _names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from bench_inspect.about import names_of

    return sorted({name for name in names_of(listed_plugins()) if name.startswith(incomplete)})


@click.command("list")
@click.argument("what", metavar="[KIND|NAME]", required=False, shell_complete=_names)
@JSON
@cli_errors
def list_(what: str | None, as_json: bool) -> int:
    """List the data sets, cost schemes, methods and metrics of installed plugins, or describe one of them.

    KIND is datasets, costs, methods, metrics or plugins. For any other NAME, its parameters with their limits and an
    entry for a suite are shown.
    """
    from bench_inspect.listing import KINDS, list_rows

    loaded = listed_plugins()
    if as_json:
        from bench_inspect.listing import listed

        print_json(listed(loaded, what))
        return 0
    if what is not None and what not in KINDS:
        from bench_inspect.about import about

        click.echo("\n".join(about(loaded, what)))
        return 0
    for kind in [what] if what else KINDS:
        if not what:
            click.echo(f"{kind}:")
        print_table(*list_rows(loaded, kind), width=80)
        for plugin in loaded.broken if kind == "plugins" else ():
            click.echo(f"{plugin.name}: {plugin.error}")
        if not what:
            click.echo()
    for conflict in loaded.conflicts():
        click.echo(conflict, err=True)
    return 0


@click.command()
@STORE
@click.option("--repair", is_flag=True, help="Move damaged files of the store aside; the next run computes them again.")
@MIRROR
@OFFLINE
@JSON
@cli_errors
def doctor(store: Path, repair: bool, mirror: Path | None, offline: bool | None, as_json: bool) -> int:
    """Show versions, plugins, caches and threads, check every file of the store, and list all problems."""
    from bench_core import DataContext
    from bench_inspect.health import doctor_rows, store_row

    rows, wrong = doctor_rows(listed_plugins(), DataContext.from_environment(mirror, offline), store)
    row, damage, notes = store_row(store, repair)
    if as_json:
        print_json({"found": dict([*rows, row]), "wrong": wrong, "damaged": damage, "notes": notes})
    else:
        print_table(["what", "found"], [*rows, row])
        for line in [*wrong, *damage, *notes]:
            click.echo(line, err=True)
    return 1 if wrong or (damage and not repair) else 0
