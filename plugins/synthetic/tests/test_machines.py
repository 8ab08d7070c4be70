"""Generated data has the same bits with other kernels, vector units and numbers of threads."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from bench_synthetic.cube import Cube, CubeNM
from bench_synthetic.families import MakeClassification, MakeRegression, Synthetic30
from bench_synthetic.quadrants import Quadrants
from bench_synthetic.ranking_regions import RankingRegions
from bench_synthetic.sized_items import SizedItems

from bench_core import DataContext, DataSource

KNOWN = {
    "synthetic30": Synthetic30(),
    "all parameters": MakeClassification(
        rows=700, features=40, informative=33, redundant=3, repeated=2, classes=3, weights=[0.6, 0.3, 0.1],
        flip_y=0.1, class_sep=0.7, hypercube=False, shift=None, scale=None, seed=4,
    ),
    "qwyc stand-in": MakeClassification(
        rows=9000, features=30, informative=20, redundant=4, clusters_per_class=4, seed=2
    ),
    "regression": MakeRegression(rows=500, bias=2.0, noise=1.5, seed=1),
    "low rank": MakeRegression(rows=300, features=40, effective_rank=5, noise=0.1, seed=1),
    "quadrants": Quadrants(noise=0.5),
    "sized items": SizedItems(),
    "cube": Cube(),
    "cube-nm": CubeNM(rows=2000),
    "ranking": RankingRegions(documents=1001, features=60),
}  # fmt: skip

CODE = """
import json
from test_machines import KNOWN, content
print(json.dumps({name: content(source) for name, source in KNOWN.items()}))
"""


def content(source: DataSource) -> str:
    return source.load(DataContext(cache=None, offline=True)).content


def dispatched() -> str:
    from numpy._core import _multiarray_umath as core

    return " ".join(name for name in core.__cpu_dispatch__ if core.__cpu_features__.get(name))


@pytest.mark.slow
@pytest.mark.parametrize(
    "machine",
    [
        {"OPENBLAS_CORETYPE": "Haswell", "OPENBLAS_NUM_THREADS": "2"},
        {"OPENBLAS_CORETYPE": "Sandybridge", "OPENBLAS_NUM_THREADS": "1"},
        {
            "OPENBLAS_CORETYPE": "Prescott",
            "NPY_DISABLE_CPU_FEATURES": dispatched(),
            "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-AVX2,-FMA_Usable,-AVX2_Usable",
        },
    ],
    ids=lambda machine: machine["OPENBLAS_CORETYPE"],
)
def test_generated_data_is_the_same_on_every_machine(machine):
    here = os.path.dirname(__file__)
    done = subprocess.run(
        [sys.executable, "-c", CODE], env={**os.environ, **machine, "PYTHONPATH": here},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout) == {name: content(source) for name, source in KNOWN.items()}


def test_generated_data_never_changes():
    known = {name: content(source)[:16] for name, source in KNOWN.items()}
    assert known == {
        "synthetic30": "7bd04c69b5148c1b",
        "all parameters": "da73e657987798a3",
        "qwyc stand-in": "db19f9fc293b2363",
        "regression": "4a5098f55dc3d170",
        "low rank": "24b9d91efd7b1995",
        "quadrants": "3e8c2174bc451735",
        "sized items": "5f020439dc9569c3",
        "cube": "5f0391a2080f17b4",
        "cube-nm": "0ffa8ffd6cb054d7",
        "ranking": "4d602a01c0a64555",
    }
