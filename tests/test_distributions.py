"""Distributions: they share metadata and licence, can be built, and work in an empty environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from email import message_from_bytes
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from support.bench import ROOT
from support.pages import blocks, commands
from support.sources import Project, projects

from bench_core import __version__

PROJECTS = projects()
FOLDERS = pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.folder.name)


def tracked(folder: Path) -> list[Path]:
    """The files in a folder that git tracks or would add, as relative paths."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "."],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return [Path(name) for name in listed.stdout.split("\0") if name and (folder / name).is_file()]


SHARED = {"version", "readme", "requires-python", "license", "authors", "classifiers"}
"""The metadata that a plugin gets from plugins/setup.py."""


@pytest.mark.parametrize("project", PROJECTS[1:], ids=lambda project: project.folder.name)
def test_a_plugin_has_only_its_own_metadata_and_shares_the_rest(project: Project) -> None:
    metadata = project.metadata["project"]
    assert metadata["name"].startswith("budgetbench-")
    assert metadata["description"]
    assert metadata["keywords"]
    assert set(metadata["dynamic"]) | {"classifiers"} == SHARED
    own = set(metadata) - {"name", "description", "keywords", "dynamic", "classifiers", "dependencies"}
    assert own <= {"optional-dependencies", "entry-points"}
    assert project.metadata["build-system"] == PROJECTS[0].metadata["build-system"]
    assert (project.folder / "setup.py").readlink() == Path("../setup.py")
    assert (project.folder / "LICENSE").readlink() == Path("../../LICENSE")


def test_the_citation_is_valid_and_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    metadata = PROJECTS[0].metadata["project"]
    assert {"cff-version", "message", "title", "authors"} <= set(citation)  # what CFF 1.2.0 requires
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert citation["authors"] == [{"name": author["name"]} for author in metadata["authors"]]
    assert (citation["title"], citation["license"]) == (metadata["name"], metadata["license"])
    assert citation["version"] == __version__


@dataclass(frozen=True)
class Built:
    """A distribution's two files."""

    project: Project
    wheel: Path
    sdist: Path


def build(project: Project, tree: Path) -> Built:
    """Build an sdist, and a wheel from it, in a copy of the repository."""
    out = tree / "dist" / project.name
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--skip-dependency-check", "-o", str(out),
         str(tree / project.folder.relative_to(ROOT))],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{project.name}\n{done.stdout}\n{done.stderr}"
    return Built(project, *out.glob("*.whl"), *out.glob("*.tar.gz"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> list[Built]:
    """Every distribution, built."""
    tree = tmp_path_factory.mktemp("built")
    for name in tracked(ROOT):
        if name.parts[0] not in ("leaderboard", "suites", "tests"):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tree / name, follow_symlinks=False)
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda project: build(project, tree), PROJECTS))


