"""The public API is true: the plugins here use nothing of the core but its public names, and all of those exist."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import bench_leaderboard
import pytest
from support.bench import ROOT
from support.sources import Import, Project, imports, projects

import bench_core
import bench_core.testing

PLUGINS = projects()[1:]
PACKAGES = [bench_core, bench_core.testing, bench_leaderboard]
PUBLIC = {package.__name__: set(package.__all__) for package in PACKAGES}


def private(used: Import) -> bool:
    """Whether an import takes what is not public of the core, or of the leaderboard from outside it."""
    top = used.module.partition(".")[0]
    if top not in PUBLIC or f"/{top}/" in used.file.as_posix():
        return False
    if used.module not in PUBLIC:
        return True
    return bool(used.name) and used.name not in PUBLIC[used.module] | {"testing"}


def entry_modules(project: Project) -> list[Path]:
    """The modules that the entry points of a plugin name."""
    groups = project.metadata["project"].get("entry-points", {})
    names = [
        module
        for group in ("budgetbench", "budgetbench.commands")
        for module in groups.get(group, {}).values()
    ]
    return [project.folder / f"{name.replace('.', '/')}.py" for name in names]


@pytest.mark.parametrize("project", PLUGINS, ids=lambda project: project.folder.name)
def test_a_plugin_uses_public_names_of_the_core_and_of_the_leaderboard_only(project: Project) -> None:
    files = [*project.modules, *sorted(project.folder.glob("benchmarks/*.py"))]
    assert [str(used) for file in files for used in imports(file) if private(used)] == []


@pytest.mark.parametrize("source", [
    "from bench_core.contract.costs import Costs",
    "import bench_core.run.store",
    "from bench_leaderboard.render.page import render",
    "from bench_leaderboard import render",
    "def later():\n    from bench_core.testing.checks import CHECKS",
    "from bench_core import contract",
    "from bench_core import NoSuchName",
])  # fmt: skip
def test_a_name_that_is_not_public_is_noticed(tmp_path: Path, source: str) -> None:
    file = tmp_path / "plugin.py"
    file.write_text(f"from bench_core import Costs\n{source}\n")
    assert [private(used) for used in imports(file)] == [False, True]


@pytest.mark.parametrize("module", PACKAGES, ids=lambda module: module.__name__)
def test_every_public_name_can_be_imported(module: object) -> None:
    names = module.__all__
    assert len(names) == len(set(names))
    assert [name for name in names if not hasattr(module, name)] == []


@pytest.mark.parametrize("module", sorted(PUBLIC))
def test_types_and_a_running_program_find_a_public_name_in_the_same_place(module: str) -> None:
    """A package that loads its names on first use names each place twice: for type checkers, and for itself."""
    package = importlib.import_module(module)
    tree = ast.parse(Path(str(package.__file__)).read_text(encoding="utf-8"))
    typed = {
        alias.name: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(typed) == {name for name in package.__all__ if name not in vars(package) or name in typed}
    for name, home in typed.items():
        assert getattr(package, name) is getattr(importlib.import_module(str(home)), name)


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
