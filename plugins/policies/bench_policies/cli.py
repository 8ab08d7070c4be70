"""The commands ``bench fit``, ``bench answer`` and ``bench explain``, which import heavy modules when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bench_core import RequestError, hookimpl
from bench_policies.cli_options import FILE, checked, columns_of, escaped_errors, table_options

BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_commands(group: click.Group) -> None:
    """Add the commands."""
    for command in (fit, answer, explain):
        group.add_command(command)


@click.command()
@table_options
@click.option("--method", required=True, help="The method to fit; see bench list methods.")
@click.option("--parameters", default="{}", metavar="JSON", help="The method's parameters, such as '{\"C\": 0.5}'.")
@click.option("--splits", type=click.IntRange(min=0), default=5, show_default=True, help="Splits to measure on.")
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="Folder of the policy.")
@click.option("--export", type=FILE, help="Also write the policy as one JSON document, to be used without budgetbench.")
@escaped_errors
def fit(method: str, parameters: str, splits: int, out: Path, export: Path | None, **given: Any) -> int:
    """Fit a policy on all rows of a table and save it in a folder."""
    from bench_policies.exporting import check_file, exported, write_export
    from bench_policies.fitting import fit_policy
    from bench_policies.folder import check_place, policy_types, refuse_inside_policy, save_policy
    from bench_policies.trials import Setup
    from bench_policies.wording import for_terminal

    values = _json_object("--parameters", parameters)
    check_place(out)  # before anything is fitted
    if export is not None:
        check_file(export)
        refuse_inside_policy(export)
        if not export.absolute().parent.is_dir():
            raise RequestError(f"--export {export}: there is no folder {export.parent}")
    registry, dataset, goal = checked(given)
    registry.method(method)
    policy_types(registry, registry.plugin_of("methods", method).name)  # fail early if it cannot be saved
    fitted = fit_policy(
        method,
        dataset,
        given["prices"],
        target=given["target"],
        columns=columns_of(given),
        parameters=values,
        goal=goal,
        setup=Setup(given["encode"], given["threshold"]),
        splits=splits,
        exportable=export is not None,
    )
    folder = save_policy(fitted, out)
    if export is not None:
        write_export(exported(fitted), export)
    click.echo(for_terminal((folder / "card.md").read_text(encoding="utf-8")))
    click.echo(for_terminal(str(folder)))
    return 0


@click.command()
@click.argument("policy", type=click.Path(path_type=Path, file_okay=False))
@click.argument("data", type=FILE)
@click.option("--out", required=True, type=FILE, help="The CSV file of answers; an existing one is replaced.")
@escaped_errors
def answer(policy: Path, data: Path, out: Path) -> int:
    """Answer every row of a CSV or Parquet file that holds all features, read like the table of the fit."""
    import warnings

    from bench_policies.exporting import write_whole
    from bench_policies.folder import load_policy, refuse_inside_policy
    from bench_policies.wording import one_line

    if out.exists() and data.exists() and out.samefile(data):
        raise RequestError(f"--out {out} is the table of rows, which is not replaced: choose another file")
    refuse_inside_policy(out)
    if not out.absolute().parent.is_dir():
        raise RequestError(f"--out {out}: there is no folder {out.parent}")
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        answers = load_policy(policy).decide(data)
    for note in noted:
        click.echo(f"bench: {one_line(note.message)}", err=True)
    if answers.empty:
        raise RequestError(f"{data}: the table has no rows")
    answers["acquired"] = ["; ".join(names) for names in answers["acquired"]]
    write_whole(out, answers.to_csv(index=False, lineterminator="\n"))
    cost = answers["cost"].mean()
    click.echo(f"{len(answers)} answers at a mean cost of {cost:.4g}, in {one_line(out)}")
    return 0


@click.command()
@click.argument("policy", type=click.Path(path_type=Path, file_okay=False))
@click.option("--row", metavar="JSON", help="Trace one row: '{\"age\": 50, …}'.")
@escaped_errors
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
