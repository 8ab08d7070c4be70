"""Fixtures of the core's tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from support.bench import Bench, install


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """The command line in a folder of its own, with the tiny plugin installed."""
    work = tmp_path / "work"
    work.mkdir()
    plugins = tmp_path / "plugins"
    install(plugins, "tiny_plugin", Path(__file__).parent / "support" / "tiny_plugin.py", "tiny")
    return Bench(work, plugins)
