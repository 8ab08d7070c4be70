"""One BLAS thread and the same kernels from the start, on the command line and where the core is used from Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy._core._multiarray_umath import __cpu_features__
from threadpoolctl import threadpool_info, threadpool_limits

from bench_core.contract.dataset import Dataset
from bench_core.contract.sources import DataContext, DataSource
from bench_core.plugins.manager import load_registry
from bench_core.run.dataset_cache import DatasetCache
from bench_core.run.libraries import BLAS_VARIABLES

COUNT = """
from bench_core.cli.main import main
try:
    main(["list", "metrics"])
except SystemExit:
    pass
import numpy, scipy.linalg, threadpoolctl
print([one["num_threads"] for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas"])
"""

KERNELS = """
from unittest.mock import patch
import os
from bench_core.cli.main import main
from bench_core.run.libraries import library_variables
try:
    main(["list", "metrics"])
except SystemExit:
    pass
import json, subprocess, sys
code = "import json; from bench_core.run.execute.worker import environment; print(json.dumps(environment()['kernels']))"
exec(code)
for name in %r:
    del os.environ[name]
with patch.dict(os.environ, library_variables(1)):
    subprocess.run([sys.executable, "-c", code], check=True)
"""
"""Prints the kernels of a command, and of a process that the core starts from a program that names no kernels."""

CHOSEN = ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES")

AVX2 = sys.platform == "linux" and bool(__cpu_features__.get("X86_V3"))


def blas_threads() -> set[int]:
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


@dataclass(frozen=True)
class Counted(DataSource):
    """Two rows whose values are the numbers of BLAS threads while they are loaded."""

    def load(self, context: DataContext) -> Dataset:
        counted = np.full((2, 1), float(max(blas_threads())))
        return Dataset("counted", "binary", counted, ("threads",), np.array([0, 1]), ("a", "b"))


@pytest.mark.slow
def test_the_command_line_has_one_blas_thread_whatever_the_environment_says() -> None:
    environment = {**os.environ, **dict.fromkeys(BLAS_VARIABLES, "2")}
    done = subprocess.run([sys.executable, "-c", COUNT], env=environment, capture_output=True, text=True, check=True)
    assert set(json.loads(done.stdout.splitlines()[-1])) == {1}


def kernels(**chosen: str) -> tuple[list[str], list[str]]:
    """What `KERNELS` prints, without and with kernels in the environment."""
    environment = {name: value for name, value in os.environ.items() if name not in CHOSEN} | chosen
    code = KERNELS % (CHOSEN,)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    command, started = map(json.loads, done.stdout.splitlines()[-2:])
    return command, started


@pytest.mark.skipif(not AVX2, reason="the processor has no AVX2")
def test_avx2_kernels_are_used_even_if_the_processor_supports_more() -> None:
    assert kernels() == (["Haswell", "NumPy X86_V3"],) * 2


@pytest.mark.skipif(not AVX2, reason="the processor has no AVX2")
def test_kernels_that_the_environment_names_are_used() -> None:
    command, _ = kernels(OPENBLAS_CORETYPE="Nehalem", NPY_DISABLE_CPU_FEATURES="X86_V3 X86_V4 AVX512_ICL AVX512_SPR")
    assert command == ["Nehalem"]


def test_data_is_loaded_with_one_blas_thread(tmp_path: Path) -> None:
    cache = DatasetCache(DataContext(tmp_path), load_registry([], entry_points=False), tmp_path)
    with threadpool_limits(2, user_api="blas"):
        assert cache.load("counted", Counted()).values.tolist() == [[1.0], [1.0]]
        assert blas_threads() == {2}


LATE = """
import numpy, sys
from threadpoolctl import threadpool_info
from bench_core.run.libraries import one_blas_thread

def counts():
    return {one["filepath"]: one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}

with one_blas_thread():
    before = counts()
import scipy.linalg
with one_blas_thread():
    after = counts()
print([set(before.values()), set(after.values()), len(after) - len(before), set(counts().values())])
"""


def test_libraries_that_are_loaded_between_two_calls_have_one_thread_in_the_second() -> None:
    environment = {**os.environ, **dict.fromkeys(BLAS_VARIABLES, "2")}
    done = subprocess.run([sys.executable, "-c", LATE], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ("[{1}, {1}, 1, {2}]", "[{1}, {1}, 0, {2}]")  # SciPy may share NumPy's library
