"""``bench submit``: reads options, calls the package and prints. It imports heavy modules when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench_core import RequestError
from bench_core.suites import warn, with_session

if TYPE_CHECKING:
    from bench_core.suites import SuiteSession

__all__ = ["submit"]


@click.command()
@click.option("--plugin", metavar="NAME", help="The plugin whose records are submitted.")
@click.option(
    "--wheel", type=click.Path(path_type=Path, dir_okay=False, exists=True), help="The plugin as a wheel; it is copied."
)
@click.option("--requirement", default="", metavar="TEXT", help="What pip installs if there is no wheel: name==1.0.")
@click.option(
    "--to",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("submissions"),
    show_default=True,
    help="The folder in which the plugin's folder is written.",
)
@click.option("--check", is_flag=True, help="Write nothing; check the folder of the submitted suite's file.")
@with_session
def submit(
    session: SuiteSession, plugin: str | None, wheel: Path | None, requirement: str, to: Path, check: bool
) -> int:
    """Check a plugin and its records of a suite, and write the folder of a pull request.

    The suite is a published one with the plugin's entry added, and must have been run. The plugin must pass the
    contract kit. Its records must have been made with --isolation strict, by the installed code, on the published data.
    """
    from bench_records.submission import check_submission
    from bench_records.submission import submit as write

    def progress(name: str) -> None:
        click.echo(f"{name} …", err=True)

    if check:
        submitted = check_submission(session, progress)
    elif plugin is None:
        raise RequestError("name the plugin whose records are submitted: --plugin NAME")
    else:
        submitted = write(session, plugin, to, wheel, requirement, progress)
    warn(session)
    if not submitted.is_published:
        click.echo(
            f"{session.suite.name} is not published in {session.out}: its data and protocol were not compared", err=True
        )
    click.echo(f"{submitted.folder}: {submitted.records} record(s) of {', '.join(submitted.methods)}")
    return 0