@pytest.fixture(scope="module")
def clean(built: list[Built], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``bin`` of an environment with the wheels, which can import the libraries that are installed here."""
    folder = tmp_path_factory.mktemp("clean") / "venv"
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    wheels = [str(one.wheel) for one in built]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python)]
    subprocess.run([*pip, "install", "-q", "--no-deps", "--no-index", "--no-compile", *wheels], check=True)
    found = subprocess.run(
        [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    # Libraries only: editable installs are not found, because their import hooks do not run in that environment.
    (Path(found.stdout.strip()) / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin"


def environment(clean: Path) -> dict[str, str]:
    """The environment variables for commands in the clean environment."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("BUDGETBENCH_", "PYTHON"))}
    return {**kept, "PATH": os.pathsep.join([str(clean), os.defpath]), "COLUMNS": "200"}


@pytest.mark.weekly
def test_a_wheel_holds_every_file_of_its_package_and_the_metadata_of_all(built: list[Built]) -> None:
    core = PROJECTS[0].metadata["project"]
    for one in built:
        package = one.project.package
        with zipfile.ZipFile(one.wheel) as wheel:
            names = wheel.namelist()
            (place,) = [name for name in names if name.endswith(".dist-info/METADATA")]
            metadata = message_from_bytes(wheel.read(place))
            licence = wheel.read(place.replace("METADATA", "licenses/LICENSE"))
        expected = {f"{package.name}/{name.as_posix()}" for name in tracked(package)}
        shipped = {name for name in names if ".dist-info/" not in name}
        assert shipped == expected, one.project.name
        assert licence == (ROOT / "LICENSE").read_bytes()
        assert (metadata["License-Expression"], metadata["License-File"]) == ("BSD-3-Clause", "LICENSE")
        assert (metadata["Version"], metadata["Requires-Python"]) == (__version__, core["requires-python"])
        assert metadata["Author"] == core["authors"][0]["name"]
        assert set(core["classifiers"]) - set(metadata.get_all("Classifier")) <= {"Framework :: Pytest"}
        assert metadata["Keywords"]
        assert metadata["Description-Content-Type"] == "text/markdown"
        with tarfile.open(one.sdist) as sdist:
            inside = {name.partition("/")[2] for name in sdist.getnames()}
        assert {"LICENSE", "README.md", "pyproject.toml"} <= inside


@pytest.mark.weekly
def test_installed_from_wheels_every_plugin_loads_and_its_data_are_there(clean: Path, tmp_path: Path) -> None:
    def run(*command: str) -> str:
        done = subprocess.run(
            command, cwd=tmp_path, env=environment(clean), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    code = (
        "from bench_core.suites import load_registry\n"
        "for plugin in load_registry().plugins.values(): print(plugin.name, plugin.folder, repr(plugin.error))"
    )
    loaded = dict(line.split(maxsplit=1) for line in run("python", "-c", code).splitlines())
    entries = {
        name
        for project in PROJECTS[1:]
        for name in project.metadata["project"].get("entry-points", {}).get("budgetbench", {})
    }
    assert set(loaded) == entries | {"bench-core"}
    assert [name for name, rest in loaded.items() if not rest.endswith(" ''")] == []
    assert [name for name, rest in loaded.items() if not rest.startswith(str(clean.parent))] == []
    listed = run("bench", "list", "plugins")
    assert [name for name in entries if name not in listed] == []

    run("bench", "new", "method", "my-method")
    assert (tmp_path / "my-method" / "src" / "my_method" / "plugin.py").is_file()
    assert "pima" in run("bench", "data", "verify", "pima")


@pytest.mark.weekly
def test_a_suite_runs_from_wheels_and_its_page_is_made(clean: Path, tmp_path: Path) -> None:
    suite = tmp_path / "s.toml"
    suite.write_text(
        '[suite]\nname = "s"\n[protocol]\nseeds = 2\n[[datasets]]\nuse = "pima"\n[[methods]]\nuse = "single-stage"\n'
    )
    done = subprocess.run(
        ["bench", "run", "s.toml"], cwd=tmp_path, env=environment(clean), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "| single-stage" in (tmp_path / "leaderboard" / "s.md").read_text(encoding="utf-8")


@pytest.mark.weekly
def test_a_new_author_can_make_run_and_submit_a_method_by_following_the_book(clean: Path, tmp_path: Path) -> None:
    """Run every command of the page in an environment with wheels only, next to published records."""
    from bench_records import read_export

    page, name = ROOT / "docs" / "how-to" / "submit.md", "polydom_simulation"
    (tmp_path / "suites").mkdir()
    shutil.copy(ROOT / "suites" / f"{name}.toml", tmp_path / "suites")
    shutil.copytree(ROOT / "leaderboard" / name, tmp_path / "leaderboard" / name)
    before = read_export(tmp_path / "leaderboard" / name)
    said = {}
    for block in blocks(page):
        for command, code in commands(block.text) if block.kind == "bash" else ():
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", command], cwd=tmp_path, env=environment(clean), capture_output=True,
                text=True, check=False, timeout=1200,
            )  # fmt: skip
            assert done.returncode == code, f"{page}:{block.line}: {command}\n{done.stdout}\n{done.stderr}"
            said[command.split(" suites")[0].split(" submissions")[0]] = done.stdout
    assert "20 trial(s) computed" in said["bench run"]
    assert "Mine" in said["bench run"]
    assert "20 record(s) of Mine" in said["bench submit"]
    assert "5 of 20 published records recomputed" in said["bench verify"]
    after = read_export(tmp_path / "leaderboard" / name)
    submitted = read_export(tmp_path / "submissions" / "my-method" / name)
    assert before is not None
    assert after is not None
    assert submitted is not None
    assert {run: after.runs[run] for run in before.runs} == before.runs, "nothing published was computed again"
    assert set(after.infos) - set(before.infos) == set(submitted.infos)
    assert set(submitted.policies["method"]) == {"Mine"}


def test_the_extra_all_brings_every_plugin():
    root = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    files = [path.read_text(encoding="utf-8") for path in ROOT.glob("plugins/*/pyproject.toml")]
    brought = {*root["optional-dependencies"]["all"], *root["dependencies"]}
    assert {tomllib.loads(text)["project"]["name"] for text in files} - brought == set()


def test_every_tested_version_supports_the_oldest_python_that_the_core_names():
    core = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = min(one.version for one in SpecifierSet(core["requires-python"]))
    pins = [
        Requirement(line)
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
        if "==" in line
    ]
    too_new = []
    for pin in pins:
        try:
            found = metadata.distribution(pin.name)
        except metadata.PackageNotFoundError:
            continue
        if pin.specifier.contains(found.version) and f"{oldest}.0" not in SpecifierSet(
            found.metadata.get("Requires-Python") or ""
        ):
            too_new.append(f"{pin} needs Python {found.metadata['Requires-Python']}")
    assert len(pins) > 100
    assert too_new == []
