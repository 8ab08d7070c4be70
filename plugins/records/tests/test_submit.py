"""A submission: what it must contain, what is refused, and that its records are recomputed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from bench_records.exports import read_export, write_export
from bench_records.files import write_files
from support.bench import ROOT, Bench, install

FULL = {"BUDGETBENCH_ISOLATION": "strict", "BUDGETBENCH_PRIVATE": ""}
SUITE = '[protocol]\nseeds = 2\n[[datasets]]\nuse = "lent"\nname = "L"\n[[methods]]\nuse = "slopes"\n'
ENTRY = '[[methods]]\nuse = "mine"\n'
CODE = '''
from dataclasses import dataclass
import numpy as np
from bench_core import Decisions, Method, Policy, hookimpl

BENCH_CONTRACT_VERSION = 1


class Shares(Policy):
    def __init__(self, shares, n_features):
        self.shares, self.n_features = shares, n_features

    def decide(self, rows):
        acquired = np.zeros((len(rows), self.n_features), dtype=bool)
        return Decisions(acquired, np.tile(self.shares, (len(rows), 1)))


@dataclass(frozen=True)
class Mine(Method):
    """Class shares."""

    tasks = frozenset({"binary"})

    def fit(self, problem):
        counts = np.bincount(problem.train.y, minlength=problem.n_classes) + 1.0
        return [Shares(counts / counts.sum(), problem.n_features)]


@hookimpl
def bench_register_methods(register):
    register("mine", Mine)
'''


def wheel(folder: Path, code: str = CODE, version: str = "1.0") -> Path:
    """The plugin as a wheel."""
    path = folder / f"mine-{version}-py3-none-any.whl"
    info = f"mine-{version}.dist-info"
    files = {
        "mine.py": code,
        f"{info}/METADATA": f"Metadata-Version: 2.4\nName: mine\nVersion: {version}\nLicense-Expression: MIT\n"
        "Requires-Dist: budgetbench\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[budgetbench]\nmine = mine\n",
    }
    record = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(name, text)
    return path


def write_suite(bench: Bench, text: str) -> None:
    """Write the suite, with one metric: drawing figures is what takes time here."""
    (bench.folder / "s.toml").write_text(f'metrics = ["cost"]\n[suite]\nname = "s"\n{text}')


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A folder with a published suite, the records of a plugin added to it, and the plugin's wheel."""
    folder = tmp_path_factory.mktemp("submit")
    (folder / "work").mkdir()
    bench = Bench(folder / "work", folder / "plugins")
    install(bench.plugins, "tiny_plugin", ROOT / "tests" / "support" / "tiny_plugin.py", "tiny")
    install(bench.plugins, "mine", CODE, "mine")
    metadata = bench.plugins / "mine-1.0.dist-info" / "METADATA"
    metadata.write_text(metadata.read_text() + "License-Expression: MIT\n")
    wheel(bench.folder)
    write_suite(bench, SUITE)
    bench("run", "s.toml", **FULL)
    shutil.copytree(bench.folder / "leaderboard", bench.folder / "published")
    write_suite(bench, SUITE + ENTRY)
    said = bench("run", "s.toml", "--only", "method=mine", "--store", "own", **FULL).stdout
    assert said.startswith("2 trial(s) computed") or "\n2 trial(s) computed" in said
    return bench


@pytest.fixture
def bench(made: Bench, tmp_path: Path) -> Bench:
    """A copy of that folder, which a test may change."""
    shutil.copytree(made.folder.parent, tmp_path / "copy")
    return Bench(tmp_path / "copy" / "work", tmp_path / "copy" / "plugins")


SUBMIT = ("submit", "s.toml", "--plugin", "mine", "--wheel", "mine-1.0-py3-none-any.whl", "--store", "own")
CHECK = ("submit", "submissions/mine/s.toml", "--check", "--out", "published", "--store", "none")


@pytest.mark.slow
def test_a_submission_holds_the_plugins_records_and_no_others_and_passes_the_check(bench: Bench) -> None:
    assert "submissions/mine: 2 record(s) of mine" in bench(*SUBMIT).stdout
    folder = bench.folder / "submissions" / "mine"
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    records = {"s/records/mine.parquet", "s/runs/mine.parquet"}
    assert there == {"README.md", "submission.json", "s.toml", "mine-1.0-py3-none-any.whl"} | records
    export = read_export(folder / "s")
    assert export is not None
    assert set(export.policies["method"]) == {"mine"}
    assert len(export.infos) == 2
    said = json.loads((folder / "submission.json").read_text())
    assert (said["plugin"], said["licence"], said["suites"]["s"]["records"]) == ("mine", "MIT", 2)
    assert "2 record(s) of mine" in bench(*CHECK).stdout
    before = {path: path.read_bytes() for path in folder.rglob("*.json")}
    bench(*SUBMIT)  # again: the same
    assert {path: path.read_bytes() for path in folder.rglob("*.json")} == before


