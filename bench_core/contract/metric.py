"""Metrics: numbers that judge an outcome, each with a direction. The built-in ones are in `bench_core.builtin`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from bench_core.contract.decisions import Outcome
from bench_core.contract.errors import ContractError, RequestError, did_you_mean, with_hint
from bench_core.contract.facts import ALL_TASKS, CLASSIFICATION


@dataclass(frozen=True)
class Metric:
    """A function of an outcome, with a direction.

    Attributes:
        name: unique. A metric with a cut-off is registered as ``name@k`` with a literal ``k``.
        function: outcome → float; for ``name@k`` metrics, (outcome, k) → float.
        goal: whether ``max`` or ``min`` is better.
        title: the head of its column in a table; the name when empty.
        tasks: tasks it makes sense for.
        reference: whether it needs the family's reference decisions.
        percent: whether it is shown as a percentage.
        order: whether it depends on the order of the scores (or of the second class's probabilities). The audit then
            compares this order exactly. For ranking tasks and data with query ids it always does.
        version: raised when the definition changes; records then get the new value.
        on_request: whether a metric of the core is computed only for suites that name it; others are always computed.
        missed: for a selection metric with its own cap: whether a value means that the policy exceeds the cap. A row
            selected by such a value is *over budget*: shown as a last resort, never marked, ranked or claimed.
    """

    name: str
    function: Callable[..., float]
    goal: Literal["max", "min"]
    title: str = ""
    tasks: frozenset[str] = ALL_TASKS
    reference: bool = False
    percent: bool = False
    order: bool = False
    missed: Callable[[float], bool] | None = None
    version: int = 1
    on_request: bool = False

    @property
    def key(self) -> str:
        """The key of its values in records: the name, with the version if that is not 1."""
        return self.name if self.version == 1 else f"{self.name} v{self.version}"

    def better(self, a: float, b: float) -> bool:
        """Whether ``a`` is strictly better than ``b``."""
        return a > b if self.goal == "max" else a < b


_AT = re.compile(r"(?P<stem>.+)@(?P<k>[1-9][0-9]*)")


def resolve_metric(name: str, known: Mapping[str, Metric]) -> Metric:
    """Find a metric by name; ``ndcg@5`` is made from the registered ``ndcg@k``.

    Raises:
        RequestError: no such metric; the nearest name is offered.
    """
    if name in known and not name.endswith("@k"):
        return known[name]
    match = _AT.fullmatch(name)
    if match and f"{match['stem']}@k" in known:
        general = known[f"{match['stem']}@k"]
        k = int(match["k"])
        title = (general.title or general.name).replace("@k", f"@{k}")
        return replace(general, name=name, function=lambda outcome: general.function(outcome, k), title=title)
    stem, _, cut = name.partition("@")
    if cut == "k" and name in known:
        raise RequestError(f"metric {name!r} needs a number for k: {stem}@5")
    digits = cut if _AT.fullmatch(name) else "5"
    offered = [f"{other[:-1]}{digits}" if other.endswith("@k") else other for other in known]
    raise RequestError(f"metric {name!r} is unknown; {did_you_mean(name, offered)}")


def measure(outcome: Outcome, metrics: Mapping[str, Metric]) -> dict[str, float]:
    """Compute every metric that applies to the outcome, by name. Some apply only if there is a reference.

    Raises:
        ContractError: a metric failed, or its value is not a number.
    """
    values = {}
    for name, metric in metrics.items():
        if outcome.task in metric.tasks and (not metric.reference or outcome.reference is not None):
            try:
                values[name] = float(metric.function(outcome))
            except Exception as error:
                raise ContractError(f"metric {name!r} must return a number or NaN: {with_hint(error)}") from error
    return values


DEFAULT_METRICS = ("combined", "error", "ndcg@5", "mse")
"""Every answer of `default_metric`."""


def default_metric(task: str, threshold: float | None) -> str:
    """The metric that selects a policy when a suite names none.

    ``combined`` for classes with a confidence threshold, ``error`` without one, ``ndcg@5`` for ranking, ``mse`` for
    regression.
    """
    if task in CLASSIFICATION:
        return "error" if threshold is None else "combined"
    return "ndcg@5" if task == "ranking" else "mse"
