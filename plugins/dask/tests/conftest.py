"""Fixtures: a scheduler and workers on loopback, with the tests' plugins."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parents[3] / "tests"), str(Path(__file__).parent)]

from bench_dask_cluster import Cluster
from support import tiny_plugin
from support.bench import Bench, install


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plugins ``tiny`` and ``rogue``; the latter's methods misbehave."""
    folder = tmp_path_factory.mktemp("plugins")
    tiny = Path(tiny_plugin.__file__)
    install(folder, "tiny_plugin", tiny, "tiny")
    install(folder, "rogue_plugin", tiny.with_name("rogue_plugin.py"), "rogue")
    return folder


@pytest.fixture(scope="module")
def two_workers(plugins: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster with the workers ``one`` and ``two``."""
    made = Cluster(tmp_path_factory.mktemp("two"), plugins)
    try:
        for name in ("one", "two"):
            made.worker(name)
        yield made
    finally:
        made.close()


@pytest.fixture
def bench(plugins: Path, tmp_path: Path) -> Bench:
    """A working folder for ``bench``, with the plugins."""
    return Bench(tmp_path, plugins)
