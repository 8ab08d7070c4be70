"""Marks: the work of processes that have died."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from bench_store import Mark, left_marks, work_under_way
from bench_store.owners import here


def killed(folder: Path, *work: object, leader: int | None = None, ends: bool = False) -> None:
    """Let a process begin work, and kill it."""
    process = os.fork()
    if not process:
        try:
            mark = Mark(folder, leader)
            for one in work:
                mark.begin(one)
            if ends:
                mark.end()
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL


def test_the_mark_of_a_dead_process_says_what_it_was_working_on(tmp_path: Path) -> None:
    killed(tmp_path, ["first", 1], ["second", 2])
    killed(tmp_path, "over", leader=os.getpid(), ends=True)
    own, led = sorted(left_marks(tmp_path), key=lambda mark: mark.running, reverse=True)
    assert (own.work, own.running, own.leader_is_gone) == (["second", 2], True, True)
    assert (led.leader, led.running, led.leader_is_gone) == (os.getpid(), False, False)
    own.remove()
    led.remove()
    assert left_marks(tmp_path) == []


def test_the_mark_of_a_living_process_is_left_alone(tmp_path: Path) -> None:
    mark = Mark(tmp_path)
    mark.begin("work")
    assert left_marks(tmp_path) == []
    assert len(list(tmp_path.iterdir())) == 1
    mark.close()
    assert not list(tmp_path.iterdir())


@contextmanager
def running(folder: Path, work: object) -> Iterator[Callable[[], None]]:
    """Let another process begin work and wait; yields a function that kills it."""
    begun, begins = os.pipe()
    process = os.fork()
    if not process:
        try:
            Mark(folder).begin(work)
            os.write(begins, b".")
            signal.pause()
        finally:
            os._exit(1)
    os.read(begun, 1)

    def kill() -> None:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)

    try:
        yield kill
    finally:
        with suppress(OSError):
            kill()


def test_work_is_new_unless_another_running_process_has_begun_it(tmp_path: Path) -> None:
    mark = Mark(tmp_path)
    with running(tmp_path, ["first", 1]) as kill:
        assert not mark.begin(["first", 1])
        mark.end()
        assert work_under_way(tmp_path) == [["first", 1]]
        assert mark.begin(["second", 2])
        assert sorted(work_under_way(tmp_path)) == [["first", 1], ["second", 2]]
        kill()
        assert work_under_way(tmp_path) == [["second", 2]]
        assert mark.begin(["first", 1])
    mark.close()


def test_of_two_processes_that_begin_the_same_work_the_first_does_it(tmp_path: Path) -> None:
    with running(tmp_path, "work"):
        [theirs] = tmp_path.iterdir()
        theirs.write_bytes(f'+{time.time_ns() + 10**12} "work"'.encode())
        assert Mark(tmp_path).begin("work")


def test_a_process_with_the_id_of_a_dead_one_is_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = Mark(tmp_path)
    mark.begin("work")
    monkeypatch.setattr(psutil.Process, "create_time", lambda self: time.time() + 100.0)
    assert [left.work for left in left_marks(tmp_path)] == ["work"]


@pytest.mark.parametrize("content", [b"", b"+", b"+[", b"\xff", b"+" + b"[" * 100_000])
def test_a_mark_that_cannot_be_read_says_nothing(tmp_path: Path, content: bytes) -> None:
    killed(tmp_path, "work")
    [path] = tmp_path.iterdir()
    path.write_bytes(content)
    [mark] = left_marks(tmp_path)
    assert (mark.work, mark.running) == (None, False)


def test_a_pipe_with_the_name_of_a_mark_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / f"{here()}-4194304-1-4194304-1")
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it waits for a writer"))
    signal.alarm(20)
    try:
        [mark] = left_marks(tmp_path)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert (mark.work, mark.running) == (None, False)
    mark.remove()
    assert not list(tmp_path.iterdir())


def test_other_files_are_not_marks(tmp_path: Path) -> None:
    for name in ("notes", f"{here()}-1-2-3", "another-machine-1-2-3-4"):
        (tmp_path / name).write_text("+1")
    assert left_marks(tmp_path) == []
    assert left_marks(tmp_path / "none") == []
