"""Fixtures of the leaderboard's tests: those of the core's, whose records they are told of."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

CORE = Path(__file__).parents[3] / "tests"
sys.path.insert(0, str(CORE))

from support.bench import Bench, install


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """The command line in a folder of its own, with the tiny plugin installed."""
    work = tmp_path / "work"
    work.mkdir()
    plugins = tmp_path / "plugins"
    install(plugins, "tiny_plugin", CORE / "support" / "tiny_plugin.py", "tiny")
    return Bench(work, plugins)
