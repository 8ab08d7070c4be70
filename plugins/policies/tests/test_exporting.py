"""An exported policy decides as the policy itself does, with the standard library alone."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from bench_policies import Columns, FittedPolicy, Goal, Setup, fit_policy, portable
from bench_policies.exporting import exported, write_export
from bench_policies.portable import Portable
from click.testing import CliRunner

from bench_core import RequestError
from bench_core.cli.main import main

PRICES = {
    "prices": {"age": 0.0, "smoker": 1.0, "glucose": 5.0, "insulin": 5.0, "scan": 40.0},
    "groups": {"blood": ["glucose", "insulin"]},
    "group_prices": {"blood": 3.0},
}
Fit = Callable[..., FittedPolicy]
METHODS: list[tuple[str, str, dict[str, Any]]] = [
    ("single-stage", "onehot", {}),
    ("forward-selection", "ordinal", {"model": "logistic"}),
    ("forward-selection", "onehot", {"model": "lightgbm"}),
    ("lightgbm", "raw", {}),
    ("affordable-subset", "onehot", {}),
    ("affordable-subset", "raw", {"model": "logistic"}),
    ("stump", "onehot", {}),
    ("majority", "onehot", {}),
    ("lasso", "onehot", {}),
    ("eg2", "raw", {}),
    ("c45", "ordinal", {}),
]


def more_rows(table: pd.DataFrame, rows: int, target: str = "outcome") -> pd.DataFrame:
    """Draw the values of each column independently; a twentieth of those in numeric columns are missing."""
    rng = np.random.default_rng(1)
    drawn = {
        name: table[name].sample(rows, replace=True, random_state=7 + i).to_numpy() for i, name in enumerate(table)
    }
    frame = pd.DataFrame(drawn).drop(columns=target)
    for name in frame.select_dtypes("number"):
        frame[name] = frame[name].astype(float).mask(rng.random(rows) < 0.05)
    return frame


def assert_same(policy: FittedPolicy, frame: pd.DataFrame) -> None:
    """Assert that the exported policy, after a round trip through JSON, answers every row as the policy does."""
    read = Portable(json.loads(json.dumps(exported(policy), allow_nan=False)))
    expected = policy.decide(frame)
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    answers = [read.decide(row) for row in rows]
    assert [tuple(answer["acquired"]) for answer in answers] == list(expected.acquired)
    np.testing.assert_allclose([answer["cost"] for answer in answers], expected.cost, rtol=1e-12)
    if policy.classes:
        assert [answer["best"] for answer in answers] == list(expected.best)
        assert [answer["refused"] for answer in answers] == list(expected.refused)
        assert [answer["label"] for answer in answers] == list(expected.label)
        np.testing.assert_allclose([answer["probability"] for answer in answers], expected.probability, rtol=1e-12)
    else:
        np.testing.assert_allclose([answer["value"] for answer in answers], expected.value, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "encode", "parameters"), METHODS, ids=lambda value: str(value))
def test_ten_thousand_rows_are_decided_as_by_the_policy(
    fitted: Fit, table: pd.DataFrame, method: str, encode: str, parameters: dict[str, Any]
) -> None:
    policy = fit_policy(
        method, table, PRICES, target="outcome", splits=0, parameters=parameters, setup=Setup(encode, 0.7)
    )  # fmt: skip
    assert_same(policy, more_rows(table, 10_000))


def test_three_classes_values_and_error_costs_are_decided_as_by_the_policy(table: pd.DataFrame) -> None:
    frame = table.assign(outcome=pd.cut(table.glucose, 3, labels=["low", "mid", "high"]).astype(str))
    costs = {"low": {"mid": 5.0, "high": 9.0}, "mid": {"low": 1.0, "high": 1.0}, "high": {"low": 20.0, "mid": 3.0}}
    for method in ("single-stage", "lightgbm", "eg2"):
        assert_same(fit_policy(method, frame, PRICES, target="outcome", splits=0), more_rows(frame, 200))
    goal = Goal(error_costs=costs, refused_cost=1.5)
    assert_same(fit_policy("single-stage", frame, PRICES, target="outcome", goal=goal, splits=0), more_rows(frame, 200))
    values = table.assign(outcome=table.glucose * 0.1 + table.scan)
    for method in ("single-stage", "stump", "lightgbm"):
        policy = fit_policy(method, values, PRICES, target="outcome", columns=Columns(task="regression"), splits=0)
        assert_same(policy, more_rows(values, 200))


def test_the_reader_needs_the_standard_library_only(fitted: Fit, table: pd.DataFrame, tmp_path: Path) -> None:
    policy = fitted("eg2")
    write_export(exported(policy), tmp_path / "policy.json")
    (tmp_path / "portable.py").write_text(Path(portable.__file__).read_text(encoding="utf-8"), encoding="utf-8")
    row = table.drop(columns="outcome").iloc[:1]
    code = f"import portable; print(portable.Portable.read('policy.json').decide({row.to_dict('records')[0]})['best'])"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == policy.decide(row).best.iloc[0]


@pytest.mark.parametrize("rare", [[], ["A", "B", "C"]])
def test_a_category_in_another_form_is_decided_as_by_the_policy(rare: list[str]) -> None:
    codes = ["1", "2", "true"] * 40 + rare  # rare ones become one category
    table = pd.DataFrame({"code": codes, "y": ["yes" if code in ("1", "true") else "no" for code in codes]})
    policy = fit_policy("c45", table, [1.0], target="y", splits=0)
    read = Portable(exported(policy))
    for given, label in [(1.0, "yes"), ("1.0", "yes"), (1, "yes"), (True, "yes"), ("2", "no"), (np.float64(2), "no")]:
        assert read.decide({"code": given})["best"] == label
        assert policy.decide(pd.DataFrame({"code": pd.Series([given], dtype=object)})).best.iloc[0] == label


def test_a_policy_whose_price_is_the_cap_can_be_exported(table: pd.DataFrame) -> None:
    two = table[["age", "smoker", "outcome"]]
    policy = fit_policy("single-stage", two, [0.1, 0.2], target="outcome", goal=Goal(cap=0.3), splits=0)
    read = Portable(exported(policy))
    answer = read.decide(table.drop(columns="outcome").iloc[0].to_dict())
    assert answer["cost"] == pytest.approx(0.3)
    assert answer["cost"] > 0.3


@pytest.mark.parametrize("size", [-1.0, float("nan"), float("inf")])
def test_an_impossible_size_is_refused(fitted: Fit, size: float) -> None:
    read = Portable(exported(fitted("single-stage")))
    row = {"age": 50, "smoker": "no", "glucose": 120, "insulin": 90, "scan": 0.1}
    with pytest.raises(ValueError, match="size must be a finite number from 0"):
        read.decide(row, size=size)


def test_a_value_that_the_policy_does_not_know_is_refused_by_name(fitted: Fit) -> None:
    read = Portable(exported(fitted("single-stage")))
    row = {"age": 50, "smoker": "no", "glucose": 120, "insulin": 90, "scan": 0.1}
    for change, named in [({"smoker": "never"}, "smoker"), ({"scan": float("inf")}, "scan")]:
        with pytest.raises(ValueError, match=named):
            read.decide({**row, **change})
    with pytest.raises(KeyError, match="scan"):
        read.decide({name: value for name, value in row.items() if name != "scan"})
    with pytest.raises(ValueError, match="format"):
        Portable({"format": "other"})


def test_a_policy_that_cannot_be_exported_is_named_and_nothing_is_written(table: pd.DataFrame, tmp_path: Path) -> None:
    table.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "prices.toml").write_text("prices = [0, 1, 5, 5, 40]\n", encoding="utf-8")
    base = ["fit", str(tmp_path / "table.csv"), "--target", "outcome", "--prices", str(tmp_path / "prices.toml")]
    base += ["--splits", "0", "--out", str(tmp_path / "policy"), "--export", str(tmp_path / "policy.json")]
    refused = CliRunner().invoke(main, [*base, "--method", "cost-ordered"])
    assert refused.exit_code == 2
    assert "cost-ordered" in refused.output
    assert not (tmp_path / "policy").exists()
    assert not (tmp_path / "policy.json").exists()
    assert CliRunner().invoke(main, [*base, "--method", "stump"]).exit_code == 0
    assert Portable.read(str(tmp_path / "policy.json")).document["method"] == "stump"
    assert CliRunner().invoke(main, [*base, "--method", "single-stage"]).exit_code == 0  # replaces its own
    (tmp_path / "policy.json").write_text("{}", encoding="utf-8")
    assert CliRunner().invoke(main, [*base, "--method", "stump"]).exit_code == 2
    assert (tmp_path / "policy.json").read_text(encoding="utf-8") == "{}"


def test_a_file_of_another_kind_is_not_replaced(fitted: Fit, tmp_path: Path) -> None:
    (tmp_path / "thesis.json").write_text('{"title": 1}', encoding="utf-8")
    with pytest.raises(RequestError, match=r"thesis\.json"):
        write_export(exported(fitted("stump")), tmp_path / "thesis.json")
    with pytest.raises(RequestError):
        write_export(exported(fitted("stump")), tmp_path)


def test_classes_that_tie_get_the_same_label_after_export() -> None:
    rng = np.random.default_rng(7)
    kind = np.repeat(np.arange(4), 60)
    table = pd.DataFrame({"a": rng.normal(size=240) + 2.0 * (kind == 0), "b": rng.normal(size=240)})
    table["y"] = [f"c{k}" for k in kind]
    policy = fit_policy("lasso", table, [1.0, 1.0], target="y", splits=0, parameters={"lambdas": [0.1]})
    answers = policy.decide(table)
    assert len(set(answers["label"])) > 1
    assert_same(policy, table[["a", "b"]])
