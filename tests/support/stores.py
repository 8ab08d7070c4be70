"""A store with done and failed trials, for tests on complete stores; test modules import the fixtures."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from support.sessions import Place

__all__ = ["done", "every_file", "of_done", "store"]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with all trials of a suite, and one more that failed."""
    from test_integrity import SUITE

    place = Place(tmp_path_factory.mktemp("done"))
    failing = SUITE.replace("seeds = 7", "seeds = 3") + '[[methods]]\nuse = "fails"\n'
    assert place.run(failing).exit_code == 1
    return place.folder / "store"


@pytest.fixture
def store(done: Path, tmp_path: Path) -> Path:
    """A copy of this store."""
    shutil.copytree(done, tmp_path / "store")
    return tmp_path / "store"


def every_file(store: Path) -> dict[str, bytes]:
    """Path below the store → contents."""
    return {str(path.relative_to(store)): path.read_bytes() for path in sorted(store.rglob("*")) if path.is_file()}


def of_done(store: Path) -> list[Path]:
    """The records of trials that did not fail."""
    from test_integrity import records_in

    return [path for path in records_in(store) if not path.name.endswith(".failed.json")]
