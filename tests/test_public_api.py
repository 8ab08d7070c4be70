"""The public API is complete: the plugins here use only public names of the core, and all of these exist."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import bench_analysis
import bench_leaderboard
import bench_records
import click
import pytest
from support.bench import ROOT, Bench, install
from support.sources import Import, Project, imports, projects

import bench_core
import bench_core.execution
import bench_core.records
import bench_core.suites
import bench_core.testing

PLUGINS = projects()[1:]
ROOMS = [bench_core.records, bench_core.suites, bench_core.execution]
PACKAGES = [bench_core, bench_core.testing, bench_analysis, bench_leaderboard, bench_records]
MODULES = [*PACKAGES, *ROOMS]
PUBLIC = {module.__name__: set(module.__all__) for module in MODULES}


def private(used: Import) -> bool:
    """Whether an import is of a private name of the core, or, from another package, of the leaderboard."""
    top = used.module.partition(".")[0]
    if top not in PUBLIC or f"/{top}/" in used.file.as_posix():
        return False
    if used.module not in PUBLIC:
        return True
    return bool(used.name) and used.name not in PUBLIC[used.module] | {"testing", "records", "suites", "execution"}


def entry_modules(project: Project) -> list[Path]:
    """The modules that the entry points of a plugin name."""
    groups = project.metadata["project"].get("entry-points", {})
    names = [module for group in ("budgetbench", "budgetbench.commands") for module in groups.get(group, {}).values()]
    return [project.folder / f"{name.replace('.', '/')}.py" for name in names]


@pytest.mark.parametrize("project", PLUGINS, ids=lambda project: project.folder.name)
def test_a_plugin_has_an_entry_point_for_every_command(project: Project) -> None:
    """A command without one can be called only after another command of its module."""
    points = project.metadata["project"].get("entry-points", {}).get("budgetbench.commands", {})
    group = click.Group(commands={name: click.Command(name) for name in ("run",)})
    for module in set(points.values()):
        importlib.import_module(module).bench_register_commands(group=group)
    assert set(group.commands) - {"run"} == set(points) - {"run"}


@pytest.mark.parametrize("project", PLUGINS, ids=lambda project: project.folder.name)
def test_a_plugin_uses_public_names_of_the_core_and_of_the_leaderboard_only(project: Project) -> None:
    files = [*project.modules, *sorted(project.folder.glob("benchmarks/*.py"))]
    assert [str(used) for file in files for used in imports(file) if private(used)] == []


@pytest.mark.parametrize("source", [
    "from bench_core.contract.costs import Costs",
    "import bench_core.run.store",
    "from bench_leaderboard.render.page import render",
    "from bench_leaderboard import render",
    "from bench_analysis.curves import Curve",
    "def later():\n    from bench_core.testing.checks import CHECKS",
    "from bench_core import contract",
    "from bench_core import NoSuchName",
    "from bench_core.records import Suite",
])  # fmt: skip
def test_a_name_that_is_not_public_is_noticed(tmp_path: Path, source: str) -> None:
    file = tmp_path / "plugin.py"
    file.write_text(f"from bench_core import Costs\n{source}\n")
    assert [private(used) for used in imports(file)] == [False, True]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_public_name_can_be_imported(module: object) -> None:
    names = module.__all__
    assert len(names) == len(set(names))
    assert [name for name in names if not hasattr(module, name)] == []


@pytest.mark.parametrize("module", sorted(module.__name__ for module in MODULES))
def test_types_and_a_running_program_find_a_public_name_in_the_same_place(module: str) -> None:
    """A stub lists the modules of public names, for type checkers and for loading names on first use."""
    package = importlib.import_module(module)
    stub = ast.parse(Path(f"{package.__file__}i").read_text(encoding="utf-8"))
    typed = {alias.name: node.module for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    written = {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)} - {"__all__"}
    assert set(package.__all__) == {*typed, *written}
    for name, home in typed.items():
        assert getattr(package, name) is getattr(importlib.import_module(f"{package.__spec__.parent}.{home}"), name)


def test_a_public_name_of_the_core_is_in_one_module() -> None:
    names = [name for module in (bench_core, *ROOMS) for name in module.__all__]
    assert sorted(names) == sorted(set(names))


def test_public_modules_import_nothing_before_a_name_is_used() -> None:
    code = "import sys, bench_core, bench_core.records, bench_core.suites, bench_core.execution; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    loaded = set(done.stdout.split())
    assert {name for name in loaded if name.startswith("bench_core.")} == {room.__name__ for room in ROOMS}
    assert not loaded & {"numpy", "pandas", "pydantic", "click"}


@pytest.mark.parametrize("project", PLUGINS, ids=lambda project: project.folder.name)
def test_every_entry_point_module_says_which_contract_it_was_built_for(project: Project) -> None:
    for file in entry_modules(project):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        values = [
            ast.literal_eval(node.value)
            for node in tree.body
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "BENCH_CONTRACT_VERSION"
        ]
        assert values == [bench_core.CONTRACT_VERSION], file.relative_to(ROOT)


def test_plugins_add_names_to_the_core_that_are_imported_when_they_are_asked_for(bench: Bench) -> None:
    source = "def greet(): return 'hello'\n"
    for name in ("one", "two"):
        install(bench.plugins, f"greeter_{name}", source, name)
        points = bench.plugins / f"greeter_{name}-1.0.dist-info" / "entry_points.txt"
        both = f"[budgetbench.names]\ngreet_{name} = greeter_{name}:greet\n"
        points.write_text(f"{both}greet_twice = greeter_{name}:greet\nRows = greeter_{name}:greet\n")
    code = (
        "import sys, bench_core\n"
        "assert bench_core.Rows.__module__.startswith('bench_core')\n"
        "assert 'greeter_one' not in sys.modules\n"
        "from bench_core import greet_one\n"
        "print(greet_one(), 'greeter_two' in sys.modules, hasattr(bench_core, 'greet_three'))\n"
        "try: bench_core.greet_twice\n"
        "except AttributeError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=bench.environment(), capture_output=True, text=True, timeout=120
    )
    first, second = done.stdout.splitlines()
    assert first == "hello False False", done.stderr
    assert second == "bench_core.greet_twice is added by greeter_one:greet and greeter_two:greet; uninstall one of them"
