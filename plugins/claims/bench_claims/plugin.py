"""The hooks of claims: a section of suites, and parts of pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bench_core import hookimpl
from bench_core.suites import RegisterSuiteSection, SectionRules, SuiteSection

if TYPE_CHECKING:
    from bench_analysis import Analysed
    from bench_leaderboard import FrontPart, PagePart

    from bench_core.suites import Suite

BENCH_CONTRACT_VERSION = 1

ORDER = 20
"""Place of these parts on pages: after comparisons."""


def _rules() -> SectionRules:
    from bench_claims.section import RULES

    return RULES


@hookimpl
def bench_register_suite_sections(register: RegisterSuiteSection) -> None:
    """The paper's claims."""
    register(SuiteSection("claims", _rules))


@hookimpl(optionalhook=True)
def bench_shown_names(suite: Suite) -> set[str]:
    """The series that claims are about."""
    from bench_claims.schema import checks_within

    checks = [check for claim in suite.section("claims") for check in checks_within(claim)]
    return {name for check in checks for key in ("series", "over") if (name := getattr(check, key, ""))}


@hookimpl(optionalhook=True)
def bench_page_parts(analysed: Analysed) -> PagePart:
    """The suite's claims with their verdicts."""
    from bench_leaderboard import PagePart

    from bench_claims.claims import check_claims
    from bench_claims.page import claim_counts, claims_section

    checked = check_claims(analysed.suite, analysed.records, analysed.cells)
    return PagePart(ORDER, claims_section(checked), description={"claims": claim_counts(checked)})


@hookimpl(optionalhook=True)
def bench_front_parts(described: Sequence[Mapping[str, Any]]) -> FrontPart:
    """How every suite's claims fared."""
    from bench_leaderboard import FrontPart

    from bench_claims.front import front_lines

    return FrontPart(ORDER, front_lines(described))
