"""``bench claims``: the verdicts of a suite's claims, and which of them are forced."""

from __future__ import annotations

from bench_analysis import Analysed
from bench_records import Records, published, records_of

from bench_claims.claims import check_claims
from bench_claims.page import word_of
from bench_claims.stress import Stress, stress_claims
from bench_core.suites import SuiteSession

__all__ = ["rows_of_stress", "rows_of_verdicts", "stressed", "undeclared"]


def _records(session: SuiteSession) -> Records:
    """The published records; if there are none, those of the store."""
    records = published(session).whole
    return records_of(session) if records is None else records


def rows_of_verdicts(session: SuiteSession) -> tuple[list[str], list[list[str]]]:
    """A table (header and rows) of every claim with its standing and verdict."""
    analysed = Analysed(session.suite, _records(session))
    results = check_claims(analysed.suite, analysed.records, analysed.cells)
    return ["claim", "standing", "verdict", "why"], [
        [f"{i} {result.claim.text}", result.standing, word_of(result), result.why] for i, result in enumerate(results)
    ]


def stressed(session: SuiteSession) -> list[Stress]:
    """Run the stress test on every claim of the suite."""
    return stress_claims(session.suite, _records(session))


def undeclared(results: list[Stress]) -> list[Stress]:
    """Claims that are forced and do not declare it."""
    return [result for result in results if result.forced and not result.claim.by_construction]


def rows_of_stress(results: list[Stress]) -> tuple[list[str], list[list[str]]]:
    """A table (header and rows) of the claims whose verdict no possible perturbation changes, with those that do."""
    rows = []
    for result in results:
        if result.forced:
            changes = ", ".join(sorted(result.changed)) or "nothing"
            why = result.claim.by_construction or "NOT DECLARED"
            constant = "the same number on every split" if result.constant else ""
            rows.append([f"{result.number} {result.claim.text}", result.verdict, changes, constant, why])
    return ["claim", "verdict", "changed by", "", "by construction"], rows
