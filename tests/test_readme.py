"""The README's plugin, installed from a folder outside the repository, found, run and ranked."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
import types
from collections.abc import Iterator
from typing import Any

import pytest
from support.bench import ROOT, Bench, install

from bench_core.testing import check_method, make_problem

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def block(name: str) -> str:
    """The code between ``<!-- name -->`` and ``<!-- end -->``."""
    match = re.search(rf"<!-- {name} -->\s*```[a-z]*\n(.*?)```\s*<!-- end -->", TEXT, re.DOTALL)
    assert match, name
    return match[1]


def test_the_readmes_plugin_is_found_run_and_ranked(bench: Bench) -> None:
    entry = tomllib.loads(block("plugin pyproject"))["project"]["entry-points"]["budgetbench"]
    assert entry == {"cheapest-feature": "cheapest_feature"}
    install(bench.plugins, "cheapest_feature", block("plugin"), "cheapest-feature")
    assert "Splits the cheapest feature at a quantile." in bench("list", "methods").stdout
    suite = bench.suite(
        '[protocol]\nseeds = 3\nthreshold = 0.6\n[[datasets]]\nuse = "blobs"\ncosts = { use = "table", parameters = '
        "{ prices = [1.0, 2.0, 3.0, 4.0, 5.0] } }\n"
        '[[methods]]\nuse = "cheapest-feature"\ngrid = { quantile = [0.25, 0.5, 0.75] }\n'
        '[[methods]]\nuse = "slopes"\n'
    )
    assert "12 trial(s) computed" in bench("run", suite).stdout
    section = bench.page().partition("\n## blobs\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ") and not line.startswith("| :")]
    ranked = {line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:]] for line in rows}
    assert set(ranked) == {"Method", "cheapest-feature", "slopes"}
    assert ranked["cheapest-feature"][2].strip("*").startswith("1.000")


def test_the_readmes_plugin_is_twenty_lines_of_code_or_so() -> None:
    lines = [line for line in block("plugin").splitlines() if line.strip()]
    assert len(lines) <= 30


@pytest.fixture
def cheapest_feature() -> Iterator[Any]:
    module = types.ModuleType("cheapest_feature")
    sys.modules["cheapest_feature"] = module
    exec(compile(block("plugin"), "cheapest_feature.py", "exec", dont_inherit=True), module.__dict__)
    yield module
    del sys.modules["cheapest_feature"]


def test_the_readmes_plugin_passes_the_contract_kit(cheapest_feature: Any) -> None:
    results = check_method(cheapest_feature.CheapestFeature())
    assert len(results) > 20
    assert [f"{r.check}-{r.task}: {r.message}" for r in results if r.outcome != "passed"] == []


def test_the_readmes_plugin_takes_prices_that_grow_with_the_item(cheapest_feature: Any) -> None:
    problem = make_problem("binary", "item-sizes")
    assert problem.costs.depends_on_size
    (policy,) = cheapest_feature.CheapestFeature().fit(problem)
    assert policy.feature == problem.costs.feature_prices(problem.train.sizes).mean(axis=0).argmin()


def test_the_readme_gives_two_commands_that_install_what_they_need() -> None:
    for name in ("run command", "test command"):
        command = block(name).strip()
        assert command.startswith("python3 -m pip install ")
        assert "-r requirements.txt -c constraints.txt && " in command
        assert "\n" not in command


@pytest.mark.slow
def test_the_readmes_first_run_writes_only_ignored_files(bench: Bench) -> None:
    words = shlex.split(block("run command").rpartition("&&")[2])
    assert words[:2] == ["bench", "run"]
    (bench.folder / "suites").mkdir()
    small = '[suite]\nname = "quickstart"\n[[datasets]]\nuse = "blobs"\n[[methods]]\nuse = "slopes"\n'
    (bench.folder / "suites" / "quickstart.toml").write_text(small)
    before = set(bench.folder.iterdir())
    bench(*words[1:])
    written = {path.name for path in set(bench.folder.iterdir()) - before}
    assert written == {"results", ".bench-store"}
    for name in written:
        ran = subprocess.run(["git", "check-ignore", "-q", f"{name}/"], cwd=ROOT, check=False)
        assert ran.returncode == 0, f"{name} is not ignored"


def test_the_readme_is_short() -> None:
    assert len(TEXT.splitlines()) <= 150


def test_the_readmes_table_has_the_methods_of_the_quickstart() -> None:
    suite = tomllib.loads((ROOT / "suites" / "quickstart.toml").read_text(encoding="utf-8"))
    shown = TEXT.split("## What comes out")[1].split("![")[0]
    rows = [line.split("|")[1].strip() for line in shown.splitlines() if line.startswith("| ")][1:]
    assert rows == [method["name"] for method in suite["methods"]]
