"""Hard budgets: a suite's `caps` cut the rows of policies that can be asked, and records have the accuracy at each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support import asked_plugin, tiny_plugin
from test_cheats import BLOBS, method, record_of, session

from bench_core.contract.errors import RequestError
from bench_core.plugins.manager import load_registry
from bench_core.run.execute import Options, execute

REGISTRY = load_registry([("tiny", tiny_plugin), ("asked", asked_plugin)], entry_points=False)
CAPS = BLOBS.replace("parameters", "caps = [1, 2]\nparameters")
NAMES = [f"accuracy-at-cap@{cap}" for cap in (1, 2)]
KEYS = [REGISTRY.metrics["accuracy-at-cap@k"].key.replace("k v", f"{cap} v") for cap in (1, 2)]


@pytest.mark.slow
@pytest.mark.parametrize("isolation", ["process", "none"])
def test_rows_are_cut_at_the_caps_and_answered_from_known_features(tmp_path: Path, isolation: str) -> None:
    here = session(tmp_path, CAPS + method("asking", "cascades", early=True), registry=REGISTRY)
    plan = here.plan()
    names = tuple(here.suite.needed_metrics())
    assert set(NAMES) < set(names)
    execute(plan, here.cache, names, Options(isolation=isolation))  # type: ignore[arg-type]
    (planned,) = plan.planned
    table = record_of(here.store, planned.name)["policies"]
    judged = [j for j in here.store.outcomes(planned.name, "binary", None) if j.part == "test"]
    assert [j.outcome.bill.max() for j in judged] == [2.0, 2.0]
    y, label = judged[1].outcome.y, judged[1].outcome.label
    # At 2 nothing is cut; at 1 a row that requests the second feature gets the first class.
    cut = judged[1].outcome.bill == 2
    expected = [float((np.where(cut, 0, label) == y).mean()), float((label == y).mean())]
    assert [table["test"][key][1] for key in KEYS] == expected
    assert [float((j.outcome.at_caps[1] == y).mean()) for j in judged] == table["test"][KEYS[0]]
    # Without decide_known, the answer is the mean of the policy's answers with values of training rows filled in.
    kept = judged[0].outcome.at_caps
    assert (kept[1][~cut] == label[~cut]).all()
    assert (kept[2] == label).all()
    assert table["test"][KEYS[1]][0] == table["test"]["accuracy"][0]


def test_a_policy_that_cannot_be_asked_has_a_number_only_where_no_row_costs_more(tmp_path: Path) -> None:
    here = session(tmp_path, CAPS + method("slopes", "blunt"), registry=REGISTRY)
    plan = here.plan()
    execute(plan, here.cache, tuple(here.suite.needed_metrics()), Options(isolation="none"))
    table = record_of(here.store, plan.planned[0].name)["policies"]
    costs = table["test"]["cost"]
    for cap, key in enumerate(KEYS, start=1):
        whole = [cost <= cap for cost in costs]
        assert [value is not None for value in table["test"][key]] == whole
    assert table["test"][KEYS[1]] == [
        a if c <= 2 else None for a, c in zip(table["test"]["accuracy"], costs, strict=True)
    ]


def test_a_cap_does_not_change_the_empty_policy_which_buys_nothing(tmp_path: Path) -> None:
    here = session(tmp_path, CAPS + method("asking", "cascades"), registry=REGISTRY)
    plan = here.plan()
    execute(plan, here.cache, tuple(here.suite.needed_metrics()), Options(isolation="none"))
    made = record_of(here.store, plan.planned[0].name)
    assert made["policies"]["test"][KEYS[1]][0] != made["empty"]["test"]["accuracy"]
    for part in ("validation", "test"):
        assert [made["empty"][part][key] for key in KEYS] == [made["empty"][part]["accuracy"]] * 2


def test_a_suite_without_caps_has_the_same_trials_as_before(tmp_path: Path) -> None:
    text = BLOBS + method("asking", "cascades")
    plain, capped = (
        session(tmp_path, t, registry=REGISTRY).plan().planned[0] for t in (text, CAPS + text[len(BLOBS) :])
    )
    assert '"caps"' not in plain.trial.identity(plain.content)
    assert plain.name != capped.name
    assert capped.trial.identity(plain.content).replace('"caps":[1,2],', "") == plain.trial.identity(plain.content)


@pytest.mark.parametrize("caps", ["[2, 1]", "[1, 1]", "[0]", "[1.5]"])
def test_caps_that_do_not_rise_or_are_not_integers_are_refused(tmp_path: Path, caps: str) -> None:
    with pytest.raises(RequestError, match=r"datasets\[0\]\.caps"):
        session(tmp_path, CAPS.replace("[1, 2]", caps) + method("asking", "m"), registry=REGISTRY)
