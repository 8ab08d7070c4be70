"""Bounds from rounded scores, compared with the exact exits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from bench_qwyc._kernels_optimise import scan_binary
from bench_qwyc.bounds import Bounds
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(
    st.integers(0, 2**32 - 1), st.sampled_from([np.float32, np.float64]), st.booleans(), st.integers(1, 2),
    st.sampled_from([0, 1, 8]), st.sampled_from([0.0, -1.5, 1e5]), st.floats(0, 5),
)  # fmt: skip
def test_bounds_are_never_below_the_exits_and_follow_the_active_examples(
    seed: int, dtype: Any, both: bool, threads: int, digits: int, bias: float, coarse: float
) -> None:
    rng = np.random.default_rng(seed)
    models, examples = rng.integers(2, 12), rng.integers(1, 700)
    scores = rng.normal(size=(models, examples)).round(digits).astype(dtype)
    scores[0, 0] = 10.0**coarse  # the largest score determines the rounding of the others
    positive = rng.random(examples) < rng.uniform(0.1, 0.9)
    pos, neg = (np.flatnonzero(side).astype(np.uint32) for side in (positive, ~positive))
    g = np.full(examples, bias, dtype=dtype)
    left = np.arange(models)
    with ThreadPoolExecutor(threads) as pool:
        bounds = Bounds(scores, bias, pool, threads)
        while len(left) > 1:
            budget = int(rng.integers(0, 4)) if rng.random() < 0.8 else int(rng.integers(0, examples + 1))
            most = bounds.exits(left, pos, neg, g[pos], g[neg], budget, both)
            exits = np.zeros(len(left), dtype=np.int64)
            low, high = np.empty(len(left), dtype=dtype), np.empty(len(left), dtype=dtype)
            scan_binary(scores, left, pos, neg, g[pos], g[neg], budget, both, exits, low, high)
            assert (most >= exits).all()
            assert (most <= len(pos) + len(neg)).all()
            run = rng.integers(len(left))
            g += scores[left[run]]
            left = np.delete(left, run)
            pos, neg = (side[rng.random(len(side)) < 0.8] for side in (pos, neg))
