"""The front page's table of verdicts."""

from __future__ import annotations

from typing import Any

from bench_claims.front import front_lines


def counts(kind: str, claims: int, **verdicts: int) -> dict[str, Any]:
    return {"kind": kind, "claims": claims, "holds": 0, "contradicted": 0, "cannot be told": 0, "forced": 0} | verdicts


def test_a_suite_has_a_row_for_each_kind_of_data_with_the_suites_name() -> None:
    several = [
        counts("same data", 5, holds=2, consistent=3),
        counts("stand-in", 4, contradicted=4),
        counts("absent", 9),
    ]
    lines = front_lines(
        [
            {"title": "No | claims", "name": "none"},
            {"title": "A | paper", "name": "a", "claims": several},
            {"title": "B", "name": "b", "claims": [counts("same data", 1, forced=1)]},
        ]
    )
    assert [line for line in lines if line.startswith("| ")][2:] == [
        r"| [A \| paper](a.md#claims-of-the-paper) | the paper's own | 5 | 2 |  | 3 |  |  |",
        r"| [A \| paper](a.md#claims-of-the-paper) | stand-ins | 4 |  | 4 |  |  |  |",
        r"| [A \| paper](a.md#claims-of-the-paper) | the paper's own, not run | 9 |  |  |  |  |  |",
        "| [B](b.md#claims-of-the-paper) | the paper's own | 1 |  |  |  |  | 1 |",
    ]


def test_without_claims_there_is_no_section() -> None:
    assert front_lines([{"title": "A", "name": "a", "claims": []}, {"title": "B", "name": "b"}]) == []
