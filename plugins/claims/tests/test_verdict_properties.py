"""Properties of the verdicts for any numbers: coverage, negation, and that a large enough shift decides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bench_analysis.cells import Cells
from bench_analysis.summary import detectable
from bench_claims.claims import check_claims
from bench_claims.estimates import Estimate, mean_estimate, predicted, ratio_estimate, with_queries
from bench_claims.verdicts import all_of, compared, negated
from bench_records.selection import select
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from support.synthetic import Values, records_of, suite_of

NUMBER = st.floats(-1e6, 1e6, allow_nan=False)
NUMBERS = st.lists(NUMBER, min_size=2, max_size=12)
SIGNS = {">": "<=", "<": ">=", ">=": "<", "<=": ">"}
DRAWS = 4000


def estimate(values: list[float]) -> Estimate:
    return mean_estimate([np.array(values)], [0.1])


@given(NUMBERS, NUMBER, st.sampled_from(sorted(SIGNS)))
def test_a_relation_and_its_opposite_have_opposite_verdicts(values: list[float], limit: float, sign: str) -> None:
    ours = estimate(values)
    assert compared(ours, SIGNS[sign], limit) == negated(compared(ours, sign, limit))


@pytest.mark.parametrize(
    ("sign", "above", "below"),
    [
        (">", "cannot be told", "contradicted"),
        (">=", "holds", "cannot be told"),
        ("<", "contradicted", "cannot be told"),
        ("<=", "cannot be told", "holds"),
    ],
)
def test_an_interval_may_end_at_the_limit_if_equality_is_allowed(sign: str, above: str, below: str) -> None:
    assert compared(Estimate(3.5, low=3.0, high=4.0), sign, 3.0) == above
    assert compared(Estimate(2.5, low=2.0, high=3.0), sign, 3.0) == below


@given(NUMBERS, NUMBER)
def test_a_large_enough_shift_decides_either_way(values: list[float], limit: float) -> None:
    made = estimate(values)
    far = 3 * (abs(limit) + abs(made.value) + (made.high - made.low) + 1)
    assert compared(estimate([v + far for v in values]), ">", limit) == "holds"
    assert compared(estimate([v - far for v in values]), ">", limit) == "contradicted"


@given(st.lists(st.sampled_from(["holds", "contradicted", "consistent", "cannot be told"]), max_size=5))
def test_a_conjunction_combines_the_verdicts_of_its_parts(parts: list[Any]) -> None:
    combined = all_of(parts)
    assert (combined == "holds") == all(part == "holds" for part in parts)
    assert (combined == "contradicted") == ("contradicted" in parts)
    assert (combined == "consistent") == ("consistent" in parts and set(parts) <= {"holds", "consistent"})
    assert {negated(negated(part)) for part in parts} <= {*parts, "cannot be told"}


@given(st.lists(st.floats(0.01, 1e3), min_size=3, max_size=9), st.lists(st.floats(0.01, 1e3), min_size=9, max_size=9))
def test_the_interval_of_a_ratio_is_the_inverse_of_its_inverses(a: list[float], b: list[float]) -> None:
    above, below = np.array(a), np.array(b[: len(a)])
    one, other = ratio_estimate([(above, below)], [0.2]), ratio_estimate([(below, above)], [0.2])
    assert one.low > 0
    assert (one.low, one.high) == pytest.approx((1 / other.high, 1 / other.low), rel=1e-6)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=9), st.floats(0, 2))
def test_an_interval_stays_within_the_range_of_its_quantity(values: list[float], overlap: float) -> None:
    share = mean_estimate([np.array(values)], [overlap], "share")
    assert -1e-9 <= share.low <= share.value + 1e-9
    assert share.value - 1e-9 <= share.high <= 1 + 1e-9
    cost = mean_estimate([np.array(values)], [overlap], "positive")
    assert -1e-9 <= cost.low <= cost.value + 1e-9


def shared(rng: np.random.Generator, count: int, rho: float) -> np.ndarray:
    """Exchangeable normal numbers with correlation ρ between any two, as for overlapping splits; one row per draw."""
    return np.sqrt(rho) * rng.normal(size=(DRAWS, 1)) + np.sqrt(1 - rho) * rng.normal(size=(DRAWS, count))


@pytest.mark.parametrize(("count", "splits"), [(5, 1), (20, 1), (20, 10)])
def test_the_interval_of_the_papers_number_has_its_coverage(count: int, splits: int) -> None:
    # Our splits and the paper's are drawn from the same rows, so any two have the same correlation.
    drawn = 5 + shared(np.random.default_rng(1), count + splits, rho=0.3)
    inside = [
        (made := predicted([row[:count]], splits, 0.0)).low <= row[count:].mean() <= made.high for row in drawn[:1500]
    ]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize("count", [5, 20])
def test_the_interval_of_the_mean_of_overlapping_splits_has_its_coverage(count: int) -> None:
    # Nadeau and Bengio take the correlation for n_test/(n_learn + n_test): here 1/4, so that the overlap is 1/3.
    drawn = shared(np.random.default_rng(2), count, rho=0.25)
    intervals = [mean_estimate([row], [1 / 3]) for row in drawn[:1500]]
    assert np.mean([one.low <= 0 <= one.high for one in intervals]) == pytest.approx(0.95, abs=0.02)
    naive = [mean_estimate([row], [0.0]) for row in drawn[:1500]]
    assert np.mean([one.low <= 0 <= one.high for one in naive]) < 0.92


def test_the_interval_of_one_split_of_a_skewed_cost_has_its_coverage() -> None:
    rng = np.random.default_rng(3)
    drawn = np.exp(1.2 * rng.normal(size=(1500, 11)))
    inside = [(made := predicted([row[:10]], 1, 0.0, "positive")).low <= row[10] <= made.high for row in drawn]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize("count", [4, 20])
def test_the_least_difference_is_detected_four_times_in_five(count: int) -> None:
    margin = float(stats.t.ppf(0.975, count - 1)) / count**0.5  # of numbers with a spread of 1
    shift = detectable(margin, count - 1) * count**0.5
    power = float(stats.nct.sf(stats.t.ppf(0.975, count - 1), count - 1, shift))
    assert power == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize(
    "fields",
    [
        'kind = "order"\nmethods = ["A", "B"]\nmetric = "cost"',
        'kind = "extreme"\nmethod = "A"\namong = ["A", "B"]\nwhich = "highest"\nmetric = "cost"',
        'kind = "ratio"\nmethod = "A"\nagainst = "B"\nmetric = "cost"\nvalue = 1.0\nrelation = ">"',
        'kind = "difference"\nmethod = "A"\nagainst = "B"\nmetric = "cost"\nvalue = 0.0\nrelation = ">"',
    ],
)
def test_verdicts_are_negated_if_the_methods_are_exchanged(fields: str) -> None:
    claim = f'[[claims]]\ntext = "t"\nsource = "s"\nstanding = "same data"\n{fields}\n'
    suite = suite_of(["X"], ["A", "B"], metrics=["cost"], more=claim)
    costs = {"A": [5.0, 6.0, 8.0], "B": [1.0, 2.0, 2.5]}
    found = []
    for a, b in (("A", "B"), ("B", "A")):
        values: Values = {("X", a): {"cost": costs["A"]}, ("X", b): {"cost": costs["B"]}}
        records = records_of(values)
        found.append(check_claims(suite, records, Cells(select(records, suite)))[0].verdict)
    assert found == ["holds", "contradicted"]


@given(st.lists(st.floats(0, 1), min_size=2, max_size=60), st.booleans())
def test_the_interval_for_other_queries_is_never_narrower_than_their_values_would_make_it(
    values: list[float], difference: bool
) -> None:
    by_query = 2 * np.array(values) - 1 if difference else np.array(values)
    mean, count = float(by_query.mean()), len(by_query)
    least = -1.0 if difference else 0.0
    made = with_queries(Estimate(mean, mean - 0.1, mean + 0.1, detectable=0.14), count, least)
    needed = stats.norm.ppf(0.975) * np.sqrt(2 * by_query.var() / count)
    assert made.low <= max(mean - np.hypot(0.1, needed), least) + 1e-9
    assert made.high >= min(mean + np.hypot(0.1, needed), 1.0) - 1e-9
    assert made.detectable >= 0.14


def test_one_failed_split_among_tiny_errors_is_not_left_out_of_the_interval() -> None:
    errors = np.append(np.geomspace(1e-8, 1e-6, 19), 0.25)
    made = predicted([errors], 1, float(errors.mean()), "positive")
    assert made.low <= errors.mean() <= made.high
    assert made.high > 0.1
