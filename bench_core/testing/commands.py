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


@click.command()
@click.argument("plugin")
@click.option("--all", "everything", is_flag=True, help="Show the checks that passed, too.")
@cli_errors
def check(plugin: str, everything: bool) -> int:
    """Run the contract kit on an installed plugin."""
    from bench_core.testing.check_plugin import check_plugin

    rows = check_plugin(plugin, lambda name: click.echo(f"{name} …", err=True))
    shown = [row for row in rows if everything or row[3] != "passed"]
    if shown:
        print_table(["what", "check", "task", "outcome", "message"], shown)
    counts = {outcome: sum(row[3] == outcome for row in rows) for outcome in ("passed", "failed", "skipped")}
    if not rows:
        click.echo(f"plugin {plugin!r} has no method, data set, cost scheme or metric to check", err=True)
    click.echo(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return 1 if counts["failed"] else 0
