"""Options that several commands share, quantities with units, and exit codes for errors."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench_core.plugins.hookspecs import OWNERS

if TYPE_CHECKING:
    import pluggy

    from bench_core.plugins.registry import Registry
    from bench_core.run.session import SuiteSession


_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "k": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class Quantity(click.ParamType[float]):
    """A number with a unit: seconds (``90``, ``10m``, ``2h``) or bytes (``500M``, ``4G``)."""

    def __init__(self, name: str, units: str) -> None:
        self.name, self.units = name, units

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        match = re.fullmatch(rf"([0-9]+(?:\.[0-9]+)?)([{self.units}]?)", str(value).strip())
        number = float(match[1]) * _UNITS[match[2]] if match else 0.0
        # Workers do not start with less memory, and the system's calls take no more.
        least, most, example = (1e-9, 1e9, "10m") if self.name == "time" else (2**26, 1e18, "4G (at least 64M)")
        if not least <= number <= most:
            self.fail(f"{value!r:.50} is not a {self.name} such as {example}", param, ctx)
        return number


def cli_errors(verb: Callable[..., int | None]) -> Callable[..., None]:
    """Turn an invalid request into a message and exit code 2, and a command's return value into the exit code."""

    @wraps(verb)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        from bench_core.contract.errors import BenchError, TrialFailed

        try:
            sys.exit(verb(*args, **kwargs) or 0)
        except TrialFailed as error:
            click.echo(f"bench: stopped at the first failure: {error}", err=True)
            sys.exit(1)
        except BenchError as error:
            click.echo(f"bench: {error}", err=True)
            sys.exit(2)
        except KeyboardInterrupt:
            click.echo("bench: stopped; what was done is kept, run the same command to go on", err=True)
            sys.exit(130)

    return wrapped


_FOLDER = click.Path(path_type=Path, file_okay=False)
STORE = click.option("--store", type=_FOLDER, default=".bench-store", show_default=True, help="Directory of records.")
OUT = click.option("--out", type=_FOLDER, default="leaderboard", show_default=True, help="Directory of pages.")
_SUITE_FILE = click.Path(path_type=Path, dir_okay=False)
SUITE = click.argument("suites", metavar="SUITE", type=_SUITE_FILE)
SUITES = click.argument("suites", metavar="SUITE...", nargs=-1, required=True, type=_SUITE_FILE)
ONLY = click.option("--only", multiple=True, metavar="KIND=NAME", help="dataset=…, method=… or costs=…; repeatable.")
SEEDS = click.option("--seeds", type=click.IntRange(min=1), help="Only the first N seeds.")
MIRROR = click.option(
    "--mirror",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="A directory that replaces every download (or BUDGETBENCH_MIRROR).",
)
ISOLATION = click.option(
    "--isolation",
    type=click.Choice(["strict", "process", "none"]),
    default="process",
    show_default=True,
    envvar="BUDGETBENCH_ISOLATION",
    help="process: methods run in restricted processes; strict: in new ones that share nothing (slower); "
    "none: in this process, for debuggers. Records contain the level.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document, for scripts.")
OFFLINE = click.option("--offline/--online", default=None, help="Never open a connection (or BUDGETBENCH_OFFLINE=1).")


def installed_plugins() -> Registry:
    """Load every installed plugin with the command's plugin manager."""
    from bench_core.plugins.manager import load_registry

    return load_registry(manager=_manager())


def listed_plugins(*, isolation: str | None = None, closed: Iterable[Path] = ()) -> Registry:
    """Make a registry of all installed plugins without importing those with methods (unless isolation is ``none``).

    Args:
        isolation: ``strict``, ``process`` or ``none``; by default the value of ``BUDGETBENCH_ISOLATION``.
        closed: paths that plugins must not read while they are described.
    """
    if (isolation or os.environ.get("BUDGETBENCH_ISOLATION")) == "none":
        return installed_plugins()
    from bench_core.plugins.described import described_registry

    registry = described_registry(_manager(), closed=closed)
    if context := click.get_current_context(silent=True):
        context.call_on_close(registry.close)
    return registry


def _manager() -> pluggy.PluginManager | None:
    context = click.get_current_context(silent=True)
    return context.find_root().obj if context else None


def with_session(verb: Callable[..., int | None]) -> Callable[..., None]:
    """Add the options for a suite and its folders to a command; its first argument is the opened session."""
    return SUITE(_opening(verb))


def with_sessions(verb: Callable[..., int | None]) -> Callable[..., None]:
    """As `with_session`, for several suites: the command is called for each, one after the other.

    The exit code is the greatest one.
    """
    return SUITES(_opening(verb))


def _opening(verb: Callable[..., int | None]) -> Callable[..., None]:
    @STORE
    @OUT
    @MIRROR
    @OFFLINE
    @cli_errors
    @wraps(verb)
    def opened(
        store: Path, out: Path, mirror: Path | None, offline: bool | None, suites: Path | tuple[Path, ...], **rest: Any
    ) -> int:
        from bench_core.contract.sources import DataContext
        from bench_core.run.session import SuiteSession

        context = DataContext.from_environment(mirror, offline)
        closed = [store.absolute(), out.absolute(), *([context.mirror] if context.mirror else [])]
        plugins = listed_plugins(isolation=rest.get("isolation"), closed=closed)
        codes = []
        for path in suites if isinstance(suites, tuple) else (suites,):
            session = SuiteSession.open(path, store, out, context, plugins)
            for key in session.suite.unread:
                click.echo(f"{path}: [{key}] is left unread: {OWNERS[key]} is not installed", err=True)
            codes.append(verb(session, **rest) or 0)
        return max(codes)

    return opened


def warn(session: SuiteSession) -> None:
    """Print a line for every damaged file."""
    for line in session.warnings():
        click.echo(line, err=True)
