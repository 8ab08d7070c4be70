"""Under isolation no method gains by cheating, whatever it tries to access."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any, get_args, get_type_hints

import psutil
import pytest
from bench_sandbox import layers
from support import cheat_plugin, tiny_plugin
from support.cheats import HABITS
from support.cheats_lie import LIARS, Liar
from support.cheats_reach import CARRIERS, Carrier
from support.cheats_steal import THIEVES, Thief

from bench_core.contract.sources import DataContext
from bench_core.plugins.manager import load_registry
from bench_core.plugins.registry import Registry
from bench_core.run.execute import Options, execute
from bench_core.run.session import SuiteSession
from bench_core.run.store import Store
from bench_core.run.suite_file import parse_suite

PLUGINS = [("tiny", tiny_plugin), ("cheats", cheat_plugin)]
REGISTRY = load_registry(PLUGINS, entry_points=False)
CONFINED = {"landlock", "seccomp"} <= set(layers())
HONEST = {"honest-kernel", "honest-early-exit"}
BLOBS = '[[datasets]]\nuse = "blobs"\nparameters = { rows = 400 }\n'


def session(
    folder: Path, text: str, store: str = "store", registry: Registry = REGISTRY, seeds: int = 1
) -> SuiteSession:
    head = f'metrics = ["cost", "accuracy"]\n[suite]\nname = "s"\n[protocol]\nseeds = {seeds}\n'
    suite = parse_suite(f"{head}{text}", "s.toml", registry)
    return SuiteSession(suite, registry, Store(folder / store), folder / "out", DataContext(cache=folder / "cache"))


def run(
    folder: Path, text: str, store: str = "store", registry: Registry = REGISTRY, **options: Any
) -> dict[str, dict[str, Any]]:
    """Record by the method's name in the suite."""
    here = session(folder, text, store, registry)
    plan = here.plan()
    execute(plan, here.cache, ("cost", "accuracy"), Options(**options))
    return {planned.trial.method: record_of(here.store, planned.name) for planned in plan.planned}


def record_of(store: Store, name: str) -> dict[str, Any]:
    return next(json.loads(path.read_text()) for path in store.path.rglob(f"{name}*.json"))


def method(use: str, name: str, **parameters: Any) -> str:
    said = ", ".join(f"{key} = {json.dumps(value)}" for key, value in parameters.items())
    return f'[[methods]]\nuse = "{use}"\nname = "{name}"\nparameters = {{ {said} }}\n'


def gained(record: dict[str, Any]) -> bool:
    """Whether a cheat succeeded: it has correct answers without paying, or found a way out of its process."""
    if record["status"] == "failed":
        return False
    test = record["policies"]["test"]
    return record["diagnostics"].get("reached", False) or (test["accuracy"][0] > 0.62 and test["cost"][0] < 1.99)


CHEATS = {
    **{habit: ("cheat", "habit") for habit in HABITS if habit not in HONEST},
    **{way: (use, "way") for use, ways in (("carrier", CARRIERS), ("thief", THIEVES), ("liar", LIARS)) for way in ways},
}


def sandboxes() -> list[psutil.Process]:
    """Return the restricted processes below this one, ended ones that were not waited for included."""
    return [child for child in psutil.Process().children(recursive=True) if child.name() == "sandbox"]


@pytest.fixture(scope="module")
def caught(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, dict[str, Any]]]:
    """The records of all cheats in one run, with data in the cache and another method's record in the store."""
    folder = tmp_path_factory.mktemp("cheats")
    (folder / "cache").mkdir()
    (folder / "cache" / "labels.csv").write_text("label\n1\n")
    text = "".join(method(use, name, **{key: name}, paid=1, unpaid=0) for name, (use, key) in CHEATS.items())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUDGETBENCH_CACHE", str(folder / "cache"))
        return folder, run(folder, BLOBS + method("slopes", "first") + text)


def test_there_are_25_cheats_and_each_can_be_chosen() -> None:
    assert len(CHEATS) >= 25
    for kind, ways in ((Carrier, CARRIERS), (Thief, THIEVES), (Liar, LIARS)):
        assert set(get_args(get_type_hints(kind)["way"])) == set(ways)


@pytest.mark.skipif(not CONFINED, reason="this kernel has no Landlock or no seccomp")
@pytest.mark.parametrize("name", CHEATS)
def test_no_cheat_gains(caught: tuple[Path, dict[str, dict[str, Any]]], name: str) -> None:
    assert not gained(caught[1][name])


def test_cheats_leave_no_files_or_processes_and_do_not_affect_other_trials(
    caught: tuple[Path, dict[str, dict[str, Any]]],
) -> None:
    folder, records = caught
    assert records["first"]["status"] == "ok"
    assert list((folder / "store" / "running").iterdir()) == []
    assert sandboxes() == []
    assert not list(Path("/dev/shm").glob("bench-cheat*"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["frames", "garbage-collector", "variable", "environment", "temporary-file"])
def test_in_one_process_a_judge_can_be_reached(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """This shows that these cheats work without isolation."""
    monkeypatch.setenv("bench-cheat", "{}")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    use, key = CHEATS[name]
    text = BLOBS + method(use, name, **{key: name}, paid=1, unpaid=0)
    gc.collect()  # otherwise the cheat might find prepared data of another test
    record = run(tmp_path, text, isolation="none")[name]
    assert gained(record)
    assert record["provenance"]["isolation"] == "none"
