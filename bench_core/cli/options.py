"""Options that several verbs have, quantities with units, and errors as exit codes."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

__all__ = ["DROP", "MIRROR", "OFFLINE", "ONLY", "OUT", "SEEDS", "STORE", "SUITE", "Quantity", "requests"]

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "k": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class Quantity(click.ParamType[float]):
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


def requests(verb: Callable[..., int | None]) -> Callable[..., None]:
    """Turn a wrong request into a message and exit code 2, and a verb's answer into the exit code."""

    @wraps(verb)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        from bench_core.contract.errors import BenchError, TrialFailed

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


STORE = click.option(
    "--store",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".bench-store"),
    show_default=True,
    help="Directory of records.",
)
OUT = click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("leaderboard"),
    show_default=True,
    help="Directory of pages.",
)
SUITE = click.argument("suite", type=click.Path(path_type=Path, dir_okay=False))
DROP = click.option(
    "--drop",
    multiple=True,
    metavar="NAME",
    help="Let published records of a data set, costs or method go that the suite's records do not hold; repeatable.",
)
ONLY = click.option(
    "--only", multiple=True, metavar="KIND=NAME", help="dataset=…, method=… or costs=…; repeatable."
)
SEEDS = click.option("--seeds", type=click.IntRange(min=1), help="Only the first N seeds.")
MIRROR = click.option(
    "--mirror",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="A directory that takes the place of every download (or BUDGETBENCH_MIRROR).",
)
OFFLINE = click.option(
    "--offline/--online", default=None, help="Never open a connection (or BUDGETBENCH_OFFLINE=1)."
)
