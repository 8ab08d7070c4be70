"""The probe: a method's plugin is imported in separate processes, and its actions there affect nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from bench_inspect.about import about
from bench_inspect.listing import CATALOGUES, KINDS, list_rows
from bench_sandbox import layers
from support import tiny_plugin
from support.bench import Bench, contents, install
from test_cheats import BLOBS, method, session

from bench_core import RequestError
from bench_core.contract.facts import DataFacts
from bench_core.plugins.described import DescribedRegistry, described_registry
from bench_core.plugins.descriptions import ConfiguredMethod
from bench_core.plugins.manager import load_registry
from bench_core.plugins.registry import Registry
from bench_core.run.trial import fragment, parameters_of

SECONDS = "12"
"""Time limit for importing a plugin: an honest one needs a fraction of a second, a hanging one takes all of it."""
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
    "hanging": ("import time\ntime.sleep(600)", f"longer than the time limit of {SECONDS} s"),
    "leaving": ("os._exit(3)", "exit code 3"),
    "crashing": ("import ctypes\nctypes.string_at(0)", "SIGSEGV"),
    "lying": ("import bench_sandbox.child\nbench_sandbox.child.send = lambda *given: os._exit(0)", "exit code 0"),
    "mumbling": (
        "import bench_sandbox.child\nbench_sandbox.child.send = lambda to, *_: to.send(b'?' * 99)",
        "protocol",
    ),
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
    """Install a plugin of one method that executes code when it is imported."""
    source = f"{HEAD}{what.replace('{folder}', str(folder))}\n{OFFERS.replace('{name}', name)}"
    install(plugins, f"{name}_plugin", source, name)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Bench, subprocess.CompletedProcess[str]]:
    """A run with a time limit, with hostile plugins installed; methods of two of them are in the suite."""
    folder = tmp_path_factory.mktemp("probe")
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
    more = {"BUDGETBENCH_ISOLATION": "process", "BUDGETBENCH_PROBE_SECONDS": SECONDS, "BUDGETBENCH_SEEN": "seen"}
    done = played("run", "s.toml", "--store", "store", expect=None, fresh=True, **more)
    return played, done


@pytest.mark.weekly
def test_a_run_continues_whatever_plugins_do_when_they_are_imported(run: tuple[Bench, Any], tmp_path: Path) -> None:
    played, done = run
    assert done.returncode == 0, done.stdout + done.stderr
    records = {json.loads(r["trial"])["method"]["use"]: r for r in contents(played.folder / "store").values()}
    assert {use: record["status"] for use, record in records.items()} == dict.fromkeys(
        ("slopes", "patching", "printing", "forking", "writing"), "ok"
    )
    calm = session(tmp_path, BLOBS + method("slopes", "slopes", noise=0.1))
    from bench_core.run.execute import Options, execute

    execute(calm.plan(), calm.cache, ("cost", "accuracy"), Options(isolation="none"))
    (alone,) = contents(tmp_path / "store").values()
    for part in ("validation", "test"):
        beside = dict(records["slopes"]["policies"][part])
        beside.pop("seen")
        assert beside == alone["policies"][part]


@pytest.mark.slow
def test_output_files_and_processes_of_imported_plugins_are_gone(run: tuple[Bench, Any]) -> None:
    played, done = run
    assert "BY A PLUGIN" not in done.stdout + done.stderr
    if "landlock" in layers():
        assert not (played.folder / "written").exists()
        assert not (played.folder / "store" / "written").exists()
    here = str(played.folder)  # other runs have other folders
    found = [p for p in psutil.process_iter(["name", "environ"]) if here in str((p.info["environ"] or {}).values())]
    assert [p for p in found if p.info["name"] in ("bench-survivor", "sandbox", "sandbox-server")] == []


@pytest.mark.slow
def test_the_judge_imports_plugins_of_data_and_metrics_and_none_of_methods(run: tuple[Bench, Any]) -> None:
    assert run[1].returncode == 0, run[1].stderr
    (modules,) = (set(path.read_text().splitlines()) for path in (run[0].folder / "seen").iterdir())
    assert {"tiny_plugin", "watch_plugin", "bench_leaderboard.plugin"} <= modules
    assert not {f"{name}_plugin" for name in HOSTILE} & modules
    assert not {"bench_emsco", "bench_lasso", "bench_cstc", "bench_synthetic"} & modules
    assert not {"bench_policies.cli", "bench_site", "bench_core.testing.commands"} & modules  # commands


@pytest.mark.weekly
def test_a_suite_that_needs_a_plugin_that_cannot_be_described_is_refused_and_the_plugin_named(
    run: tuple[Bench, Any],
) -> None:
    played = run[0]
    suite = played.suite(BLOBS + method("hanging", "hanging"), "needs")
    more = {"BUDGETBENCH_ISOLATION": "process", "BUDGETBENCH_PROBE_SECONDS": SECONDS}
    said = played("plan", suite, expect=2, fresh=True, **more).stderr
    assert "there is no method 'hanging'" in said
    assert len(said.strip().splitlines()) == 1
    for name, (_, why) in HOSTILE.items():
        if why:
            reason = said.partition(f"plugin {name!r} could not be loaded (")[2].partition("; plugin '")[0]
            assert why in reason


@pytest.mark.weekly
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
    seen = [set(path.read_text().splitlines()) for path in (tmp_path / "seen").iterdir()]
    assert seen
    for modules in seen:
        assert "watch_plugin" in modules
        assert not {"plain_plugin", "bench_emsco", "bench_lasso"} & modules


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Registry, Registry]:
    """The installed plugins described, and all of them imported."""
    return described_registry(cache=tmp_path_factory.mktemp("cache")), load_registry()


@pytest.mark.slow
def test_descriptions_equal_the_imported_objects(both: tuple[Registry, Registry]) -> None:
    described, imported = both
    assert [p for p in described.plugins.values() if p.error] == [p for p in imported.plugins.values() if p.error]
    for kind in KINDS:
        assert list_rows(described, kind) == list_rows(imported, kind)
    for catalogue in CATALOGUES.values():
        assert getattr(described, catalogue).origins == getattr(imported, catalogue).origins
        for name in getattr(imported, catalogue):
            assert about(described, name) == about(imported, name)
    for name, plugin in imported.plugins.items():
        assert (described.plugins[name].folder, described.plugins[name].version) == (plugin.folder, plugin.version)


@pytest.mark.slow
def test_trials_have_the_names_and_parameters_that_an_import_gives(both: tuple[Registry, Registry]) -> None:
    described, imported = both
    wanted: list[tuple[str, dict[str, Any], str]] = [(name, {}, "here") for name in sorted(imported.methods)]
    wanted += [("lasso", {"bogus": 1}, "here"), ("cegb", {"lambdas": [0.5, 1]}, "here"), ("cegb", {"lambdas": -1}, "h")]
    facts = DataFacts("d", "regression", 0, tuple("abc"), 3, missing=True, queries=False, priced=True, n_rows=90)
    for ours, theirs in zip(described.build_methods(wanted), imported.build_methods(wanted), strict=True):
        if isinstance(theirs, RequestError):
            assert str(ours) == str(theirs)
            continue
        assert isinstance(ours, ConfiguredMethod)
        assert fragment(ours.use, ours) == fragment(ours.use, theirs)
        assert parameters_of(ours) == parameters_of(theirs)
        for what in ("inapplicable", "memory_needed"):
            assert described.ask_methods(what, [(ours, facts)]) == imported.ask_methods(what, [(theirs, facts)])


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to install plugins in, on the path."""
    folder = tmp_path / "site"
    monkeypatch.syspath_prepend(str(folder))
    install(folder, "tiny_plugin", Path(tiny_plugin.__file__), "tiny")
    return folder


