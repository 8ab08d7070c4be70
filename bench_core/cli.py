"""The command line: reads options, calls `bench_core.commands`, prints. Heavy imports happen inside the verbs."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench_core import __version__

if TYPE_CHECKING:
    from bench_core.commands.run import RunReport
    from bench_core.execute import Done
    from bench_core.plan import Plan, Planned

__all__ = ["main"]

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "k": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class _Quantity(click.ParamType[float]):
    """A number with a unit: seconds (``90``, ``10m``, ``2h``) or bytes (``500M``, ``4G``)."""

    def __init__(self, name: str, units: str) -> None:
        self.name, self.units = name, units

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, int | float):
            return float(value)
        match = re.fullmatch(rf"([0-9]+(?:\.[0-9]+)?)([{self.units}]?)", value.strip())
        if not match or float(match[1]) == 0:
            self.fail(
                f"{value!r} is not a {self.name} such as {'10m' if 'h' in self.units else '4G'}", param, ctx
            )
        return float(match[1]) * _UNITS[match[2]]


def _requests(verb: Callable[..., int | None]) -> Callable[..., None]:
    """Turn a wrong request into a message and exit code 2, and a verb's answer into the exit code."""

    @wraps(verb)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        from bench_core.errors import BenchError, TrialFailed

        try:
            code = verb(*args, **kwargs)
        except TrialFailed as error:
            click.echo(f"bench: stopped at the first failure: {error}", err=True)
            sys.exit(1)
        except BenchError as error:
            click.echo(f"bench: {error}", err=True)
            sys.exit(2)
        except KeyboardInterrupt:
            click.echo("bench: stopped; what was done is kept, run the same command to go on", err=True)
            sys.exit(130)
        sys.exit(code or 0)

    return wrapped


def _print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns for people on a terminal, the same as plain text elsewhere."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    plain = not sys.stdout.isatty()
    table = Table(*head, box=None if plain else box.SIMPLE, pad_edge=False, highlight=False)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console(width=240 if plain else None, soft_wrap=False).print(table)


