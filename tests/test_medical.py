"""The suites of medical data: fees are in dollars on the page, and a row's cost is that of its tests and its errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.bench import ROOT, Bench


def exported(bench: Bench, suite: str) -> list[dict[str, object]]:
    """The test rows of a suite's records."""
    rows = json.loads(bench("export", suite, "--format", "json").stdout)
    return [row for row in rows if row["part"] == "test"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suite", "dataset", "every_test"), [("medical_small", "Pima", 44.29), ("medical", "Liver", 30.54)]
)
def test_the_cost_of_a_diagnosis_is_that_of_tests_and_errors(
    bench: Bench, suite: str, dataset: str, every_test: float, request: pytest.FixtureRequest
) -> None:
    path, where = str(ROOT / "suites" / f"{suite}.toml"), {}
    if suite == "medical":
        where["BUDGETBENCH_MIRROR"] = str(request.getfixturevalue("budgetbench_shared"))
    only = [f"--only={kind}" for kind in (f"dataset={dataset}", "method=C4.5", "method=IDX")]
    bench("run", path, *only, "--seeds", "2", **where)
    rows = exported(bench, path)
    assert {row["method"] for row in rows} == {"C4.5", "IDX"}
    for row in rows:
        cost, error = float(str(row["cost"])), float(str(row["error"]))
        assert cost == pytest.approx(every_test * float(str(row["cost-share"])))
        assert float(str(row["test-plus-error-cost@1000"])) == pytest.approx(cost + 1000 * error)
    assert max(float(str(row["cost"])) for row in rows) > 1
    assert Path(bench.folder, "leaderboard", f"{suite}.md").is_file()
