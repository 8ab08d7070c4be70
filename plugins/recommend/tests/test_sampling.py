"""Methods for which the stage on the sample has no time."""

from __future__ import annotations

import time
from typing import Any, cast

import numpy as np
import pandas as pd
from bench_policies import Goal
from bench_policies.prices import read_prices
from bench_policies.tables import read_table
from bench_policies.trials import Bench
from bench_recommend.race import Candidate
from bench_recommend.sampling import time_on_sample

from bench_core.suites import load_registry


def bench() -> Bench:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(100, 2)), columns=["a", "b"])
    registry = load_registry()
    dataset = read_table(frame.assign(y=np.where(frame.a > 0, "yes", "no")), "y", registry)
    return Bench(dataset, read_prices([1.0, 2.0], dataset.feature_names, registry))


def portfolio(count: int) -> list[Candidate]:
    method = load_registry().method("majority")()
    return [Candidate(f"m{i}", method, "majority") for i in range(count)]


def out_of_time(methods: list[Candidate]) -> None:
    time_on_sample(methods, bench(), Goal(), time.monotonic() - 60, 60.0, lambda line: None)


def test_a_few_methods_that_the_sample_stage_has_no_time_for_stay_in_the_race() -> None:
    methods = portfolio(2)
    out_of_time(methods)
    assert [one.status for one in methods] == ["tried", "tried"]


def test_with_enough_others_they_are_left_out_with_the_true_reason() -> None:
    methods = portfolio(4)
    for one in methods[:3]:
        one.sampled, one.on_sample = cast(Any, object()), 0.5
    out_of_time(methods)
    assert [one.status for one in methods] == ["tried", "tried", "tried", "left out"]
    assert methods[3].why == "35 % of the time had passed before it was tried"
