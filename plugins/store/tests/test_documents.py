"""Documents and attachments are read as they were written, and damaged ones are refused."""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import bench_store
import psutil
import pytest
from bench_store import DAMAGED, OutdatedError, check_store, repair_store, seal, unseal
from hypothesis import given
from hypothesis import strategies as st

ATTACHMENT = b"bytes of an attachment" * 100


class FullError(Exception):
    """The error of the store below."""


class Store(bench_store.Store):
    """A store of results and failures; results take precedence. A document with ``format`` 1 is outdated."""

    kinds: ClassVar[Mapping[str, str]] = {"done": ".json", "failed": ".failed.json"}
    error = FullError

    def parsed(self, data: bytes, name: str, kind: str) -> dict[str, Any]:
        body = unseal(data)
        if body.get("format") == 1:
            raise OutdatedError("it is of an earlier format")
        if body["name"] != name:
            raise ValueError("it is another document")
        return body

    def kind_of(self, body: Mapping[str, Any]) -> str:
        return "failed" if "failure" in body else "done"


def name_of(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


NAME = name_of(0)


def body_of(number: int, **more: object) -> dict[str, Any]:
    return {"name": name_of(number), "long": list(range(20_000)), **more}


TEXT = st.text(st.characters(codec="utf-8"))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
bodies = st.dictionaries(TEXT.map(lambda key: f"k{key}"), values, min_size=1, max_size=4)


@given(bodies)
def test_unseal_is_the_inverse_of_seal(body: dict[str, Any]) -> None:
    assert unseal(seal(body)) == body
    assert seal(dict(reversed(body.items()))) == seal(body)


@given(bodies, st.data())
def test_a_changed_byte_breaks_the_seal(body: dict[str, Any], data: st.DataObject) -> None:
    sealed = bytearray(seal(body))
    place = data.draw(st.integers(0, len(sealed) - 1))
    sealed[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(ValueError):  # noqa: PT011
        unseal(bytes(sealed))


@pytest.mark.parametrize("body", [{}, {"checksum": 1}, {"a": 1}, {"value": float("nan")}])
def test_a_body_that_cannot_be_sealed_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        seal(body)


def test_a_store_is_read_as_it_was_written(tmp_path: Path) -> None:
    store = Store(tmp_path / "new")
    store.put(NAME, body_of(0), ATTACHMENT)
    store.put(name_of(1), body_of(1, failure="why"))
    again = Store(tmp_path / "new")
    assert again.names() == ({NAME}, {name_of(1)})
    noted = {"bytes": len(ATTACHMENT), "sha256": hashlib.sha256(ATTACHMENT).hexdigest()}
    assert again.read(NAME) == {**body_of(0), "data": noted}
    assert again.path_of_attachment(NAME).read_bytes() == ATTACHMENT
    assert again.read(name_of(1)) == body_of(1, failure="why")
    assert again.read(name_of(2)) is None
    assert again.warnings() == []


def test_a_document_of_the_first_kind_replaces_others(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(NAME, body_of(0, failure="why"))
    store.put(NAME, body_of(0))
    assert not list(tmp_path.glob("??/*.failed.json"))
    store.put(NAME, body_of(0, failure="why"))
    assert store.names() == ({NAME}, set())
    assert store.read(NAME) == body_of(0)


@pytest.mark.parametrize("attachment", [None, ATTACHMENT])
def test_a_file_is_complete_and_flushed_before_it_is_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attachment: bytes | None
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
        assert not os.path.exists(target), "no file has the final name before"
        real_replace(source, target)
        named.append((Path(target).suffix, os.stat(target).st_ino))

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    Store(tmp_path).put(NAME, body_of(0), attachment)
    assert [suffix for suffix, _ in named] == ([".json"] if attachment is None else [".data", ".json"])
    there = {path.stat().st_ino for path in tmp_path.rglob("*") if path.is_file()}
    assert there == {inode for _, inode in named} == set(flushed)


def test_a_cache_does_not_wait_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: pytest.fail("it waits"))
    Store(tmp_path).put(NAME, body_of(0), flush=False)
    assert Store(tmp_path).read(NAME) is not None
    assert bench_store.write_cache(tmp_path / "cache" / "file", b"content")
    assert (tmp_path / "cache" / "file").read_bytes() == b"content"
    assert not bench_store.write_cache(tmp_path / "cache" / "file" / "below", b"content")


def test_a_reader_never_sees_a_part_of_a_document(tmp_path: Path) -> None:
    numbers = [list(range(100_000 + extra)) for extra in range(2)]
    stop = threading.Event()

    def write() -> None:
        store = Store(tmp_path)
        while not stop.is_set():
            for long in numbers:
                store.put(NAME, body_of(0, long=long), ATTACHMENT)

    writer = threading.Thread(target=write)
    writer.start()
    path = tmp_path / NAME[:2] / f"{NAME}.json"
    try:
        seen = set()
        until = time.monotonic() + 20
        while (len(seen) < 2 or time.monotonic() < until - 19.5) and time.monotonic() < until:
            with suppress(FileNotFoundError):
                seen.add(len(unseal(path.read_bytes())["long"]))
    finally:
        stop.set()
        writer.join()
    assert seen == {100_000, 100_001}


def test_a_killed_writer_leaves_no_part_of_a_document(tmp_path: Path) -> None:
    for number, delay in enumerate((0.0, 0.003, 0.01, 0.02)):
        writer = os.fork()
        if not writer:
            try:
                store = Store(tmp_path)
                for key in range(1000 * number, 1000 * number + 1000):
                    store.put(name_of(key), body_of(key), ATTACHMENT)
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
    """Start a process that is killed before it renames its files; return its process id (it stays a zombie)."""
    writer = os.fork()
    if not writer:
        os.replace = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[assignment]
        if names:
            socket.gethostname = lambda: names["host"]
        try:
            Store(store).put(NAME, body_of(0))
        finally:
            os._exit(1)
    died = os.waitid(os.P_PID, writer, os.WEXITED | os.WNOWAIT)
    assert died is not None
    assert died.si_status == signal.SIGKILL
    return writer


def left(store: Path) -> int:
    return len(list((store / "tmp").iterdir()))


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="a zombie can be kept where waitid is")
def test_files_of_a_killed_writer_are_swept_before_its_parent_has_waited_for_it(tmp_path: Path) -> None:
    zombie = killed_in_writing(tmp_path)
    try:
        assert psutil.Process(zombie).status() == psutil.STATUS_ZOMBIE
        assert left(tmp_path) == 1
        Store(tmp_path).sweep()
        assert left(tmp_path) == 0
    finally:
        os.waitpid(zombie, 0)


def test_files_that_are_being_written_are_not_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def replace(source: str, target: str) -> None:
        Store(tmp_path).sweep()
        seen.append(os.path.exists(source))
        # A process that started later and got the id of the writer.
        with monkeypatch.context() as later:
            later.setattr(psutil.Process, "create_time", lambda self: time.time() + 100.0)
            Store(tmp_path).sweep()
        seen.append(os.path.exists(source))

    monkeypatch.setattr(os, "replace", replace)
    Store(tmp_path).put(NAME, body_of(0))
    assert seen == [True, False]


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="a zombie can be kept where waitid is")
def test_temporary_files_of_another_machine_are_swept_when_they_are_a_day_old(tmp_path: Path) -> None:
    os.waitpid(killed_in_writing(tmp_path, host="another-machine"), 0)
    Store(tmp_path).sweep()
    assert left(tmp_path) == 1
    for file in (tmp_path / "tmp").iterdir():
        os.utime(file, (0, time.time() - 2 * 86400))
    Store(tmp_path).sweep()
    assert left(tmp_path) == 0