def servers() -> list[psutil.Process]:
    """The children of this process that start restricted processes."""
    return [child for child in psutil.Process().children() if child.name() == "sandbox-server"]


def described(tmp_path: Path) -> DescribedRegistry:
    registry = described_registry(cache=tmp_path / "cache")
    registry.close()
    assert isinstance(registry, DescribedRegistry)
    return registry


@pytest.mark.slow
def test_descriptions_are_kept_until_the_source_changes_or_the_file_is_damaged(tmp_path: Path, site: Path) -> None:
    put(site, "remembered", "", tmp_path)
    source = site / "remembered_plugin.py"

    def asked() -> tuple[dict[str, Any], bool]:
        """The defaults of its method, and whether a process was started to get them."""
        before = servers()
        registry = described_registry(cache=tmp_path / "cache")
        started = servers() != before
        spec = registry.build_method("remembered", {}, "here")
        registry.close()
        return dict(spec.parameters), started

    assert asked() == ({"cost": 1.0}, True)
    assert asked() == ({"cost": 1.0}, False)
    source.write_text(source.read_text().replace("cost: float = 1.0", "cost: float = 2.5"))
    assert asked() == ({"cost": 2.5}, True)
    for kept in (tmp_path / "cache" / "descriptions").iterdir():
        kept.write_bytes(kept.read_bytes().replace(b"2.5", b"7.5"))
    assert asked() == ({"cost": 2.5}, True)


