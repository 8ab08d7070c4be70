"""Records and decisions as they are kept: what goes in comes out."""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest
from support.made_up import record_of

from bench_core.contract.decisions import Decisions, Outcome
from bench_core.run.record_file import unseal
from bench_core.run.run_trial import TrialResult
from bench_core.run.store import Store
from bench_core.run.summary import PolicyOutcome

NAME = "ab" + "0" * 62
PROBABILITIES = np.array([[0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
ACQUIRED = np.array([[True, False], [True, True], [False, False]])


def judged(policy: int, part: str, **columns: np.ndarray) -> PolicyOutcome:
    decisions = Decisions(ACQUIRED, PROBABILITIES, **columns)
    bill = ACQUIRED @ np.array([1.0, 2.5])
    outcome = Outcome("binary", np.array([1, 0, 1]), decisions, bill, np.full(3, 3.5), np.zeros(3), 0.7)
    return PolicyOutcome(policy, part, outcome)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    ("name", "values"),
    [("stage", np.array([1, 2, 3])), ("evaluations", np.array([4.0, 0.0, 2.5])), ("score", np.array([-1.0, 0.0, 2.0]))],
)
def test_policies_of_a_family_may_tell_different_things(
    tmp_path: Path, name: str, values: np.ndarray, first: bool
) -> None:
    telling, silent = (0, 1) if first else (1, 0)
    outcomes = [
        judged(policy, part, **({name: values} if policy == telling else {}))
        for policy in (0, 1)
        for part in ("validation", "test")
    ]
    rows = {part: np.arange(3) for part in ("validation", "test")}
    store = Store(tmp_path)
    store.write(TrialResult({"name": NAME, "status": "ok"}, outcomes, rows))

    kept = {(one.policy, one.part): one.outcome for one in store.outcomes(NAME, "binary", 0.7)}

    assert len(kept) == 4
    for part in ("validation", "test"):
        np.testing.assert_array_equal(getattr(kept[telling, part].decisions, name), values)
        assert getattr(kept[silent, part].decisions, name) is None
        np.testing.assert_array_equal(kept[silent, part].decisions.acquired, ACQUIRED)
        np.testing.assert_array_equal(kept[silent, part].decisions.probabilities, PROBABILITIES)
        np.testing.assert_array_equal(kept[silent, part].bill, [1.0, 3.5, 0.0])


def big(seed: int, numbers: int = 20_000) -> TrialResult:
    """A result whose record takes several pages of memory, with decisions."""
    record = record_of("D", "A", seed, {"cost": float(seed)}, history={"long": list(range(numbers))})
    outcomes = [judged(0, part) for part in ("validation", "test")]
    return TrialResult(record, outcomes, {part: np.arange(3) for part in ("validation", "test")})


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    store = Store(tmp_path)
    result = big(1)
    store.write(result)
    read = Store(tmp_path).read(result.record["name"])
    assert read is not None
    told = read.pop("decisions")
    data = next(tmp_path.glob("??/*.parquet")).read_bytes()
    assert told == {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    assert read == result.record
    store.rewrite(read | {"decisions": told, "features": ["more"]})
    again = store.read(result.record["name"])
    assert again is not None
    assert again["features"] == ["more"]


@pytest.mark.parametrize("failed", [False, True])
def test_a_file_is_whole_and_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failed: bool
) -> None:
    flushed: dict[int, int] = {}
    named: list[tuple[str, int]] = []
    real_fsync, real_replace = os.fsync, os.replace

    def fsync(descriptor: int) -> None:
        real_fsync(descriptor)
        state = os.fstat(descriptor)
        flushed[state.st_ino] = state.st_size

    def replace(source: str, target: str) -> None:
        state = os.stat(source)
        assert flushed[state.st_ino] == state.st_size, "all of it is flushed before it is renamed"
        assert not os.path.exists(target), "nothing has the name before"
        real_replace(source, target)
        named.append((Path(target).suffix, os.stat(target).st_ino))

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    result = TrialResult(record_of("D", "A", 0, None), None, None) if failed else big(0)
    Store(tmp_path).write(result)
    assert [suffix for suffix, _ in named] == ([".json"] if failed else [".parquet", ".json"])
    there = {path.stat().st_ino for path in tmp_path.rglob("*") if path.is_file()}
    assert there == {inode for _, inode in named} == set(flushed)


def test_a_trial_of_milliseconds_does_not_wait_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: pytest.fail("it waits"))
    short = big(0)
    short.record["timings"] = {"fit": 0.02, "decide": 0.02, "decide_per_policy": [7.0]}
    Store(tmp_path).write(short)
    assert Store(tmp_path).read(short.record["name"]) is not None


def test_a_reader_never_sees_a_part_of_a_record(tmp_path: Path) -> None:
    results = [big(1, numbers=100_000 + extra) for extra in range(2)]
    name = results[0].record["name"]
    stop = threading.Event()

    def write() -> None:
        store = Store(tmp_path)
        while not stop.is_set():
            for result in results:
                store.write(result)

    writer = threading.Thread(target=write)
    writer.start()
    path = tmp_path / name[:2] / f"{name}.json"
    try:
        seen = set()
        until = time.monotonic() + 20
        while (len(seen) < 2 or time.monotonic() < until - 19.5) and time.monotonic() < until:
            with suppress(FileNotFoundError):
                seen.add(len(unseal(path.read_bytes())["history"]["long"]))
    finally:
        stop.set()
        writer.join()
    assert seen == {100_000, 100_001}


def test_a_writer_that_is_killed_leaves_no_part_of_a_record(tmp_path: Path) -> None:
    for number, delay in enumerate((0.0, 0.003, 0.01, 0.02)):
        writer = os.fork()
        if not writer:
            try:
                store = Store(tmp_path)
                for seed in range(1000 * number, 1000 * number + 1000):
                    store.write(big(seed))
            finally:
                os._exit(1)
        start, before = time.monotonic(), len(Store(tmp_path).names()[0])
        while len(Store(tmp_path).names()[0]) == before and time.monotonic() < start + 20:
            pass
        time.sleep(delay)
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
    store = Store(tmp_path)
    done, failed = store.names()
    assert done
    assert not failed
    assert all(store.read(name) for name in done)
    store.sweep()
    assert not list((tmp_path / "tmp").iterdir())


def killed_in_writing(store: Path, **names: str) -> int:
    """Start a process that is killed before it renames what it wrote; its number, as it stays a zombie."""
    writer = os.fork()
    if not writer:
        os.replace = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[assignment]
        if names:
            socket.gethostname = lambda: names["host"]
        try:
            Store(store).write_failure({"name": NAME, "status": "failed"})
        finally:
            os._exit(1)
    died = os.waitid(os.P_PID, writer, os.WEXITED | os.WNOWAIT)
    assert died is not None
    assert died.si_status == signal.SIGKILL
    return writer


def left(store: Path) -> int:
    return len(list((store / "tmp").iterdir()))


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="a zombie can be kept where waitid is")
def test_what_a_killed_writer_left_is_swept_before_its_parent_has_waited_for_it(tmp_path: Path) -> None:
    zombie = killed_in_writing(tmp_path)
    try:
        assert psutil.Process(zombie).status() == psutil.STATUS_ZOMBIE
        assert left(tmp_path) == 1
        Store(tmp_path).sweep()
        assert left(tmp_path) == 0
    finally:
        os.waitpid(zombie, 0)


