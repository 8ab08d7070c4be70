"""The command line: reads options, calls `bench_core.commands`, prints. Heavy imports happen inside the verbs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench_core import __version__
from bench_core.cli.options import (
    DROP,
    MIRROR,
    OFFLINE,
    ONLY,
    OUT,
    SEEDS,
    STORE,
    SUITE,
    Quantity,
    requests,
)
from bench_core.cli.output import Progress, print_table
from bench_core.run.threads import start_with_one_blas_thread

if TYPE_CHECKING:
    from bench_core.run.runner import RunReport
    from bench_core.run.session import SuiteSession

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bench")
def main() -> None:
    """Benchmark classifiers that must pay for what they look at."""
    start_with_one_blas_thread()


@main.command()
@SUITE
@STORE
@OUT
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
@DROP
@MIRROR
@OFFLINE
@requests
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
    drop: tuple[str, ...],
    mirror: Path | None,
    offline: bool | None,
) -> int:
    """Run a suite, resume what is missing, and write its leaderboard page."""
    from bench_core.contract.dataset import DataContext
    from bench_core.run.execute import Options
    from bench_core.run.runner import run_suite
    from bench_core.run.session import SuiteSession, parse_only

    session = SuiteSession.open(suite, store, out, DataContext.from_environment(mirror, offline))
    options = Options(jobs, executor, timeout, None if memory is None else int(memory), retry_failed)
    with Progress(strict) as progress:
        wanted = parse_only(only, session.suite)
        report = run_suite(
            session, options, seeds, wanted, progress.started, progress.advance, progress.notice, drop
        )
    return _say(report, out / f"{session.suite.name}.md")


def _say(report: RunReport, page: Path) -> int:
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
    kept = report.plan.count("done")
    click.echo(f"{report.summary.computed} trial(s) computed, {kept} kept; {page}")
    if report.refused:
        click.echo(f"bench: {report.refused}", err=True)
    return report.exit_code


@main.command()
@SUITE
@STORE
@OUT
@ONLY
@SEEDS
@MIRROR
@OFFLINE
@requests
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
    from bench_core.contract.dataset import DataContext
    from bench_core.run.runner import PLAN_HEAD, describe_plan, inapplicable_lines
    from bench_core.run.session import SuiteSession, parse_only

    session = SuiteSession.open(suite, store, out, DataContext.from_environment(mirror, offline))
    made = session.plan(seeds, parse_only(only, session.suite))
    rows, stale = describe_plan(session, made)
    print_table(PLAN_HEAD, rows)
    for line in [*stale, *inapplicable_lines(made)]:
        click.echo(line)
    _warn(session)
    for label, message in made.unavailable.items():
        click.echo(f"data set {label!r} {message}", err=True)
    counts = [f"{made.count(state)} {state}" for state in ("done", "failed", "not applicable")]
    if not made.count("not applicable"):
        counts.pop()
    click.echo(f"{len(made.planned)} trials: {', '.join(counts)}, {len(made.to_run())} to compute")
    return 1 if made.unavailable else 0


@main.command()
@SUITE
@STORE
@OUT
@click.option("--check", is_flag=True, help="Write nothing; fail when the committed files differ.")
@click.option(
    "--as-published",
    is_flag=True,
    help="Render what is published once more; the page says which records wait to be recomputed.",
)
@DROP
@MIRROR
@OFFLINE
@requests
def leaderboard(
    suite: Path,
    store: Path,
    out: Path,
    check: bool,
    as_published: bool,
    drop: tuple[str, ...],
    mirror: Path | None,
    offline: bool | None,
) -> int:
    """Render a suite's page from its records."""
    from bench_core.commands import leaderboard as verbs
    from bench_core.contract.dataset import DataContext
    from bench_core.run.session import SuiteSession

    session = SuiteSession.open(suite, store, out, DataContext.from_environment(mirror, offline))
    if check:
        wrong = verbs.check(session)
        _warn(session)
        for line in wrong:
            click.echo(line, err=True)
        return 1 if wrong else 0
    try:
        written = verbs.publish_again(session) if as_published else verbs.publish(session, drop=drop)
    finally:
        _warn(session)
    for path in written:
        click.echo(str(path))
    return 0


def _warn(session: SuiteSession) -> None:
    for line in session.warnings():
        click.echo(line, err=True)


