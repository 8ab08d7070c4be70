"""The command line: reads options, calls the core, prints. Heavy imports happen inside the commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench_core import __version__
from bench_core.cli.options import (
    MIRROR,
    OFFLINE,
    ONLY,
    SEEDS,
    STORE,
    Quantity,
    cli_errors,
    installed_plugins,
    warn,
    with_session,
)
from bench_core.cli.output import Progress, print_table
from bench_core.plugins.manager import load_commands, new_manager
from bench_core.run.threads import start_with_one_blas_thread

if TYPE_CHECKING:
    from bench_core.run.runner import RunReport
    from bench_core.run.session import SuiteSession

__all__ = ["main"]


class PluginGroup(click.Group):
    """A group of commands that plugins add to, when a command is looked for."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        self._load(ctx)
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        self._load(ctx)
        return super().list_commands(ctx)

    def _load(self, ctx: click.Context) -> None:
        """Make the invocation's plugin manager, and let plugins add their commands."""
        if ctx.obj is None:
            start_with_one_blas_thread()  # before a plugin imports NumPy
            ctx.obj = new_manager()
            for line in load_commands(ctx.obj, self):
                click.echo(f"bench: {line}", err=True)


@click.group(cls=PluginGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bench")
def main() -> None:
    """Benchmark classifiers that must pay for what they look at."""


@main.command()
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Worker processes.")
@click.option(
    "--executor",
    type=click.Choice(["auto", "serial", "processes"]),
    default="auto",
    show_default=True,
    help="auto: processes when --jobs, --timeout or --memory ask for them.",
)
@ONLY
@SEEDS
@click.option("--timeout", type=Quantity("time", "smh"), help="Time a trial may take: 90, 10m, 2h.")
@click.option("--memory", type=Quantity("size", "kMGT"), help="Memory a worker may allocate: 500M, 4G.")
@click.option("--retry-failed", is_flag=True, help="Run trials again that failed before.")
@click.option("--strict", is_flag=True, help="Stop at the first failed trial.")
@with_session
def run(
    session: SuiteSession,
    jobs: int,
    executor: str,
    only: tuple[str, ...],
    seeds: int | None,
    timeout: float | None,
    memory: float | None,
    retry_failed: bool,
    strict: bool,
    **plugin_options: Any,
) -> int:
    """Run a suite: resume what is missing, then let the plugins make their pages of it."""
    from bench_core.run.execute import Options
    from bench_core.run.runner import run_suite
    from bench_core.run.session import parse_only

    options = Options(jobs, executor, timeout, None if memory is None else int(memory), retry_failed)
    with Progress(strict) as progress:
        wanted = parse_only(only, session.suite)
        report = run_suite(
            session,
            options,
            seeds,
            wanted,
            progress.started,
            progress.advance,
            progress.notice,
            plugin_options,
        )
    return _report(report)


def _report(report: RunReport) -> int:
    """Print what a run did; the exit code."""
    from bench_core.run.runner import inapplicable_lines

    for line in inapplicable_lines(report.plan):
        click.echo(line, err=True)
    for label, message in report.plan.unavailable.items():
        click.echo(f"data set {label!r} {message}", err=True)
    for planned, message in report.summary.failures[:20]:
        trial = planned.trial
        click.echo(f"failed: {trial.method} on {trial.dataset}, seed {trial.seed}: {message}", err=True)
    if len(report.summary.failures) > 20:
        click.echo(f"… and {len(report.summary.failures) - 20} more failures", err=True)
    if report.earlier_failures:
        click.echo(
            f"{report.earlier_failures} trial(s) failed before; --retry-failed runs them again", err=True
        )
    if report.table is not None:
        print_table(*report.table)
    kept = report.plan.count("done")
    made = "".join(f"; {line}" for line in report.made)
    click.echo(f"{report.summary.computed} trial(s) computed, {kept} kept{made}")
    if report.refused:
        click.echo(f"bench: {report.refused}", err=True)
    return report.exit_code


@main.command()
@ONLY
@SEEDS
@with_session
def plan(session: SuiteSession, only: tuple[str, ...], seeds: int | None) -> int:
    """Show a suite's trials, and which are already done."""
    from bench_core.run.runner import PLAN_HEAD, describe_plan, inapplicable_lines
    from bench_core.run.session import parse_only

    made = session.plan(seeds, parse_only(only, session.suite))
    rows, stale = describe_plan(session, made)
    print_table(PLAN_HEAD, rows)
    for line in [*stale, *inapplicable_lines(made)]:
        click.echo(line)
    warn(session)
    for label, message in made.unavailable.items():
        click.echo(f"data set {label!r} {message}", err=True)
    counts = [f"{made.count(state)} {state}" for state in ("done", "failed", "not applicable")]
    if not made.count("not applicable"):
        counts.pop()
    click.echo(f"{len(made.planned)} trials: {', '.join(counts)}, {len(made.to_run())} to compute")
    return 1 if made.unavailable else 0


@main.command("list")
@click.argument(
    "kind", type=click.Choice(["datasets", "costs", "methods", "metrics", "plugins"]), required=False
)
@cli_errors
def list_(kind: str | None) -> int:
    """List what the installed plugins offer."""
    from bench_core.cli.listing import KINDS, list_rows

    loaded = installed_plugins()
    for name in [kind] if kind else KINDS:
        if not kind:
            click.echo(f"{name}:")
        print_table(*list_rows(loaded, name))
        if not kind:
            click.echo()
    for conflict in loaded.conflicts():
        click.echo(conflict, err=True)
    return 0


@main.command()
@click.argument("verb", type=click.Choice(["fetch", "status", "verify"]))
@click.argument("names", nargs=-1)
@MIRROR
@OFFLINE
@cli_errors
def data(verb: str, names: tuple[str, ...], mirror: Path | None, offline: bool | None) -> int:
    """Fetch data sets into the cache, show their state, or load and hash them."""
    from bench_core.cli.listing import data_rows
    from bench_core.contract.dataset import DataContext

    context = DataContext.from_environment(mirror, offline)
    rows, fine = data_rows(
        installed_plugins(), context, verb, names, lambda name: click.echo(f"{name} …", err=True)
    )
    print_table(["data set", "state"], rows)
    return 0 if fine else 1


@main.command()
@STORE
@MIRROR
@OFFLINE
@cli_errors
def doctor(store: Path, mirror: Path | None, offline: bool | None) -> int:
    """Show versions, plugins, caches and threads, and what is wrong with them."""
    from bench_core.cli.listing import doctor_rows
    from bench_core.contract.dataset import DataContext

    rows, wrong = doctor_rows(installed_plugins(), DataContext.from_environment(mirror, offline), store)
    print_table(["what", "found"], rows)
    for line in wrong:
        click.echo(line, err=True)
    return 1 if wrong else 0


@main.group()
def new() -> None:
    """Start a plugin of your own."""


@new.command("method")
@click.argument("name")
@click.option(
    "--in",
    "parent",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=Path("."),
    help="Where its folder goes; here by default.",
)
@cli_errors
def new_method(name: str, parent: Path) -> int:
    """Make a new plugin folder for a method, whose tests pass."""
    from bench_core.cli.new_plugin import new_method as make

    folder = make(name, parent)
    click.echo(f"{folder}: pip install -e {folder} && python -m pytest {folder}")
    return 0


@main.command()
@click.argument("plugin")
@click.option("--all", "everything", is_flag=True, help="Show the checks that passed, too.")
@cli_errors
def check(plugin: str, everything: bool) -> int:
    """Run the contract kit on an installed plugin."""
    from bench_core.cli.checking import check_plugin

    rows, fine = check_plugin(installed_plugins(), plugin, lambda name: click.echo(f"{name} …", err=True))
    shown = [row for row in rows if everything or row[3] != "passed"]
    if shown:
        print_table(["what", "check", "task", "outcome", "message"], shown)
    counts = {word: sum(row[3] == word for row in rows) for word in ("passed", "failed", "skipped")}
    click.echo(", ".join(f"{count} {word}" for word, count in counts.items()))
    return 0 if fine else 1


if __name__ == "__main__":
    main()
