"""The option ``--scheduler`` of ``bench run``."""

from __future__ import annotations

from functools import wraps
from typing import Any

import click

from bench_core import hookimpl

BENCH_CONTRACT_VERSION = 1

SCHEDULER = click.option(
    "--scheduler",
    metavar="ADDRESS",
    envvar="BUDGETBENCH_SCHEDULER",
    help="Dask scheduler whose workers run the trials: tcp://host:8786. Default: --executor dask starts one.",
)


@hookimpl
def bench_register_commands(group: click.Group) -> None:
    """Add ``--scheduler`` to ``bench run``; it also selects the executor ``dask`` if no other one is given."""
    run = group.commands["run"]
    if any(parameter.name == "scheduler" for parameter in run.params) or run.callback is None:
        return
    callback = run.callback

    @wraps(callback)
    def checked(*args: Any, **options: Any) -> Any:
        if options.get("scheduler") and options["executor"] == "auto":
            options["executor"] = "dask"
        elif options.get("scheduler") and options["executor"] != "dask":
            raise click.UsageError(f"--scheduler needs --executor dask, not {options['executor']}")
        return callback(*args, **options)

    run.callback = checked
    SCHEDULER(run)
