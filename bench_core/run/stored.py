"""The records of a plan's trials from the store, with metrics that were requested after the records were made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from bench_core.contract.errors import ContractError, StoreError
from bench_core.contract.metric import Metric
from bench_core.run.plan import Plan, Planned
from bench_core.run.store import Store
from bench_core.run.summary import add_metrics


def stored_records(
    plan: Plan, store: Store, metrics: Mapping[str, Metric]
) -> Iterator[tuple[Planned, dict[str, Any] | None]]:
    """Yield every trial of a plan with its record; None if the store has no valid record.

    A trial that is not applicable gets a record that says so. Metrics that a record lacks are computed from its stored
    decisions. The store collects the names of damaged records (`bench_core.run.store.Store.unreadable`).

    Raises:
        ContractError: a metric failed on a trial's decisions; the message names both.
    """
    for planned in plan.planned:
        if planned.state == "not applicable":
            error = {"type": "NotApplicable", "message": planned.reason, "step": "plan"}
            trial = planned.trial.identity(planned.content)
            yield planned, {"name": planned.name, "trial": trial, "status": "not applicable", "error": error}
            continue
        record = store.read(planned.name)
        if record is not None and record["status"] == "ok":
            if _complete(record, metrics, store, planned):
                with suppress(StoreError):  # the store may be read-only
                    store.put(record["name"], record)
            _call_by_name(record, metrics)
        yield planned, record


def _call_by_name(record: dict[str, Any], metrics: Mapping[str, Metric]) -> None:
    """Rename metrics from their keys in records to their names; values of other versions are removed."""
    tables = [record.get(kind, {}).get(part, {}) for kind in ("policies", "empty") for part in ("validation", "test")]
    for name, metric in metrics.items():
        for table in tables if metric.key != name else ():
            table.pop(name, None)
            if metric.key in table:
                table[name] = table.pop(metric.key)


def _complete(record: dict[str, Any], metrics: Mapping[str, Metric], store: Store, planned: Planned) -> bool:
    """Add the metrics that a record lacks; return whether any were added."""
    lacking = {
        name: metric
        for name, metric in metrics.items()
        if metric.key not in record["policies"]["test"] and record["task"] in metric.tasks and not metric.reference
    }
    if not lacking:
        return False
    trial = planned.trial
    outcomes = list(store.outcomes(planned.name, record["task"], trial.threshold if trial.reject else None))
    if errors := add_metrics(record, outcomes, lacking):
        raise ContractError(f"{trial.title}: {errors[0]}") from errors[0]
    return True
