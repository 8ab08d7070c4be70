"""The kit's commands: ``bench new KIND NAME`` and ``bench check PLUGIN``. Heavy imports happen inside them."""

from __future__ import annotations

from pathlib import Path

import click

from bench_core import hookimpl
from bench_core.suites import cli_errors, installed_plugins, print_table
from bench_core.testing.scaffold import KINDS, make_plugin

BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_commands(group: click.Group) -> None:
    """Add the commands that create a plugin and check an installed one."""
    group.add_command(new)
    group.add_command(check)


@click.group()
def new() -> None:
    """Create a plugin: package, tests, suite, CI and licence."""


def _starts(kind: str) -> click.Command:
    """Make the command that creates a plugin of one kind."""

    @click.argument("name")
    @click.option(
        "--in",
        "parent",
        type=click.Path(path_type=Path, file_okay=False, exists=True),
        default=Path("."),
        help="Parent directory of its folder; by default the current one.",
    )
    @click.option("--author", default="", help="Copyright holder; by default 'The authors of NAME'.")
    @cli_errors
    def start(name: str, parent: Path, author: str) -> None:
        folder = make_plugin(kind, name, parent, author, installed_plugins())
        click.echo(f"{folder}: pip install -e {folder} && python -m pytest {folder}")

    return click.command(kind, help=f"Create a plugin with a {KINDS[kind].word}; its tests pass.")(start)


for _kind in KINDS:
    new.add_command(_starts(_kind))


def _not_passed(rows: list[list[str]]) -> list[list[str]]:
    """A row for each object, outcome and message: the first such check, and how many more there are."""
    found: dict[tuple[str, str, str], list[list[str]]] = {}
    for row in rows:
        if row[3] != "passed":
            found.setdefault((row[0], row[3], row[4]), []).append(row)
    shown = []
    for (what, check, task, *rest), *more in found.values():
        shown.append([what, f"{check} and {len(more)} more" if more else check, task, *rest])
    return shown


@click.command()
@click.argument("plugin", metavar="NAME")
@click.option("--all", "everything", is_flag=True, help="Show the checks that passed, too.")
@cli_errors
def check(plugin: str, everything: bool) -> int:
    """Run the contract kit on an installed plugin, or on one method, data set, cost scheme or metric.

    Unlike trials, the kit does not run in a restricted process.
    """
    from bench_core.testing.check_plugin import check_plugin

    rows = check_plugin(plugin, lambda name: click.echo(f"{name} …", err=True))
    if shown := rows if everything else _not_passed(rows):
        print_table(["what", "check", "task", "outcome", "message"], shown)
    counts = {outcome: sum(row[3] == outcome for row in rows) for outcome in ("passed", "failed", "skipped")}
    if not rows:
        click.echo(f"plugin {plugin!r} has no method, data set, cost scheme or metric to check", err=True)
    click.echo(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return 1 if counts["failed"] else 0
