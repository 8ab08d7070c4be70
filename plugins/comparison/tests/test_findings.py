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
    assert "loss is 1.0 to 2.0 %" in take["text"]
    assert take["probability"] == 0.7


def test_where_another_method_is_probably_better_the_finding_says_so() -> None:
    (take,) = findings(answer(0.1, 0.3, 0.2))
    assert "another method is probably better than trees by more than a point" in take["text"]
    assert "loss: 1.0 to 3.0 %" in take["text"]
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


def gap(mean: float, **changes: Any) -> dict[str, Any]:
    """A comparison of row by row to the best fixed subset, in which row by row is clearly worse."""
    chances = {"better": 0.0, "equal": 0.05, "worse": 0.95}
    return {"difference": [mean, -0.2, 0.1], **chances, "without": None} | changes


def row_by_row(*groups: dict[str, Any], **changes: Any) -> str:
    told = answer(0.9, 0.9, 0.9)
    told["views"][0]["dynamic"] = [{"budget": 0.1, **gap(-0.08, **changes), "groups": groups}]
    finding = findings(told)[-1]
    return f"{finding['text']} {finding['more']}"


@pytest.mark.parametrize(
    ("rest", "said"),
    [(-0.03, "; without A, −3 %"), (0.0, "; without A, 0 %"), (0.02, "; without A, +2 %"), (-0.05, "")],
)
def test_a_data_set_that_makes_more_than_half_of_a_difference_is_named(rest: float, said: str) -> None:
    without = {"family": "A", "difference": rest}
    assert f"at 10 % of the price (by 8 %{said} of what all features bring)" in row_by_row(without=without)
    group = gap(-0.08, title="two classes", without=without)
    assert f"on data with two classes, at 10 % (−8 %, probability 0.95{said})" in row_by_row(group)


def test_a_difference_is_also_stated_for_each_kind_of_prices() -> None:
    groups = [gap(-0.1, title="unit prices"), gap(0.004, title="drawn prices"), gap(-0.3, title="two classes")]
    said = row_by_row(*groups)
    assert "at 10 % of the price (by 8 % of what all features bring)." in said
    assert " At 10 %, the difference is −10 % with unit prices and 0 % with drawn prices." in said


@pytest.mark.parametrize(("chance", "said"), [(0.7, " Without A, the probability would be 0.70."), (0.8, "")])
def test_a_budget_that_suffices_because_of_one_data_set_is_named_with_it(chance: float, said: str) -> None:
    told = answer(0.9, 0.9, 0.9)
    recommended = told["views"][0]["steps"][1]["recommended"]
    recommended |= {"reaches": {"0.9": 0.1, "0.75": 0.85, "0.5": 0.99}, "quality": [0.8, 0.7, 0.9]}
    recommended["without"] = {"family": "A", "quality": 0.7, "reaches": {"0.9": 0.0, "0.75": chance, "0.5": 0.9}}
    brings = findings(told)[1]
    assert brings["text"] == (
        f"20 % of the price buys at least 75 % of what all features bring (80 % with trees).{said}"
    )
    assert brings["probability"] == 0.85


def test_a_kind_is_called_first_where_it_is_likelier_to_be_than_not() -> None:
    told = answer(0.9, 0.9, 0.9)
    for step, chance in zip(told["views"][0]["steps"], (0.9, 0.6, 0.4), strict=True):
        step["kinds"] = [{"name": "trees", "best": chance}, {"name": "forests", "best": 0.1}]
    kinds = findings(told)[1]
    assert kinds["text"] == "Of the kinds of methods, trees is first at 10 % and 20 % of the price."
    assert kinds["probability"] == 0.6
    for step in told["views"][0]["steps"]:
        step["kinds"][0]["best"] = 0.4
    assert len(findings(told)) == 1


def test_every_kind_that_is_first_somewhere_is_named_with_its_budgets() -> None:
    told = answer(0.9, 0.9, 0.9)
    for step, chance in zip(told["views"][0]["steps"], (0.9, 0.1, 0.3), strict=True):
        step["kinds"] = [{"name": "trees", "best": chance}, {"name": "forests", "best": 1 - chance}]
    kinds = findings(told)[1]
    assert kinds["text"] == (
        "Of the kinds of methods, trees is first at 10 % and forests is first at 20 % and 100 % of the price."
    )
    assert kinds["probability"] == 0.7
    assert kinds["more"] == "The probabilities are 0.90 at 10 %, 0.90 at 20 % and 0.70 at 100 %."
