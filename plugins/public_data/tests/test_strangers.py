"""Downloads from faulty servers (silent, slow, endless, malformed, redirecting) fail in time with a one-line error."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import openml
import pytest
from bench_public_data import limits
from bench_public_data.openml_source import OpenML
from bench_public_data.uci import Uci

from bench_core import DataContext, DataSource, DataUnavailable

ID = 99992
ARFF = "/data/v1/download/1/toy.arff"
TOY = b"@RELATION toy\n@ATTRIBUTE x REAL\n@ATTRIBUTE outcome {no,yes}\n@DATA\n" + b"1.5,no\n2.5,yes\n" * 4


def described(url: str, parquet: str = "") -> dict[str, bytes]:
    """Return OpenML's descriptions of a data set, by path."""
    column = (
        "<oml:feature><oml:index>{0}</oml:index><oml:name>{1}</oml:name><oml:data_type>{2}</oml:data_type>{3}"
        "<oml:is_target>false</oml:is_target><oml:is_ignore>false</oml:is_ignore>"
        "<oml:is_row_identifier>false</oml:is_row_identifier>"
        "<oml:number_of_missing_values>0</oml:number_of_missing_values></oml:feature>"
    )
    levels = "".join(f"<oml:nominal_value>{level}</oml:nominal_value>" for level in ("no", "yes"))
    columns = column.format(0, "x", "numeric", "") + column.format(1, "outcome", "nominal", levels)
    description = (
        f'<oml:data_set_description xmlns:oml="http://openml.org/openml"><oml:id>{ID}</oml:id><oml:name>toy</oml:name>'
        "<oml:version>1</oml:version><oml:description>a toy</oml:description><oml:format>ARFF</oml:format>"
        f"<oml:licence>CC0</oml:licence><oml:url>{url}{ARFF}</oml:url>{parquet}"
        "<oml:default_target_attribute>outcome</oml:default_target_attribute><oml:status>active</oml:status>"
        "</oml:data_set_description>"
    )
    return {
        f"/api/v1/xml/data/{ID}": description.encode(),
        f"/api/v1/xml/data/features/{ID}":
            f'<oml:data_features xmlns:oml="http://openml.org/openml">{columns}</oml:data_features>'.encode(),
    }  # fmt: skip


SOON = limits.Limits(seconds=3.0, silence=0.5, most=200_000)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


def silent(line: socket.socket, end: threading.Event) -> None:
    end.wait()


def silent_after_its_head(line: socket.socket, end: threading.Event) -> None:
    line.sendall(HEAD + b"Content-Length: 1000\r\n\r\nhalf")
    end.wait()


def slow(line: socket.socket, end: threading.Event) -> None:
    line.sendall(HEAD + b"Content-Length: 1000000\r\n\r\n")
    while not end.wait(0.1):
        line.sendall(b"x")


def slow_head(line: socket.socket, end: threading.Event) -> None:
    line.sendall(HEAD + b"X-Long: ")
    while not end.wait(0.1):
        line.sendall(b"x")


def endless(line: socket.socket, end: threading.Event) -> None:
    line.sendall(HEAD + b"\r\n")
    while not end.is_set():
        line.sendall(b"0" * 65536)


def claims_a_wrong_length(line: socket.socket, end: threading.Event) -> None:
    line.sendall(HEAD + b"Content-Length: 100000\r\n\r\nthat was all")


def sends_no_http(line: socket.socket, end: threading.Event) -> None:
    line.sendall(b"\x00\x01 hello, this is no HTTP \xff\r\n\r\n")


def hangs_up(line: socket.socket, end: threading.Event) -> None:
    pass