@pytest.mark.slow
def test_a_plugin_is_described_anew_when_a_distribution_that_it_requires_changes(tmp_path: Path, site: Path) -> None:
    source = OFFERS.replace("{name}", "sharing").replace("cost: float = 1.0", "cost: float = shared_default.COST")
    install(site, "sharing_plugin", f"{HEAD}import shared_default\n{source}", "sharing")
    with (site / "sharing_plugin-1.0.dist-info" / "METADATA").open("a") as metadata:
        metadata.write("Requires-Dist: Shared_Default>=1\n")
    for value in (1.0, 31.5):
        library(site, "shared_default", f"COST = {value}\n")
        assert described(tmp_path).methods.described("sharing")["defaults"] == {"cost": value}


def library(site: Path, module: str, source: str) -> None:
    """Install a distribution of one module and no entry point."""
    (site / f"{module}.py").write_text(source)
    info = site / f"{module}-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "top_level.txt").write_text(f"{module}\n")


@pytest.mark.slow
def test_a_killed_process_of_a_plugin_is_replaced(tmp_path: Path) -> None:
    before, registry = servers(), described_registry(cache=tmp_path)
    for number, kill in enumerate(("sandbox", "sandbox-server", "")):
        assert registry.build_method("cost-ordered", {"C": 2.0 + number}, "here").given == {"C": 2.0 + number}
        (server,) = set(servers()) - set(before)
        for process in (server, *server.children()):
            if process.name() == kill:
                process.kill()
    registry.close()
    assert servers() == before


DESCRIBES = "\nimport bench_core.plugins.probing as probing\nhonest = probing.Probing.describe\n"
BAD = {
    "no method": "{'methods': {'m': {'version': '1'}}}",
    "another question": "{'methods': {'m': {'version': 1, 'asks': ['fit'], 'limits': None, 'about': {}}}}",
    "no table": "{'datasets': []}",
    "no flag": "{'hooks': {'h': 1}}",
    "no title": "{'metrics': {'m': {'doc': '', 'goal': 'min', 'title': 3, 'tasks': [], 'reference': False}}}",
    "a terminal's escape": "{'sections': ['\\x1b[2J']}",
    "turned writing": "{'executors': ['\\u202eabc']}",
    "half a character": "{'sections': ['\\ud800']}",
    "no name": "{'sections': ['']}",
    "too many names": "{'sections': [str(i) for i in range(10_001)]}",
    "too long a text": "{'executors': ['x' * 501]}",
    "too much": "{'registrations': {'h': [['x' * 200_000] * 30]}}",
    "a number that is none": "{'sections': [float('nan')]}",
}


@pytest.mark.slow
def test_an_invalid_description_is_refused_and_the_plugin_named(tmp_path: Path, site: Path) -> None:
    for number, lie in enumerate(BAD.values()):
        patch = f"probing.Probing.describe = lambda self, *given: ({{**honest(self, *given)[0], **{lie}}}, {{}})\n"
        source = f"{HEAD}{DESCRIBES}{patch}{OFFERS.replace('{name}', f'bad-{number}')}"
        install(site, f"bad{number}", source, f"bad{number}")
    registry = described(tmp_path)
    errors = {what: registry.plugins[f"bad{number}"].error for number, what in enumerate(BAD)}
    assert {what: error for what, error in errors.items() if "invalid" not in error and "protocol" not in error} == {}
    assert all(error.isprintable() and len(error) < 2100 for error in errors.values())
    assert not any(name.startswith("bad-") for name in registry.methods)
    assert "slopes" in registry.methods
    assert not registry.plugins["tiny"].error