_STORE = click.option(
    "--store",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".bench-store"),
    show_default=True,
    help="Directory of records.",
)
_OUT = click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("leaderboard"),
    show_default=True,
    help="Directory of pages.",
)
_SUITE = click.argument("suite", type=click.Path(path_type=Path, dir_okay=False))
_ONLY = click.option(
    "--only", multiple=True, metavar="KIND=NAME", help="dataset=…, method=… or costs=…; repeatable."
)
_SEEDS = click.option("--seeds", type=click.IntRange(min=1), help="Only the first N seeds.")
_MIRROR = click.option(
    "--mirror",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="A directory that takes the place of every download (or BUDGETBENCH_MIRROR).",
)
_OFFLINE = click.option(
    "--offline/--online", default=None, help="Never open a connection (or BUDGETBENCH_OFFLINE=1)."
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bench")
def main() -> None:
    """Benchmark classifiers that must pay for what they look at."""


@main.command()
@_SUITE
@_STORE
@_OUT
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Worker processes.")
@click.option(
    "--executor",
    type=click.Choice(["auto", "serial", "processes"]),
    default="auto",
    show_default=True,
    help="auto: processes when --jobs, --timeout or --memory ask for them.",
)
@_ONLY
@_SEEDS
@click.option("--timeout", type=_Quantity("time", "smh"), help="Time a trial may take: 90, 10m, 2h.")
@click.option("--memory", type=_Quantity("size", "kMGT"), help="Memory a worker may allocate: 500M, 4G.")
@click.option("--retry-failed", is_flag=True, help="Run trials again that failed before.")
@click.option("--strict", is_flag=True, help="Stop at the first failed trial.")
@_MIRROR
@_OFFLINE
@_requests
def run(
    suite: Path,
    store: Path,
    out: Path,
    jobs: int,
    executor: str,
    only: tuple[str, ...],
    seeds: int | None,
    timeout: float | None,
    memory: float | None,
    retry_failed: bool,
    strict: bool,
    mirror: Path | None,
    offline: bool | None,
) -> int:
    """Run a suite, resume what is missing, and write its leaderboard page."""
    from bench_core.commands.run import run_suite
    from bench_core.commands.session import SuiteSession, parse_only
    from bench_core.dataset import DataContext
    from bench_core.execute import Options

    session = SuiteSession.open(suite, store, out, DataContext.from_environment(mirror, offline))
    options = Options(jobs, executor, timeout, None if memory is None else int(memory), retry_failed)
    with _Progress(strict) as progress:
        report = run_suite(
            session, options, seeds, parse_only(only, session.suite), progress.started, progress.advance
        )
    return _say(report, out / f"{session.suite.name}.md")


def _say(report: RunReport, page: Path) -> int:
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
    kept = report.plan.count("done")
    click.echo(f"{report.summary.computed} trial(s) computed, {kept} kept; {page}")
    return report.exit_code


class _Progress:
    """A bar on a terminal; elsewhere a plain line now and then, and one for every failure."""

    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self._bar: Any = None
        self._task: Any = None
        self._done = self._total = self._failed = 0
        self._last = 0.0

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def started(self, plan: Plan, todo: int) -> None:
        """Say what there is to do."""
        self._total = todo
        click.echo(f"{len(plan.planned)} trials, {todo} to compute", err=True)
        if todo and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self._task = self._bar.add_task("", total=todo)
            self._bar.start()

    def advance(self, planned: Planned, done: Done) -> None:
        """Count a trial; stop at a failure when strict."""
        import time

        from rich.markup import escape

        self._done += 1
        self._failed += done.status == "failed"
        trial = planned.trial
        if self._bar is not None:
            self._bar.update(self._task, advance=1, description=escape(f"{trial.method} on {trial.dataset}"))
        elif time.monotonic() - self._last > 2 or self._done == self._total or done.status == "failed":
            self._last = time.monotonic()
            said = f"{self._done}/{self._total} {trial.method} on {trial.dataset}, seed {trial.seed}: {done.status}"
            click.echo(f"{said} ({done.seconds:.2f} s) {done.message}".rstrip(), err=True)
        if self.strict and done.status == "failed":
            from bench_core.errors import TrialFailed

            raise TrialFailed(f"{trial.method} on {trial.dataset}, seed {trial.seed}: {done.message}")


@main.command()
@_SUITE
@_STORE
@_OUT
@_ONLY
@_SEEDS
@_MIRROR
@_OFFLINE
@_requests
def plan(
    suite: Path,
    store: Path,
    out: Path,
    only: tuple[str, ...],
    seeds: int | None,
    mirror: Path | None,
    offline: bool | None,
) -> int:
    """Show a suite's trials, and which are already done."""
    from bench_core.commands.run import describe_plan
    from bench_core.commands.session import SuiteSession, parse_only
    from bench_core.dataset import DataContext

    session = SuiteSession.open(suite, store, out, DataContext.from_environment(mirror, offline))
    made = session.plan(seeds, parse_only(only, session.suite))
    rows, stale = describe_plan(session, made)
    _print_table(["data set", "method", "trials", "done", "failed", "missing"], rows)
    for line in stale:
        click.echo(line)
    for label, message in made.unavailable.items():
        click.echo(f"data set {label!r} {message}", err=True)
    click.echo(
        f"{len(made.planned)} trials: {made.count('done')} done, {made.count('failed')} failed, ", nl=False
    )
    click.echo(f"{len(made.to_run())} to compute")
    return 1 if made.unavailable else 0


@main.command()
@_SUITE
@_STORE
@_OUT
@click.option("--check", is_flag=True, help="Write nothing; fail when the committed files differ.")
@_MIRROR
@_OFFLINE
@_requests
def leaderboard(
    suite: Path, store: Path, out: Path, check: bool, mirror: Path | None, offline: bool | None
) -> int:
    """Render a suite's page from its records."""
    from bench_core.commands import leaderboard as verbs
    from bench_core.commands.session import SuiteSession
    from bench_core.dataset import DataContext

    session = SuiteSession.open(suite, store, out, DataContext.from_environment(mirror, offline))
    if check:
        wrong = verbs.check(session)
        for line in wrong:
            click.echo(line, err=True)
        return 1 if wrong else 0
    for path in verbs.publish(session):
        click.echo(str(path))
    return 0


@main.command()
@_SUITE
@_STORE
@_OUT
@click.option(
    "--format", "form", type=click.Choice(["csv", "parquet", "json"]), default="csv", show_default=True
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write; standard output otherwise.",
)
@_MIRROR
@_OFFLINE
@_requests
def export(
    suite: Path,
    store: Path,
    out: Path,
    form: str,
    output: Path | None,
    mirror: Path | None,
    offline: bool | None,
) -> int:
    """Write a suite's records as one table: a row per trial, policy and part, a column per metric."""
    from bench_core.commands.export import export_table, exported
    from bench_core.commands.session import SuiteSession
    from bench_core.dataset import DataContext
    from bench_core.render import write_files

    session = SuiteSession.open(suite, store, out, DataContext.from_environment(mirror, offline))
    data = exported(export_table(session.records(), session.suite), form)
    if output is None:
        sys.stdout.buffer.write(data)
    else:
        write_files({output: data})
    return 0


@main.command()
@click.argument("store_a", type=click.Path(path_type=Path, file_okay=False))
@click.argument("store_b", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--suite",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Compare this suite's trials, by its labels, selection and metrics.",
)
@click.option("--metric", multiple=True, help="Compare by this metric; repeatable.")
@_requests
def compare(store_a: Path, store_b: Path, suite: Path | None, metric: tuple[str, ...]) -> int:
    """Show what changed from store A to store B, paired by data set and seed, with 95 % intervals.

    A side may also be the folder of a committed export (leaderboard/SUITE).
    """
    from bench_core.commands.compare import compare_stores, rows_of_changes, rows_of_differences

    changed, found = compare_stores(store_a, store_b, suite, metric)
    _print_table(*rows_of_changes(changed))
    head, rows = rows_of_differences(found)
    if rows:
        click.echo()
        _print_table(head, rows)
    else:
        click.echo("No metric differs on the trials that both have done.")
    return 0


@main.command("list")
@click.argument(
    "kind", type=click.Choice(["datasets", "costs", "methods", "metrics", "plugins"]), required=False
)
@_requests
def list_(kind: str | None) -> int:
    """List what the installed plugins offer."""
    from bench_core.commands.listing import KINDS, list_rows
    from bench_core.plugins import load_registry

    registry = load_registry()
    for one in [kind] if kind else KINDS:
        if not kind:
            click.echo(f"{one}:")
        _print_table(*list_rows(registry, one))
        if not kind:
            click.echo()
    for conflict in registry.conflicts():
        click.echo(conflict, err=True)
    return 0


@main.command()
@click.argument("verb", type=click.Choice(["fetch", "status", "verify"]))
@click.argument("names", nargs=-1)
@_MIRROR
@_OFFLINE
@_requests
def data(verb: str, names: tuple[str, ...], mirror: Path | None, offline: bool | None) -> int:
    """Fetch data sets into the cache, show their state, or load and hash them."""
    from bench_core.commands.listing import data_rows
    from bench_core.dataset import DataContext
    from bench_core.plugins import load_registry

    context = DataContext.from_environment(mirror, offline)
    rows, fine = data_rows(
        load_registry(), context, verb, names, lambda name: click.echo(f"{name} …", err=True)
    )
    _print_table(["data set", "state"], rows)
    return 0 if fine else 1


@main.command()
@_STORE
@_MIRROR
@_OFFLINE
@_requests
def doctor(store: Path, mirror: Path | None, offline: bool | None) -> int:
    """Show versions, plugins, caches and threads, and what is wrong with them."""
    from bench_core.commands.listing import doctor_rows
    from bench_core.dataset import DataContext
    from bench_core.plugins import load_registry

    rows, wrong = doctor_rows(load_registry(), DataContext.from_environment(mirror, offline), store)
    _print_table(["what", "found"], rows)
    for line in wrong:
        click.echo(line, err=True)
    return 1 if wrong else 0


@main.command()
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False))
@_OUT
@_requests
def site(directory: Path, out: Path) -> int:
    """Write the leaderboard's pages as HTML into DIRECTORY."""
    from bench_core.render.site import build_site

    click.echo(f"{len(build_site(out, directory))} files in {directory}")
    return 0


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
@_requests
def new_method(name: str, parent: Path) -> int:
    """Make a new plugin folder for a method, whose tests pass."""
    from bench_core.commands.new import new_method as make

    folder = make(name, parent)
    click.echo(f"{folder}: pip install -e {folder} && python -m pytest {folder}")
    return 0


@main.command()
@click.argument("plugin")
@click.option("--all", "everything", is_flag=True, help="Show the checks that passed, too.")
@_requests
def check(plugin: str, everything: bool) -> int:
    """Run the contract kit on an installed plugin."""
    from bench_core.commands.check import check_plugin
    from bench_core.plugins import load_registry

    rows, fine = check_plugin(load_registry(), plugin, lambda name: click.echo(f"{name} …", err=True))
    shown = [row for row in rows if everything or row[3] != "passed"]
    if shown:
        _print_table(["what", "check", "task", "outcome", "message"], shown)
    counts = {word: sum(row[3] == word for row in rows) for word in ("passed", "failed", "skipped")}
    click.echo(", ".join(f"{count} {word}" for word, count in counts.items()))
    return 0 if fine else 1


if __name__ == "__main__":
    main()
