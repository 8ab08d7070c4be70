"""Nobody but processes of its own imports a method's plugin: whatever it does when it is imported reaches nobody."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from support import tiny_plugin
from support.bench import Bench, contents, install
from test_cheats import BLOBS, method, session

from bench_core import RequestError
from bench_core.cli.about import about
from bench_core.cli.listing import KINDS, SHELVES, list_rows
from bench_core.contract.facts import DataFacts
from bench_core.plugins.from_listings import listings_of, registry_from
from bench_core.plugins.listed import MethodSpec, listing_from
from bench_core.plugins.manager import load_registry
from bench_core.plugins.registry import Registry
from bench_core.run.execute.sandbox import layers
from bench_core.run.listing import listed_registry
from bench_core.run.trial import parameters_of

SECONDS = "20"
"""What a plugin may take to be listed here: an honest one needs a fraction of a second, a hanging one takes it all."""
HEAD = "import os, sys\nBENCH_CONTRACT_VERSION = 1\n"
OFFERS = """
from dataclasses import dataclass
from bench_core import Method, hookimpl
from tiny_plugin import FirstFeature

@dataclass(frozen=True)
class Mine(Method):
    \"\"\"A method of its own.\"\"\"
    cost: float = 1.0

    def fit(self, problem):
        return [FirstFeature(1.0, problem.n_features)]

@hookimpl
def bench_register_methods(register):
    register("{name}", Mine)
"""
PATCHES = """
import bench_core.protocol.audit, bench_core.builtin.metrics, bench_core.run.store, bench_core.run.execute.worker
bench_core.protocol.audit.Auditor.check = lambda *given, **named: None
bench_core.run.execute.worker.resolve_metric = lambda name, known: known["cost"]
bench_core.run.store.Store.write = lambda *given: None
"""
FORKS = """
if not os.fork():
    os.setsid()
    if os.fork():
        os._exit(0)
    open(os.environ["TMPDIR"] + "/x", "w").close() if os.environ.get("TMPDIR") else None
    import ctypes, time
    ctypes.CDLL(None).prctl(15, b"bench-survivor", 0, 0, 0)
    time.sleep(600)
"""
WRITES = """
import threading
def write():
    for name in ("store/written", "written"):
        try:
            open(os.path.join("{folder}", name), "w").close()
        except OSError:
            pass
thread = threading.Thread(target=write); thread.start(); thread.join()
"""
KILLS = "import signal\nos.kill(os.getppid(), signal.SIGKILL)\nimport time\ntime.sleep(600)\n"
HOSTILE = {
    "patching": (PATCHES, ""),
    "printing": ("print('PRINTED BY A PLUGIN'); os.write(1, b'WRITTEN BY A PLUGIN')", ""),
    "hanging": ("import time\ntime.sleep(600)", f"it took longer than {SECONDS} s"),
    "leaving": ("os._exit(3)", "exit code 3"),
    "crashing": ("import signal\nos.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
    "lying": ("sys.modules['bench_core.run.listing.process'].send = lambda *given: os._exit(0)", "exit code 0"),
    "killing": (KILLS, ""),
    "forking": (FORKS, ""),
    "writing": (WRITES, ""),
}
WATCH = """
import os, sys
from bench_core import Metric, hookimpl
BENCH_CONTRACT_VERSION = 1

def seen(outcome):
    with open(os.path.join(os.environ["BUDGETBENCH_SEEN"], str(os.getpid())), "w") as file:
        file.write("\\n".join([str(sys.modules.get("__main__")), *sys.modules]))
    return 0.0

@hookimpl
def bench_register_metrics(register):
    register(Metric("seen", seen, "min", "Seen"))
