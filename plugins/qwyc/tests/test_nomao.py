"""The paper suite's Nomao entry, on a table of Nomao's shape that a loopback server serves in OpenML's format."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from bench_qwyc.fitted_ensemble import EnsembleMethod

from bench_core import DataContext, Dataset, Metric
from bench_core.execution import Prepared, prepare, run_trial
from bench_core.suites import Suite, Trial, load_registry, load_suite

openml = pytest.importorskip("openml")
pytest.importorskip("bench_public_data")

SUITE = Path(__file__).parents[3] / "suites" / "qwyc_paper.toml"
ROWS, NUMBERS, NOMINAL, STRONG = 34465, 89, 29, 8
PARQUET = "/datasets/nomao/dataset_1486.pq"
METHODS = ["QWYC*", "QWYC, greedy MSE", "Fan*", "GBT alone"]


def table() -> pd.DataFrame:
    """118 features, 89 of them numeric, among them the eight of greatest weight; 71 % of the rows are of class 2."""
    rng = np.random.default_rng(0)
    X = rng.random((ROWS, NUMBERS))
    y = X[:, :STRONG].sum(axis=1) + 0.3 * rng.normal(size=ROWS)
    columns: dict[str, Any] = {f"V{i + 1}": X[:, i] for i in range(NUMBERS)}
    for i in range(NUMBERS, NUMBERS + NOMINAL):
        columns[f"V{i + 1}"] = pd.Categorical(rng.choice(["1", "2", "3"], ROWS))
    columns["Class"] = pd.Categorical(np.where(y > np.quantile(y, 0.29), "2", "1"))
    return pd.DataFrame(columns)


def features(frame: pd.DataFrame) -> bytes:
    said = ""
    for i, name in enumerate(frame.columns):
        kind = frame[name].dtype
        levels = list(kind.categories) if isinstance(kind, pd.CategoricalDtype) else []
        said += (
            f"<oml:feature><oml:index>{i}</oml:index><oml:name>{name}</oml:name>"
            f"<oml:data_type>{'nominal' if levels else 'numeric'}</oml:data_type>"
            + "".join(f"<oml:nominal_value>{level}</oml:nominal_value>" for level in levels)
            + "<oml:is_target>false</oml:is_target><oml:is_ignore>false</oml:is_ignore>"
            "<oml:is_row_identifier>false</oml:is_row_identifier>"
            "<oml:number_of_missing_values>0</oml:number_of_missing_values></oml:feature>"
        )
    return f'<oml:data_features xmlns:oml="http://openml.org/openml">{said}</oml:data_features>'.encode()


def description(url: str) -> bytes:
    return (
        '<oml:data_set_description xmlns:oml="http://openml.org/openml"><oml:id>1486</oml:id>'
        "<oml:name>nomao</oml:name><oml:version>1</oml:version><oml:description>like Nomao</oml:description>"
        f"<oml:format>ARFF</oml:format><oml:url>{url}/nomao.arff</oml:url>"
        f"<oml:parquet_url>{url}{PARQUET}</oml:parquet_url>"
        "<oml:default_target_attribute>Class</oml:default_target_attribute>"
        "<oml:status>active</oml:status></oml:data_set_description>"
    ).encode()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Start a server with OpenML's data set 1486; yields the list of requested paths."""
    frame = table()
    frame.to_parquet(tmp_path / "nomao.pq", index=False)
    bodies: dict[str, bytes] = {}
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.split("?")[0]
            asked.append(path)
            body = bodies.get(path)
            if body is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Last-Modified", "Sat, 01 Jan 2022 00:00:00 GMT")
            self.send_header("ETag", '"0"')
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET

        def log_message(self, *_: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    url = f"http://127.0.0.1:{listening.server_address[1]}"
    bodies |= {
        "/api/v1/xml/data/1486": description(url),
        "/api/v1/xml/data/features/1486": features(frame),
        PARQUET: (tmp_path / "nomao.pq").read_bytes(),
    }
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "*")
    monkeypatch.setattr(openml.config, "server", f"{url}/api/v1/xml")
    monkeypatch.setattr(openml.config, "connection_n_retries", 1)
    threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield asked
    listening.shutdown()
    listening.server_close()


def fewer(trial: Trial) -> Trial:
    """The trial with 40 trees and one learning rate, on a tenth of the rows; otherwise the suite's settings."""
    method = trial.estimator
    assert isinstance(method, EnsembleMethod)
    assert (method.n_estimators, method.max_depth, method.strongest) == (500, 9, 8)
    split = replace(trial.split, train=0.06, validation=0.02, test=0.02)
    return replace(trial, estimator=replace(method, n_estimators=40, learning_rates=(0.1,)), split=split)


def ready(suite: Suite, context: DataContext) -> tuple[list[Trial], Dataset, Prepared, dict[str, Metric]]:
    trials = [fewer(one) for one in suite.trials(seeds=1, only={"dataset": ["Nomao"], "method": METHODS})]
    dataset = trials[0].source.load(context)
    one = trials[0]
    prepared = prepare(dataset, one.scheme, one.split, one.encode, one.seed, one.audit_rounds)
    return trials, dataset, prepared, dict(suite.needed_metrics())


@pytest.mark.slow
def test_the_suites_nomao_entry_runs_on_openmls_format(server: list[str], tmp_path: Path) -> None:
    suite = load_suite(SUITE, load_registry())
    trials, dataset, prepared, metrics = ready(suite, DataContext(tmp_path / "cache"))
    assert PARQUET in server
    assert (dataset.n_rows, dataset.n_features, len(dataset.categorical)) == (ROWS, 118, NOMINAL)
    assert [trial.method for trial in trials] == METHODS
    for trial in trials:
        record = run_trial(trial, dataset, prepared, metrics).record
        assert record["status"] == "ok", record
        assert record["diagnostics"]["base_models"] == 40
        test = record["policies"]["test"]
        assert max(test["features"]) <= STRONG
        spread = record["evaluations"]
        assert spread["width"] == 1
        assert all(sum(counts) == len(prepared.test) for counts in spread["counts"])
        if trial.method == "QWYC*":  # 71 % are of one class: early stopping must pay
            mean_models = test["mean-base-models"][record["policies"]["label"].index("alpha=0.005")]
            assert mean_models < 30
            used = np.flatnonzero(np.sum(record["usage"][0], axis=0))
            assert {record["features"][f] for f in used} <= {f"V{i + 1}" for i in range(STRONG)}
