"""Lotteries over two policies: chosen on validation, measured on test; checked by hand and by brute force."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from bench_analysis.cells import Cells
from bench_analysis.fronts import hull
from bench_analysis.lottery import lottery_areas
from bench_analysis.quality import quality_named
from bench_claims.claims import check_claims
from bench_claims.readings import quality_matched, quality_within
from bench_records.records import Records, tabulate
from bench_records.selection import select
from hypothesis import given
from hypothesis import strategies as st
from support.synthetic import labelled, record_of, suite_of

from bench_core.builtin.metrics import BUILT_IN
from bench_core.contract.errors import RequestError

METRICS = {metric.name: metric for metric in BUILT_IN}
Policy = tuple[float, float, float]
"""Cost share on both parts, accuracy on validation, accuracy on the test part."""

FAMILY: list[Policy] = [(0.1, 0.5, 0.6), (0.3, 0.6, 0.9), (0.5, 0.9, 0.8), (0.8, 0.85, 1.0)]
"""On validation the second is below the line from the first to the third, and the fourth is dominated."""


def records_of(families: dict[str, list[list[Policy]]]) -> Records:
    """Method → seed → policies."""
    records = []
    for method, seeds in families.items():
        for seed, policies in enumerate(seeds):
            record = record_of("X", method, seed, {"accuracy": 1.0}, threshold=None, split="given")
            parts = {
                part: {"cost-share": [p[0] for p in policies], "accuracy": [p[1 + i] for p in policies]}
                for i, part in enumerate(("validation", "test"))
            }
            count = len(policies)
            table = {"label": [""] * count, "details": [{}] * count, "budget": [None] * count}
            records.append({**record, "policies": {**table, **parts}})
    return tabulate(labelled(records))


def within(budget: float, reading: Any, family: list[Policy] = FAMILY, metric: str = "accuracy") -> float:
    records = records_of({"m": [family]})
    _, values = quality_within(records, records.policies, quality_named(metric, METRICS), budget, reading)
    return float(values[0])


def test_a_lottery_mixes_vertices_of_the_validation_hull_and_is_measured_on_test() -> None:
    assert within(0.3, "steps") == 0.9
    assert within(0.3, "hull") == pytest.approx((0.6 + 0.8) / 2)
    assert within(0.4, "hull") == pytest.approx(0.25 * 0.6 + 0.75 * 0.8)
    assert within(1.0, "steps") == within(1.0, "hull") == 0.8  # the fourth is better only on the test part


def test_quality_below_the_cheapest_policy_is_undefined() -> None:
    for reading in ("steps", "hull"):
        assert math.isnan(within(0.05, reading))


POINTS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 40)),
    min_size=1,
    max_size=7,
    unique_by=(lambda p: p[0], lambda p: p[1]),
)


@pytest.mark.slow
@given(POINTS, st.floats(0, 1))
def test_no_lottery_over_two_policies_is_better_on_validation(points: list[tuple[int, int]], budget: float) -> None:
    # With test equal to validation the hull's value is the best that any mixture can have within the budget.
    family = [(x / 40, y / 40, y / 40) for x, y in points]
    best = max((y for x, y, _ in family if x <= budget), default=math.nan)
    for (x, y, _), (u, v, _) in combinations(sorted(family), 2):
        if x <= budget <= u:
            share = (budget - x) / (u - x)
            best = max(best, (1 - share) * y + share * v)
    found = within(budget, "hull", family)
    assert found == pytest.approx(best, nan_ok=True, abs=1e-9)


@given(POINTS)
def test_the_area_of_lotteries_is_the_area_under_their_curve(points: list[tuple[int, int]]) -> None:
    rising: list[tuple[float, float]] = []
    for x, y in sorted(points):
        if not rising or y / 40 > rising[-1][1]:
            rising.append((x / 40, y / 40))
    spent, chosen = (np.array(column) for column in zip(*rising, strict=True))
    own = hull(spent, chosen)
    budgets = np.linspace(0, 1, 20001)
    drawn = np.where(budgets < spent[0], 0.25, np.interp(budgets, spent[own], chosen[own]))
    [area] = lottery_areas(spent, chosen, chosen, np.array([0, len(spent)]), 0.25)
    assert area == pytest.approx(float(drawn.mean()), abs=1e-3)


CLAIM = """
[[claims]]
text = "t"
source = "s"
standing = "same data"
kind = "order"
methods = ["a", "b"]
metric = "accuracy"
within = 0.3
reading = "{}"
"""


@pytest.mark.parametrize(("reading", "verdict"), [("steps", "holds"), ("hull", "contradicted")])
def test_a_claim_reads_steps_or_the_hull(reading: str, verdict: str) -> None:
    flat = [(0.1, 0.5, 0.8)]
    records = records_of({"a": [FAMILY, FAMILY], "b": [flat, flat]})
    suite = suite_of(["X"], ["a", "b"], 2, metrics=["accuracy"], threshold=None, more=CLAIM.format(reading))
    assert check_claims(suite, records, Cells(select(records, suite)))[0].verdict == verdict


def test_a_budget_needs_a_reading() -> None:
    with pytest.raises(RequestError, match="'within' and 'reading' go together"):
        suite_of(["X"], ["a", "b"], 2, metrics=["accuracy"], more=CLAIM.replace('reading = "{}"', ""))


CURVE = [
    (0.1, 0.5, 0.12, 0.4),
    (0.2, 0.51, 0.2, 1.0),
    (0.3, 0.8, 0.32, 0.6),
    (0.6, 0.9, 0.5, 0.9),
    (0.7, 0.7, 0.4, 1.0),
]
"""Cost share and accuracy on validation, then on the test part. On validation the second is below the line from the
first to the third, and the last is dominated; on the test part costs differ."""


def family_of(policies: list[tuple[float, float, float, float]], method: str = "m", seed: int = 0) -> Any:
    record = record_of("X", method, seed, {"accuracy": 1.0}, threshold=None, split="given")
    parts = {
        part: {"cost-share": [p[i] for p in policies], "accuracy": [p[i + 1] for p in policies]}
        for part, i in (("validation", 0), ("test", 2))
    }
    count = len(policies)
    table = {"label": [""] * count, "details": [{}] * count, "budget": [None] * count}
    return {**record, "policies": {**table, **parts}}


def matched(most: float, reading: Any, full: list[float] | None = None, policies: Any = CURVE) -> float:
    records = tabulate(labelled([family_of(policies)]))
    accuracy = quality_named("accuracy", METRICS)
    _, values = quality_matched(records.policies, accuracy, "cost-share", most, reading, full)
    return float(values[0])


def test_a_curve_is_read_at_the_value_of_the_metric_on_the_test_part() -> None:
    assert matched(0.32, "steps") == matched(0.32, "hull") == 0.6
    assert matched(0.4, "steps") == 0.6  # the last has this cost and accuracy 1 here, but is dominated on validation
    assert matched(0.41, "hull") == pytest.approx(0.75)
    assert matched(0.2, "steps") == 1.0  # the second is on the steps of validation, not on its hull
    assert matched(0.22, "hull") == pytest.approx(0.5)
    assert matched(0.9, "steps") == matched(0.9, "hull") == 0.9


def test_below_a_curves_first_policy_the_full_model_is_needed() -> None:
    assert math.isnan(matched(0.06, "steps"))
    assert math.isnan(matched(0.06, "hull"))
    assert matched(0.06, "steps", full=[0.0, 0.3]) == 0.3
    assert matched(0.06, "hull", full=[0.0, 0.3]) == pytest.approx(0.35)
    # It equals the full model on validation, but not on the test part.
    equal = [(0.0, 0.9, 0.2, 0.9)]
    assert math.isnan(matched(0.1, "hull", policies=equal))
    assert matched(0.1, "hull", full=[0.0, 0.3], policies=equal) == pytest.approx(0.6)
    assert matched(0.1, "steps", full=[0.0, 0.3], policies=equal) == 0.3


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 30)), min_size=1, max_size=7), st.floats(0.02, 1))
def test_matched_and_within_agree_if_validation_equals_test(points: list[tuple[int, int]], most: float) -> None:
    policies = [(x / 30, y / 30, x / 30, y / 30) for x, y in points]
    for reading in ("steps", "hull"):
        records = tabulate(labelled([family_of(policies)]))
        accuracy = quality_named("accuracy", METRICS)
        _, [same] = quality_within(records, records.policies, accuracy, most, reading)
        assert matched(most, reading, policies=policies) == pytest.approx(float(same), nan_ok=True, abs=1e-6)


MATCHED = """
[[claims]]
text = "t"
source = "s"
standing = "same data"
kind = "order"
methods = ["a", "b"]
metric = "accuracy"
matched = { metric = "cost-share", most = 0.2 }
reading = "steps"
"""


def test_matched_claims_compare_methods_at_the_same_value_and_not_at_selected_rows() -> None:
    # The selected rows are the first policies, and a's is more accurate. At a cost of 0.2, b is more accurate.
    a = [(0.9, 0.9, 0.9, 0.9), (0.1, 0.4, 0.2, 0.4)]
    b = [(0.1, 0.6, 0.2, 0.6)]
    families = [family_of(policies, m, seed) for m, policies in (("a", a), ("b", b)) for seed in (0, 1)]
    records = tabulate(labelled(families))
    metrics = ["accuracy", "cost-share"]
    rows = MATCHED.replace('matched = { metric = "cost-share", most = 0.2 }\nreading = "steps"', "")
    for text, verdict in ((MATCHED, "contradicted"), (rows, "holds")):
        suite = suite_of(["X"], ["a", "b"], 2, metrics=metrics, threshold=None, more=text)
        assert check_claims(suite, records, Cells(select(records, suite)))[0].verdict == verdict


@pytest.mark.parametrize("reading", ["steps", "hull"])
def test_a_claim_is_read_at_a_value_where_every_family_has_policies_on_every_split(reading: str) -> None:
    # b is ahead of a wherever both have policies. At 0.2 b has no policy of its own; its curve there is a lottery over
    # its first policy and the full model, which here has accuracy 0 at no cost, so that a seems to be ahead.
    a = [(0.1, 0.4, 0.1, 0.4), (0.2, 0.42, 0.15, 0.42)]
    b = [[(0.1, 0.5, 0.3, 0.5), (0.4, 0.6, 0.6, 0.512)], [(0.1, 0.5, 0.35, 0.5), (0.4, 0.7, 0.7, 0.6)]]
    families = [family_of(a, "a", seed) for seed in (0, 1)] + [family_of(own, "b", seed) for seed, own in enumerate(b)]
    records = tabulate(labelled(families))
    text = MATCHED.replace("most = 0.2", "most = 0.2, full = [0.0, 0.0]").replace("steps", reading)
    suite = suite_of(["X"], ["a", "b"], 2, metrics=["accuracy", "cost-share"], threshold=None, more=text)
    [found] = check_claims(suite, records, Cells(select(records, suite)))
    assert found.verdict == "contradicted"
    first = 0.5 if reading == "steps" else 0.5 + 0.012 / 6  # a sixth of the way from 0.3 to 0.6
    assert [estimate.value for _, estimate in found.ours] == pytest.approx([0.42, (first + 0.5) / 2])
    assert found.remarks == [
        "read at cost-share 0.35 instead of 0.2: the least at which each family compared has a policy on every split"
    ]
    alone = suite_of(
        ["X"], ["a", "b"], 2, metrics=["accuracy", "cost-share"], threshold=None,
        more=text.replace('kind = "order"\nmethods = ["a", "b"]', 'kind = "value"\nmethod = "a"\nvalue = 0.96'),
    )  # fmt: skip
    [own] = check_claims(alone, records, Cells(select(records, alone)))
    assert own.remarks == [], "a's family has policies there"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (MATCHED.replace('reading = "steps"', ""), "'matched' and 'reading' go together"),
        (MATCHED.replace('reading = "steps"', 'reading = "steps"\nwithin = 0.3'), "not both"),
        (MATCHED.replace("cost-share", "accuracy"), "more of 'accuracy' is better"),
        (MATCHED.replace("cost-share", "cost-shar"), "cost-share"),
    ],
)
def test_an_invalid_match_is_refused(wrong: str, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        suite_of(["X"], ["a", "b"], 2, metrics=["accuracy"], more=wrong)


def test_a_share_that_exceeds_the_budget_by_rounding_only_is_within_it() -> None:
    share = 0.1 + 0.2  # 0.30000000000000004
    assert share > 0.3
    assert within(0.3, "steps", [(0.0, 0.5, 0.5), (share, 0.9, 0.9)]) == 0.9
    assert within(0.3, "steps", [(share, 0.9, 0.9)]) == within(0.3, "hull", [(share, 0.9, 0.9)]) == 0.9
    assert within(0.3, "steps", [(0.0, 0.5, 0.5), (0.3001, 0.9, 0.9)]) == 0.5
