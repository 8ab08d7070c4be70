"""Invalid prices are refused before anything runs, with file, line and nearest name."""

from __future__ import annotations

import codecs
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from bench_policies import evaluate, read_error_costs, read_prices
from bench_policies.tables import LEFT_OUT
from click.testing import CliRunner

from bench_core import Dataset, RequestError
from bench_core.suites import load_registry

FEATURES = ("age", "glucose", "insulin", "scan")
OWN = '[prices]\nage = 0\nglucose = 5\ninsulin = 5\n"scan" = 40\n'
GOOD = OWN + '\n[groups]\nblood = ["glucose", "insulin"]\n\n[group_prices]\nblood = 3\n'


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("glucose = 5", "glucos = 5", r"prices.toml, line 3: \[prices\] names 'glucos', .*did you mean 'glucose'"),
        ("insulin = 5\n", "", "prices.toml, line 1: no price for 'insulin'"),
        ("glucose = 5", "glucose = -5", "prices.toml, line 3: the price of 'glucose' is -5"),
        ("glucose = 5", "glucose = nan", "prices.toml, line 3: the price of 'glucose' is nan"),
        ('"scan" = 40', '"scan" = inf', "prices.toml, line 5: the price of 'scan' is inf"),
        ("glucose = 5", 'glucose = "5"', "prices.toml, line 3: the price of 'glucose' must be a number"),
        ("glucose = 5", "glucose = true", "prices.toml, line 3: the price of 'glucose' must be a number"),
        ("glucose = 5", "glucose = [1, -2]", "prices.toml, line 3: the price of 'glucose' is -2"),
        ("glucose = 5", "glucose = [1, 2]", "prices.toml, line 3: .*grows with the item's size"),
        ("[prices]", "", r"prices.toml, line 2: the price of 'age' belongs below a line \[prices\]"),
        ("[groups]", "[grups]", r"prices.toml, line 7: unknown key 'grups'; did you mean 'groups'"),
        ('["glucose"', '["glocose"', "prices.toml, line 8: .*'glocose', .*did you mean 'glucose'"),
        ("blood = 3", "blod = 3", "prices.toml, line 11: there is no group 'blod'; did you mean 'blood'"),
        ("blood = 3", "blood = -3", "prices.toml, line 11: the price of group 'blood' is -3"),
        ("blood = 3", "", r"prices.toml, line 8: group 'blood' has no price in \[group_prices\]"),
        ("[group_prices]\nblood = 3", "", "prices.toml, line 8: group 'blood' has no price"),
        ('["glucose", "insulin"]', '["glucose",\n"insuline"]', "prices.toml, line 9: .*did you mean 'insulin'"),
        ('["glucose", "insulin"]', '["glucose", "glucose"]', "prices.toml, line 8: .*'glucose' is twice in group"),
        (
            '["glucose", "insulin"]',
            '["glucose", ["insulin"]]',
            r"prices.toml, line 8: group 'blood' .*not \['insulin'\]",
        ),
        ('["glucose", "insulin"]', "[]", "prices.toml, line 8: group 'blood' must be a list of feature names"),
        ("glucose = 5", '"glucose " = 5', "prices.toml, line 3: .*header has 'glucose': remove the blanks here"),
        ("glucose = 5", "glucose = 1e300", "prices.toml, line 3: the price of 'glucose' is above"),
        ("glucose = 5", f"glucose = 1{'0' * 400}", "prices.toml, line 3: the price of 'glucose' is above"),
        ("glucose = 5", f"glucose = 1{'0' * 9000}", "prices.toml, line .*: not TOML"),
        ("glucose = 5", "glucose = []", "prices.toml, line 3: the price of 'glucose' is an empty list"),
        ("[prices]", "prices", "prices.toml, line 1: not TOML: .*prices"),
        ("glucose = 5", "blood glucose = 5", "not TOML: .*a name with blanks needs quotes"),
        ("age = 0", "age = 0\nage = 1", "prices.toml, line 3: not TOML: .*age = 1"),
        (OWN, "prices = { age = 0, glucos = 5, insulin = 5, scan = 4 }", "line 1: .*did you mean 'glucose'"),
        (OWN, "prices = { age = 0, glucose = 5,insulin=-5, scan = 4 }", "line 1: the price of 'insulin' is -5"),
        (
            OWN,
            "prices.age = 0\nprices.glucose = nan\nprices.insulin = 5\nprices.scan = 4",
            "line 2: .*'glucose' is nan",
        ),
    ],
)
def test_a_wrong_price_list_is_refused_by_file_line_and_nearest_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert old in GOOD
    Path("prices.toml").write_text(GOOD.replace(old, new))
    with pytest.raises(RequestError, match=said):
        read_prices("prices.toml", FEATURES, load_registry())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[prices]\nage = 0\n# caf\xe9", "prices.toml, line 3: not UTF-8 text"),
        (bytes(range(256)), "prices.toml, line .*: not UTF-8 text"),
        (b"", r"prices.toml: no \[prices\]"),
    ],
)
def test_a_file_that_is_not_a_price_list_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "prices.toml").write_bytes(content)
    with pytest.raises(RequestError, match=said):
        read_prices(tmp_path / "prices.toml", FEATURES, load_registry())


