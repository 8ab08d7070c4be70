"""The contract kit on every method, with small settings."""

from __future__ import annotations

import pytest
from bench_neural.plugin import CAE, DIME, EDDI, GDFS, OL, CwCF, MaskStatic

from bench_core.testing import method_contract

SMALL = {"hidden": 8, "batch_size": 16, "pretraining": 50}
SHORT = {**SMALL, "updates": 50, "stages": 1, "count": 3}

SHAPES = ("one-hot", "groups", "one-feature", "missing-values")

test_contract = pytest.mark.slow(
    method_contract(
        MaskStatic(**SMALL, count=3, repeats=1),
        tasks=["binary"],
        skip=dict.fromkeys(SHAPES, "JAX compiles for each shape: in the weekly run"),
    )
)
test_contract_of_trained_policies = method_contract(
    MaskStatic(**SMALL, count=3, repeats=1), GDFS(**SHORT), DIME(**SHORT), CwCF(**SMALL, updates=50, count=3), slow=True
)
test_contract_of_further_policies = pytest.mark.weekly(
    method_contract(
        OL(**SMALL, updates=50, count=3),
        EDDI(**SMALL, updates=50, count=3, samples=2),
        CAE(**SMALL, updates=50, count=3),
        DIME(**SHORT, stop="budget"),
        CwCF(**SMALL, updates=50, count=3, reward="log-loss"),
    )
)
test_contract_of_sure_answers = pytest.mark.weekly(
    method_contract(DIME(**SHORT, stop="confidence", class_weights=True), tasks=["binary", "multiclass"])
)
