"""Rules for imports beyond import-linter's contracts (pyproject.toml), their completeness, and the size of the core."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from support.bench import ROOT
from support.sources import Import, Project, declared, imports, projects

PROJECTS = projects()
FOLDERS = pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.folder.name)

NUMBA_ELSEWHERE = {"plugins/ccp/bench_ccp/pruning.py", "plugins/emsco/bench_emsco/_compile.py"}
"""Files that import numba without ``kernels`` in their names. This list must not grow."""

MAY_IMPORT: dict[str, set[str]] = {
    "bench_limits": set(),
    "bench_sandbox": set(),
    "bench_store": set(),
    "bench_core": {"bench_limits", "bench_sandbox", "bench_store"},
    "bench_models": {"bench_core"},
    "bench_records": {"bench_core"},
    "bench_analysis": {"bench_core", "bench_records"},
    "bench_leaderboard": {"bench_analysis", "bench_core", "bench_records"},
}
"""The core and the libraries, each with the packages of this repository that it may import.

All other packages are plugins of methods, data or commands: they may import these packages. No package imports them,
except those in `ONE_MORE`.
"""

ONE_MORE = {"bench_recommend": {"bench_policies"}}  # a recommendation ends in a policy
"""Plugin → the further plugins that it may import."""

DISTRIBUTIONS = {
    "sklearn": "scikit-learn", "skimage": "scikit-image", "markdown_it": "markdown-it-py", "yaml": "pyyaml",
}  # fmt: skip

NAMED_IN_TEXT = {
    "budgetbench": {"scikit-learn"},  # imported by name in the process that solvers are forked from
    "budgetbench-serve": {"budgetbench-policies"},  # adds the name ``load_policy`` to the core
    "budgetbench-site": {"mkdocs-material", "mkdocstrings", "mkdocstrings-python", "pymdown-extensions"},
}
"""Distributions that another one uses without an import: through a theme, a package's files, a registered name."""


def takes_private(used: Import, package: str) -> bool:
    """Whether an import takes a private module or name of another distribution of this repository."""
    path = [*used.module.split("."), used.name]
    return path[0].startswith("bench_") and path[0] != package and any(
        part.startswith("_") and not part.startswith("__") for part in path
    )  # fmt: skip


def package_of(used: Import) -> str:
    """The package that an import belongs to."""
    return used.module.partition(".")[0]


def may_import(package: str) -> set[str]:
    """The packages of this repository that a package may import."""
    return {package} | MAY_IMPORT.get(package, set(MAY_IMPORT)) | ONE_MORE.get(package, set())


def third_party(project: Project) -> set[str]:
    """The distributions that a package imports."""
    tops = {used.module.partition(".")[0] for file in project.modules for used in imports(file)}
    tops -= {project.package.name, "__future__"} | set(sys.stdlib_module_names)
    ours = {other.package.name: other.name for other in PROJECTS}
    return {ours.get(top) or DISTRIBUTIONS.get(top, top).lower().replace("_", "-") for top in tops}


@FOLDERS
def test_no_plugin_imports_a_private_module_or_name_of_another(project: Project) -> None:
    files = [*project.modules, *project.folder.glob("benchmarks/*.py")]
    package = project.package.name
    assert [str(used) for file in files for used in imports(file) if takes_private(used, package)] == []


@pytest.mark.parametrize("source", [
    "from bench_models._fits import fit", "from bench_models import _fits", "import bench_models._fits",
])  # fmt: skip
def test_a_private_module_of_another_is_noticed(tmp_path: Path, source: str) -> None:
    file = tmp_path / "method.py"
    file.write_text(source)
    (used,) = imports(file)
    assert takes_private(used, "bench_mine")
    assert not takes_private(used, "bench_models")


