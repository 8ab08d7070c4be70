"""Kernels compiled by numba or JAX: a warm-up on synthetic data makes them once; for trials they are read-only."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bench_core.contract.method import Problem

__all__ = ["compiles_for_shapes", "kernels_folder", "load_numba", "synthetic_problem", "use_kernels"]


def kernels_folder(cache: Path) -> Path:
    """The folder of compiled kernels: below numba's cache folder if the environment names one, else below the cache."""
    return Path(os.environ.get("NUMBA_CACHE_DIR", cache)) / "compiled"


def load_numba() -> None:
    """Compile a trivial function before forking, because numba's first compilation takes more than a second."""
    if "numba" in sys.modules:
        sys.modules["numba"].njit(lambda number: number)(1)


def compiles_for_shapes(folder: Path) -> bool:
    """Whether a folder contains JAX programs. These work for one shape of arrays; numba's kernels work for any."""
    return any(folder.glob("jit_*"))


def use_kernels(folder: str, *, writable: bool) -> None:
    """Let numba and JAX load kernels from a folder, and write new ones there if it is writable.

    JAX reads the variable when it is imported. If the folder is read-only, JAX does not save programs. numba refuses a
    read-only cache folder, and a call fails if its kernel cannot be saved. So for a read-only folder, numba's check of
    the folder and its saving of kernels are replaced by functions that do nothing.

    Args:
        folder: the kernels of one plugin.
        writable: whether this process may write to it.
    """
    os.environ["NUMBA_CACHE_DIR"] = os.environ["JAX_COMPILATION_CACHE_DIR"] = folder
    if "numba" not in sys.modules:
        return
    from numba.core import caching, config

    config.reload_config()  # type: ignore[no-untyped-call]
    if writable:
        return

    class ReadOnly(caching.UserProvidedCacheLocator):
        def ensure_cache_path(self) -> None:
            pass

    def keep_nothing(self: Any, sig: Any, data: Any) -> None:
        pass

    caching.CacheImpl._locator_classes = [ReadOnly]
    caching.Cache.save_overload = keep_nothing  # type: ignore[method-assign]


def synthetic_problem(problem: Problem, rows: int = 60) -> Problem:
    """A problem of the same kind without any information from the data: zeros and ones, labels in turn, prices 1."""
    count = np.arange(rows)
    part = replace(
        problem.train,
        X=np.random.default_rng(0).integers(0, 2, (rows, problem.train.X.shape[1])).astype(np.float64),
        y=(count % max(problem.n_classes, 2)).astype(problem.train.y.dtype),
        sizes=None if problem.train.sizes is None else np.ones(rows),
        query=None if problem.train.query is None else count // 10,
    )
    prices = replace(problem.costs, prices=np.ones_like(problem.costs.prices))
    return replace(problem, train=part, validation=part, costs=prices, seed=0)
