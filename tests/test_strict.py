"""Strict isolation: no message of a hostile plugin reaches a later process, and cheating through a template shows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from bench_sandbox import missing_layers
from support import mailbox_plugin, tiny_plugin
from support.mailboxes import MAILBOXES, THROUGH_TEMPLATE
from test_cheats import BLOBS, gained, method, record_of, session

from bench_core.plugins.manager import load_registry
from bench_core.run.execute import Options, execute

REGISTRY = load_registry([("tiny", tiny_plugin), ("mailboxes", mailbox_plugin)], entry_points=False)
pytestmark = pytest.mark.skipif(bool(missing_layers()), reason=missing_layers())

NOISE = '[[datasets]]\nuse = "blobs"\nparameters = { rows = 200 }\n'


def run(folder: Path, text: str, level: str, seeds: int = 1) -> dict[str, dict[str, Any]]:
    """Record by the method's name and seed."""
    here = session(folder, text, level, REGISTRY, seeds)
    plan = here.plan()
    execute(plan, here.cache, ("cost", "accuracy"), Options(isolation=level))
    return {f"{p.trial.method} {p.trial.seed}": record_of(here.store, p.name) for p in plan.planned}


@pytest.fixture(scope="module", params=["process", "strict"])
def carried(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    text = BLOBS + "".join(method("carrying", way, way=way) for way in MAILBOXES)
    return request.param, run(tmp_path_factory.mktemp("carried"), text, request.param)


@pytest.mark.parametrize("way", MAILBOXES)
def test_no_answer_reaches_the_witness(carried: tuple[str, dict[str, Any]], way: str) -> None:
    level, records = carried
    if level == "process" and way in THROUGH_TEMPLATE:
        pytest.skip("a template can carry it; the strict level refutes its records")
    assert not gained(records[f"{way} 0"])


def test_messages_through_a_template_are_detected_by_strict_isolation(carried: tuple[str, dict[str, Any]]) -> None:
    level, records = carried
    gains = {way for way in THROUGH_TEMPLATE if gained(records[f"{way} 0"])}
    assert gains == (set(THROUGH_TEMPLATE) if level == "process" else set())


@pytest.mark.slow
@pytest.mark.parametrize("way", ["patched-confinement", "kernel-folder", "pycache"])
def test_labels_are_not_remembered_across_seeds(tmp_path: Path, way: str) -> None:
    records = run(tmp_path, NOISE + method("remembering", "remembering", way=way), "strict", seeds=4)
    accuracies = [record["policies"]["test"]["accuracy"][0] for record in records.values()]
    assert len(accuracies) == 4
    assert max(accuracies) < 0.7
    # The warm-up may write to the folder of kernels, since it has seen synthetic data only.
    left = [Path(folder) for folder, _, names in os.walk(tmp_path) for name in names if name.startswith("mailbox")]
    assert {folder.parts[len(tmp_path.parts) + 1] for folder in left} <= {"compiled"}
