"""The command line: reads options, calls the core, prints. Heavy imports happen inside the commands."""

from __future__ import annotations

import signal
import sys
from functools import partial
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

import click

from bench_core import __version__
from bench_core.cli import options
from bench_core.cli.output import Progress, print_table
from bench_core.plugins.manager import command_names, load_command, new_manager
from bench_core.run.libraries import start_with_fixed_libraries

if TYPE_CHECKING:
    import pluggy

    from bench_core.run.plan import Planned
    from bench_core.run.runner import RunReport
    from bench_core.run.session import SuiteSession


_NAMED = 20
"""The most failed trials, or trials over the time limit, that are listed."""


class PluginGroup(click.Group):
    """A group of commands that plugins can extend. A command's module is imported when the command is looked up."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for line in load_command(self._manager(ctx), self, cmd_name):
            click.echo(f"bench: {line}", err=True)
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *command_names(self._manager(ctx))})

    def _manager(self, ctx: click.Context) -> pluggy.PluginManager:
        """The invocation's plugin manager."""
        if ctx.obj is None:
            start_with_fixed_libraries()  # before a plugin imports NumPy
            ctx.obj = new_manager()
        manager: pluggy.PluginManager = ctx.obj
        return manager


@click.group(cls=PluginGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bench")
def main() -> None:
    """Benchmark classifiers that pay for the features they use."""
    for stream in (one for one in (sys.stdout, sys.stderr) if isinstance(one, TextIOWrapper)):
        stream.reconfigure(errors="replace")  # of characters that the terminal cannot show


@main.command()
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Worker processes.")
@click.option(
    "--executor",
    default="auto",
    show_default=True,
    metavar="NAME",
    help="serial, processes, or a plugin's executor; auto: processes if --jobs is above 1.",
)
@options.ONLY
@options.SEEDS
@click.option(
    "--timeout", type=options.Quantity("time", "smh"), help="Time limit of a trial: 90, 10m, 2h; else the suite's."
)
@click.option("--memory", type=options.Quantity("size", "kMGT"), help="Memory a worker may allocate: 500M, 4G.")
@options.ISOLATION
@click.option("--retry-failed", is_flag=True, help="Run trials again that failed before.")
@click.option("--retry-over-limit", is_flag=True, help="Run trials again that took longer than the time limit.")
@click.option("--skip-crashed", is_flag=True, help="Record the trial that an earlier run crashed in as failed.")
@click.option(
    "--audit-seed", type=click.IntRange(0), metavar="N", help="Repeat a failed audit: its record has the seed."
)
@click.option("--strict", is_flag=True, help="Stop at the first failed trial.")
@options.with_session
def run(
    session: SuiteSession, only: tuple[str, ...], seeds: int | None, memory: float | None, strict: bool, **given: Any
) -> int:
    """Run a suite: compute its missing trials, then let plugins write its pages."""
    from bench_core.run.execute import Options
    from bench_core.run.runner import run_suite
    from bench_core.run.session import parse_only

    own = {name: given.pop(name) for name in Options.__dataclass_fields__ if name in given}
    how = Options(**own, memory=None if memory is None else int(memory), plugin_options=given)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # batch systems and containers send it
    with Progress(strict) as progress:
        chosen, notice = parse_only(only, session.suite), partial(click.echo, err=True)
        report = run_suite(session, how, seeds, chosen, progress.started, progress.advance, notice)
    return _report(report)


def _report(report: RunReport) -> int:
    """Print the report of a run; return the exit code."""
    from bench_core.run.runner import inapplicable_lines

    for line in inapplicable_lines(report.plan):
        click.echo(line, err=True)
    for label, message in report.plan.unavailable.items():
        click.echo(f"data set {label!r} {message}", err=True)
    done = report.summary
    _name_trials("failed", done.failures, "failed before; --retry-failed runs them again", report.earlier_failures)
    before = "took longer than the time limit before; --retry-over-limit runs them again"
    _name_trials("over the limit", done.over_limit, before, report.earlier_over_limit)
    if report.table is not None:
        print_table(*report.table)
    written = "".join(f"; {line}" for line in report.written)
    click.echo(f"{done.computed} trial(s) computed, {report.plan.count('done') + done.kept} kept{written}")
    if report.refused:
        click.echo(f"bench: {report.refused}", err=True)
    return report.exit_code


def _name_trials(what: str, trials: list[tuple[Planned, str]], before: str, earlier: int) -> None:
    """Print the first few trials, each with its message, and how many there were in earlier runs."""
    for planned, message in trials[:_NAMED]:
        click.echo(f"{what}: {planned.trial.short_title}: {message}", err=True)
    if len(trials) > _NAMED:
        click.echo(f"{what}: {len(trials) - _NAMED} more", err=True)
    if earlier:
        click.echo(f"{earlier} trial(s) {before}", err=True)


if __name__ == "__main__":
    main()