def instead(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink()
    make(path)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "edited": lambda p: p.write_bytes(p.read_bytes().replace(b"17,18", b"18,17")),
    "sealed as another": lambda p: p.write_bytes(seal(body_of(1))),
    "nothing": lambda p: p.write_bytes(b""),
    "half": lambda p: p.write_bytes(p.read_bytes()[: p.stat().st_size // 2]),
    "a directory": lambda p: instead(p, Path.mkdir),
    "a pipe": lambda p: instead(p, os.mkfifo),
    "a link to a device": lambda p: instead(p, lambda q: q.symlink_to("/dev/zero")),
    "a link to itself": lambda p: instead(p, lambda q: q.symlink_to(q)),
    "a link to nothing": lambda p: instead(p, lambda q: q.symlink_to(q.with_name("nothing"))),
    "attachment edited": lambda p: p.with_suffix(".data").write_bytes(ATTACHMENT[::-1]),
    "attachment cut": lambda p: os.truncate(p.with_suffix(".data"), 100),
    "attachment missing": lambda p: p.with_suffix(".data").unlink(),
    "attachment that is a pipe": lambda p: instead(p.with_suffix(".data"), os.mkfifo),
}


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A store of two documents with attachments and a failure."""
    store = Store(tmp_path / "store")
    for number in (0, 1):
        store.put(name_of(number), body_of(number), ATTACHMENT)
    store.put(name_of(2), body_of(2, failure="why"))
    return store.path


def document(store: Path, number: int = 0) -> Path:
    return store / name_of(number)[:2] / f"{name_of(number)}.json"


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_document_is_not_returned_but_named_and_set_aside(filled: Path, how: str) -> None:
    path = document(filled)
    DAMAGES[how](path)
    store = Store(filled)
    assert store.read(NAME) is None
    [line] = store.warnings()
    assert str(path.with_suffix("")) in line
    assert "\n" not in line
    assert NAME in store.names()[0], "reading alone moves nothing"
    assert store.set_aside() == {NAME}
    assert NAME not in store.names()[0]
    assert store.warnings() == []
    assert all(one.name.startswith(NAME) for one in (filled / DAMAGED).iterdir())
    assert not list(path.parent.glob(f"{NAME}*"))


@pytest.mark.parametrize("how", DAMAGES)
def test_a_check_finds_all_damage_and_a_repair_leaves_none(filled: Path, how: str) -> None:
    DAMAGES[how](document(filled))
    store = Store(filled)
    found = check_store(store)
    assert [NAME in line for line in found.damage] == [True]
    assert found.sound == {"done": 1, "failed": 1}
    assert repair_store(store, found) == 1
    again = check_store(Store(filled))
    assert (again.damage, again.sound) == ([], {"done": 1, "failed": 1})


def test_a_check_finds_misplaced_files_and_orphaned_attachments(filled: Path) -> None:
    other = filled / ("00" if NAME[:2] != "00" else "01")
    other.mkdir()
    moved = document(filled).rename(other / f"{NAME}.json")
    stray = other / "notes.json"
    stray.write_text("{}")
    orphan = document(filled, 1).with_suffix(".data")
    document(filled, 1).unlink()
    assert check_store(Store(filled)).orphans == []  # its document may be about to be written
    os.utime(orphan, (0, time.time() - 3600))
    store = Store(filled)
    found = check_store(store)
    assert set(found.misplaced) == {moved, stray}
    assert len(found.damage) == 2
    assert found.orphans == [orphan]
    assert repair_store(store, found) == 3
    assert not any(path.exists() for path in (moved, stray, orphan))


def test_a_contradiction_to_an_attachment_is_damage(filled: Path) -> None:
    class Checked(Store):
        def attachment_fault(self, body: Mapping[str, Any], path: Path) -> str:
            return "does not fit" if body["name"] == NAME else ""

    found = check_store(Checked(filled))
    assert found.damage == [f"{document(filled).with_suffix('.data')} does not fit"]
    assert found.sound == {"done": 1, "failed": 1}


def test_a_check_reads_other_sealed_files_and_summarises_its_findings(filled: Path) -> None:
    class Indexed(Store):
        others = ("index.json", "missing.json")

    (filled / "index.json").write_bytes(seal({"names": []}))
    sound = check_store(Indexed(filled))
    assert sound.summary(Indexed(filled)) == "2 done, 1 failed, 0 damaged"
    (filled / "index.json").write_bytes(b"{}")
    found = check_store(store := Indexed(filled))
    assert found.misplaced == [filled / "index.json"]
    assert found.summary(store) == "2 done, 1 failed, 1 damaged"
    assert repair_store(store, found) == 1
    assert not (filled / "index.json").exists()


def test_outdated_documents_are_reported_in_one_line(filled: Path) -> None:
    for number in (0, 1):
        document(filled, number).write_bytes(seal(body_of(number, format=1)))
    store = Store(filled)
    found = check_store(store)
    assert (found.damage, found.outdated) == ([], 2)
    [line] = store.warnings()
    assert line.startswith("2 document(s)")
    assert store.unreadable == {name_of(0), name_of(1)}
    store.mark_damaged(name_of(0), "is damaged")
    store.read(name_of(1))
    again = check_store(store)
    assert (len(again.damage), again.outdated) == (1, 1)


def test_a_document_is_copied_to_another_store_byte_for_byte(filled: Path, tmp_path: Path) -> None:
    source, target = Store(filled), Store(tmp_path / "other")
    for number in range(3):
        target.add(name_of(number), *source.copy_of(name_of(number)))
    theirs, ours = (
        {path.relative_to(store): path.read_bytes() for path in store.glob("??/*")} for store in (filled, target.path)
    )
    assert theirs == ours
    taken = source.take(NAME)
    assert taken == target.copy_of(NAME)
    assert NAME not in source.names()[0]
    assert not list(filled.glob(f"??/{NAME}*"))


@pytest.mark.parametrize("how", ["edited document", "another name", "edited attachment", "no attachment"])
def test_a_damaged_copy_is_refused(filled: Path, tmp_path: Path, how: str) -> None:
    copied, attachment = Store(filled).copy_of(NAME)
    target = Store(tmp_path / "other")
    name = NAME
    if how == "edited document":
        copied = copied.replace(b"17,18", b"18,17")
    elif how == "another name":
        name = name_of(1)
    else:
        attachment = None if how == "no attachment" else ATTACHMENT[::-1]
    with pytest.raises(ValueError):  # noqa: PT011
        target.add(name, copied, attachment)
    assert not target.path.exists()


def test_a_second_damage_does_not_overwrite_the_first(filled: Path) -> None:
    for content in (b"[]", b"5"):
        document(filled).write_bytes(content)
        store = Store(filled)
        store.read(NAME)
        store.set_aside()
    kept = [one.read_bytes() for one in sorted((filled / DAMAGED).glob("*.json*"))]
    assert kept == [b"[]", b"5"]


@pytest.mark.parametrize("blocked", ["tmp", NAME[:2]])
def test_a_store_that_cannot_be_written_raises_its_own_error_in_one_line(tmp_path: Path, blocked: str) -> None:
    (tmp_path / blocked).write_text("in the way")
    with pytest.raises(FullError, match=r"^.*cannot be written: .*; what was done is kept$"):
        Store(tmp_path).put(NAME, body_of(0))


def test_a_store_that_is_not_a_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        Store(tmp_path / "file")