def _other_code(bench: Bench) -> None:
    path = bench.plugins / "mine.py"
    path.write_text(path.read_text() + "\n# changed\n")
    wheel(bench.folder, path.read_text())


def _more_seeds(bench: Bench) -> None:
    for store in (bench.folder / "own").glob("??"):
        shutil.rmtree(store)
    shutil.rmtree(bench.folder / "leaderboard")
    shutil.copytree(bench.folder / "published", bench.folder / "leaderboard")


def _without_isolation(bench: Bench) -> None:
    _more_seeds(bench)
    shutil.rmtree(bench.folder / "own")
    bench("run", "s.toml", "--only", "method=mine", "--store", "own", "--out", "private")


def _without_licence(bench: Bench) -> None:
    path = bench.plugins / "mine-1.0.dist-info" / "METADATA"
    path.write_text(path.read_text().replace("License-Expression: MIT\n", ""))


def _other_wheel(bench: Bench) -> None:
    wheel(bench.folder, CODE + "\n# other\n")


def _other_protocol(bench: Bench) -> None:
    write_suite(bench, (SUITE + ENTRY).replace("seeds = 2", "seeds = 1"))
    bench("run", "s.toml", "--only", "method=mine", "--store", "own", "--out", "other", **FULL)


FAILING = CODE.replace("        counts =", "        raise ValueError('no luck')\n        counts =")


def _failing(bench: Bench) -> None:
    (bench.plugins / "mine.py").write_text(FAILING)
    wheel(bench.folder, FAILING)
    _more_seeds(bench)
    bench("run", "s.toml", "--only", "method=mine", "--store", "own", "--out", "other", expect=1, **FULL)


def _no_entry(bench: Bench) -> None:
    write_suite(bench, SUITE)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_other_code, "were made by other code of plugin 'mine'"),
        (_more_seeds, "2 of 2 trials of plugin 'mine' are not done; run: bench run s.toml"),
        (_without_isolation, "2 of 2 records were not made with --isolation strict"),
        (_without_licence, "names no licence"),
        (_other_wheel, "does not hold the installed code"),
        (_other_protocol, "is not the published suite with your entry added"),
        (_failing, "2 trial(s) failed, such as mine on L, seed 0: ValueError: no luck"),
        (_no_entry, "uses nothing of plugin 'mine'; add [[methods]] with use = \"mine\""),
    ],
)
def test_what_may_not_be_submitted_is_refused_in_a_line_and_nothing_written(
    bench: Bench, change: Callable[[Bench], None], said: str
) -> None:
    change(bench)
    refused = bench(*SUBMIT, expect=2).stderr
    (line,) = [line for line in refused.splitlines() if line.startswith("bench: ")]
    assert said in line
    assert "Traceback" not in refused
    assert not (bench.folder / "submissions").exists()


@pytest.mark.slow
def test_a_request_that_lacks_a_plugin_or_its_origin_is_refused(bench: Bench) -> None:
    for arguments, said in (
        (("s.toml",), "--plugin NAME"),
        (("s.toml", "--plugin", "mime"), "did you mean 'mine'?"),
        (("s.toml", "--plugin", "mine"), "--wheel FILE or --requirement TEXT"),
        (("s.toml", "--plugin", "mine", "--wheel", "s.toml"), "is not a wheel"),
        (("s.toml", "--plugin", "mine", "--requirement", "mine=2.0"), "is not a requirement, such as mine==1.0"),
        (("s.toml", "--plugin", "mine", "--requirement", "mine==2.0"), "give mine==1.0"),
        (("s.toml", "--plugin", "mine", "--requirement", "mine"), "give mine==1.0"),
        (("s.toml", "--plugin", "mine", "--requirement", "yours==1.0"), "give mine==1.0"),
        (("s.toml", "--check"), "submission.json is missing"),
    ):
        assert said in bench("submit", *arguments, "--store", "own", expect=2).stderr


