"""The order of trials: long ones first, one split on one worker, within the memory; results do not depend on it."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import tiny_plugin
from support.sessions import Place
from support.tiny_plugin import Slopes

from bench_core import DataFacts, hookimpl
from bench_core.plugins.manager import load_registry
from bench_core.run.execute import Schedule
from bench_core.run.execute.schedule import expected_memory, expected_seconds
from bench_core.run.plan import Planned

GRID = """
[protocol]
seeds = 6
[[datasets]]
use = "blobs"
name = "small"
[[datasets]]
use = "blobs"
name = "large"
parameters = { rows = 400 }
[[methods]]
use = "slopes"
name = "quick"
[[methods]]
use = "slopes"
name = "long"
parameters = { noise = 0.1 }
[[methods]]
use = "peeker"
"""


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> list[Planned]:
    return Place(tmp_path_factory.mktemp("plan")).session(GRID).plan().planned


def split_of(planned: Planned) -> tuple[str, int]:
    return planned.content, planned.trial.seed


def run(schedule: Schedule, seconds: dict[str, float], places: int) -> tuple[list[tuple[int, Planned]], float]:
    """The trials of each worker in order, and the time when the last one was done."""
    free, order = dict.fromkeys(range(places), 0.0), []
    while free:
        place = min(free, key=lambda one: (free[one], one))
        one = schedule.take(place, places)
        if one is None:
            break
        order.append((place, one))
        free[place] += seconds[one.name]
    return order, max(free.values())


@given(data=st.data(), places=st.integers(1, 5))
def test_every_trial_is_run_once_and_the_schedule_is_nearly_optimal(
    planned: list[Planned], data: Any, places: int
) -> None:
    times = data.draw(st.lists(st.floats(0, 100), min_size=len(planned), max_size=len(planned)))
    seconds = {one.name: time for one, time in zip(planned, times, strict=True)}
    order, end = run(Schedule(planned, seconds), seconds, places)
    assert Counter(one.name for _, one in order) == Counter(one.name for one in planned)
    # No worker is idle while a trial waits: Graham's bound for any such schedule.
    assert end <= sum(times) / places + max(times) + 1e-6


def test_the_longest_trial_is_first_and_long_ones_do_not_delay_the_end(planned: list[Planned]) -> None:
    seconds = {one.name: 1.0 for one in planned}
    long = planned[-2].name
    seconds[long] = 30.0
    order, end = run(Schedule(planned, seconds), seconds, 2)
    assert order[0][1].name == long
    assert end <= 36.0  # of 65 seconds of work


def test_trials_of_one_split_stay_with_one_worker(planned: list[Planned]) -> None:
    seconds = {one.name: 1.0 + (one.trial.method == "long") for one in planned}
    order, _ = run(Schedule(planned, seconds), seconds, 3)
    workers = Counter(split for split in {(split_of(one), place) for place, one in order} for split in [split[0]])
    assert len(workers) == 12
    assert sum(count > 1 for count in workers.values()) <= 3  # shared at the very end only
    for place in range(3):
        splits = [split_of(one) for where, one in order if where == place]
        changes = sum(before != after for before, after in pairwise(splits))
        assert changes <= len(set(splits))


def test_trials_that_do_not_fit_into_memory_wait_while_others_run(planned: list[Planned]) -> None:
    seconds = {one.name: 1.0 for one in planned} | {planned[3].name: 9.0}
    schedule = Schedule(planned, seconds, {planned[3].name: 100.0, planned[4].name: 10.0})
    first = schedule.take("a", 2, room=-1.0)
    assert first not in (None, planned[3], planned[4])
    taken = [schedule.take("a", 2, room=50.0) for _ in planned]
    assert taken[-1] is None
    assert planned[3] not in taken
    assert planned[4] in taken
    assert schedule.take("a", 2, room=100.0) is planned[3]


def test_a_worker_that_ran_a_long_trial_of_another_goes_on_with_its_split(planned: list[Planned]) -> None:
    long = planned[-1]
    seconds = {one.name: 1.0 for one in planned} | {long.name: 100.0}
    schedule = Schedule(planned, seconds, {long.name: 50.0})
    other, begun = schedule.take("a", 2, room=10.0), schedule.take("b", 2, room=10.0)
    assert other is not None
    assert begun is not None
    assert split_of(begun) != split_of(other) == split_of(long)
    assert schedule.take("b", 2) is long
    after = schedule.take("b", 2)
    assert after is not None
    assert split_of(after) == split_of(begun)


@pytest.mark.slow
def test_a_hundred_thousand_trials_are_planned_at_once(planned: list[Planned]) -> None:
    many = [
        replace(planned[0], name=f"{number:064x}", trial=replace(planned[0].trial, seed=number % 300))
        for number in range(100_000)
    ]
    seconds = {one.name: float(number % 977) for number, one in enumerate(many)}
    started = time.process_time()
    schedule = Schedule(many, seconds)
    taken = [schedule.take(number % 8, 8) for number in range(len(many))]
    assert time.process_time() - started < 10.0  # about a second; quadratic, it would be minutes
    assert len({one.name for one in taken if one}) == len(many)


def test_expected_seconds_come_from_the_store_or_are_estimated_by_size(tmp_path: Path) -> None:
    place = Place(tmp_path, load_registry([("tiny", tiny_plugin)], entry_points=False))  # no plugins with figures
    text = GRID.replace("seeds = 6", "seeds = 1").replace(
        'use = "peeker"', 'use = "fails"\nparameters = { how = "nan" }'
    )
    place.run(text, seeds=1, only={"method": ["long"]})
    session = place.session(text.replace("seeds = 1", "seeds = 2"))
    plan = session.plan()
    done = [one for one in plan.planned if one.state == "done"]
    assert len(done) == 2
    expected = expected_seconds(plan.to_run(), done, session.store, session.cache)
    by_trial = {(one.trial.dataset, one.trial.method, one.trial.seed): expected[one.name] for one in plan.to_run()}
    for one in done:
        timings = session.store.read(one.name)["timings"]  # type: ignore[index]
        measured = sum(timings[step] for step in ("fit", "decide", "audit", "metrics"))
        assert by_trial[one.trial.dataset, "long", 1] == pytest.approx(measured)
        assert by_trial[one.trial.dataset, "quick", 0] == pytest.approx(measured)  # the same method, other parameters
    assert by_trial["large", "fails", 0] == pytest.approx(5 * by_trial["small", "fails", 0])  # never run: by cells


def test_a_method_may_declare_the_memory_it_needs(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Hungry(Slopes):
        """Needs a kilobyte for each value."""

        def memory_needed(self, data: DataFacts) -> float | None:
            return 1000.0 * data.n_rows * data.n_features

    class Plugin:
        BENCH_CONTRACT_VERSION = 1

        @hookimpl
        def bench_register_methods(self, register: Any) -> None:
            register("hungry", Hungry)

    registry = load_registry([("tiny", tiny_plugin), ("hungry", Plugin())], entry_points=False)
    text = '[[datasets]]\nuse = "blobs"\n[[methods]]\nuse = "hungry"\n[[methods]]\nuse = "slopes"\n'
    session = Place(tmp_path, registry).session(text)
    todo = session.plan().to_run()
    assert expected_memory(todo, session.cache) == {todo[0].name: 1000.0 * 80 * 5}