def test_what_is_being_written_is_not_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def replace(source: str, target: str) -> None:
        Store(tmp_path).sweep()
        seen.append(os.path.exists(source))
        # A process that started later and has the number of the one that wrote this.
        with monkeypatch.context() as later:
            later.setattr(psutil.Process, "create_time", lambda self: time.time() + 100.0)
            Store(tmp_path).sweep()
        seen.append(os.path.exists(source))

    monkeypatch.setattr(os, "replace", replace)
    Store(tmp_path).write_failure({"name": NAME, "status": "failed"})
    assert seen == [True, False]


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="a zombie can be kept where waitid is")
def test_what_another_machine_is_writing_is_swept_when_it_is_a_day_old(tmp_path: Path) -> None:
    os.waitpid(killed_in_writing(tmp_path, host="another-machine"), 0)
    Store(tmp_path).sweep()
    assert left(tmp_path) == 1
    for file in (tmp_path / "tmp").iterdir():
        os.utime(file, (0, time.time() - 2 * 86400))
    Store(tmp_path).sweep()
    assert left(tmp_path) == 0


def test_a_trial_that_is_done_has_not_failed_though_its_failure_is_there_too(tmp_path: Path) -> None:
    store = Store(tmp_path)
    result = big(1)
    store.write(result)
    name = result.record["name"]
    store.write_failure({**result.record, "status": "failed", "error": {"type": "E", "message": "m"}})
    assert store.names() == ({name}, set())


def test_each_part_gets_its_own_decisions_back(tmp_path: Path) -> None:
    store = Store(tmp_path)
    outcomes = [judged(0, "validation"), judged(0, "test", stage=np.array([1, 2, 3]))]
    rows = {"validation": np.arange(3), "test": np.arange(3)}
    store.write(TrialResult({"name": NAME, "status": "ok"}, outcomes, rows))
    kept = {one.part: one.outcome.decisions.stage for one in store.outcomes(NAME, "binary", None)}
    assert kept["validation"] is None
    np.testing.assert_array_equal(kept["test"], [1, 2, 3])


def test_every_policy_gets_its_own_budget_back(tmp_path: Path) -> None:
    budgets = {0: 2.0, 1: None, 2: 7.5}
    outcomes = [
        replace(one, outcome=replace(one.outcome, budget=budget))
        for policy, budget in budgets.items()
        for one in (judged(policy, "validation"), judged(policy, "test"))
    ]
    rows = {"validation": np.arange(3), "test": np.arange(3)}
    store = Store(tmp_path)
    store.write(TrialResult({"name": NAME, "status": "ok"}, outcomes, rows))
    kept = {(one.policy, one.part): one.outcome.budget for one in store.outcomes(NAME, "binary", None)}
    assert kept == {(policy, part): budget for policy, budget in budgets.items() for part in ("validation", "test")}