def test_the_scripts_of_ci_import_public_names_only() -> None:
    public = {project.package.name for project in PROJECTS}
    public |= {f"bench_core.{room}" for room in ("execution", "records", "suites", "testing")}
    used = {one.module for file in (ROOT / ".ci").glob("*.py") for one in imports(file)}
    assert {module for module in used if module.startswith("bench_")} - public == set()
    assert "bench_core.suites" in used


def test_only_files_of_kernels_import_numba() -> None:
    found = {
        str(file.relative_to(ROOT))
        for project in PROJECTS
        for file in project.modules
        if "kernels" not in file.stem and any(used.module.partition(".")[0] == "numba" for used in imports(file))
    }
    assert found == NUMBA_ELSEWHERE


def test_the_contracts_of_imports_are_of_every_package() -> None:
    linter = PROJECTS[0].metadata["tool"]["importlinter"]
    assert sorted(linter["root_packages"]) == sorted(project.package.name for project in PROJECTS)


@FOLDERS
def test_a_package_imports_only_what_its_kind_allows(project: Project) -> None:
    package = project.package.name
    used = [one for file in project.modules for one in imports(file) if package_of(one).startswith("bench_")]
    assert used
    assert [str(one) for one in used if package_of(one) not in may_import(package)] == []


@pytest.mark.parametrize(("package", "source"), [
    ("bench_ccp", "import bench_budgetprune.method"),  # a method on another
    ("bench_leaderboard", "from bench_models import linear"),  # a library on another
    ("bench_analysis", "from bench_leaderboard import canvas"),  # numbers on pages
    ("bench_core", "def f():\n    import bench_leaderboard"),  # the core on a plugin
    ("bench_sandbox", "from bench_core import Costs"),  # the sandbox on the core
    ("bench_policies", "from bench_recommend import recommend"),  # a policy in use on the search for one
])  # fmt: skip
def test_an_import_that_a_kind_forbids_is_noticed(tmp_path: Path, package: str, source: str) -> None:
    file = tmp_path / "module.py"
    file.write_text(source)
    (used,) = imports(file)
    assert package_of(used) not in may_import(package)


@FOLDERS
def test_a_distribution_declares_what_it_imports_and_nothing_else(project: Project) -> None:
    metadata = project.metadata["project"]
    needed = declared(metadata.get("dependencies", []))
    optional = declared([line for lines in metadata.get("optional-dependencies", {}).values() for line in lines])
    imported = third_party(project)
    assert imported - needed - optional == set()
    assert needed - imported == NAMED_IN_TEXT.get(project.name, set())


def code_lines(source: str) -> int:
    """Lines of code without docstrings, comments, and lines of brackets only, as `pygount` counts them."""
    texts: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            texts.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(map(str.strip, source.splitlines()), start=1)
    return sum(
        number not in texts and not line.startswith("#") and bool(line.strip("()[]{},:; ")) for number, line in lines
    )


@pytest.mark.parametrize(("folder", "most"), [("bench_core", 6000), ("plugins/sandbox/bench_sandbox", 1200)])
def test_the_core_and_the_sandbox_stay_small(folder: str, most: int) -> None:
    files = [path for path in (ROOT / folder).rglob("*.py") if "testing" not in path.parts]
    counts = {path: code_lines(path.read_text(encoding="utf-8")) for path in files}
    assert most / 2 < sum(counts.values()) <= most, sorted(counts.items(), key=lambda pair: -pair[1])[:9]


@FOLDERS
def test_modules_and_packages_stay_small(project: Project) -> None:
    """A module has at most 300 lines, a package at most 5,000 (the core: see above), docstrings included."""
    counts = {str(path): len(path.read_text(encoding="utf-8").splitlines()) for path in project.modules}
    assert {path: count for path, count in counts.items() if count > 300} == {}
    assert sum(counts.values()) <= 5000 or project.folder == ROOT


def test_docstrings_comments_and_brackets_are_not_counted() -> None:
    source = '"""Text\n\nmore."""\n# why\nx = [\n    1,\n]\n\ndef f():\n    """Text."""\n    return x  # why\n'
    assert code_lines(source) == 4
