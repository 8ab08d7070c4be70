"""Tables with prices, and commands on them, for the tests of policies and recommendations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from bench_core.cli.main import main
from bench_core.testing import toml_text

PRICES = {
    "prices": {"age": 0.0, "smoker": 1.0, "glucose": 5.0, "insulin": 5.0, "scan": 40.0},
    "groups": {"blood": ["glucose", "insulin"]},
    "group_prices": {"blood": 3.0},
}
CHEAP_PRICES = {"free": 0, "dear": 10, "dearer": 30}
SUM_PRICES = {"a": 4, "b": 3, "c": 2, "d": 1}


def make_table(rows: int = 300, seed: int = 0) -> pd.DataFrame:
    """Patients with a free feature, a category, two features of a blood sample, and an expensive scan."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 80, rows),
            "smoker": rng.choice(["no", "yes", "former"], rows),
            "glucose": rng.normal(120, 25, rows).round(1),
            "insulin": rng.normal(90, 30, rows).round(1),
            "scan": rng.normal(0, 1, rows).round(3),
        }
    )
    risk = 0.02 * (frame.age - 50) + 0.05 * (frame.glucose - 120) + 0.8 * (frame.smoker == "yes") + 0.7 * frame.scan
    frame["outcome"] = np.where(risk + rng.normal(0, 0.5, rows) > 0.3, "sick", "healthy")
    return frame


def make_cheap_table() -> pd.DataFrame:
    """A table whose free feature gives the class of all but a few rows; the others are noise."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(240, 3)), columns=list(CHEAP_PRICES))
    frame["free"] = np.sign(frame.free) * (2.0 + 0.3 * frame.free.abs())
    frame["y"] = np.where((frame.free > 0) ^ (rng.random(240) < 0.02), "yes", "no")
    return frame


def make_sum_table() -> pd.DataFrame:
    """A table whose class is the sign of the sum of four features, with noise."""
    rng = np.random.default_rng(4)
    table = pd.DataFrame(rng.normal(size=(300, 4)), columns=list(SUM_PRICES))
    return table.assign(y=np.where(table.sum(axis=1) + rng.normal(0, 0.3, 300) > 0, "yes", "no"))


def bench(*words: str) -> Result:
    """A ``bench`` command in this process."""
    return CliRunner().invoke(main, words)


def write_files(table: pd.DataFrame, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The arguments of a command for a table of patients, in a folder with its prices and costs of wrong answers."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("BUDGETBENCH_ISOLATION", "none")
    table.to_csv("t.csv", index=False)
    Path("p.toml").write_text(toml_text(PRICES), encoding="utf-8")
    Path("e.toml").write_text("[error_costs.sick]\nhealthy = 500\n[error_costs.healthy]\nsick = 20\n")
    return ["t.csv", "--target", "outcome", "--prices", "p.toml"]
