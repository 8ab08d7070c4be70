"""``bench claims``: the verdicts of a suite's claims, and which of them could not have come out otherwise."""

from __future__ import annotations

from bench_core import SuiteSession
from bench_leaderboard.analysis.export import published, records_of
from bench_leaderboard.analysis.records import Records
from bench_leaderboard.analysis.stress import Stress, stress_claims
from bench_leaderboard.render.claims import word_of
from bench_leaderboard.render.page import Analysed

__all__ = ["rows_of_stress", "rows_of_verdicts", "silent", "stressed"]


def _records(session: SuiteSession) -> Records:
    """The published records, or where nothing is published those of the store."""
    whole = published(session).whole
    return records_of(session) if whole is None else whole


def rows_of_verdicts(session: SuiteSession) -> tuple[list[str], list[list[str]]]:
    """A table's head and rows: every claim with its standing and verdict."""
    found = Analysed(session.suite, _records(session)).claims
    return ["claim", "standing", "verdict", "why"], [
        [f"{i} {one.claim.text}", one.standing, word_of(one), one.why] for i, one in enumerate(found)
    ]


def stressed(session: SuiteSession) -> list[Stress]:
    """Every claim of the suite under stress."""
    return stress_claims(session.suite, _records(session))


def silent(found: list[Stress]) -> list[Stress]:
    """Claims that are forced and do not say so."""
    return [one for one in found if one.forced and not one.claim.by_construction]


def rows_of_stress(found: list[Stress]) -> tuple[list[str], list[list[str]]]:
    """A table's head and rows: the claims whose verdict no possible disturbance changes, and what else does."""
    rows = []
    for one in found:
        if one.forced:
            changes = ", ".join(sorted(one.changed)) or "nothing"
            why = one.claim.by_construction or "NOT SAID"
            constant = "the same number on every split" if one.constant else ""
            rows.append([f"{one.number} {one.claim.text}", one.verdict, changes, constant, why])
    return ["claim", "verdict", "changed by", "", "by construction"], rows
