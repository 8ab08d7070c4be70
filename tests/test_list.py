"""``bench list``: installed objects at the width of a terminal, one object in detail, and shell completion."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from dataclasses import MISSING, fields
from pathlib import Path

import pytest
from bench_inspect.about import about
from bench_inspect.listing import CATALOGUES, listed
from click.testing import CliRunner
from support.bench import Bench, scripts
from support.sessions import REGISTRY

from bench_core import RequestError, build
from bench_core.cli.main import main
from bench_core.contract.parameters import hints_of, to_plain
from bench_core.suites import load_registry


def test_lists_fit_a_terminal_of_80_columns(bench: Bench) -> None:
    everything = bench("list").stdout
    assert max(map(len, everything.splitlines())) <= 80
    for word in ("datasets:", "costs:", "methods:", "metrics:", "plugins:", "importance-quantiles", "ndcg@k", "slopes"):
        assert word in everything
    methods = bench("list", "methods").stdout
    assert "A family of slopes on the first feature." in methods
    assert "datasets:" not in methods


def test_the_error_for_an_unknown_name_suggests_the_nearest(bench: Bench) -> None:
    assert "did you mean 'slopes'?" in bench("list", "slops", expect=2).stderr
    assert "did you mean 'methods'?" in bench("list", "method", expect=2).stderr


def test_one_method_is_shown_with_tasks_parameters_and_an_entry(bench: Bench) -> None:
    shown = bench("list", "slopes").stdout
    for word in ("method slopes", "noise: float = 0.0", "Tasks: ", "[[methods]]", 'use = "slopes"', "Plugin: tiny"):
        assert word in shown


def test_json_has_every_object_of_a_kind_with_its_parameters() -> None:
    done = CliRunner().invoke(main, ["list", "methods", "--json"], env={"BUDGETBENCH_ISOLATION": "none"})
    (kind, things), *others = json.loads(done.stdout).items()
    assert (kind, others) == ("methods", [])
    (lasso,) = (thing for thing in things if thing["name"] == "lasso")
    assert lasso["plugin"] == "lasso"
    parameters = {parameter["name"]: parameter for parameter in lasso["parameters"]}
    assert parameters["count"]["type"].startswith("int = ")
    assert all(parameter["meaning"] for parameter in parameters.values())


def test_json_has_all_kinds_or_one_object_and_refuses_an_unknown_name() -> None:
    registry = load_registry()
    everything = listed(registry, None)
    assert list(everything) == [*CATALOGUES, "plugins"]
    assert json.loads(json.dumps(everything, allow_nan=False)) == everything
    assert listed(registry, "lasso") == {
        kind: [thing for thing in everything[kind] if thing["name"] == "lasso"] for kind in ("methods", "plugins")
    }
    with pytest.raises(RequestError, match="did you mean 'lasso'"):
        listed(registry, "laso")


def test_a_parameter_is_shown_with_its_meaning_default_unit_and_limits() -> None:
    lines = "\n".join(about(load_registry(), "cstc"))
    assert "rho: float = 0.001" in lines
    assert "the weight of the l1 norm" in lines  # from the docstring of its base class
    assert "A number of at least 0." in lines
    assert "One of 'prune', 'greedy', 'full'." in lines
    shared = "\n".join(about(load_registry(), "cact-lasso"))
    assert "the largest λ" in shared
    assert "the distance between neighbouring λ" in shared


def test_the_type_of_every_installed_parameter_can_be_read_and_accepts_its_default() -> None:
    registry = load_registry()
    for catalogue in ("methods", "datasets", "cost_schemes"):
        for name, cls in getattr(registry, catalogue).items():
            assert not any(isinstance(hint, str) for hint in hints_of(cls).values()), name
            defaults = {f.name for f in fields(cls) if f.default is not MISSING or f.default_factory is not MISSING}
            if len(defaults) == len(fields(cls)):
                assert build(cls, to_plain(cls()), name) == cls(), name


def test_every_installed_object_fits_80_columns_and_its_entry_is_valid() -> None:
    registry = load_registry()
    for kind, catalogue in CATALOGUES.items():
        for name, thing in getattr(registry, catalogue).items():
            lines = about(registry, name)
            assert max(map(len, lines)) <= 80, name
            at = [i for i, line in enumerate(lines) if line == "In a suite:"]
            assert at, name
            if kind in ("methods", "datasets") and len(at) == 1:
                entry = "\n".join(line for line in lines[at[0] + 2 :] if line.startswith("    ") or not line)
                (said,) = tomllib.loads(entry.partition("\n\n")[0])[kind]
                assert said["use"] == name
                if "parameters" in said:
                    build(thing, said["parameters"], name)


def test_a_required_parameter_is_named_in_the_entry_for_a_suite() -> None:
    lines = about(load_registry(), "table")
    assert "    # needed: costs.parameters.prices" in lines[lines.index("In a suite:") :]


def test_a_plugin_is_shown_with_everything_it_registers() -> None:
    shown = "\n".join(about(load_registry(), "public_data"))
    assert "pima" in shown
    assert "budgetbench-public-data" in shown


def test_a_distribution_without_a_description_is_shown_by_its_name(bench: Bench) -> None:
    shown = bench("list", "tiny").stdout.splitlines()
    assert "tiny_plugin" in shown
    assert "None" not in " ".join(shown)


def test_an_unregistered_name_is_not_shown() -> None:
    with pytest.raises(RequestError, match="nothing is called 'absent'"):
        about(REGISTRY, "absent")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "offered"), [("bench list emsc", "emsco"), ("bench li", "list"), ("bench new met", "metric")]
)
def test_a_shell_completes_commands_kinds_and_names(words: str, offered: str, tmp_path: Path) -> None:
    environment = {**os.environ, "_BENCH_COMPLETE": "bash_complete", "COMP_WORDS": words}
    environment["COMP_CWORD"] = str(len(words.split()) - 1)
    done = subprocess.run(
        [str(scripts() / "bench")], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert offered in [line.rpartition(",")[2] for line in done.stdout.splitlines()]
