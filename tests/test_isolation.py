"""Isolated methods: equal records, exact reports of how a process ended, and no leaked processes or files."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

import psutil
import pytest
from support import forked_plugin, tiny_plugin
from support.bench import Bench, contents, decisions, install
from test_cheats import BLOBS, method, record_of, run, sandboxes, session

from bench_core import hookimpl
from bench_core.contract.errors import RequestError
from bench_core.plugins.hookspecs import RegisterExecutor
from bench_core.plugins.manager import load_registry
from bench_core.run.execute import Options, Work, Worker, execute, isolated

SLOPES = method("slopes", "slopes", noise=0.1)
MANY = "".join(
    f'[[datasets]]\nuse = "blobs"\nname = "t{seed}"\nparameters = {{ seed = {seed} }}\n' for seed in range(12)
)


NAMES = ("sandbox-server", "sandbox")


def plugin_processes(process: psutil.Process | None = None, names: tuple[str, ...] = NAMES) -> list[psutil.Process]:
    """The descendants of a process (by default this one) that import plugins: servers and restricted processes."""
    found = []
    for child in (process or psutil.Process()).children(recursive=True):
        try:
            if child.name() in names and child.status() != psutil.STATUS_ZOMBIE:
                found.append(child)
        except psutil.Error:
            continue
    return found


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_records_and_decisions_equal_those_without_isolation(tmp_path: Path, jobs: int) -> None:
    text = MANY + SLOPES + method("peeker", "peeker") + method("fails", "nan", how="nan")
    text += method("fails", "raise", how="raise") + method("fails", "shape", how="shape")
    run(tmp_path, text, "none", isolation="none")
    if jobs == 1:
        run(tmp_path, text, "process")
    else:
        bench_run(tmp_path, text, "process", "--jobs", "2")
    here, isolated = contents(tmp_path / "none"), contents(tmp_path / "process")
    for record in [*here.values(), *isolated.values()]:
        for key in ("traceback", "audit_seed"):  # with two jobs the plugin is another file; each audit draws a seed
            record.get("error", {}).pop(key, None)
    assert here == isolated
    assert decisions(tmp_path / "none") == decisions(tmp_path / "process")
    assert plugin_processes() == []
    assert list((tmp_path / "process" / "running").iterdir()) == []


def bench_run(folder: Path, text: str, store: str, *more: str, wait: bool = True) -> subprocess.Popen[str]:
    """``bench run`` on a suite like `session`'s, isolated, with the tiny plugin installed."""
    plugins = folder / "plugins"
    if not plugins.exists():
        install(plugins, "tiny_plugin", Path(tiny_plugin.__file__), "tiny")
    head = 'metrics = ["cost", "accuracy"]\n[suite]\nname = "s"\n[protocol]\nseeds = 1\n'
    (folder / "s.toml").write_text(head + text, encoding="utf-8")
    environment = Bench(folder, plugins).environment(BUDGETBENCH_ISOLATION="process")
    started = subprocess.Popen(
        [sys.executable, "-m", "bench_core.cli.main", "run", "s.toml", "--store", store, *more],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if wait:
        started.communicate(timeout=300)
    return started


@pytest.fixture
def rogue(bench: Bench) -> Bench:
    install(bench.plugins, "rogue_plugin", Path(__file__).parent / "support" / "rogue_plugin.py", "rogue")
    return bench


def rogues(*hows: str) -> str:
    return "".join(method("rogue", how, how=how) for how in hows)


ENDS = {
    "sys.exit": ("exit", "SystemExit was raised: 0"),
    "exit while deciding": ("exit", "SystemExit was raised: decided to leave"),
    "generator exit": ("error", "GeneratorExit was raised"),
    "own interrupt": ("error", "KeyboardInterrupt was raised"),
    "unprintable": ("error", "its message cannot be read"),
    "surrogate": ("error", r"a lone \udc80 surrogate"),
    "huge number kept": ("error", "Exceeds the limit"),
    "os._exit": ("exit", "exit code 0"),
    "segfault": ("crash", "SIGSEGV"),
    "killed": ("killed", "SIGKILL"),
    "children, then dies": ("error", "No such file"),  # it cannot write their process ids
}


@pytest.mark.weekly
def test_the_record_says_how_a_method_ended_and_the_run_continues(rogue: Bench) -> None:
    suite = rogue.suite(
        BLOBS + rogues(*ENDS) + rogues("chdir", "surrogates kept") + method("slopes", "slopes")
        + method("fails", "memory", how="memory") + method("fails", "hang", how="hang")
    )  # fmt: skip
    rogue("run", suite, "--timeout", "3", "--memory", "3G", expect=1, BUDGETBENCH_ISOLATION="process")
    errors = {}
    for record in contents(rogue.folder / ".bench-store").values():
        parameters = json.loads(record["trial"])["method"]["parameters"]
        errors[parameters.get("how", "slopes")] = record.get("error")
    wanted = ENDS | {"hang": ("time", "time limit of 3 s"), "memory": ("memory", "out of memory (limit 3072 MiB)")}
    for how, (kind, message) in wanted.items():
        assert (errors[how]["kind"], message in errors[how]["message"]) == (kind, True), errors[how]
    assert {how for how, error in errors.items() if error is None} == {"chdir", "surrogates kept", "slopes"}
    left = [p for p in psutil.process_iter(["cmdline"]) if "time.sleep(600)" in " ".join(p.info["cmdline"] or [])]
    assert not [p for p in left if str(rogue.folder) in " ".join(p.environ().values())]


_NOTES = """
import os
import resource
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bench_core import hookimpl
from tiny_plugin import Slopes

BENCH_CONTRACT_VERSION = 1


@dataclass(frozen=True)
class Notes(Slopes):
    '''Notes its memory limit in the folder of kernels, where it may write only while they are compiled.'''

    def fit(self, problem):
        with suppress(OSError):
            Path(os.environ["NUMBA_CACHE_DIR"], "limit").write_text(str(resource.getrlimit(resource.RLIMIT_DATA)[0]))
        return super().fit(problem)


@hookimpl
def bench_register_methods(register):
    register("notes", Notes)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "limit"), [(("--memory", "1G"), 4 * 2**30), (("--memory", "5G"), 5 * 2**30), ((), -1)]
)
def test_compiling_kernels_has_a_memory_limit_if_trials_have_one(
    bench: Bench, given: tuple[str, ...], limit: int
) -> None:
    install(bench.plugins, "notes_plugin", _NOTES, "notes")
    kernels = bench.folder / "kernels"
    suite = bench.suite(BLOBS + method("notes", "notes"))
    bench("run", suite, *given, BUDGETBENCH_ISOLATION="process", NUMBA_CACHE_DIR=str(kernels))
    (noted,) = kernels.rglob("limit")
    assert int(noted.read_text()) == limit


@pytest.mark.slow
def test_kernels_are_compiled_again_when_a_requirement_of_their_plugin_changes(bench: Bench) -> None:
    install(bench.plugins, "notes_plugin", _NOTES, "notes")
    install(bench.plugins, "helper", "", "helper")
    metadata = bench.plugins / "notes_plugin-1.0.dist-info" / "METADATA"
    metadata.write_text(f"{metadata.read_text()}Requires-Dist: helper\n")
    kernels = bench.folder / "kernels"
    suite = bench.suite(BLOBS + method("notes", "notes"))
    for place, value in (("a", 1), ("b", 1), ("c", 2)):
        (bench.plugins / "helper.py").write_text(f"BENCH_CONTRACT_VERSION = 1\nVALUE = {value}\n")
        isolated = {"BUDGETBENCH_ISOLATION": "process", "NUMBA_CACHE_DIR": str(kernels)}
        bench("run", suite, "--store", place, "--out", f"out-{place}", **isolated)
    assert len(list(kernels.rglob("notes-*"))) == 2


@pytest.mark.slow
def test_trials_run_in_forks_although_their_warm_up_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolated, "_WARM_UP_SECONDS", 1.0)
    registry = load_registry([("tiny", tiny_plugin), ("forked", forked_plugin)], entry_points=False)
    for store in ("first", "second"):  # the second run finds that the first run's warm-up was stopped
        record = run(tmp_path, BLOBS + method("forked", "forked"), store, registry)["forked"]
        assert record["diagnostics"]["forked"]


@pytest.mark.weekly
def test_the_time_limit_does_not_count_what_importing_takes(tmp_path: Path) -> None:
    plugin = (
        "import time\nfrom dataclasses import dataclass\nfrom tiny_plugin import Slopes\n"
        "from bench_core import hookimpl\nBENCH_CONTRACT_VERSION = 1\ntime.sleep(1.5)\n"
        "@dataclass(frozen=True)\nclass Late(Slopes):\n    '''Slow to import.'''\n"
        "@hookimpl\ndef bench_register_methods(register): register('late', Late)\n"
    )
    install(tmp_path / "plugins", "tiny_plugin", Path(tiny_plugin.__file__), "tiny")
    install(tmp_path / "plugins", "late", plugin, "late")
    done = bench_run(tmp_path, BLOBS + method("late", "late"), "store", "--timeout", "1")
    assert done.returncode == 0


_ALONE = """
import os
from dataclasses import dataclass
from bench_core import Method, hookimpl
from tiny_plugin import FirstFeature

BENCH_CONTRACT_VERSION = 1
HELD = []

def with_my_parent():
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                fields = open(f"/proc/{name}/stat").read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == os.getppid():
                found.append(name)
    return found

class Alone(FirstFeature):
    restored = False

    def __setstate__(self, state):
        self.__dict__.update(state, restored=True)

    def decide(self, rows):
        if self.restored and (others := with_my_parent()):
            raise RuntimeError(f"beside the witness there are {others}")
        if not self.restored:
            HELD.append(bytearray(300_000_000))  # its end takes the system a while
            os.fork() or os._exit(0)
            os.fork() or __import__("time").sleep(600)
        return super().decide(rows)

@dataclass(frozen=True)
class Leaves(Method):
    def fit(self, problem):
        return [Alone(1.0, problem.n_features)]

@hookimpl
def bench_register_methods(register):
    register("alone", Leaves)
"""


@pytest.mark.parametrize(
    "jobs", [pytest.param("1", marks=pytest.mark.slow), pytest.param("2", marks=pytest.mark.weekly)]
)
def test_the_witness_gets_no_message_before_the_solver_has_ended(tmp_path: Path, jobs: str) -> None:
    install(tmp_path / "plugins", "tiny_plugin", Path(tiny_plugin.__file__), "tiny")
    install(tmp_path / "plugins", "alone", _ALONE, "alone")
    done = bench_run(tmp_path, MANY + method("alone", "alone"), "store", "--jobs", jobs)
    assert done.returncode == 0, contents(tmp_path / "store")
    assert plugin_processes() == []


_LOOKS = """
import os, sys
from dataclasses import dataclass
from bench_core import Family, Method, hookimpl
from tiny_plugin import FirstFeature

BENCH_CONTRACT_VERSION = 1
HERE = {
    "kernels": os.environ.get("NUMBA_CACHE_DIR", ""),
    "threads": len(os.listdir("/proc/self/task")),
    "names": sorted(name for name in sys.modules if name.startswith(("looks_", "bench_emsco"))),
}

@dataclass(frozen=True)
class Looks(Method):
    def fit(self, problem):
        files = [os.readlink(f"/proc/self/fd/{n}") for n in (0, 1, 2)]
        shared = [line for line in open("/proc/self/maps") if line.split()[1][3] == "s" and "/usr/" not in line]
        now = {"files": files, "open": len(os.listdir("/proc/self/fd")), "shared": shared, "here": os.listdir(".")}
        return Family([FirstFeature(1.0, problem.n_features)], diagnostics={**HERE, **now})

@hookimpl
def bench_register_methods(register):
    register(__name__, Looks)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("level", ["process", pytest.param("strict", marks=pytest.mark.weekly)])
def test_a_solver_has_an_empty_folder_and_cannot_see_another_plugin(tmp_path: Path, level: str) -> None:
    names = ("looks_one", "looks_two")
    for name in names:
        install(tmp_path / "plugins", name, _LOOKS, name)
    install(tmp_path / "plugins", "tiny_plugin", Path(tiny_plugin.__file__), "tiny")
    text = '[[datasets]]\nuse = "blobs"\n' + "".join(method(name, name) for name in names)
    bench_run(tmp_path, text, level, "--isolation", level)
    found = {json.loads(r["trial"])["method"]["use"]: r["diagnostics"] for r in contents(tmp_path / level).values()}
    assert set(found) == set(names)
    for name, looked in found.items():
        assert looked["names"] == [name]
        assert Path(looked["kernels"]).name.startswith(f"{name}-")
        assert looked["files"] == ["/dev/null"] * 3
        assert looked["open"] <= 6  # the standard streams, the socket, the problem, and the listed folder
        assert (looked["shared"], looked["here"]) == ([], [])
        assert looked["threads"] == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only there has a process a name")
def test_a_killed_server_is_replaced(tmp_path: Path) -> None:
    here = session(tmp_path, MANY + SLOPES, "store")
    at: list[int] = []

    def kill(planned: object, done: object) -> None:
        servers = plugin_processes(names=("sandbox-server",))
        at.append(servers[0].pid)
        if len(at) == 3:
            servers[0].kill()

    summary = execute(
        here.plan(), here.cache, tuple(here.suite.needed_metrics()), Options(), progress=kill,
    )  # fmt: skip
    assert (summary.computed, summary.failures) == (12, [])
    assert len(set(at)) == 2
    assert plugin_processes() == []
    assert sandboxes() == []


@pytest.mark.weekly
def test_a_policy_that_cannot_be_pickled_is_refused_with_a_remedy(tmp_path: Path) -> None:
    plugin = (
        "from dataclasses import dataclass\nfrom tiny_plugin import FirstFeature\n"
        "from bench_core import Method, hookimpl\n"
        "BENCH_CONTRACT_VERSION = 1\n@dataclass(frozen=True)\nclass Closes(Method):\n    '''Keeps a lambda.'''\n"
        "    def fit(self, problem):\n        policy = FirstFeature(1.0, problem.n_features)\n"
        "        policy.link = lambda z: z\n        return [policy]\n"
        "@hookimpl\ndef bench_register_methods(register): register('closes', Closes)\n"
    )
    install(tmp_path / "plugins", "tiny_plugin", Path(tiny_plugin.__file__), "tiny")
    install(tmp_path / "plugins", "closes", plugin, "closes")
    bench_run(tmp_path, BLOBS + method("closes", "closes"), "store")
    (record,) = contents(tmp_path / "store").values()
    assert "does not survive pickling" in record["error"]["message"]
    assert "no lambda" in record["error"]["message"]


@pytest.mark.slow
def test_a_plugin_that_exists_in_this_process_only_is_refused_by_name(tmp_path: Path) -> None:
    class Here:
        BENCH_CONTRACT_VERSION = 1
        bench_register_methods = staticmethod(tiny_plugin.bench_register_methods)

    registry = load_registry([("here", Here)], entry_points=False)
    other = load_registry([("blobs", tiny_plugin)], entry_points=False)
    registry.datasets = other.datasets
    registry.plugins["blobs"] = other.plugins["blobs"]
    here = session(tmp_path, BLOBS + SLOPES)
    here.registry = registry
    plan = here.plan()
    execute(plan, here.cache, (), Options())
    error = record_of(here.store, plan.planned[0].name)["error"]
    assert "plugin 'here' cannot be loaded in a process of its own" in error["message"]


class Backwards:
    """A plugin with an executor."""

    BENCH_CONTRACT_VERSION = 1

    @hookimpl
    def bench_register_executors(self, register: RegisterExecutor) -> None:
        register("backwards", self.run)

    def run(self, work: Work) -> None:
        with closing(Worker(work.settings, work.cache.registry, work.cache)) as worker:
            for planned in reversed(work.todo):
                work.note(worker.run(planned))


def test_a_plugin_may_register_an_executor(tmp_path: Path) -> None:
    registry = load_registry([("tiny", tiny_plugin), ("backwards", Backwards())], entry_points=False)
    run(tmp_path, MANY + SLOPES, "none", isolation="none")
    here = session(tmp_path, MANY + SLOPES, "other", registry)
    done: list[str] = []

    def execute_by(name: str) -> None:
        options, note = Options(executor=name, isolation="none"), lambda planned, status: done.append(planned.name)
        execute(here.plan(), here.cache, ("cost", "accuracy"), options, note)

    with pytest.raises(RequestError, match="no executor 'backward'; did you mean 'backwards'"):
        execute_by("backward")
    planned = [one.name for one in here.plan().planned]
    execute_by("backwards")
    assert done == planned[::-1]
    assert contents(tmp_path / "other") == contents(tmp_path / "none")


def killing(stop: threading.Event, kills: list[int], most: int, rng: random.Random) -> None:
    """Kill descendants of this process (restricted processes, servers and workers) at random times."""
    while not stop.wait(rng.uniform(0.02, 0.15)) and len(kills) < most:
        found = plugin_processes()
        if found:
            chosen = rng.choice(found)
            with suppress(psutil.NoSuchProcess):  # it has ended by now
                chosen.kill()
                kills.append(chosen.pid)


@pytest.mark.slow
def test_killed_trials_are_run_again_and_no_process_is_left(tmp_path: Path) -> None:
    run(tmp_path, MANY + SLOPES, "calm", isolation="none")
    stop, kills = threading.Event(), list[int]()
    killer = threading.Thread(target=killing, args=(stop, kills, 5, random.Random(1)))
    killer.start()
    try:
        run(tmp_path, MANY + SLOPES, "killed")
    finally:
        stop.set()
        killer.join()
    assert kills
    run(tmp_path, MANY + SLOPES, "killed", retry_failed=True)
    assert contents(tmp_path / "killed") == contents(tmp_path / "calm")
    assert plugin_processes() == []
    assert list((tmp_path / "killed" / "running").iterdir()) == []


@pytest.mark.weekly
def test_a_worker_that_dies_before_its_first_trial_is_replaced(tmp_path: Path) -> None:
    run(tmp_path, MANY + SLOPES, "calm", isolation="none")
    started = bench_run(tmp_path, MANY + SLOPES, "killed", "--jobs", "2", wait=False)
    killed: list[psutil.Process] = []
    while not killed and started.poll() is None:
        with suppress(psutil.Error):
            killed = [p for p in psutil.Process(started.pid).children() if "spawn_main" in " ".join(p.cmdline())]
    for process in killed:
        process.kill()
    output, _ = started.communicate(timeout=300)
    assert (started.returncode, len(killed) > 0) == (0, True), output
    assert contents(tmp_path / "killed") == contents(tmp_path / "calm")


REAL = {
    "budgetrf": {"n_estimators": 4}, "ccp": {"n_estimators": 6}, "cegb": {}, "cost-ordered": {}, "cstc": {},
    "emsco": {}, "cronus": {}, "greedymiser": {}, "greedyprune": {"n_estimators": 6}, "lasso": {},
    "qwyc": {"n_estimators": 6, "max_depth": 3}, "single-stage": {},
}  # fmt: skip


@pytest.mark.weekly
def test_methods_of_papers_give_the_same_bits_with_and_without_isolation(tmp_path: Path) -> None:
    registry = load_registry([("tiny", tiny_plugin)])
    text = BLOBS.replace("400", "120") + "".join(method(name, name, **values) for name, values in REAL.items())
    text = f"threshold = 0.6\n{text}"  # belongs to [protocol], which is open at this point
    for isolation in ("none", "process"):
        here = session(tmp_path, text, isolation, registry)
        options = Options(isolation=isolation)
        done = execute(here.plan(), here.cache, ("cost", "accuracy"), options)
        assert (done.computed, done.failures) == (len(REAL), [])
    assert contents(tmp_path / "none") == contents(tmp_path / "process")
    assert decisions(tmp_path / "none") == decisions(tmp_path / "process")


LONG = pytest.mark.skipif("BUDGETBENCH_KILLS" not in os.environ, reason="takes a long time; the weekly run has it")


@pytest.mark.weekly
@pytest.mark.parametrize("count", [10, pytest.param(200, marks=LONG)])
def test_random_kills_of_everything_leave_the_store_of_an_undisturbed_run(tmp_path: Path, count: int) -> None:
    seeds = MANY + SLOPES.replace("noise = 0.1", "noise = 0.1, seconds = 0.2")
    run(tmp_path, seeds, "calm", isolation="none")
    rng, killed, rounds = random.Random(7), {"coordinator": 0, "worker": 0, "restricted": 0}, 0
    while sum(killed.values()) < count:
        rounds += 1
        store = f"killed{rounds}"
        for _ in range(400):
            below: list[psutil.Process] = []
            # Published records count as done, so every round has its own pages.
            more = "--jobs", "2", "--retry-failed", "--out", f"pages{rounds}"
            started = bench_run(tmp_path, seeds, store, *more, wait=False)
            process = psutil.Process(started.pid)
            while started.poll() is None and sum(killed.values()) < count:
                time.sleep(rng.uniform(0.1, 1.0))
                with suppress(psutil.Error):
                    below, forks = process.children(recursive=True), plugin_processes(process)
                    what = rng.choice(["coordinator", "worker", *["restricted"] * 6])
                    workers = [p for p in below if p not in forks and "spawn_main" in " ".join(p.cmdline())]
                    chosen = {"coordinator": [process], "worker": workers, "restricted": forks}[what]
                    if chosen and below:
                        rng.choice(chosen).send_signal(signal.SIGKILL)
                        killed[what] += 1
            output, _ = started.communicate(timeout=300)
            assert psutil.wait_procs(below, timeout=10)[1] == []
            if started.returncode == 0:
                break
        assert started.returncode == 0, output
        assert contents(tmp_path / store) == contents(tmp_path / "calm")
        assert list((tmp_path / store / "running").iterdir()) == []
