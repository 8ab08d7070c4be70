"""The command `bench site`, which imports heavy modules when it runs."""

from __future__ import annotations

from pathlib import Path

import click

from bench_core import hookimpl
from bench_core.suites import OUT, cli_errors, listed_plugins

BENCH_CONTRACT_VERSION = 1

_FOLDER = click.Path(path_type=Path, file_okay=False)


@hookimpl
def bench_register_commands(group: click.Group) -> None:
    """Add the command that builds the site."""
    group.add_command(site)


@click.command()
@click.argument("directory", type=_FOLDER)
@OUT
@click.option("--suites", type=_FOLDER, default=Path("suites"), show_default=True, help="Directory of suite files.")
@click.option("--docs", type=_FOLDER, default=Path("docs"), show_default=True, help="Directory of the documentation.")
@cli_errors
def site(directory: Path, out: Path, suites: Path, docs: Path) -> int:
    """Build the site into DIRECTORY: published results and documentation, with every link checked."""
    from bench_site.build import build_site

    for option, folder, usual in (("--suites", suites, "suites"), ("--docs", docs, "docs")):
        if folder != Path(usual) and not folder.is_dir():
            click.echo(f"bench: {option} {folder}: there is no such folder, so the site lacks its pages", err=True)
    built = build_site(listed_plugins(), out, suites, docs, directory)
    for line in built.faults:
        click.echo(f"bench: {line}", err=True)
    faults = f", {len(built.faults)} faults" if built.faults else ""
    click.echo(f"{built.pages} pages, {built.bytes / 2**20:.1f} MiB in {directory}{faults}")
    return 1 if built.faults else 0