def redirects_in_a_circle(line: socket.socket, end: threading.Event) -> None:
    line.sendall(b"HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def redirects_to_a_file(line: socket.socket, end: threading.Event) -> None:
    line.sendall(b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n")


SERVERS: dict[Callable[[socket.socket, threading.Event], None], str] = {
    silent: "sent nothing for 0.5 s",
    silent_after_its_head: "sent nothing for 0.5 s",
    slow: "it took longer than 3 s",
    slow_head: "it took longer than 3 s",
    endless: "the server sent more than 200000 bytes",
    claims_a_wrong_length: "",
    sends_no_http: "",
    hangs_up: "",
    redirects_in_a_circle: "",
    redirects_to_a_file: "",
}


class FaultyServer:
    """A server on raw sockets that answers the paths in ``bodies``, and misbehaves on all others."""

    def __init__(self, does: Callable[[socket.socket, threading.Event], None]) -> None:
        self.does, self.end = does, threading.Event()
        self.bodies: dict[str, bytes] = {}
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}"
        self.threads = [threading.Thread(target=self.accept, daemon=True)]
        self.threads[0].start()

    def accept(self) -> None:
        while not self.end.is_set():
            try:
                line, _ = self.listening.accept()
            except OSError:
                return
            thread = threading.Thread(target=self.answer, args=[line], daemon=True)
            thread.start()
            self.threads.append(thread)

    def answer(self, line: socket.socket) -> None:
        with line, suppress(OSError, IndexError):
            asked = line.recv(65536).decode("latin-1").split()[1].split("?")[0]
            if asked in self.bodies:
                body = self.bodies[asked]
                line.sendall(HEAD + f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
            else:
                self.does(line, self.end)

    def close(self) -> None:
        self.end.set()
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()
        for thread in self.threads:
            thread.join(5)


ALL = [pytest.param(one, id=one.__name__, marks=[pytest.mark.slow] * (one not in (silent, endless))) for one in SERVERS]


@pytest.fixture(params=ALL)
def faulty(request, monkeypatch) -> Iterator[FaultyServer]:
    monkeypatch.setattr(limits, "LIMITS", SOON)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")
    server = FaultyServer(request.param)
    monkeypatch.setenv("BUDGETBENCH_UCI_SERVER", server.url)
    monkeypatch.setattr(openml.config, "server", f"{server.url}/api/v1/xml")
    monkeypatch.setattr(openml.config, "connection_n_retries", 1)
    yield server
    server.close()


def expect_one_line(source: DataSource, context: DataContext, faulty: FaultyServer) -> None:
    started = time.monotonic()
    with pytest.raises(DataUnavailable) as caught:
        source.load(context)
    assert time.monotonic() - started < 60  # without limits, some never end
    message = str(caught.value)
    assert faulty.url in message
    assert SERVERS[faulty.does] in message
    assert "\n" not in message
    assert len(message) < 600
    assert not [path for path in context.cache.rglob("*") if path.is_file() and path.suffix != ".lock"]


def test_uci(faulty: FaultyServer, context: DataContext) -> None:
    expect_one_line(Uci(519), context, faulty)


def test_openml_description(faulty: FaultyServer, context: DataContext) -> None:
    expect_one_line(OpenML(ID), context, faulty)


def test_openml_table(faulty: FaultyServer, context: DataContext) -> None:
    faulty.bodies = described(faulty.url)
    expect_one_line(OpenML(ID), context, faulty)


@pytest.mark.weekly
def test_a_failed_parquet_download_falls_back_to_arff_or_to_one_line(
    faulty: FaultyServer, context: DataContext
) -> None:
    parquet = f"<oml:parquet_url>{faulty.url}/datasets/toy/dataset_{ID}.pq</oml:parquet_url>"
    faulty.bodies = {**described(faulty.url, parquet), ARFF: TOY}
    if SERVERS[faulty.does]:  # the first download used up its limits
        expect_one_line(OpenML(ID), context, faulty)
        return
    message = ""
    try:
        loaded = len(OpenML(ID).load(context).target)
    except DataUnavailable as error:  # the retries exceeded the time, or the connection cannot be retried
        message = str(error)
    else:
        assert loaded == 8
    assert not message or faulty.url in message
    assert "\n" not in message


def test_reads_outside_of_limited_are_not_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    read = socket.SocketIO.readinto
    with limits.limited():
        with limits.limited():
            pass
        assert socket.SocketIO.readinto is not read
    assert socket.SocketIO.readinto is read
    one, other = socket.socketpair()
    with one, other, one.makefile("rb") as file:
        other.sendall(b"hello\n")
        assert file.readline() == b"hello\n"
        assert one.gettimeout() is None
