"""The README's examples are valid data set entries of suites."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from bench_public_data import plugin

from bench_core import build
from bench_core.suites import load_registry

TEXT = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```toml\n(.*?)```", TEXT, flags=re.DOTALL)
ENTRIES = [entry for block in BLOCKS for entry in tomllib.loads(block)["datasets"]]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.get("name", entry["use"]))
def test_an_example_builds(entry):
    registry = load_registry([("public-data-under-test", plugin)], entry_points=False)
    build(registry.dataset(entry["use"]), entry.get("parameters", {}), "README.md")


def test_the_readme_names_every_source():
    registry = load_registry([("public-data-under-test", plugin)], entry_points=False)
    for name in registry.datasets:
        assert f"`{name}`" in TEXT
