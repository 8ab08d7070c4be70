"""What pytest loads when budgetbench is installed: the markers ``slow`` and ``weekly`` and two fixtures.

Imported at every start of pytest, so nothing heavy may be imported at the top.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from bench_core.contract.sources import DataContext

__all__ = ["SHARED", "budgetbench_shared", "data_context", "pytest_configure"]

SHARED = "BUDGETBENCH_SHARED"
"""Environment variable: a directory of data files that takes the place of every download."""


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, which ``--strict-markers`` demands."""
    config.addinivalue_line("markers", "slow: deep checks that take more than a few seconds")
    config.addinivalue_line("markers", "weekly: checks of variants, and random examples, for a weekly run")


def _shared() -> Path | None:
    named = os.environ.get(SHARED)
    return Path(named).expanduser() if named else None


@pytest.fixture(scope="session")
def budgetbench_shared() -> Path:
    """The directory of shared data files; the test is skipped when the variable does not name one."""
    shared = _shared()
    if shared is None:
        pytest.skip(f"{SHARED} is not set: it names a directory of data files")
    if not shared.is_dir():
        pytest.skip(f"{SHARED} names {shared}, which is no directory")
    return shared


@pytest.fixture
def data_context(tmp_path: Path) -> DataContext:
    """Where a data source may look: an empty cache, the shared files when there are any, never the network."""
    from bench_core.contract.sources import DataContext

    return DataContext(cache=tmp_path / "cache", mirror=_shared(), offline=True)
