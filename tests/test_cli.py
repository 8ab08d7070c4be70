"""The commands list, plan, data, doctor, new, check and leaderboard."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from support.bench import Bench, install

SUITE = '[protocol]\nseeds = 2\n[[datasets]]\nuse = "blobs"\n[[methods]]\nuse = "slopes"\n'


def test_help_imports_nothing_heavy() -> None:
    """From Python 3.13 on, the standard library's importlib.metadata imports json itself."""
    code = (
        "import sys\nimport importlib.metadata\nbefore = set(sys.modules)\n"
        "from click.testing import CliRunner\nfrom bench_core.cli.main import main\n"
        "assert CliRunner().invoke(main, ['--help']).exit_code == 0\n"
        "heavy = ('numpy', 'pandas', 'sklearn', 'numba', 'pydantic', 'rich', 'json', 'difflib')\n"
        "print([m for m in heavy if m in set(sys.modules) - before])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_listing_plugins_imports_no_learning_library(bench: Bench) -> None:
    code = (
        "import sys\nfrom bench_core.plugins.manager import load_registry\nload_registry()\n"
        "heavy = ('pandas', 'pydantic', 'sklearn', 'numba', 'scipy', 'matplotlib', 'openml')\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=bench.environment()
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_a_broken_plugin_is_named_and_the_rest_works(bench: Bench) -> None:
    install(bench.plugins, "rotten", "raise ValueError('rotten to the core')", "rotten")
    assert "ValueError: rotten to the core" in bench("list", "plugins").stdout
    suite = bench.suite(SUITE)
    assert "2 trial(s) computed" in bench("run", suite).stdout
    needs_it = bench.suite(SUITE.replace("slopes", "rotten-method"), "needs")
    said = bench("run", needs_it, expect=2).stderr
    assert "no method 'rotten-method'" in said
    assert "plugin 'rotten' could not be loaded (ValueError: rotten to the core)" in said
    assert "rotten to the core" in bench("doctor", expect=1).stderr


@pytest.mark.weekly
@pytest.mark.parametrize("isolation", ["none", "process"])
def test_a_plugin_whose_name_is_a_path_is_broken_and_writes_nothing(bench: Bench, isolation: str) -> None:
    install(bench.plugins, "escapes", bench.plugins / "tiny_plugin.py", "../../escapes", "escapes")
    bench("list", "plugins", BUDGETBENCH_ISOLATION=isolation)
    said = bench("run", bench.suite(SUITE.replace("slopes", "nothing")), expect=2, BUDGETBENCH_ISOLATION=isolation)
    assert "'../../escapes' is no name" in said.stderr
    bench("run", bench.suite(SUITE), BUDGETBENCH_ISOLATION=isolation)
    outside = [path for path in bench.folder.parent.rglob("escapes*") if bench.plugins not in path.parents]
    assert outside == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["../up", "a/b", "", ".", "a\nb", "é" * 300])
def test_registered_names_must_be_valid_in_file_names(bench: Bench, name: str) -> None:
    source = (bench.plugins / "tiny_plugin.py").read_text(encoding="utf-8").replace('"slopes"', repr(name))
    install(bench.plugins, "namer", source, "namer")
    assert "is no name" in bench("list", "plugins").stdout


def test_two_plugins_with_one_name_are_both_named(bench: Bench) -> None:
    source = (
        "from dataclasses import dataclass\nfrom bench_core import Method, hookimpl\nBENCH_CONTRACT_VERSION = 1\n"
        "@dataclass(frozen=True)\nclass Other(Method):\n    '''Other.'''\n    def fit(self, problem): return []\n"
        "@hookimpl\ndef bench_register_methods(register): register('slopes', Other)\n"
    )
    install(bench.plugins, "usurper", source, "usurper")
    said = bench("run", bench.suite(SUITE), expect=2).stderr
    assert "'slopes' is claimed by plugins 'tiny' and 'usurper'" in said


@pytest.mark.slow
def test_run_and_plan_report_records_that_other_code_made(bench: Bench) -> None:
    suite = bench.suite(SUITE)
    assert "other code" not in bench("run", suite).stdout
    assert "other code" not in bench("plan", suite).stdout
    module = bench.plugins / "tiny_plugin.py"
    module.write_text(module.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    again = bench("run", suite).stdout
    assert "0 trial(s) computed, 2 kept" in again
    assert "records of slopes were made by other code than is installed" in again
    said = bench("plan", suite).stdout
    assert "slopes: 2 record(s) were made by other code" in said
    assert "2 done, 0 failed, 0 to compute" in said
    plan = json.loads(bench("plan", suite, "--json").stdout)
    assert plan["notes"] == ["slopes: 2 record(s) were made by other code"]
    assert (plan["total"]["trials"], plan["total"]["done"], plan["to compute"]) == (2, 2, 0)
    assert [row["done"] for row in plan["rows"]] == [2]


def test_data_verify_loads_and_hashes(bench: Bench) -> None:
    said = bench("data", "verify", "blobs").stdout
    assert "built-in, 80 x 5" in said
    assert "failed: the table is on another planet" in bench("data", "verify", "gone", expect=1).stdout
    assert "did you mean 'blobs'?" in bench("data", "status", "blob", expect=2).stderr


def test_doctor_finds_no_fault_in_a_sound_installation(bench: Bench) -> None:
    said = bench("doctor").stdout
    for word in ("python", "numpy", "processor", "plugins", "data cache"):
        assert word in said
    found = json.loads(bench("doctor", "--json").stdout)
    assert {"python", "numpy", "plugins", "records"} <= found["found"].keys()
    assert found["wrong"] == found["damaged"] == found["notes"] == []


@pytest.mark.slow
def test_a_leaderboard_is_rendered_and_checked(bench: Bench) -> None:
    suite = bench.suite(SUITE)
    bench("run", suite)
    bench("leaderboard", suite, "--check")
    page = bench.folder / "leaderboard" / "s.md"
    page.write_text(page.read_text(encoding="utf-8").replace("blobs", "globs"), encoding="utf-8")
    assert "is not what the records give" in bench("leaderboard", suite, "--check", expect=1).stderr
    bench("leaderboard", suite)
    bench("leaderboard", suite, "--check")


def test_a_page_is_rendered_from_the_committed_export_alone(bench: Bench) -> None:
    suite = bench.suite(SUITE)
    bench("run", suite)
    bench("leaderboard", suite, "--check", "--store", "nowhere")


@pytest.mark.slow
def test_check_finds_what_is_wrong_with_a_plugin(bench: Bench) -> None:
    said = bench("check", "tiny", expect=1).stdout
    assert "peeker" in said
    assert "read without paying" in said
    assert "did you mean 'tiny'?" in bench("check", "tinny", expect=2).stderr


LEAVES = """
import os
from dataclasses import dataclass
from tiny_plugin import Slopes
from bench_core import Method, hookimpl

BENCH_CONTRACT_VERSION = 1

@dataclass(frozen=True)
class Leaves(Method):
    '''Ends its process.'''
    def fit(self, problem):
        LEAVE

@hookimpl
def bench_register_methods(register):
    register("leaves", Leaves)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("leave", "said"),
    [
        ("os._exit(0)", "the kit's process ended before it had reported (exit code 0)"),
        ("os._exit(3)", "the kit's process ended before it had reported (exit code 3)"),
        ("os.kill(os.getpid(), 9)", "the kit's process ended before it had reported (exit code -9)"),
        ("raise SystemExit(0)", "SystemExit: 0"),
    ],
)
def test_a_plugin_that_ends_its_process_fails_the_kit(bench: Bench, leave: str, said: str) -> None:
    install(bench.plugins, "leaves", LEAVES.replace("LEAVE", leave), "leaves")
    printed = bench("check", "leaves", expect=1).stdout
    assert said in " ".join(printed.split())


@pytest.mark.slow
def test_what_a_plugin_that_ends_its_process_leaves_unchecked_is_named(bench: Bench) -> None:
    source = LEAVES.replace("LEAVE", "os._exit(3)") + "    register('stays', Slopes)\n"
    install(bench.plugins, "leaves", source, "leaves")
    printed = " ".join(bench("check", "leaves", expect=1).stdout.split())
    assert "stays - - skipped not checked: leaves ended the process" in printed
    assert printed.endswith("1 failed, 1 skipped")


@pytest.mark.slow
def test_a_method_is_checked_alone_and_equal_messages_are_one_row(bench: Bench) -> None:
    source = LEAVES.replace("        LEAVE", "        return []") + "    register('stays', Slopes)\n"
    install(bench.plugins, "leaves", source, "leaves")
    rows = [line.split() for line in bench("check", "leaves", expect=1).stdout.splitlines()]
    failed = [row for row in rows if "Leaves.fit returned no policy" in " ".join(row)]
    assert len(failed) == 1
    assert "more" in failed[0]
    alone = bench("check", "stays", "--all", expect=None).stdout
    assert "stays" in alone
    assert "leaves" not in alone
    assert "did you mean 'stays'?" in bench("check", "stayz", expect=2).stderr


PICKY = """
from dataclasses import dataclass
from tiny_plugin import FirstFeature
from bench_core import Method, hookimpl

BENCH_CONTRACT_VERSION = 1

@dataclass(frozen=True)
class Picky(Method):
    '''Refuses problems by a parameter.'''
    features_limit = 4
    def fit(self, problem):
        raise AssertionError("it was to be left out")

@hookimpl
def bench_register_methods(register): register('picky', Picky)
"""


@pytest.mark.slow
def test_a_trial_that_is_not_applicable_is_shown_and_is_not_a_failure(bench: Bench) -> None:
    install(bench.plugins, "picky", PICKY, "picky")
    suite = bench.suite(SUITE + '[[methods]]\nuse = "picky"\n')
    why = "it does at most 4 features; there are 5"
    planned = bench("plan", suite).stdout
    assert f"not applicable: picky on blobs: {why}" in planned
    assert "4 trials: 0 done, 0 failed, 2 not applicable, 2 to compute" in planned
    said = bench("run", suite, "--strict")
    assert f"not applicable: picky on blobs: {why}" in said.stderr
    assert "2 trial(s) computed" in said.stdout
    assert f"Not applicable here: picky ({why})." in bench.page()
    assert "Failed trials" not in bench.page()
    row = next(line for line in bench.page().splitlines() if line.startswith("| picky "))
    assert "| not applicable |" in row
    bench("leaderboard", suite, "--check", "--store", "nowhere")
    assert "0 trial(s) computed" in bench("run", suite, "--store", "nowhere").stdout


def test_a_terminal_without_these_characters_gets_others(bench: Bench) -> None:
    said = bench("list", fresh=True, PYTHONIOENCODING="ascii")
    assert said.stdout.isascii()
    assert "actg175" in said.stdout
    assert "?" in said.stdout
    assert not said.stderr


@pytest.mark.parametrize(
    "given", [("--memory", "9" * 400), ("--memory", "9" * 15 + "T"), ("--timeout", "9" * 400), ("--memory", "4")]
)
def test_a_limit_that_the_system_cannot_set_is_refused(bench: Bench, given: tuple[str, str]) -> None:
    suite = bench.suite('[[datasets]]\nuse = "blobs"\n[[methods]]\nuse = "slopes"\n')
    *_, line = bench("run", suite, *given, expect=2).stderr.splitlines()
    assert line.startswith("Error: Invalid value for")
    assert len(line) < 200
    assert not (bench.folder / ".bench-store").exists()
