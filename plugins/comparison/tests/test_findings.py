"""The wording of a finding depends on its probability."""

from __future__ import annotations

from typing import Any

import pytest
from bench_comparison.findings import findings, unknown


def answer(*within: float) -> dict[str, Any]:
    """One algorithm, recommended at every budget; it is within a point of the best with these chances."""
    steps = [
        {
            "budget": budget,
            "kinds": [],
            "recommended": {
                "algorithm": "trees", "loss": [0.01 * place, 0.0, 0.2], "within": chance, "equal": [],
                "reaches": dict.fromkeys(("0.9", "0.75", "0.5"), 0.0),
            },
        }
        for place, (budget, chance) in enumerate(zip((0.1, 0.2, 1.0), within, strict=True), 1)
    ]  # fmt: skip
    return {"views": [{"steps": steps, "dynamic": [], "metric": "accuracy"}]}


def test_a_method_is_to_be_taken_at_budgets_where_it_is_likely_among_the_best() -> None:
    (take,) = findings(answer(0.9, 0.7, 0.2))
    assert take["text"].startswith("At 10 % and 20 % of the full price, take trees")
    assert "at most 2.0 %" in take["text"]
    assert take["probability"] == 0.7


def test_where_another_method_is_probably_better_the_finding_says_so() -> None:
    (take,) = findings(answer(0.1, 0.3, 0.2))
    assert "another method is probably better than trees by more than a point" in take["text"]
    assert "at most 3.0 %" in take["text"]
    assert take["probability"] == pytest.approx(0.7)


def test_an_algorithm_that_leads_because_of_one_data_set_is_named_with_it() -> None:
    told = answer(0.9, 0.9, 0.9)
    for view in told["views"]:
        view |= {"few": False, "left_out": []}
        for step in view["steps"]:
            step["recommended"]["open"] = []
            step["deciding"] = {"best": "trees", "without": {}}
    told["views"][0]["steps"][1]["deciding"]["without"] = {"A": "boosting", "C": "lasso"}
    (sentence,) = unknown(told)
    assert sentence.endswith("best mean: trees; without A, boosting; without C, lasso.")
    assert sentence.startswith("At 20 %")
    told["views"][0]["steps"][1]["deciding"]["without"] = dict.fromkeys("ABCD", "boosting")
    assert unknown(told) == ["At 20 % the best means are nearly equal: trees and boosting."]
