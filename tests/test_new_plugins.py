"""``bench new``: every kind of plugin can be installed, passes its tests and the kit, and has its own namespace."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from support.bench import Bench
from support.cases import cases

from bench_core import RequestError
from bench_core.suites import load_registry
from bench_core.testing.scaffold import KINDS, make_plugin

REGISTERS = {"method": "methods", "dataset": "datasets", "costs": "costs", "metric": "metrics"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_plugin_has_a_suite_tests_ci_and_a_licence_in_its_authors_namespace(kind: str, tmp_path: Path) -> None:
    folder = make_plugin(kind, "acme-thing", tmp_path, 'Ann "A" Author\n')
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == "acme-thing"
    assert project["entry-points"]["budgetbench"] == {"acme-thing": "acme_thing.plugin"}
    assert project["authors"] == [{"name": "Ann A Author"}]
    assert "Ann A Author" in (folder / "LICENSE").read_text(encoding="utf-8")
    for place in ("suite.toml", "tests/test_contract.py", "tests/test_suite.py", ".github/workflows/tests.yml"):
        assert (folder / place).is_file()
    texts = [path.read_text(encoding="utf-8") for path in folder.rglob("*") if path.is_file()]
    assert not [text for text in texts if "@name@" in text or "@module@" in text or "@class@" in text]
    assert [path.name for path in (folder / "src").iterdir()] == ["acme_thing"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("My Method", "lower-case words"),
        ("json", "not yours to name"),
        ("class", "not yours to name"),
        ("sklearn", "not yours to name"),
        ("bench-core", "not yours to name"),
        ("emsco", "plugin 'emsco' registers it"),
        ("there", "exists already"),
    ],
)
def test_an_invalid_name_is_refused_and_nothing_is_written(name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(RequestError, match=said):
        make_plugin("method", name, tmp_path, registry=load_registry())
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]


def test_where_a_folder_cannot_be_written_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="cannot be written"):
        make_plugin("method", "mine", tmp_path / "absent")


@pytest.mark.slow
@pytest.mark.parametrize("kind", cases(KINDS, weekly=set(KINDS) - {"method"}))
def test_a_new_plugin_is_installed_and_passes_its_own_tests_and_the_kit(kind: str, bench: Bench) -> None:
    name = f"acme-{kind}"
    assert name in bench("new", kind, name).stdout
    folder = bench.folder / name
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run(
        [*pip, "--no-build-isolation", "--target", str(bench.plugins), str(folder)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    shutil.rmtree(folder / "src")  # so that the installed code is tested
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(folder)],
        capture_output=True, text=True, env=bench.environment(), cwd=folder,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout
    if kind == "figure":
        assert "has no method, data set, cost scheme or metric" in bench("check", name).stderr
    else:
        checked = bench("check", name).stdout
        assert "0 failed, 0 skipped" in checked
        assert not checked.startswith("0 passed")
        assert name in bench("list", REGISTERS[kind]).stdout
    if kind == "method":
        table = bench.folder / "table.csv"
        table.write_text("a,b,y\n" + "".join(f"{i % 7},{i % 5},{'no' if i % 7 < 3 else 'yes'}\n" for i in range(200)))
        (bench.folder / "prices.toml").write_text("prices = [1, 2]\n")
        goal = ("--target", "y", "--prices", "prices.toml", "--budget", "1", "--splits", "0")
        bench("fit", "table.csv", *goal, "--method", name, "--out", "policy")
        assert (bench.folder / "policy" / "policy.json").is_file()
    assert "registers it" in bench("new", kind, name, expect=2).stderr if kind != "figure" else True


def test_the_kit_finds_the_faults_of_a_metric() -> None:
    from bench_core import Metric
    from bench_core.testing import check_metric

    def wrong(function: object) -> set[str]:
        found = check_metric(Metric("wrong", function, goal="max"))  # type: ignore[arg-type]
        return {one.check for one in found if one.outcome == "failed"}

    def first_row(outcome):  # type: ignore[no-untyped-def]
        """The first row's bill."""
        return float(outcome.bill[0])

    def changing(outcome):  # type: ignore[no-untyped-def]
        """Changes the decisions."""
        outcome.decisions.acquired[0] ^= True
        return float(outcome.decisions.acquired.mean())

    def infinite(outcome):  # type: ignore[no-untyped-def]
        """No number."""
        return float("inf")

    def text(outcome):  # type: ignore[no-untyped-def]
        """A text."""
        return "much"

    assert "row-order" in wrong(first_row)
    assert "outcome-unchanged" in wrong(changing)
    assert "value" in wrong(infinite)
    assert "value" in wrong(text)
    assert "declaration" in wrong(lambda outcome: 0.5)


@pytest.mark.slow
def test_the_metrics_here_pass_the_kit() -> None:
    from bench_core.testing import check_metric

    metrics = load_registry().metrics
    failed = [
        (name, one) for name, metric in metrics.items() for one in check_metric(metric) if one.outcome != "passed"
    ]
    assert len(metrics) > 20
    assert failed == []
