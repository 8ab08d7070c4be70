"""Methods decide the same with the kernels of other processors, on data where many votes and scores are equal."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from bench_cstc.baselines import AdaBoostRS, AndOrCascade, EarlyExit, Stagewise
from bench_cstc.methods import CSCC, CSTC

from bench_core import Costs, Part, Problem

METHODS = {
    "adaboost-rs": partial(AdaBoostRS, n_estimators=60),
    "and-or": AndOrCascade,
    "stagewise": partial(Stagewise, n_estimators=30),
    "early-exit": partial(EarlyExit, n_estimators=30),
    "cscc": partial(CSCC, features="boosted", n_estimators=20),
    "cstc": partial(CSTC, features="boosted", n_estimators=20),
}

CODE = """
import json
from test_machines import METHODS, decided
print(json.dumps({name: decided(name) for name in METHODS}))
"""


def problem() -> Problem:
    """Features of three values each, so that many trees, rows and scores are equally good."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, (420, 8)).astype(float)
    y = (X[:, :4].sum(axis=1) + rng.integers(-2, 3, 420) > 4).astype(np.int64)
    return Problem(
        train=Part(X[:220], y[:220]),
        validation=Part(X[220:], y[220:]),
        costs=Costs(np.arange(1.0, 9.0)),
        task="binary",
        n_classes=2,
        feature_names=tuple(f"x{i}" for i in range(8)),
        feature_of_column=np.arange(8),
    )


def decided(name: str) -> tuple[str, list[float]]:
    """Fit a method, and let its policies decide the validation rows.

    Returns:
        A hash of the acquired features and of the order of rows by probability; and the probabilities.
    """
    given = problem()
    digest, shown = hashlib.sha256(), []
    for policy in METHODS[name]().fit(given).policies:
        decisions = policy.decide(given.validation.rows())
        positive = np.asarray(decisions.probabilities)[:, 1]
        digest.update(decisions.acquired.tobytes())
        digest.update(np.argsort(positive, kind="stable").astype(np.int64).tobytes())
        shown += positive.tolist()
    return digest.hexdigest(), shown


@pytest.fixture(scope="module")
def here() -> dict[str, tuple[str, list[float]]]:
    return {name: decided(name) for name in METHODS}


@pytest.mark.slow
@pytest.mark.parametrize("kernels", ["Haswell", "Nehalem"])
def test_methods_decide_the_same_with_other_kernels(kernels: str, here: dict[str, tuple[str, list[float]]]) -> None:
    machine = {"OPENBLAS_CORETYPE": kernels, "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"}
    done = subprocess.run(
        [sys.executable, "-c", CODE], env={**os.environ, **machine, "PYTHONPATH": os.path.dirname(__file__)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    there = json.loads(done.stdout)
    assert there.keys() == here.keys()
    for name, (digest, shown) in here.items():
        assert there[name][0] == digest, name
        assert there[name][1] == pytest.approx(shown, abs=1e-5), name