@pytest.mark.slow
def test_a_plugin_that_breaks_the_contract_is_refused(bench: Bench) -> None:
    """Its records do not show the fault: it acquires another feature only when it is given a single row."""
    code = CODE.replace(
        "        return Decisions", "        if len(rows) == 1: acquired[:, 0] = True\n        return Decisions"
    )
    (bench.plugins / "mine.py").write_text(code)
    wheel(bench.folder, code)
    shutil.rmtree(bench.folder / "leaderboard")
    shutil.copytree(bench.folder / "published", bench.folder / "leaderboard")
    bench("run", "s.toml", "--only", "method=mine", "--store", "again", **FULL)
    refused = bench(*SUBMIT[:-1], "again", expect=2).stderr
    assert "the contract kit fails" in refused
    assert not (bench.folder / "submissions").exists()


@pytest.mark.slow
def test_data_that_are_not_the_published_ones_are_refused(bench: Bench) -> None:
    shutil.rmtree(bench.folder / "leaderboard")
    shutil.copytree(bench.folder / "published", bench.folder / "leaderboard")
    other = {"TINY_SEED": "1"}
    bench("run", "s.toml", "--only", "method=mine", "--store", "other", "--out", "elsewhere", **FULL, **other)
    refused = bench(*SUBMIT[:-1], "other", expect=2, **other).stderr
    assert "data set 'L' is not the published one" in refused


def _tamper_numbers(folder: Path) -> None:
    import pyarrow.parquet as pq

    path = folder / "s" / "records" / "mine.parquet"
    table = pq.ParquetFile(path).read(use_threads=False).to_pandas()
    table["test.cost"] += 1.0
    table.to_parquet(path)


def _tamper_suite(folder: Path) -> None:
    path = folder / "s.toml"
    path.write_text(path.read_text() + "\n")


def _tamper_wheel(folder: Path) -> None:
    wheel(folder, CODE + "\n# other\n")


def _tamper_files(folder: Path) -> None:
    (folder / "setup.sh").write_text("true\n")


def _tamper_records(folder: Path) -> None:
    records = read_export(folder / "s")
    assert records is not None
    kept = records.policies["seed"] == 0
    records.policies = records.policies[kept].reset_index(drop=True)
    names = set(records.policies["name"])
    records.infos = {name: info for name, info in records.infos.items() if name in names}
    write_files(write_export(records, folder / "s"))


def _tamper_status(folder: Path) -> None:
    """Declare a trial with a result as not applicable."""
    records = read_export(folder / "s")
    assert records is not None
    records.policies.loc[records.policies["seed"] == 1, "status"] = "not applicable"
    write_files(write_export(records, folder / "s"))


def _tamper_name(folder: Path) -> None:
    path = folder / "submission.json"
    path.write_text(path.read_text().replace('"version": "1.0"', '"version": "2.0"'))


@pytest.mark.weekly
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_tamper_numbers, "does not match its checksum"),
        (_tamper_suite, "is not the file that was submitted"),
        (_tamper_wheel, "does not hold the installed code"),
        (_tamper_files, "does not belong to the submission"),
        (_tamper_records, "1 of 2 records of the plugin are missing"),
        (_tamper_status, "1 record(s) are marked as not applicable, but their trials are applicable"),
        (_tamper_name, "is not the submitted one (version 2.0)"),
    ],
)
def test_a_folder_that_was_changed_does_not_pass_the_check(
    bench: Bench, change: Callable[[Path], None], said: str
) -> None:
    bench(*SUBMIT)
    change(bench.folder / "submissions" / "mine")
    refused = bench(*CHECK, expect=2).stderr
    assert said in refused
    assert "Traceback" not in refused


@pytest.mark.weekly
def test_the_script_of_the_workflow_recomputes_records_and_finds_invented_ones(bench: Bench) -> None:
    bench(*SUBMIT)
    for place in ("mine.py", "mine-1.0.dist-info"):  # so that the plugin is installed from the wheel
        path = bench.plugins / place
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    # The script installs with the pip of the interpreter that runs the tests.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    places = {"SUBMISSIONS": str(bench.folder / "submissions"), "OUT": str(bench.folder / "published"), "SAMPLE": "2"}
    environment = bench.environment(PATH=path, **FULL, **places)

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", str(ROOT / ".ci" / "submissions"), "check"], capture_output=True, text=True, env=environment
        )

    done = run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 of 2 published records recomputed" in done.stdout
    folder = bench.folder / "submissions" / "mine" / "s"
    records = read_export(folder)
    assert records is not None
    records.policies["test.cost"] += 1.0
    write_files(write_export(records, folder))  # with checksums that match
    done = run()
    assert done.returncode != 0
    assert "test.cost" in done.stderr
