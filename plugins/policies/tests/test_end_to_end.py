"""A new user's steps: run every file and code block of the README in order, and the leaderboard's command."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.pages import invoke, run_blocks

README = Path(__file__).parents[1] / "README.md"
ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_every_block_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    printed: list[str] = []
    monkeypatch.setitem(names, "print", lambda *values: printed.append(" ".join(map(str, values))))
    fitted, explained = run_blocks(README, names)
    assert (tmp_path / "policy" / "card.md").read_text(encoding="utf-8") in fitted
    assert "Answer: sick" in explained
    shown = re.findall(r"```text\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[0]
    assert without_shares(shown) in without_shares(explained)
    # The comments in the README show the output of a session.
    assert printed[0] == "{'age': 0.0, 'smoker': 0.0}"
    assert printed[1] == "{'glucose': 8.0, 'insulin': 5.0}"
    assert "label='sick'" in printed[2]
    assert [kept.__name__ for kept in names["bench_policy_types"]()] == ["CostOrderedPolicy", "ClassModel"]


def without_shares(tree: str) -> str:
    """A drawn policy without the shares of rows, which differ between machines."""
    return re.sub(r"\d+ %", "%", tree)


@pytest.mark.slow
def test_the_command_on_the_leaderboards_front_page_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The placeholders COLUMN and BUDGET are replaced by values."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "leaderboard" / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"^```\n(bench fit .*?)\n```$", text, re.MULTILINE | re.DOTALL)
    assert found
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"])
    table.assign(y=np.where(table.a + table.b > 0, "yes", "no")).to_csv("table.csv", index=False)
    Path("prices.toml").write_text("prices = [1, 2, 3]\n", encoding="utf-8")
    for command in found:
        assert not re.findall(r"\b[A-Z]{3,}\b", command.replace("COLUMN", "").replace("BUDGET", ""))
        invoke(command.replace("COLUMN", "y").replace("BUDGET", "3").replace("--out policy", "--splits 0 --out policy"))
        assert (tmp_path / "policy" / "card.md").is_file()
