"""What the plugin takes from other distributions: public names only, and nothing heavy when it is loaded."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import bench_cascades
import bench_cstc
import pytest

MODULES = sorted(Path(bench_cascades.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_takes_public_names_of_other_plugins_only(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert not [one.name for one in node.names if one.name.startswith("bench_")]
        elif isinstance(node, ast.ImportFrom) and node.module.startswith("bench_"):
            if node.module.split(".")[0] == "bench_cascades":
                continue
            public = importlib.import_module(node.module).__all__
            assert "." not in node.module
            assert {one.name for one in node.names} <= set(public)


@pytest.mark.parametrize("name", bench_cstc.__all__)
def test_every_public_name_of_cstc_is_there(name):
    assert getattr(bench_cstc, name).__name__ == name


def test_an_unknown_name_of_cstc_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = bench_cstc.nothing_of_the_kind


def test_loading_the_plugin_imports_no_compiler_and_no_learner():
    said = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, bench_cascades.plugin; print({'numba', 'sklearn', 'lightgbm'} & sys.modules.keys())",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == "set()"
