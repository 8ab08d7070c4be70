"""Every number of the front page's answer equals that of an independent script, computed from the published records."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "leaderboard" / "open"

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not (FOLDER / "losses.json").is_file(), reason="nothing published")]


@pytest.fixture(scope="module")
def numbers() -> dict[str, Any]:
    """The numbers from a new process, which imports no package of this project."""
    code = (
        "import json, sys; from pathlib import Path; from recompute_front import recompute; "
        f"found = recompute(Path({str(FOLDER)!r}), Path({str(ROOT / 'suites' / 'open.toml')!r})); "
        "ours = [name for name in sys.modules if name.startswith('bench_')]; assert not ours, ours; "
        "print(json.dumps(found, default=float))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "tests", capture_output=True, text=True, check=False, timeout=900
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def percent(interval: list[float], digits: int) -> list[float]:
    return [round(100 * value, digits) for value in interval]


def test_the_table_of_the_front_page(numbers: dict[str, Any]) -> None:
    page = (ROOT / "leaderboard" / "README.md").read_text(encoding="utf-8")
    rows = {cells(line)[0]: cells(line) for line in page.splitlines() if re.match(r"\| \d+ % ", line)}
    assert len(rows) == len(numbers["steps"])
    for step in numbers["steps"]:
        row = rows[f"{100 * step['budget']:.0f} %"]
        best = step["algorithm"][step["recommended"]]
        assert row[1] == f"**{step['method']}**"
        for cell, key, digits in ((row[2], "quality", 0), (row[3], "loss", 1)):
            shown = [float(number) for number in re.findall(r"-?[\d.]+", cell.replace("−", "-"))]
            assert shown == pytest.approx(percent(best[key], digits), abs=1.01 * 10**-digits), (step["budget"], key)
        named = re.split(r", | and ", row[4])
        near = list(step["equal"])
        assert row[4] == "none" if not near else len(near) == len(named) or row[4].endswith(f"and {len(near) - 3} more")
        for name in named[:3]:
            assert name in near or name == "none"
        assert row[5] == (f"{step['fastest']} · {step['simplest']}" if near else "")
        assert row[6] == f"{step['unit prices']} · {step['drawn prices']}"
    assert f"over {numbers['families']} data sets" in page


def test_the_sentences_of_the_front_page(numbers: dict[str, Any]) -> None:
    answer = json.loads((FOLDER / "losses.json").read_text(encoding="utf-8"))
    page = (ROOT / "leaderboard" / "README.md").read_text(encoding="utf-8")
    taken = [step["recommended"] for step in numbers["steps"]]
    name = max(dict.fromkeys(taken), key=taken.count)
    mine = [step for step in numbers["steps"] if step["recommended"] == name]
    likely = [step for step in mine if step["within"] >= 0.5]  # the sentence names these budgets, if there are any
    chance = min(step["within"] for step in likely) if likely else 1 - max(step["within"] for step in mine)
    mine = likely or mine
    assert answer["findings"][0]["probability"] == pytest.approx(chance, abs=2e-3)
    losses = [100 * step["algorithm"][name]["loss"][0] for step in mine]
    shown = re.search(r"loss(?: is|:) ([\d.]+)(?: to ([\d.]+))? % of what all features bring", page)
    assert shown is not None
    assert float(shown[1]) == pytest.approx(min(losses), abs=0.06)
    assert float(shown[2] or shown[1]) == pytest.approx(max(losses), abs=0.06)
    brings = re.search(r"(\d+) % of the price buys at least (\d+) % .* \((\d+) % with", page)
    if brings is not None:
        step = next(step for step in numbers["steps"] if round(100 * step["budget"]) == int(brings[1]))
        reached = step["reaches"][str(int(brings[2]) / 100)]
        assert answer["findings"][1]["probability"] == pytest.approx(reached, abs=2e-3)
        assert float(brings[3]) == pytest.approx(100 * step["algorithm"][step["recommended"]]["quality"][0], abs=0.6)
    for published, found in zip(answer["views"][0]["dynamic"], numbers["dynamic"], strict=True):
        assert published["difference"] == pytest.approx(found["difference"], abs=2e-3)
        shown = {group["title"]: group for group in published["groups"]}
        for title, (difference, ahead) in found["groups"].items():
            assert shown[title]["difference"][0] == pytest.approx(difference, abs=2e-3)
            assert shown[title]["ahead"] == pytest.approx(ahead, abs=2e-3)
        assert published["better"] == pytest.approx(found["better"], abs=2e-3)
        assert published["worse"] == pytest.approx(found["worse"], abs=2e-3)
        family, difference = found["without"]
        assert published["without"] == {"family": family, "difference": pytest.approx(difference, abs=2e-3)}
    for published, found in zip(answer["views"][0]["steps"], numbers["steps"], strict=True):
        without = published["recommended"]["without"]
        assert without["family"] == found["without"]["family"]
        assert without["quality"] == pytest.approx(found["without"]["quality"], abs=2e-3)
        for level, chance in found["without"]["reaches"].items():
            assert without["reaches"][level] == pytest.approx(chance, abs=2e-3)


def test_the_qualities_behind_the_live_picture(numbers: dict[str, Any]) -> None:
    scale = json.loads((FOLDER / "scale.json").read_text(encoding="utf-8"))
    mine = {(one["dataset"], one["costs"]): one["methods"] for one in scale["sets"] if one["task"] == "classification"}
    assert mine.keys() == {tuple(one["place"]) for one in numbers["sets"]}
    for one in numbers["sets"]:
        for told, found in zip(mine[tuple(one["place"])], one["methods"], strict=True):
            assert told is None if math.isnan(found[0]) else told == pytest.approx(found, abs=1e-4)


def test_the_lines_of_the_picture(numbers: dict[str, Any]) -> None:
    answer = json.loads((FOLDER / "losses.json").read_text(encoding="utf-8"))
    for published, found in zip(answer["views"][0]["steps"], numbers["steps"], strict=True):
        assert {row["name"] for row in published["kinds"]} == set(found["kind"])
        for row in published["kinds"]:
            assert row["quality"] == pytest.approx(found["kind"][row["name"]]["quality"], abs=2e-3)
            assert row["loss"] == pytest.approx(found["kind"][row["name"]]["loss"], abs=2e-3)
