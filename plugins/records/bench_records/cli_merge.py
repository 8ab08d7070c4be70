"""The command ``bench merge``, which merges the stores of several machines."""

from __future__ import annotations

from pathlib import Path

import click

from bench_core.suites import cli_errors

__all__ = ["merge"]

_MOST_TRIALS, _MOST_NUMBERS = 20, 5


@click.command()
@click.argument("stores", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--into",
    "--store",
    "into",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".bench-store"),
    show_default=True,
    help="The store to merge into; created if it does not exist.",
)
@cli_errors
def merge(stores: tuple[Path, ...], into: Path) -> int:
    """Merge stores of several machines into one.

    Done records are never overwritten. If two stores hold different records of a trial, the trial is not
    deterministic: the numbers that differ are shown, the record that was there is kept, and the exit code is 1. The
    exit code is also 1 if a record is damaged.
    """
    from bench_records.merging import merge_stores

    failed = False
    for report in merge_stores(stores, into):
        counts = [f"{report.added} added", f"{report.same} there already"]
        counts += [f"{report.done_now} done in one store and failed in the other"] if report.done_now else []
        counts += [f"{len(report.differ)} differ"] if report.differ else []
        counts += [f"{len(report.damage)} damaged"] if report.damage else []
        counts += [f"{report.old} of an earlier format"] if report.old else []
        click.echo(f"{report.source}: {', '.join(counts)}")
        for difference in report.differ[:_MOST_TRIALS]:
            click.echo(
                f"{into} and {report.source} differ on {difference.dataset}, {difference.name}: {difference.trial}",
                err=True,
            )
            for what, stored, other in difference.numbers[:_MOST_NUMBERS]:
                click.echo(f"  {what}: {_short(stored)} and {_short(other)}", err=True)
            if len(difference.numbers) > _MOST_NUMBERS:
                click.echo(f"  … and {len(difference.numbers) - _MOST_NUMBERS} more", err=True)
        if len(report.differ) > _MOST_TRIALS:
            click.echo(f"… and {len(report.differ) - _MOST_TRIALS} more trials that differ", err=True)
        for line in report.damage[:_MOST_TRIALS]:
            click.echo(line, err=True)
        if len(report.damage) > _MOST_TRIALS:
            click.echo(f"… and {len(report.damage) - _MOST_TRIALS} more that are damaged", err=True)
        failed |= bool(report.differ or report.damage)
    return 1 if failed else 0


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
