"""`bench run` replays policies that can be asked step by step: one that then decides differently fails its trial."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from support import asked_plugin, tiny_plugin
from support.asked_plugin import Asked
from support.bench import Bench, install
from support.policies import ByQuery
from test_cheats import BLOBS, method, record_of, session

from bench_core import Decisions, Policy, Rows
from bench_core.contract.errors import AuditError
from bench_core.plugins.manager import load_registry
from bench_core.protocol.agreement import Agreement
from bench_core.protocol.replay import ReplayAudit
from bench_core.run.execute import Options, execute

REGISTRY = load_registry([("tiny", tiny_plugin), ("asked", asked_plugin)], entry_points=False)
FAULTS = {
    "asks less": "its last answer uses a feature that it did not ask for",
    "asks more": "asks for more than it acquires .* feature 'b' first",
    "asks again": "asks for a feature that is known",
    "answers otherwise": "answers differently than on complete rows",
    "says numbers": "must give bool",
    "raises": "ValueError: no idea",
}
SUITE = BLOBS + method("asking", "honest") + "".join(method("asking", name, fault=name) for name in FAULTS)


@pytest.mark.slow
@pytest.mark.parametrize("isolation", ["process", "none"])
def test_a_policy_that_requests_other_features_than_it_uses_fails_its_trial_by_name(
    tmp_path: Path, isolation: str
) -> None:
    here = session(tmp_path, SUITE, registry=REGISTRY)
    plan = here.plan()
    options = Options(isolation=isolation)  # type: ignore[arg-type]
    execute(plan, here.cache, ("cost", "accuracy"), options)
    records = {planned.trial.method: record_of(here.store, planned.name) for planned in plan.planned}
    assert records.pop("honest")["status"] == "ok"
    assert records.keys() == FAULTS.keys()
    for name, record in records.items():
        assert record["status"] == "failed", name
        assert record["error"]["step"] == "audit"
        assert re.search(f"policy 1, asked step by step.*{FAULTS[name]}", record["error"]["message"]), record["error"]


def test_bench_run_names_the_cheat_and_keeps_the_honest(tmp_path: Path) -> None:
    install(tmp_path / "plugins", "tiny_plugin", Path(tiny_plugin.__file__), "tiny")
    install(tmp_path / "plugins", "asked_plugin", Path(asked_plugin.__file__), "asked")
    bench = Bench(tmp_path, tmp_path / "plugins")
    text = 'metrics = ["cost"]\n[suite]\nname = "s"\n[protocol]\nseeds = 1\n'
    methods = method("asking", "honest") + method("asking", "sly", fault="asks less")
    (tmp_path / "s.toml").write_text(text + BLOBS + methods, encoding="utf-8")
    said = bench("run", "s.toml", expect=1)
    shown = " ".join((said.stdout + said.stderr).split())
    assert "sly" in shown
    assert "asked step by step" in shown


@dataclass
class Watched(Asked):
    """Keeps the rows that it is shown."""

    asked: list[NDArray[np.float64]] = field(default_factory=list)

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        self.asked.append(np.where(known, 0.0, rows.X))
        return super().next_features(rows, known)


def audit_of(rows: Rows) -> ReplayAudit:
    return ReplayAudit.prepare(rows, np.arange(rows.X.shape[1]), Agreement(), seed=3)


@given(st.integers(0, 90), st.integers(1, 5))
def test_no_value_is_shown_before_it_is_requested_and_policies_get_different_rows(rows: int, policies: int) -> None:
    table = Rows(np.random.default_rng(rows).normal(size=(rows, 3)))
    audit = audit_of(table)
    given_rows = []
    for number in range(policies):
        policy = Watched()
        audit.check(policy, number, policy.decide(table), ("a", "b", "c"), "it")
        assert all((shown == 0).all() for shown in policy.asked)
        if policy.asked:
            given_rows.append(len(policy.asked[0]))
    assert given_rows == [min(rows, 32)] * (policies if rows else 0)


class Chain(Policy):
    """Requests all features, one after the other."""

    def decide(self, rows: Rows) -> Decisions:
        return Decisions(np.ones(rows.X.shape, dtype=bool), score=rows.X.sum(axis=1))

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return np.asarray((np.arange(known.shape[1]) == known.sum(axis=1)[:, None]) & ~known)


def test_replay_stops_after_some_steps_and_still_finds_excess_requests() -> None:
    rows = Rows(np.ones((5, 300)))
    names = tuple(map(str, range(300)))
    policy = Chain()
    whole = policy.decide(rows)
    audit_of(rows).check(policy, 0, whole, names, "it")
    said = whole.acquired.copy()
    said[:, 7] = False
    with pytest.raises(AuditError, match=r"asks for more than it acquires .* feature '7'"):
        audit_of(rows).check(policy, 0, Decisions(said, score=whole.score), names, "it")


@pytest.mark.parametrize("queries", [None, 1, 7, 60])
def test_whole_queries_are_replayed(queries: int | None) -> None:
    rng = np.random.default_rng(0)
    ids = None if queries is None else rng.integers(100, 100 + queries, 150)
    rows = Rows(rng.normal(size=(150, 2)), None, ids)
    policy = ByQuery()
    for number in range(9):
        audit_of(rows).check(policy, number, policy.decide(rows), ("a", "b"), "it")
