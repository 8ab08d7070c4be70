"""What the commands on a table share: their options, how these are checked, and how errors are shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench_core import BenchError, RequestError
from bench_core.suites import cli_errors, installed_plugins

if TYPE_CHECKING:
    from bench_core import Dataset
    from bench_core.suites import Registry
    from bench_policies.goals import Goal
    from bench_policies.tables import Columns

__all__ = ["FILE", "checked", "columns_of", "escaped_errors", "table_options", "table_options_given"]

FILE = click.Path(path_type=Path, dir_okay=False)
_TABLE: list[Callable[[Any], Any]] = [
    click.argument("data", type=FILE),
    click.option("--target", required=True, help="The column to predict."),
    click.option("--prices", required=True, type=FILE, help="A TOML file of prices."),
    click.option("--budget", type=float, help="The largest mean cost of a row."),
    click.option("--cap", type=float, help="The most that the features of any single row may cost."),
    click.option(
        "--measure", type=click.Choice(["accuracy", "balanced-accuracy", "auc", "log-loss"]), default="accuracy",
        show_default=True, help="What is optimised for classes; regression always uses the mean squared error.",
    ),
    click.option("--accuracy", type=float, help="The least share of right answers among all rows, such as 0.9."),
    click.option("--error-costs", type=FILE, help="A TOML file with the costs of wrong answers."),
    click.option("--threshold", type=float, help="Refuse rows whose highest class probability is below this."),
    click.option("--categorical", multiple=True, metavar="COLUMN", help="A numeric column of categories; repeatable."),
    click.option("--drop", multiple=True, metavar="COLUMN", help="A column to leave out; repeatable."),
    click.option("--size", metavar="COLUMN", help="The column with item sizes, for prices that grow with them."),
    click.option(
        "--missing", multiple=True, metavar="TEXT",
        help="A text that marks a missing value, besides an empty cell, NA, NaN, nan and ?; repeatable.",
    ),
    click.option("--separator", default=",", show_default=True, help="Between two values of a CSV file; or tab."),
    click.option(
        "--decimal", type=click.Choice([".", ","]), default=".", show_default=True,
        help="The decimal point of a CSV file."
    ),
    click.option("--task", type=click.Choice(["binary", "multiclass", "regression"]), help="Default: guessed."),
    click.option(
        "--encode", type=click.Choice(["onehot", "ordinal", "impute", "raw"]), default="onehot", show_default=True,
        help="How columns are encoded; raw keeps missing values.",
    ),
]  # fmt: skip


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument ``data`` and the options that say how a table is read and what the goal is."""
    for option in reversed(_TABLE):
        command = option(command)
    return command


def table_options_given(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options of `table_options` that differ from their defaults, by their names on the command line."""
    shared = click.command(table_options(lambda **_: None)).params
    options = [parameter for parameter in shared if isinstance(parameter, click.Option)]
    values = {option.opts[0].removeprefix("--"): (given[str(option.name)], option.default) for option in options}
    return {name: value for name, (value, default) in values.items() if value not in (None, (), default)}


def checked(given: dict[str, Any]) -> tuple[Registry, Dataset, Goal]:
    """Read and check the table, prices and goal before anything runs."""
    from bench_policies.columns import column_notes, target_notes
    from bench_policies.error_costs import read_error_costs
    from bench_policies.goals import Goal
    from bench_policies.prices import read_prices
    from bench_policies.tables import apart_from_features, check_rows, read_table

    registry = installed_plugins()
    threshold = given["threshold"]
    if threshold is not None and not 0 < threshold <= 1:
        raise RequestError(f"--threshold must be a probability above 0 and at most 1, not {threshold}")
    dataset = read_table(given["data"], given["target"], registry, columns_of(given))
    for note in (*column_notes(dataset), *target_notes(dataset, given["target"], given["task"])):
        click.echo(f"bench: {note}", err=True)
    check_rows(dataset)
    apart = apart_from_features(given["target"], columns_of(given))
    read_prices(given["prices"], dataset.feature_names, registry, dataset.sizes is not None, apart)
    if given["error_costs"] is not None:
        if given["budget"] is not None or given["accuracy"] is not None:
            raise RequestError("give one of --budget, --accuracy and --error-costs, not several")
        if given["measure"] != "accuracy":
            raise RequestError("--error-costs is a goal of its own: leave out --measure")
        goal = replace(read_error_costs(given["error_costs"], dataset.classes), cap=given["cap"])
        if threshold is not None and goal.refused_cost is None:
            click.echo(
                f"bench: {given['error_costs']} gives no cost of refusals, so that a refused row costs nothing and the "
                "least total may be to refuse every row; add as the first line: refused = 20",
                err=True,
            )
    else:
        goal = Goal(budget=given["budget"], quality=given["accuracy"], cap=given["cap"], measure=given["measure"])
    goal.check(dataset.task, dataset.classes)
    return registry, dataset, goal


def columns_of(given: dict[str, Any]) -> Columns:
    """Return how the columns are read, according to the options."""
    from bench_policies.tables import Columns

    separator = "\t" if given["separator"] in ("tab", "\\t") else given["separator"]
    if len(separator) != 1:
        raise RequestError(f"--separator is one character, or tab; not {separator!r}")
    return Columns(
        given["categorical"], given["drop"], given["size"], given["task"], separator, given["decimal"], given["missing"]
    )


def escaped_errors(verb: Callable[..., int]) -> Callable[..., None]:
    """Wrap a command as `cli_errors` does, with control characters in messages escaped."""

    @wraps(verb)
    def escaped(*args: Any, **kwargs: Any) -> int:
        from bench_policies.wording import one_line

        try:
            return verb(*args, **kwargs)
        except BenchError as error:
            error.args = (one_line(error),)
            raise

    return cli_errors(escaped)
