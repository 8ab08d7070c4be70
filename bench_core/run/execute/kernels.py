"""Kernels that numba or JAX compiled: made once by a warm-up on synthetic data, and read-only for every trial."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

__all__ = ["compiles_for_shapes", "load_numba", "use_kernels"]


def load_numba() -> None:
    """Compile something, once for all forks: the first function takes more than a second, whatever it does."""
    if "numba" in sys.modules:
        sys.modules["numba"].njit(lambda number: number)(1)


def compiles_for_shapes(folder: Path) -> bool:
    """Whether a folder of kernels holds JAX's programs: they are of arrays of one shape, numba's kernels of any."""
    return any(folder.glob("jit_*"))


def use_kernels(folder: str, *, writable: bool) -> None:
    """Let numba and JAX load kernels from a folder, and keep new ones there only where it is writable.

    JAX reads the variable when it is imported, and goes on without keeping a program where it cannot write. numba takes
    a folder of its cache only if it can write to it, and lets a call fail whose kernel it cannot keep:
    where the folder is read-only, both are left out.

    Args:
        folder: holds one plugin's kernels.
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
