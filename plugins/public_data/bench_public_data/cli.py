"""The command ``bench data``, for the data sets of every plugin. It imports heavy modules when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench_core import hookimpl
from bench_core.suites import cli_errors, listed_plugins, print_table

if TYPE_CHECKING:
    from bench_core import DataContext, DataSource

BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_commands(group: click.Group) -> None:
    """Add the command."""
    group.add_command(data)


@click.command()
@click.argument("verb", type=click.Choice(["fetch", "status", "verify"]))
@click.argument("names", nargs=-1)
@click.option(
    "--mirror",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="A directory that replaces all downloads (or BUDGETBENCH_MIRROR).",
)
@click.option("--offline/--online", default=None, help="Never open a connection (or BUDGETBENCH_OFFLINE=1).")
@cli_errors
def data(verb: str, names: tuple[str, ...], mirror: Path | None, offline: bool | None) -> int:
    """Fetch data sets into the cache, show their state, or load and hash them.

    Without a NAME: all data sets that need no parameters.
    """
    from bench_core import DataContext, RequestError, build, did_you_mean

    registry, context = listed_plugins(), DataContext.from_environment(mirror, offline)
    for name in names:
        if name not in registry.datasets:
            raise RequestError(f"there is no data set {name!r}; {did_you_mean(name, registry.datasets)}")
    rows, failed = [], False
    for name in names or sorted(registry.datasets):
        try:
            source = build(registry.datasets[name], {}, name)
        except RequestError:
            if names:
                rows.append([name, "needs parameters: use it in a suite"])
                failed = True
            continue
        click.echo(f"{name} …", err=True)
        state, fine = _state(source, context, verb)
        rows.append([name, state])
        failed = failed or not fine
    print_table(["data set", "state"], rows)
    return int(failed)


def _state(source: DataSource, context: DataContext, verb: str) -> tuple[str, bool]:
    """Apply the verb to a data set; return its state, and whether that succeeded."""
    from bench_core.execution import with_hint

    try:
        if verb == "fetch":
            source.fetch(context)
        state = source.status(context)
        fine = verb == "status" or state != "missing"
        if verb == "verify":
            dataset = source.load(context)
            state = f"{state}, {dataset.n_rows} x {dataset.n_features}, {dataset.content[:16]}"
    except (Exception, SystemExit) as error:
        return f"failed: {with_hint(error)}", False
    return state, fine