@main.command()
@SUITE
@STORE
@OUT
@click.option(
    "--format", "form", type=click.Choice(["csv", "parquet", "json"]), default="csv", show_default=True
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write; standard output otherwise.",
)
@MIRROR
@OFFLINE
@requests
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
    from bench_core.contract.dataset import DataContext
    from bench_core.render import write_files
    from bench_core.run.session import SuiteSession

    session = SuiteSession.open(suite, store, out, DataContext.from_environment(mirror, offline))
    data = exported(export_table(session.records(), session.suite), form)
    _warn(session)
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
@requests
def compare(store_a: Path, store_b: Path, suite: Path | None, metric: tuple[str, ...]) -> int:
    """Show what changed from store A to store B, paired by data set and seed, with 95 % intervals.

    A side may also be the folder of a committed export (leaderboard/SUITE).
    """
    from bench_core.commands.compare import compare_stores, rows_of_changes, rows_of_differences

    changed, found, warnings = compare_stores(store_a, store_b, suite, metric)
    for line in warnings:
        click.echo(line, err=True)
    print_table(*rows_of_changes(changed))
    head, rows = rows_of_differences(found)
    if rows:
        click.echo()
        print_table(head, rows)
    else:
        click.echo("No metric differs on the trials that both have done.")
    return 0


@main.command("list")
@click.argument(
    "kind", type=click.Choice(["datasets", "costs", "methods", "metrics", "plugins"]), required=False
)
@requests
def list_(kind: str | None) -> int:
    """List what the installed plugins offer."""
    from bench_core.cli.listing import KINDS, list_rows
    from bench_core.plugins.registry import load_registry

    registry = load_registry()
    for one in [kind] if kind else KINDS:
        if not kind:
            click.echo(f"{one}:")
        print_table(*list_rows(registry, one))
        if not kind:
            click.echo()
    for conflict in registry.conflicts():
        click.echo(conflict, err=True)
    return 0


@main.command()
@click.argument("verb", type=click.Choice(["fetch", "status", "verify"]))
@click.argument("names", nargs=-1)
@MIRROR
@OFFLINE
@requests
def data(verb: str, names: tuple[str, ...], mirror: Path | None, offline: bool | None) -> int:
    """Fetch data sets into the cache, show their state, or load and hash them."""
    from bench_core.cli.listing import data_rows
    from bench_core.contract.dataset import DataContext
    from bench_core.plugins.registry import load_registry

    context = DataContext.from_environment(mirror, offline)
    rows, fine = data_rows(
        load_registry(), context, verb, names, lambda name: click.echo(f"{name} …", err=True)
    )
    print_table(["data set", "state"], rows)
    return 0 if fine else 1


@main.command()
@STORE
@MIRROR
@OFFLINE
@requests
def doctor(store: Path, mirror: Path | None, offline: bool | None) -> int:
    """Show versions, plugins, caches and threads, and what is wrong with them."""
    from bench_core.cli.listing import doctor_rows
    from bench_core.contract.dataset import DataContext
    from bench_core.plugins.registry import load_registry

    rows, wrong = doctor_rows(load_registry(), DataContext.from_environment(mirror, offline), store)
    print_table(["what", "found"], rows)
    for line in wrong:
        click.echo(line, err=True)
    return 1 if wrong else 0


@main.command()
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False))
@OUT
@requests
def site(directory: Path, out: Path) -> int:
    """Write the leaderboard's pages as HTML into DIRECTORY, and check every link in them."""
    from bench_core.render.links import dead_links
    from bench_core.render.site import build_site

    written = build_site(out, directory)
    dead = dead_links((path for path in written if path.suffix == ".html"), directory)
    for line in dead:
        click.echo(f"bench: {line}", err=True)
    click.echo(f"{len(written)} files in {directory}" + (f", {len(dead)} dead links" if dead else ""))
    return 1 if dead else 0


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
@requests
def new_method(name: str, parent: Path) -> int:
    """Make a new plugin folder for a method, whose tests pass."""
    from bench_core.cli.new_plugin import new_method as make

    folder = make(name, parent)
    click.echo(f"{folder}: pip install -e {folder} && python -m pytest {folder}")
    return 0


@main.command()
@click.argument("plugin")
@click.option("--all", "everything", is_flag=True, help="Show the checks that passed, too.")
@requests
def check(plugin: str, everything: bool) -> int:
    """Run the contract kit on an installed plugin."""
    from bench_core.cli.checking import check_plugin
    from bench_core.plugins.registry import load_registry

    rows, fine = check_plugin(load_registry(), plugin, lambda name: click.echo(f"{name} …", err=True))
    shown = [row for row in rows if everything or row[3] != "passed"]
    if shown:
        print_table(["what", "check", "task", "outcome", "message"], shown)
    counts = {word: sum(row[3] == word for row in rows) for word in ("passed", "failed", "skipped")}
    click.echo(", ".join(f"{count} {word}" for word, count in counts.items()))
    return 0 if fine else 1


if __name__ == "__main__":
    main()
