"""Restricted processes: their input and output, restrictions, errors, limits, and that no process is leaked."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

import bench_sandbox
from bench_sandbox import CallError, Process, SandboxError, Server, StoppedError, layers, missing_layers, packed
from bench_sandbox.arrays import checked, table_of, unpacked
from bench_sandbox.errors import MalformedError
from bench_sandbox.strays import adopting_orphans, children, end_strays

ALLOWED = {"own folder", "own thread", "own process", "own limit", "own pipe"}
TARGET = "targets:Target"


@pytest.fixture(scope="module", params=["fresh", "copy"])
def server(request: pytest.FixtureRequest) -> Iterator[tuple[Server, str]]:
    with Server(["numpy"]) as server:
        yield server, request.param


def started(server: tuple[Server, str], **options: object) -> Process:
    """Start a restricted process, or fork a copy of one."""
    process = server[0].start(TARGET, {"a": 1}, **options)  # type: ignore[arg-type]
    if server[1] == "fresh":
        return process
    process.import_target(60)
    return process.fork(options.get("memory"))  # type: ignore[arg-type]


def alive(name: str) -> list[psutil.Process]:
    """Return the running descendants of this process with a name."""
    found = psutil.Process().children(recursive=True)
    return [p for p in found if p.name() == name and p.status() != psutil.STATUS_ZOMBIE]


def test_a_function_gets_plain_values_and_read_only_arrays() -> None:
    arrays = {
        "matrix": np.arange(6.0).reshape(2, 3), "flags": np.array([True, False]), "number": np.int64(7),
        "none": np.zeros((0, 4), dtype=np.float32), "columns": np.asfortranarray(np.arange(6).reshape(2, 3)),
    }  # fmt: skip
    values, doubled = bench_sandbox.run("targets:double", {"x": [1, None]}, arrays, seconds=60)
    assert values["given"] == {"x": [1, None]}
    assert values["writable"] == []
    assert values["types"] == {name: str(array.dtype) for name, array in arrays.items()}
    for name, array in arrays.items():
        np.testing.assert_array_equal(doubled[name], array if array.dtype == bool else array * 2)
        assert doubled[name].shape == array.shape


@pytest.mark.skipif(len(layers()) < 3, reason=missing_layers())
@pytest.mark.parametrize("level", [["namespaces"], []], ids=["all layers", "without namespaces"])
def test_a_process_cannot_access_anything_outside(
    tmp_path: Path, level: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not level:
        left = tuple(name for name in layers() if name != "namespaces")
        monkeypatch.setattr("bench_sandbox.client.layers", lambda: left)
    (tmp_path / "secret").write_text("x")
    values = {"file": str(tmp_path / "secret"), "outside": os.getpid()}
    with Server(["numpy"]) as server:
        for process in (
            server.start(TARGET, memory=2**30, disk=2**25),
            started((server, "copy"), memory=2**30, disk=2**25),
        ):
            assert set(process.call("attempt", values, seconds=60)[0]["done"]) == ALLOWED
            process.end()
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


def test_a_process_gets_the_variables_of_libraries_and_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = {"OPENBLAS_CORETYPE": "Haswell", "LC_TIME": "C", "TZ": "UTC", "NUMBA_CPU_NAME": "generic"}
    secret = {"MY_TOKEN": "hidden", "AWS_SECRET_ACCESS_KEY": "hidden", "CONDA_TOKEN": "hidden", "HOMEPASS": "hidden"}
    for name, value in (passed | secret).items():
        monkeypatch.setenv(name, value)
    values, _ = bench_sandbox.run("targets:variables", seconds=60)
    assert passed.items() <= values["now"].items()
    assert secret.keys().isdisjoint(values["now"])
    assert not [entry for entry in values["at start"] if "hidden" in entry]


def test_a_strict_server_refuses_a_system_without_all_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench_sandbox.available.layers", lambda: ("landlock",))
    with Server(["numpy"], strict=True) as server, pytest.raises(SandboxError, match="no namespaces, seccomp"):
        server.start(TARGET)


def test_every_process_starts_in_an_empty_folder_and_sees_no_other_process(server: tuple[Server, str]) -> None:
    for _ in range(2):
        process = started(server)
        here, _ = process.call("count", seconds=60)
        assert (here["calls"], here["files"], here["settings"]) == (1, [], {"a": 1})
        assert len(here["processes"]) == (1 if server[1] == "fresh" else 2) or "namespaces" not in layers()
        process.end()


def test_a_copy_does_not_find_the_files_of_an_earlier_copy(server: tuple[Server, str]) -> None:
    process = server[0].start(TARGET, {"a": 1})
    process.import_target(60)
    for _ in range(2):
        copy = process.fork()
        assert copy.call("count", seconds=60)[0]["files"] == []  # it leaves a file
        copy.end()
    process.end()


def test_bytes_passed_between_processes_are_read_only(server: tuple[Server, str]) -> None:
    first = started(server)
    blob = first.call_bytes("dumps", {"times": 1000}, seconds=60)
    first.end()
    with pytest.raises(PermissionError):
        os.pwrite(blob.file, b"x", 0)
    second = started(server)
    assert second.call("loads", blob=blob, seconds=60)[0] == {"length": 5000, "start": "bytes"}
    with pytest.raises(StoppedError, match="more than allowed"):
        second.call_bytes("dumps", {"times": 1000}, seconds=60, most=4999)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "kind", "message"),
    [
        ("exit", "exit", "exit code 3"),
        ("crash", "crash", "SIGSEGV"),
        ("hang", "time", "0.5 s"),
        ("many", "malformed", "more"),
    ],
)
def test_the_error_names_how_a_process_ended_and_no_process_is_left(
    server: tuple[Server, str], how: str, kind: str, message: str
) -> None:
    process = started(server)
    with pytest.raises(StoppedError, match=message) as stopped:
        process.call("end", {"how": how}, seconds=0.5 if how == "hang" else 60, most=100)
    assert stopped.value.kind == kind
    assert alive("sleep") == []
    with pytest.raises(StoppedError):
        process.call("count")


def test_the_time_limit_covers_the_complete_answer(server: tuple[Server, str]) -> None:
    for seconds in (0.4, -1.0):
        with pytest.raises(StoppedError) as stopped:
            started(server).call("trickle", seconds=seconds)
        assert stopped.value.kind == "time"


def test_an_error_of_the_function_is_returned_and_the_process_continues(server: tuple[Server, str]) -> None:
    process = started(server)
    with pytest.raises(CallError, match="a message") as raised:
        process.call("fail", seconds=60)
    assert raised.value.type == "LookupError"
    assert "builtins.Exception" in raised.value.bases
    assert process.call("count", seconds=60)[0]["calls"] == 1
    with pytest.raises(StoppedError, match="does not hold numbers"):
        process.call("lie", seconds=60)


def test_a_killed_server_is_restarted_and_its_processes_have_ended() -> None:
    before = psutil.Process().children(recursive=True)
    with Server(["numpy"]) as server:
        process = server.start(TARGET)
        process.import_target(60)
        psutil.Process(server.process).kill()
        with pytest.raises(StoppedError):
            process.call("end", {"how": "hang"}, seconds=60)
        with server.start(TARGET) as other:
            assert other.call("count", seconds=60)[0]["calls"] == 1
    assert set(psutil.Process().children(recursive=True)) <= set(before)


@pytest.mark.skipif(sys.platform != "linux", reason="only there are orphans adopted")
@pytest.mark.parametrize("without", [{"namespaces"}, set()])
def test_the_processes_of_a_killed_server_are_reaped_and_other_children_stay(
    without: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench_sandbox.client.layers", lambda: set(layers()) - without)
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with adopting_orphans():
        before = children(os.getpid())
        with Server(["numpy"]) as server:
            for _ in range(2):
                server.start(TARGET).fork()
            psutil.Process(server.process).kill()
        assert children(os.getpid()) == before
    assert other.poll() is None
    other.communicate(b"\n")
    assert other.returncode == 0


@given(
    st.dictionaries(st.text(min_size=1, max_size=3), st.integers(0, 3), max_size=4),
    st.sampled_from(["<f8", "|b1", "<i8", "|u1"]),
)
def test_checked_arrays_equal_the_arrays_sent(shapes: dict[str, int], kind: str) -> None:
    arrays = {name: np.ones((size, 2), dtype=kind) for name, size in shapes.items()}
    table, parts = table_of(arrays)
    received = checked(table, bytearray(b"".join(part.tobytes() for part in parts)))
    assert set(received) == set(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(received[name], array)


@pytest.mark.parametrize(
    ("table", "size"),
    [
        ({"a": ["|O", [1]]}, 8), ({"a": ["<U4", [1]]}, 16), ({"a": ["<f8", [-1]]}, 8), ({"a": ["<f8", [2**62, 2]]}, 8),
        ({"a": ["<f8", [1]]}, 9), ({"a": ["<f8", [1]]}, 7), ({"a": ["<f8", [1.0]]}, 8), ({"a": "<f8"}, 8),
        ([], 0), (None, 0), ({"a": ["<f8", [1, 1, 1, 1]]}, 8), ({str(n): ["<f8", [0]] for n in range(100)}, 0),
    ],
)  # fmt: skip
def test_malformed_tables_are_refused(table: object, size: int) -> None:
    with pytest.raises(MalformedError):
        checked(table, bytearray(size))


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this system has no memfd_create")
def test_sealing_is_repeated_while_the_kernel_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    real, refused = fcntl.fcntl, []

    def busy(file: int, command: int, argument: int = 0) -> int:
        if command == fcntl.F_ADD_SEALS and len(refused) < 3:
            refused.append(file)
            raise OSError(16, "busy")
        return real(file, command, argument)

    monkeypatch.setattr("fcntl.fcntl", busy)
    blob = packed({"x": np.arange(3.0)})
    assert len(refused) == 3
    np.testing.assert_array_equal(unpacked(os.dup(blob.file), blob.table)["x"], np.arange(3.0))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_process_that_is_adopted_while_the_tree_is_read_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    before = children(os.getpid())
    sleeper = subprocess.Popen(["sleep", "600"])
    readings: list[int] = []

    def late(process: int) -> set[int]:
        readings.append(process)
        return set() if len(readings) == 1 else children(process)

    monkeypatch.setattr("bench_sandbox.strays.children", late)
    end_strays(kept=before)
    assert sleeper.pid not in children(os.getpid())
    sleeper.wait()
