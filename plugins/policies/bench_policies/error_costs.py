"""Read the costs of wrong answers from a TOML file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench_core import RequestError, did_you_mean
from bench_policies.goals import Goal
from bench_policies.prices import MOST
from bench_policies.toml_file import TomlFile

__all__ = ["read_error_costs"]


def read_error_costs(path: str | Path, classes: Sequence[str]) -> Goal:
    """Read a goal from a TOML file of error costs.

    The file holds the cost of a wrong answer by true class and answered class, in the unit of the prices::

        refused = 30                  # a refused row; without it no row is refused for its expected cost
        [error_costs.sick]
        healthy = 500                 # a sick row that is answered healthy
        [error_costs.healthy]
        sick = 60

    Raises:
        RequestError: the file cannot be read, has an unknown key or class, lacks a pair of classes, or has a cost that
            is not a number from 0; the message names the file, the line and the nearest name, or the pair.
    """
    file = TomlFile(path)
    for key in file.content:
        if key not in ("refused", "error_costs"):
            hint = did_you_mean(key, ("refused", "error_costs"))
            raise RequestError(f"{file.at(key)}: unknown key {key!r}; {hint}")
    table = file.content.get("error_costs")
    if not isinstance(table, dict) or not table or not all(isinstance(row, dict) for row in table.values()):
        raise RequestError(f"{file.at('error_costs')}: needs tables [error_costs.TRUTH] with ANSWER = cost")
    _check_cost(file.content.get("refused", 0), "refused", file.at("refused"))
    for truth, row in table.items():
        section = f"error_costs.{truth}"
        _check_class(truth, classes, file.at(section))
        for answer, cost in row.items():
            _check_class(answer, classes, file.at(section, answer))
            _check_cost(cost, f"{truth}.{answer}", file.at(section, answer))
    refused = file.content.get("refused")
    goal = Goal(error_costs=table, refused_cost=None if refused is None else float(refused))
    try:
        goal.check("", classes)
    except RequestError as error:
        raise RequestError(f"{file.where}: {error}") from None
    return goal


def _check_class(name: str, classes: Sequence[str], where: str) -> None:
    if classes and name not in classes:
        raise RequestError(f"{where}: error costs name {name!r}, which is not a class; {did_you_mean(name, classes)}")


def _check_cost(cost: Any, name: str, where: str) -> None:
    if isinstance(cost, bool) or not isinstance(cost, int | float) or not 0 <= cost <= MOST:
        raise RequestError(f"{where}: {name} must be a number from 0 to {MOST:g}, not {cost!r}")
