"""An audit cannot be predicted from the trial's seed, an earlier round or another policy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import unswap_plugin
from test_cheats import record_of

from bench_core import DataContext
from bench_core.plugins.manager import load_registry
from bench_core.run.execute import Options, execute
from bench_core.run.session import SuiteSession
from bench_core.run.store import Store
from bench_core.run.suite_file import parse_suite

REGISTRY = load_registry([("unswap", unswap_plugin)], entry_points=False)
SUITE = """
metrics = ["cost", "accuracy"]
[suite]
name = "s"
[protocol]
seeds = 2
[[datasets]]
use = "switches"
parameters = {{ {data} }}
[[methods]]
use = "foresees"
name = "it"
parameters = {{ way = "{way}" }}
"""
TABLES = {"binary table": "", "credit data": "numbers = 6, noise = 0.15"}


def records(folder: Path, way: str, table: str, **options: Any) -> list[dict[str, Any]]:
    """The records of a cheat, one for each seed."""
    suite = parse_suite(SUITE.format(way=way, data=TABLES[table]), "s.toml", REGISTRY)
    context = DataContext(cache=folder / "cache")
    here = SuiteSession(suite, REGISTRY, Store(folder / "store"), folder / "out", context)
    plan = here.plan()
    execute(plan, here.cache, ("cost", "accuracy"), Options(**options))
    return [record_of(here.store, planned.name) for planned in plan.planned]


@pytest.mark.slow
@pytest.mark.parametrize("isolation", ["process", "none"])
@pytest.mark.parametrize("table", TABLES)
def test_a_swap_that_is_undone_gains_nothing(tmp_path: Path, table: str, isolation: str) -> None:
    for record in records(tmp_path, "unswaps", table, isolation=isolation):
        assert record["status"] == "failed", record["policies"]["test"]
        assert record["error"]["type"] == "AuditError"
        assert "read without paying: feature 'x0' on " in record["error"]["message"]


@pytest.mark.parametrize("table", TABLES)
def test_the_trials_seed_does_not_reveal_the_audits_order(tmp_path: Path, table: str) -> None:
    for record in records(tmp_path, "knows the seed", table, isolation="none"):
        assert record["status"] == "failed", record["policies"]["test"]
        assert record["error"]["type"] == "AuditError"


@pytest.mark.slow
def test_the_audit_of_a_dear_policy_reveals_nothing_to_a_cheap_one(tmp_path: Path) -> None:
    for record in records(tmp_path, "remembers paid", "credit data"):
        assert record["status"] == "failed", record["policies"]["test"]
        assert "policy 1 read without paying: feature 'x0' on " in record["error"]["message"]


@pytest.mark.slow
def test_a_failed_audit_names_its_seed_and_is_repeated_with_it(tmp_path: Path) -> None:
    first, other = (record["error"] for record in records(tmp_path / "a", "unswaps", "credit data"))
    assert first["audit_seed"] != other["audit_seed"]
    again = records(tmp_path / "a", "unswaps", "credit data", retry_failed=True, audit_seed=first["audit_seed"])
    assert again[0]["error"] == first
    assert again[0]["provenance"]["audit_seed"] == first["audit_seed"]
    assert "audit_seed" not in json.dumps(again[0]["trial"])
    fresh = records(tmp_path / "a", "unswaps", "credit data", retry_failed=True)
    assert fresh[0]["error"]["audit_seed"] != first["audit_seed"]
    assert "audit_seed" not in fresh[0]["provenance"]
