"""The commands ``bench recommend``, ``bench fit`` and ``bench explain``, which import heavy modules when they run."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench_core import BenchError, RequestError, hookimpl
from bench_core.suites import ISOLATION, JSON, cli_errors, installed_plugins

if TYPE_CHECKING:
    from bench_core import Dataset
    from bench_core.suites import Registry
    from bench_policies.goals import Goal
    from bench_policies.tables import Columns

BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_commands(group: click.Group) -> None:
    """Add the commands."""
    for command in (recommend, fit, explain):
        group.add_command(command)


_FILE = click.Path(path_type=Path, dir_okay=False)
_TABLE: list[Callable[[Any], Any]] = [
    click.argument("data", type=_FILE),
    click.option("--target", required=True, help="The column to predict."),
    click.option("--prices", required=True, type=_FILE, help="A TOML file of prices."),
    click.option("--budget", type=float, help="The largest mean cost of a row."),
    click.option("--cap", type=float, help="The most that any single row may cost."),
    click.option(
        "--measure", type=click.Choice(["accuracy", "balanced-accuracy", "auc", "log-loss"]), default="accuracy",
        show_default=True, help="What is maximised; for values it is the mean squared error.",
    ),
    click.option("--accuracy", type=float, help="The least share of right answers among all rows, such as 0.9."),
    click.option("--error-costs", type=_FILE, help="A TOML file with the costs of wrong answers."),
    click.option("--threshold", type=float, help="Refuse rows whose highest class probability is below this."),
    click.option("--categorical", multiple=True, metavar="COLUMN", help="A numeric column of categories; repeatable."),
    click.option("--drop", multiple=True, metavar="COLUMN", help="A column to leave out; repeatable."),
    click.option("--size", metavar="COLUMN", help="The column with item sizes, for prices that grow with them."),
    click.option("--task", type=click.Choice(["binary", "multiclass", "regression"]), help="Default: guessed."),
    click.option(
        "--encode", type=click.Choice(["onehot", "ordinal", "impute", "raw"]), default="onehot", show_default=True,
        help="How columns are encoded; raw keeps missing values.",
    ),
]  # fmt: skip


def _table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_TABLE):
        command = option(command)
    return command


def _checked(given: dict[str, Any]) -> tuple[Registry, Dataset, Goal]:
    """Read and check the table, prices and goal before anything runs."""
    from bench_policies.columns import column_notes
    from bench_policies.goals import Goal, read_error_costs
    from bench_policies.prices import read_prices
    from bench_policies.tables import check_rows, read_table

    registry = installed_plugins()
    threshold = given["threshold"]
    if threshold is not None and not 0 < threshold <= 1:
        raise RequestError(f"--threshold must be a probability above 0 and at most 1, not {threshold}")
    dataset = read_table(given["data"], given["target"], registry, _columns(given))
    for note in column_notes(dataset):
        click.echo(f"bench: {note}", err=True)
    check_rows(dataset)
    read_prices(given["prices"], dataset.feature_names, registry, dataset.sizes is not None)
    if given["error_costs"] is not None:
        if given["budget"] is not None or given["accuracy"] is not None:
            raise RequestError("give one of --budget, --accuracy and --error-costs, not several")
        if given["measure"] != "accuracy":
            raise RequestError("--error-costs is a goal of its own: leave out --measure")
        return registry, dataset, replace(read_error_costs(given["error_costs"], dataset.classes), cap=given["cap"])
    goal = Goal(budget=given["budget"], quality=given["accuracy"], cap=given["cap"], measure=given["measure"])
    goal.check(dataset.task, dataset.classes)
    return registry, dataset, goal


def _columns(given: dict[str, Any]) -> Columns:
    from bench_policies.tables import Columns

    return Columns(given["categorical"], given["drop"], given["size"], given["task"])


def _seconds(context: click.Context, parameter: click.Parameter, value: str) -> float:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smh]?)", value.strip())
    if not match or float(match[1]) == 0:
        raise click.BadParameter(f"{value!r} is not a time such as 90, 10m or 2h")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


def _errors(verb: Callable[..., int]) -> Callable[..., None]:
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


@click.command()
@_table_options
@click.option("--method", "methods", multiple=True, help="A method to try; repeatable. Default: all that apply.")
@click.option(
    "--splits", type=click.IntRange(min=1), default=8, show_default=True, help="The largest number of splits."
)
@click.option("--time", "seconds", default="10m", show_default=True, callback=_seconds, help="Time limit: 90, 10m, 2h.")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), default=Path("recommendation"), show_default=True,
    help="Folder for the page.",
)  # fmt: skip
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Methods that run at the same time."
)
@ISOLATION
@JSON
@_errors
def recommend(
    methods: tuple[str, ...],
    splits: int,
    seconds: float,
    out: Path,
    jobs: int,
    isolation: str,
    as_json: bool,
    **given: Any,
) -> int:
    """Recommend a method for a table, prices and a goal. With --isolation none, no time limit holds."""
    from bench_policies.page import fit_command, methods_table, trivial_table, write_page
    from bench_policies.recommending import recommend as recommend_for
    from bench_policies.trials import Setup
    from bench_policies.wording import for_terminal, one_line

    _, dataset, goal = _checked(given)
    try:
        recommendation = recommend_for(
            dataset,
            given["prices"],
            goal=goal,
            setup=Setup(given["encode"], given["threshold"]),
            methods=methods,
            splits=splits,
            seconds=seconds,
            jobs=jobs,
            isolation=isolation,
            progress=lambda line: click.echo(one_line(line), err=True),
        )
    except KeyboardInterrupt:
        click.echo("bench: stopped; nothing was written", err=True)
        return 130
    shared = (
        "target",
        "prices",
        "budget",
        "cap",
        "accuracy",
        "error_costs",
        "threshold",
        "categorical",
        "drop",
        "size",
        "task",
    )
    options = {name.replace("_", "-"): given[name] for name in shared}
    if given["encode"] != "onehot":
        options["encode"] = given["encode"]
    if given["measure"] != "accuracy":
        options["measure"] = given["measure"]
    command = fit_command(recommendation.method, str(given["data"]), options, parameters=recommendation.parameters)
    page = write_page(recommendation, out, command)
    if as_json:
        from bench_core.suites import print_json

        fit_with = command if recommendation.best else None
        print_json({**recommendation.as_plain(), "command": fit_with, "page": str(page)})
        return 0 if recommendation.best else 1
    shown = [methods_table(recommendation, "simple"), trivial_table(recommendation, "simple"), recommendation.text]
    click.echo(for_terminal("\n\n".join(text for text in shown if text)) + "\n")
    if recommendation.best:
        click.echo(for_terminal(command))
    click.echo(for_terminal(str(page)))
    return 0 if recommendation.best else 1


@click.command()
@_table_options
@click.option("--method", required=True, help="The method to fit; see bench list methods.")
@click.option("--parameters", default="{}", metavar="JSON", help="The method's parameters, such as '{\"C\": 0.5}'.")
@click.option("--splits", type=click.IntRange(min=0), default=5, show_default=True, help="Splits to measure on.")
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="Folder of the policy.")
@click.option(
    "--export", type=_FILE, help="Also write the policy as one JSON document, to be used without budgetbench."
)
@_errors
def fit(method: str, parameters: str, splits: int, out: Path, export: Path | None, **given: Any) -> int:
    """Fit a policy on all rows of a table and save it in a folder."""
    from bench_policies.exporting import check_file, exported, write_export
    from bench_policies.fitting import fit_policy
    from bench_policies.folder import check_place, policy_types, save_policy
    from bench_policies.trials import Setup
    from bench_policies.wording import for_terminal

    values = _json_object("--parameters", parameters)
    check_place(out)  # before anything is fitted
    if export is not None:
        check_file(export)
    registry, dataset, goal = _checked(given)
    registry.method(method)
    policy_types(registry, registry.plugin_of("methods", method).name)  # fail early if it cannot be saved
    fitted = fit_policy(
        method,
        dataset,
        given["prices"],
        target=given["target"],
        columns=_columns(given),
        parameters=values,
        goal=goal,
        setup=Setup(given["encode"], given["threshold"]),
        splits=splits,
    )
    document = None if export is None else exported(fitted)
    folder = save_policy(fitted, out)
    if export is not None and document is not None:
        write_export(document, export)
    click.echo(for_terminal((folder / "card.md").read_text(encoding="utf-8")))
    click.echo(for_terminal(str(folder)))
    return 0


@click.command()
@click.argument("policy", type=click.Path(path_type=Path, file_okay=False))
@click.option("--row", metavar="JSON", help="Trace one row: '{\"age\": 50, …}'.")
@_errors
def explain(policy: Path, row: str | None) -> int:
    """Show which features a policy buys and when, what an answer costs, and how it decides on a row."""
    from bench_policies.explaining import explain as explanation
    from bench_policies.folder import load_policy
    from bench_policies.wording import for_terminal

    values = None if row is None else _json_object("--row", row)
    click.echo(for_terminal(str(explanation(load_policy(policy), values))))
    return 0


def _json_object(option: str, text: str) -> dict[str, Any]:
    import json

    try:
        value = json.loads(text)
    except ValueError as error:
        raise RequestError(f"{option} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise RequestError(f"{option} must be a JSON object, not {text}")
    return value
