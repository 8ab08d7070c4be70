"""Fixtures: a small OpenML and UCI server on the loopback interface, and the directory of real data."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bench_core import DataContext


@dataclass
class Answers:
    """The responses of a loopback server.

    Attributes:
        url: the server's address.
        bodies: path → body.
        status: path → status code, where it is not 200.
        promised: path → bytes that Content-Length claims in excess of the body.
        asked: the requests so far, as ``METHOD path``.
    """

    url: str = ""
    bodies: dict[str, bytes] = field(default_factory=dict)
    status: dict[str, int] = field(default_factory=dict)
    promised: dict[str, int] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def server(monkeypatch) -> Iterator[Answers]:
    answers = Answers()

    class Handler(BaseHTTPRequestHandler):
        def answer(self, with_body: bool) -> None:
            path = self.path.split("?")[0]
            answers.asked.append(f"{self.command} {path}")
            body = answers.bodies.get(path)
            if body is None:
                self.send_error(404)
                return
            self.send_response(answers.status.get(path, 200))
            self.send_header("Content-Length", str(len(body) + answers.promised.get(path, 0)))
            self.send_header("Last-Modified", "Sat, 01 Jan 2022 00:00:00 GMT")
            self.send_header("ETag", '"0"')
            self.end_headers()
            if with_body:
                self.wfile.write(body)

        def do_GET(self) -> None:
            self.answer(with_body=True)

        def do_HEAD(self) -> None:
            self.answer(with_body=False)

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")
    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    answers.url = f"http://127.0.0.1:{listening.server_address[1]}"
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield answers
    listening.shutdown()
    listening.server_close()


@pytest.fixture
def context(tmp_path) -> DataContext:
    """A context with an empty cache and no mirror."""
    return DataContext(cache=tmp_path / "cache")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The directory of real data (see this plugin's README); the test is skipped without it."""
    named = os.environ.get("BUDGETBENCH_SHARED")
    if not named:
        pytest.skip("BUDGETBENCH_SHARED is not set: it names a directory with openml_cache/ and files/")
    return Path(named)