"""


def put(plugins: Path, name: str, what: str, folder: Path) -> None:
    """Install a plugin of one method that does something when it is imported."""
    source = f"{HEAD}{what.replace('{folder}', str(folder))}\n{OFFERS.replace('{name}', name)}"
    install(plugins, f"{name}_plugin", source, name)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Bench, subprocess.CompletedProcess[str]]:
    """A run with hostile plugins installed, two of whose methods are in the suite, in a time that ends it."""
    folder = tmp_path_factory.mktemp("listing")
    played = Bench(folder, folder / "plugins")
    install(played.plugins, "tiny_plugin", Path(tiny_plugin.__file__), "tiny")
    install(played.plugins, "watch_plugin", WATCH, "watch")
    for name, (what, _) in HOSTILE.items():
        put(played.plugins, name, what, folder)
    (folder / "seen").mkdir()
    suite = 'metrics = ["cost", "accuracy", "seen"]\n' + BLOBS + method("slopes", "slopes", noise=0.1)
    suite += "".join(method(name, name) for name in ("patching", "printing", "forking", "writing"))
    (folder / "s.toml").write_text(f'{suite.partition("[[")[0]}[suite]\nname = "s"\n[protocol]\nseeds = 1\n{BLOBS}'
                                   + suite.partition(BLOBS)[2])  # fmt: skip
    more = {"BUDGETBENCH_ISOLATION": "full", "BUDGETBENCH_LISTING_SECONDS": SECONDS, "BUDGETBENCH_SEEN": "seen"}
    done = played("run", "s.toml", "--store", "store", expect=None, fresh=True, **more)
    return played, done


def test_a_run_goes_on_whatever_plugins_do_when_they_are_imported(run: tuple[Bench, Any], tmp_path: Path) -> None:
    played, done = run
    assert done.returncode == 0, done.stdout + done.stderr
    records = {json.loads(r["trial"])["method"]["use"]: r for r in contents(played.folder / "store").values()}
    assert {use: record["status"] for use, record in records.items()} == dict.fromkeys(
        ("slopes", "patching", "printing", "forking", "writing"), "ok"
    )
    calm = session(tmp_path, BLOBS + method("slopes", "slopes", noise=0.1))
    from bench_core.run.execute import Options, execute

    execute(calm.plan(), calm.registry, calm.store.path, calm.context, ("cost", "accuracy"), Options(isolation="none"))
    (alone,) = contents(tmp_path / "store").values()
    for part in ("validation", "test"):
        beside = dict(records["slopes"]["policies"][part])
        beside.pop("seen")
        assert beside == alone["policies"][part]


def test_what_plugins_print_write_and_start_when_they_are_imported_is_not_there(run: tuple[Bench, Any]) -> None:
    played, done = run
    assert "BY A PLUGIN" not in done.stdout + done.stderr
    if any(layer.startswith("landlock") for layer in layers()):
        assert not (played.folder / "written").exists()
        assert not (played.folder / "store" / "written").exists()
    here = str(played.folder)  # other runs have theirs
    found = [p for p in psutil.process_iter(["name", "environ"]) if here in str((p.info["environ"] or {}).values())]
    assert [p for p in found if p.info["name"] in ("bench-survivor", "bench-listing")] == []


def test_the_judge_has_imported_what_brings_data_and_metrics_and_no_methods_plugin(run: tuple[Bench, Any]) -> None:
    assert run[1].returncode == 0, run[1].stderr
    told = [path.read_text().splitlines() for path in (run[0].folder / "seen").iterdir()]
    assert len(told) == 1  # one process judged
    assert {"tiny_plugin", "watch_plugin", "bench_leaderboard.plugin"} <= set(told[0])
    assert not {f"{name}_plugin" for name in HOSTILE} & set(told[0])
    assert not {"bench_emsco", "bench_lasso", "bench_cstc", "bench_synthetic"} & set(told[0])


@pytest.mark.slow
def test_a_suite_that_needs_a_plugin_that_cannot_be_listed_is_refused_and_the_plugin_named(
    run: tuple[Bench, Any],
) -> None:
    played = run[0]
    suite = played.suite(BLOBS + method("hanging", "hanging"), "needs")
    more = {"BUDGETBENCH_ISOLATION": "full", "BUDGETBENCH_LISTING_SECONDS": SECONDS}
    said = played("plan", suite, expect=2, fresh=True, **more).stderr
    assert "there is no method 'hanging'" in said
    assert len(said.strip().splitlines()) == 1
    for name, (_, why) in HOSTILE.items():
        if why:
            assert f"plugin {name!r} could not be loaded ({why}" in said or f"plugin {name!r} could not" in said
            assert why in said


def test_workers_import_no_methods_plugin_either(tmp_path: Path) -> None:
    played = Bench(tmp_path, tmp_path / "plugins")
    install(played.plugins, "tiny_plugin", Path(tiny_plugin.__file__), "tiny")
    install(played.plugins, "watch_plugin", WATCH, "watch")
    put(played.plugins, "plain", "", tmp_path)
    (tmp_path / "seen").mkdir()
    (tmp_path / "s.toml").write_text(
        f'metrics = ["seen"]\n[suite]\nname = "s"\n[protocol]\nseeds = 1\n{BLOBS}'
        + "".join(method("plain", f"plain {cost}", cost=cost) for cost in (1.0, 2.0, 3.0))
    )
    more = {"BUDGETBENCH_ISOLATION": "process", "BUDGETBENCH_SEEN": str(tmp_path / "seen")}
    played("run", "s.toml", "--executor", "processes", fresh=True, **more)
    told = [set(path.read_text().splitlines()) for path in (tmp_path / "seen").iterdir()]
    assert told
    for modules in told:
        assert "watch_plugin" in modules
        assert not {"plain_plugin", "bench_emsco", "bench_lasso"} & modules


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Registry, Registry]:
    """The installed plugins listed, and all of them imported."""
    listed = listed_registry(cache=tmp_path_factory.mktemp("cache"))
    return listed, load_registry()


def test_what_is_listed_is_what_an_import_gives(both: tuple[Registry, Registry]) -> None:
    listed, imported = both
    assert [p for p in listed.plugins.values() if p.error] == [p for p in imported.plugins.values() if p.error]
    for kind in KINDS:
        assert list_rows(listed, kind) == list_rows(imported, kind)
    for shelf in SHELVES.values():
        assert getattr(listed, shelf).origins == getattr(imported, shelf).origins
        for name in getattr(imported, shelf):
            assert about(listed, name) == about(imported, name)
    for name, plugin in imported.plugins.items():
        assert (listed.plugins[name].folder, listed.plugins[name].version) == (plugin.folder, plugin.version)


def test_trials_have_the_names_and_parameters_that_an_import_gives(both: tuple[Registry, Registry]) -> None:
    listed, imported = both
    wanted: list[tuple[str, dict[str, Any], str]] = [(name, {}, "here") for name in sorted(imported.methods)]
    wanted += [("lasso", {"bogus": 1}, "here"), ("cegb", {"lambdas": [0.5, 1]}, "here"), ("cegb", {"lambdas": -1}, "h")]
    facts = DataFacts("d", "regression", 0, tuple("abc"), 3, missing=True, queries=False, priced=True, n_rows=90)
    for ours, theirs in zip(listed.build_methods(wanted), imported.build_methods(wanted), strict=True):
        if isinstance(theirs, RequestError):
            assert str(ours) == str(theirs)
            continue
        assert isinstance(ours, MethodSpec)
        from bench_core.run.trial import fragment

        assert fragment(ours.use, ours) == fragment(ours.use, theirs)
        assert parameters_of(ours) == parameters_of(theirs)
        for what in ("inapplicable", "memory_needed"):
            assert listed.ask_methods(what, [(ours, facts)]) == imported.ask_methods(what, [(theirs, facts)])


def test_what_was_told_is_remembered_until_the_source_changes_or_the_file_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    install(tmp_path / "site", "tiny_plugin", Path(tiny_plugin.__file__), "tiny")
    put(tmp_path / "site", "remembered", "", tmp_path)
    source = tmp_path / "site" / "remembered_plugin.py"

    def listed() -> tuple[dict[str, Any], bool]:
        """The defaults of its method, and whether a process was started for them."""
        registry = listed_registry(cache=tmp_path / "cache")
        started = registry.asker._listers is not None  # type: ignore[union-attr]
        spec = registry.build_method("remembered", {}, "here")
        registry.close()
        return dict(spec.parameters), started

    assert listed() == ({"cost": 1.0}, True)
    assert listed() == ({"cost": 1.0}, False)
    source.write_text(source.read_text().replace("cost: float = 1.0", "cost: float = 2.5"))
    assert listed() == ({"cost": 2.5}, True)
    for kept in (tmp_path / "cache" / "listings").iterdir():
        kept.write_bytes(kept.read_bytes().replace(b"2.5", b"7.5")[:-1] + b"?")
    assert listed() == ({"cost": 2.5}, True)


def test_a_file_that_the_plugin_imports_counts_as_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    install(tmp_path / "site", "tiny_plugin", Path(tiny_plugin.__file__), "tiny")
    (tmp_path / "site" / "shared_default.py").write_text("COST = 1.0\n")
    source = OFFERS.replace("{name}", "sharing").replace("cost: float = 1.0", "cost: float = shared_default.COST")
    install(tmp_path / "site", "sharing_plugin", f"{HEAD}import shared_default\n{source}", "sharing")
    for value in (1.0, 31.5):
        (tmp_path / "site" / "shared_default.py").write_text(f"COST = {value}\n")
        registry = listed_registry(cache=tmp_path / "cache")
        assert registry.methods.described("sharing")["defaults"] == {"cost": value}
        registry.close()


def test_a_plugin_whose_process_was_killed_is_asked_in_another(tmp_path: Path) -> None:
    registry = listed_registry(cache=tmp_path)
    for number, kill in enumerate(("bench-listing", "bench-lister", "")):
        assert registry.build_method("cost-ordered", {"C": 2.0 + number}, "here").given == {"C": 2.0 + number}
        (lister,) = map(psutil.Process, registry.processes)
        for process in (lister, *lister.children()):
            if process.name() == kill:
                process.kill()
    registry.close()
    assert registry.processes == set()


def test_a_registry_travels_as_few_plain_values(both: tuple[Registry, Registry]) -> None:
    listed = both[0]
    used = {"methods": {"emsco", "qwyc"}, "datasets": {"iris"}, "cost_schemes": {"uniform"}, "metrics": {"accuracy"}}
    told = json.dumps(listings_of(listed, used))
    assert len(told) < 2**15  # a process that is killed while it starts must not have more than a pipe holds to read
    there = registry_from(json.loads(told))
    assert there.methods.origins == {"emsco": "emsco", "qwyc": "qwyc"}
    assert there.plugins == listed.plugins
    assert there.dataset("iris") is listed.dataset("iris")
    assert listings_of(both[1], used) is None


BAD: list[Any] = [
    None, [], {"methods": []}, {"methods": {"m": {"version": "1"}}}, {"datasets": {"d": "no"}},
    {"methods": {"m": {"version": 1, "asks": ["fit"], "limits": None, "about": {}}}}, {"hooks": {"h": 1}},
    {"metrics": {"m": {"doc": "", "goal": "min", "title": 3, "tasks": [], "reference": False}}},
]  # fmt: skip


@pytest.mark.parametrize("told", BAD, ids=str)
def test_what_no_plugin_may_tell_is_refused(told: Any, both: tuple[Registry, Registry]) -> None:
    whole = next(listing.plain for listing in both[0].listings.values() if listing.methods)
    assert listing_from(whole, "p").methods
    with pytest.raises(ValueError, match="cannot be read"):
        listing_from({**whole, **told} if isinstance(told, dict) else told, "p")


def test_a_plugin_with_methods_does_not_act_in_the_judge_by_other_hooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor by a second entry point of its distribution."""
    site = tmp_path / "site"
    monkeypatch.syspath_prepend(str(site))
    install(site, "tiny_plugin", Path(tiny_plugin.__file__), "tiny")
    hook = "\n@hookimpl\ndef bench_run_finished(run):\n    return 'I was here'\n"
    install(site, "acting_plugin", HEAD + OFFERS.replace("{name}", "acting") + hook, "acting")
    (site / "second_plugin.py").write_text(f"{HEAD}from bench_core import hookimpl{hook}")
    with (site / "acting_plugin-1.0.dist-info" / "entry_points.txt").open("a") as points:
        points.write("acting-too = second_plugin\n")
    install(site, "tool_plugin", f"{HEAD}from bench_core import hookimpl{hook}", "tool")
    registry = listed_registry(cache=tmp_path / "cache")
    registry.close()
    acting = {one.plugin_name for one in registry.manager.hook.bench_run_finished.get_hookimpls()}
    assert "tool" in acting
    assert not {"acting", "acting-too"} & acting
    assert not {"acting_plugin", "second_plugin"} & set(sys.modules)