def test_the_line_is_found_in_the_right_table_where_a_group_has_a_features_name() -> None:
    features = ("blood", "glucose")
    text = "[prices]\nblood = 1\nglucose = 1\n[groups]\nblood = ['glucose']\n[group_prices]\nblood = -1\n"
    with pytest.raises(RequestError, match=r"prices\.toml, line 7: the price of group 'blood'"):
        read_text(text, features)
    with pytest.raises(RequestError, match=r"prices\.toml, line 2: the price of 'blood'"):
        read_text(text.replace("blood = 1", "blood = -1"), features)


def test_a_nested_list_in_a_group_is_refused_where_a_column_is_left_out_too() -> None:
    given = {"prices": dict.fromkeys(FEATURES, 1), "groups": {"g": [["scan"]]}, "group_prices": {"g": 1}}
    with pytest.raises(RequestError, match="group 'g' must be a list of feature names, not"):
        read_prices(given, FEATURES, load_registry(), apart={"id": LEFT_OUT})


def read_text(text: str, features: tuple[str, ...]) -> None:
    """Read a price list from a file with a byte order mark and Windows line ends."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "prices.toml"
        path.write_bytes(codecs.BOM_UTF8 + text.replace("\n", "\r\n").encode())
        read_prices(path, features, load_registry())


def test_prices_by_name_in_order_and_from_a_file_are_the_same(tmp_path: Path, table: pd.DataFrame) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(GOOD)
    ordered = tmp_path / "ordered.toml"
    ordered.write_text(GOOD.replace(OWN, "prices = [0, 5, 5, 40]\n"))
    dataset = Dataset.from_frame("t", table[[*FEATURES, "outcome"]], "outcome")
    groups = {"groups": {"blood": ["glucose", "insulin"]}, "group_prices": {"blood": 3.0}}
    by_name = {"prices": {"scan": 40, "insulin": 5, "glucose": 5, "age": 0}, **groups}
    costs = [
        read_prices(prices, FEATURES, load_registry()).price(dataset, dataset.target, 0)
        for prices in (path, ordered, by_name)
    ]
    for one in costs:
        assert one.cost_of([1]) == 8.0
        assert one.cost_of([0, 1, 2, 3]) == 53.0
    short = ({"age": 0, "glucose": 1, "insulin": 2, "scan": 3}, [0, 1, 2, 3])
    plain = [read_prices(prices, FEATURES, load_registry()) for prices in short]
    assert [one.price(dataset, dataset.target, 0).cost_of([2, 3]) for one in plain] == [5.0, 5.0]
    with pytest.raises(RequestError, match="3 prices for 4 features"):
        read_prices([1, 2, 3], FEATURES, load_registry())


def test_fit_refuses_before_anything_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: pd.DataFrame) -> None:
    from bench_core.cli.main import main

    monkeypatch.chdir(tmp_path)
    table.to_csv("patients.csv", index=False)
    Path("prices.toml").write_text("prices = [0, 0, 5, 5, nan]")
    asked: list[Any] = ["fit", "patients.csv", "--target", "outcome", "--prices", "prices.toml"]
    asked += ["--method", "lasso", "--out", "out"]
    ran = CliRunner().invoke(main, asked)
    assert ran.exit_code == 2
    assert "prices.toml, line 1: the price of 'scan' (number 5) is nan" in ran.output
    assert not Path("out").exists()
    for change, said in (
        (["--target", "outcom"], "no column 'outcom'"),
        (["--budget", "5", "--accuracy", "0.9"], "give one of"),
        (["--accuracy", "90"], "an accuracy must be a share"),
        (["--threshold", "80"], "--threshold must be a probability"),
        (["--target", "glucose", "--threshold", "0.8"], "a threshold needs classes; the task is regression"),
        (["--prices", "price.toml"], "did you mean 'prices.toml'"),
        (["--error-costs", "prices.toml"], "unknown key 'prices'"),
    ):
        Path("prices.toml").write_text("prices = [0, 0, 5, 5, 40]")
        ran = CliRunner().invoke(main, [*asked, *change])
        assert (ran.exit_code, said in ran.output) == (2, True), ran.output
        assert not Path("out").exists()


def test_an_unknown_method_is_refused_with_the_nearest_name(table: pd.DataFrame) -> None:
    with pytest.raises(RequestError, match="did you mean 'lasso'"):
        evaluate("laso", table, [1.0] * 5, target="outcome")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[error_costs.sick]\nhealty = 500",
            "line 2: error costs name 'healty', which is not a class; did you mean 'healthy'",
        ),
        ("[error_costs.sick]\nhealthy = -5", "line 2: sick.healthy must be a number"),
        ("refused = 'much'\n[error_costs.sick]\nhealthy = 5", "line 1: refused must be a number"),
        ("refused = 5", r"needs tables \[error_costs.TRUTH\]"),
        ("[error_costs.sick]\nhealthy = 200", "no cost for 'healthy' answered as 'sick'; write 0 if it is free"),
        ("[error_costs.healthy]\nsick = 200\n[error_costs.sick]", "no cost for 'sick' answered as 'healthy'"),
    ],
)
def test_wrong_error_costs_are_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "costs.toml"
    path.write_text(text)
    with pytest.raises(RequestError, match=f"costs.toml.*{said}"):
        read_error_costs(path, ["healthy", "sick"])