@pytest.mark.weekly
@pytest.mark.parametrize("answers", ["[]", "[{'parameters': 1}] * 2", "['yes'] * 2", "7", "[{'refused': 3}] * 2"])
def test_a_method_that_is_described_wrongly_is_refused_and_its_plugin_named(
    tmp_path: Path, site: Path, answers: str
) -> None:
    patch = f"probing.Probing.build = lambda self, *given: ({{'answers': {answers}}}, {{}})\n"
    install(site, "liar", f"{HEAD}{DESCRIBES}{patch}{OFFERS.replace('{name}', 'liar')}", "liar")
    registry = described(tmp_path)
    wanted = [("liar", {"cost": 2.0}, "here"), ("slopes", {}, "there"), ("liar", {"cost": 3.0}, "here")]
    refused, fine, again = registry.build_methods(wanted)
    registry.close()
    assert isinstance(fine, ConfiguredMethod)
    for error in (refused, again):
        assert isinstance(error, RequestError)
        assert str(error).startswith("here: plugin 'liar' cannot be asked about its methods: ")


@pytest.mark.slow
def test_a_plugin_with_methods_does_not_act_in_the_judge_by_other_hooks(tmp_path: Path, site: Path) -> None:
    """This includes a second entry point of its distribution."""
    hook = "\n@hookimpl\ndef bench_run_finished(run):\n    return 'I was here'\n"
    install(site, "acting_plugin", HEAD + OFFERS.replace("{name}", "acting") + hook, "acting")
    (site / "second_plugin.py").write_text(f"{HEAD}from bench_core import hookimpl{hook}")
    with (site / "acting_plugin-1.0.dist-info" / "entry_points.txt").open("a") as points:
        points.write("acting-too = second_plugin\n")
    install(site, "tool_plugin", f"{HEAD}from bench_core import hookimpl{hook}", "tool")
    registry = described(tmp_path)
    acting = {one.plugin_name for one in registry.manager.hook.bench_run_finished.get_hookimpls()}
    assert "tool" in acting
    assert not {"acting", "acting-too"} & acting
    assert not {"acting_plugin", "second_plugin"} & set(sys.modules)


COMMANDS = """
import click, helping
from bench_core import Metric, hookimpl
BENCH_CONTRACT_VERSION = 1

@hookimpl
def bench_register_commands(group):
    @group.command()
    def greet():
        import sys
        from bench_core.plugins.distributions import imported_distributions
        print(sorted(m for m in sys.modules if m in ("greeting", "helping", "bench_site", "bench_leaderboard")))
        print(imported_distributions())
"""


@pytest.mark.slow
def test_a_command_is_imported_when_it_is_called_and_imports_can_be_listed(bench: Bench) -> None:
    site = bench.plugins
    install(site, "greeting", COMMANDS, "greet")
    points = site / "greeting-1.0.dist-info" / "entry_points.txt"
    points.write_text(points.read_text().replace("[budgetbench]", "[budgetbench.commands]"))
    with (site / "greeting-1.0.dist-info" / "METADATA").open("a") as metadata:
        metadata.write("Requires-Dist: helping\nRequires-Dist: absent; extra == 'more'\n")
    library(site, "helping", "import bench_core.contract.metric\n")
    imported, named = bench("greet", fresh=True).stdout.splitlines()
    assert imported == "['greeting', 'helping']"
    assert named == "['greeting', 'helping']"
    assert "greet" in bench("--help", fresh=True).stdout
    (site / "greeting.py").write_text("raise ValueError('no greeting today')")
    broken = bench("greet", fresh=True, expect=2).stderr
    assert "the commands in greeting could not be loaded: ValueError: no greeting today" in broken
    assert "greeting" not in bench("list", "plugins", fresh=True).stderr
