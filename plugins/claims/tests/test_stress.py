"""The stress test finds claims that cannot fail; in the published suites all of those declare it."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench_claims.commands import undeclared
from bench_claims.stress import Stress, stress_claims
from bench_records.committed import Committed
from bench_records.records import tabulate
from support.bench import Bench
from support.synthetic import Values, labelled, policies_of, record_of, records_of, suite_of

from bench_core.plugins.manager import load_registry
from bench_core.run.suite_file import load_suite

HOME = Path(__file__).parents[3]
PUBLISHED = sorted(
    path.stem for path in (HOME / "suites").glob("*.toml") if (HOME / "leaderboard" / path.stem).is_dir()
)

QUICK = """
[protocol]
seeds = 3
[[datasets]]
use = "blobs"
[[methods]]
use = "slopes"
"""

VALUES: Values = {
    ("X", "A"): {"coverage": [0.9, 0.91, 0.92], "conclusive-accuracy": [0.8, 0.81, 0.82], "cost": [10.0, 11.0, 12.0]},
    ("X", "B"): {"coverage": [0.9, 0.91, 0.92], "conclusive-accuracy": [0.6, 0.61, 0.62], "cost": [20.0, 20.0, 20.0]},
    ("X", "C"): {"coverage": [0.9, 0.91, 0.92], "conclusive-accuracy": [0.7, 0.71, 0.72], "cost": [20.0, 20.0, 20.0]},
}


def stressed(fields: str, values: Values = VALUES) -> Stress:
    claim = f'[[claims]]\ntext = "t"\nsource = "s"\nstanding = "same data"\n{fields}\n'
    suite = suite_of(["X"], ["A", "B", "C"], metrics=["coverage", "conclusive-accuracy", "cost"], more=claim)
    return stress_claims(suite, records_of(values))[0]


def test_a_relation_between_rows_notices_that_names_are_exchanged() -> None:
    found = stressed('kind = "order"\nmethods = ["A", "B"]\nfirst = "lowest"\nmetric = "cost"')
    assert (found.verdict, found.forced) == ("holds", False)
    assert "names" in found.changed


def test_a_number_of_one_method_notices_reversed_values() -> None:
    found = stressed('kind = "value"\nmethod = "A"\nmetric = "conclusive-accuracy"\nrelation = ">"\nvalue = 0.7')
    assert (found.verdict, found.forced) == ("holds", False)
    assert "mirror" in found.changed


def test_a_constant_is_forced() -> None:
    found = stressed('kind = "value"\nmethod = "B"\nmetric = "cost"\nvalue = 20.0')
    assert (found.verdict, found.constant, found.forced) == ("holds", True, True)


def test_a_limit_that_no_policy_or_rival_reaches_is_forced() -> None:
    found = stressed('kind = "value"\nmethod = "A"\nmetric = "cost"\nrelation = "<"\nvalue = 450.0')
    assert (found.verdict, found.constant, found.forced) == ("holds", False, True)
    assert found.changed <= {"shift", "sign"}


def test_a_claim_contradicted_by_a_tie_is_forced() -> None:
    found = stressed('kind = "order"\nmethods = ["A", "B"]\nmetric = "coverage"')
    assert (found.verdict, found.forced) == ("contradicted", True)


def test_a_claim_that_cannot_be_told_is_not_forced() -> None:
    found = stressed('kind = "order"\nmethods = ["A", "D"]\nmetric = "cost"')
    assert (found.verdict, found.forced) == ("cannot be told", False)


def test_permuted_validation_values_select_other_policies() -> None:
    # Two policies: validation prefers the accurate one on every seed; only selection makes the claim hold.
    records = []
    for seed in range(3):
        record = record_of("X", "A", seed, {"cost": 1.0, "coverage": 1.0, "conclusive-accuracy": 0.9 + seed / 100})
        both = {"cost": [1.0, 300.0], "coverage": [1.0, 1.0], "conclusive-accuracy": [0.9 + seed / 100, 0.1]}
        record["policies"] = policies_of(both)
        records.append(record)
    claim = (
        '[[methods]]\nuse = "slopes"\nname = "A"\nselect = "conclusive-accuracy"\n[[claims]]\ntext = "t"\n'
        'source = "s"\nstanding = "same data"\nkind = "value"\nmethod = "A"\nmetric = "cost"\n'
        'relation = "<"\nvalue = 2.0\n'
    )
    suite = suite_of(["X"], [], metrics=["coverage", "conclusive-accuracy", "cost"], more=claim)
    found = stress_claims(suite, tabulate(labelled(records)))[0]
    assert (found.verdict, found.forced) == ("holds", False)
    assert "validation" in found.changed


@pytest.mark.weekly
@pytest.mark.parametrize("name", PUBLISHED)
def test_no_published_claim_is_forced_without_declaring_it(name: str) -> None:
    suite = load_suite(HOME / "suites" / f"{name}.toml", load_registry())
    records = Committed(HOME / "leaderboard" / name, suite.needed_metrics()).whole
    assert records is not None
    assert [one.claim.text for one in undeclared(stress_claims(suite, records))] == []


@pytest.mark.slow
def test_the_command_lists_forced_claims_and_fails(bench: Bench) -> None:
    forced = '[[claims]]\ntext = "It costs little."\nsource = "p. 1"\nstanding = "same data"\nkind = "value"\n'
    forced += 'method = "slopes"\nmetric = "cost"\nrelation = "<"\nvalue = 1e6\n'
    suite = bench.suite(QUICK + forced)
    bench("run", suite)
    assert "It costs little." in bench("claims", suite).stdout
    assert "NOT DECLARED" in bench("claims", "--stress", suite, expect=1).stdout
