"""Fixtures that the tests of the core and of the leaderboard share."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.bench import Bench, install


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """The command line in a new folder, with the tiny plugin installed."""
    work = tmp_path / "work"
    work.mkdir()
    plugins = tmp_path / "plugins"
    install(plugins, "tiny_plugin", Path(__file__).parent / "tiny_plugin.py", "tiny")
    return Bench(work, plugins)
