"""What ``bench doctor`` says of a store."""

from __future__ import annotations

from pathlib import Path

import click

_MOST = 20


def check(path: Path, repair: bool) -> tuple[list[str], bool]:
    """Check every file of a store and, if asked, set damaged ones aside.

    Returns:
        A row of ``bench doctor``, and whether nothing is damaged.

    Damaged files are printed.
    """
    from bench_store import DAMAGED

    from bench_core.run.check_store import check_store, repair_store
    from bench_core.run.store import Store

    store = Store(path)
    result = check_store(store)
    for line in result.damage[:_MOST]:
        click.echo(line, err=True)
    if len(result.damage) > _MOST:
        click.echo(f"… and {len(result.damage) - _MOST} more that are damaged", err=True)
    summary = f"{result.sound['ok']} done, {result.sound['failed']} failed, {len(result.damage)} damaged"
    summary += f", {result.outdated} of an earlier format" if result.outdated else ""
    summary += f", {len(result.orphans)} decisions without a record" if result.orphans else ""
    if repair and (result.damage or result.outdated or result.orphans):
        moved = repair_store(store, result)
        click.echo(f"{moved} moved to {path / DAMAGED}; the next run computes what is missing", err=True)
        return ["records", summary], True
    if result.damage:
        click.echo(f"bench doctor --store {path} --repair moves them to {path / DAMAGED}", err=True)
    return ["records", summary], not result.damage
