"""The pytest plugin of budgetbench: the markers ``slow`` and ``weekly``, and two fixtures.

It is imported at every start of pytest, so the module must not import large packages.
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
"""Environment variable: a directory of data files that replaces every download."""


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, as ``--strict-markers`` requires."""
    config.addinivalue_line("markers", "slow: deep checks that take more than about 1.5 seconds")
    config.addinivalue_line("markers", "weekly: variants, random examples, and tests of more than about ten seconds")


def _shared() -> Path | None:
    named = os.environ.get(SHARED)
    return Path(named).expanduser() if named else None


@pytest.fixture(scope="session")
def budgetbench_shared() -> Path:
    """The directory of shared data files; the test is skipped if the variable does not name one."""
    shared = _shared()
    if shared is None:
        pytest.skip(f"{SHARED} is not set: it names a directory of data files")
    if not shared.is_dir():
        pytest.skip(f"{SHARED} names {shared}, which is no directory")
    return shared


@pytest.fixture
def data_context(tmp_path: Path) -> DataContext:
    """A context for data sources: an empty cache, the shared files if there are any, no network."""
    from bench_core.contract.sources import DataContext

    return DataContext(cache=tmp_path / "cache", mirror=_shared(), offline=True)
