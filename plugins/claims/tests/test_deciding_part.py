"""Which part decides a claim if the parts have intervals of different widths."""

from __future__ import annotations

import pytest
from bench_claims.estimates import Estimate
from bench_claims.verdicts import Checked, Fact, Verdict, deciding


def fact(verdict: Verdict, value: float, half: float) -> Fact:
    return Fact(verdict, f"{value} ± {half}", Estimate(value, value - half, value + half, detectable=10 * half))


@pytest.mark.parametrize(
    ("verdict", "decides", "other"),
    [
        ("holds", (2.0, 1.0), (1.0, 0.1)),  # 2 half-widths from the limit, and 10
        ("cannot be told", (0.5, 2.0), (0.2, 0.4)),  # 0.25, and 0.5
        ("contradicted", (-1.0, 0.1), (-2.0, 1.0)),  # −10, and −2
    ],
)
def test_the_deciding_part_is_the_farthest_on_the_wrong_side_in_half_widths(
    verdict: Verdict, decides: tuple[float, float], other: tuple[float, float]
) -> None:
    expected = fact(verdict, *decides)
    for facts in ([expected, fact(verdict, *other)], [fact(verdict, *other), expected]):
        found = deciding(facts)
        assert found == expected
        assert Checked(None, verdict, None, None, [], "plain", deciding=found).least == 10 * decides[1]
