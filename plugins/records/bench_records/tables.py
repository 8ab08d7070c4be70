"""``bench export``: a suite's records as one table, for analysis with other programs."""

from __future__ import annotations

import io
import json
import math
from typing import TYPE_CHECKING, Any

from bench_core import RequestError, canonical_json
from bench_records.records import KEY, Records
from bench_records.selection import Rules, select
from bench_records.spreadsheet import inert

if TYPE_CHECKING:
    import pandas as pd

    from bench_core.suites import SuiteSession

__all__ = ["FORMATS", "budget_table", "export_table", "exported"]

FORMATS = ("csv", "parquet", "json")
_PARTS = ("validation", "test")


def export_table(records: Records, rules: Rules) -> pd.DataFrame:
    """A table with a row per trial, policy and part, and a column per metric.

    It can be grouped, filtered and averaged without reshaping, since each row is one observation: a policy on a part of
    the data. A trial that failed or is not applicable has one row, without a part, and the reason in ``failure``.

    Columns: ``dataset costs method seed point`` (the suite's labels), ``trial`` (name in the store), ``status``,
    ``parameters`` (JSON), ``content`` (hash of the data), ``threshold``, ``policy label budget``, ``selected``
    (whether validation selects the policy), ``part`` (``validation`` or ``test``), one column per metric
    (``metric.<name>`` if another column has the metric's name), ``fit_seconds``, ``failure``.
    """
    import pandas as pd

    frame = records.policies
    if frame.empty:
        return pd.DataFrame(columns=[*KEY, "trial", "status", "part"])
    names = list(frame["name"])
    identities, infos = records.identities, records.infos
    chosen = select(records, rules)
    picked = set(zip(chosen["method"], chosen["name"], chosen["policy"], strict=True)) if len(chosen) else set()
    parameters = {n: canonical_json(identities[n]["method"]["parameters"]) for n in set(names)}
    base = frame[[*KEY, "point"]].assign(
        trial=names,
        status=frame["status"],
        parameters=[parameters[n] for n in names],
        content=[identities[n]["dataset"] for n in names],
        threshold=[identities[n]["threshold"] for n in names],
        policy=frame["policy"],
        label=frame["label"],
        budget=frame["budget"],
        selected=[key in picked for key in zip(frame["method"], names, frame["policy"], strict=True)],
    )
    metrics = sorted({c.partition(".")[2] for c in frame.columns if c.partition(".")[0] in _PARTS})
    taken = {*base.columns, "part", "fit_seconds", "failure"}
    done = (frame["status"] == "ok").to_numpy()
    pieces = []
    for part in _PARTS:
        columns = {f"metric.{m}" if m in taken else m: frame[f"{part}.{m}"] for m in metrics if f"{part}.{m}" in frame}
        pieces.append(base.assign(part=part, **columns)[done])
    if not done.all():
        pieces.append(base.assign(part="")[~done])
    whole = pd.concat(pieces, ignore_index=True)
    timings = {n: run["timings"].get("fit") for n, run in records.runs.items()}
    whole["fit_seconds"] = pd.to_numeric(pd.Series([timings.get(n) for n in whole["trial"]], dtype="object"))
    whole["failure"] = [_error(infos[n]) for n in whole["trial"]]
    return whole.sort_values([*KEY, "point", "policy", "part"], kind="stable", ignore_index=True)


def _error(info: dict[str, Any]) -> str:
    error = info.get("error")
    return f"{error['type']}: {error['message']}" if isinstance(error, dict) else ""


def budget_table(session: SuiteSession, records: Records) -> pd.DataFrame:
    """A table with a row per trial and budget: the results of the policy that validation selects for the budget.

    Raises:
        RequestError: no installed plugin makes this table.
    """
    table: pd.DataFrame | None = session.registry.manager.hook.bench_budget_table(records=records, suite=session.suite)
    if table is None:
        raise RequestError("--budgets: budgetbench-comparison is not installed")
    return table


def exported(table: pd.DataFrame, form: str) -> bytes:
    """The content of a file with the table, in one of `FORMATS`; missing values are empty cells (CSV) or null.

    In CSV, texts that a spreadsheet would run as formulas are prefixed with ``'``, see `bench_records.spreadsheet`.
    """
    if form == "csv":
        return table.map(inert).rename(columns=inert).to_csv(index=False, lineterminator="\n").encode()
    if form == "parquet":
        sink = io.BytesIO()
        table.to_parquet(sink, index=False)
        return sink.getvalue()
    columns = {name: [_plain(value) for value in table[name].tolist()] for name in table.columns}
    lines = [
        json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False)
        for row in zip(*columns.values(), strict=True)
    ]
    return ("[\n" + ",\n".join(lines) + "\n]\n").encode()


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
