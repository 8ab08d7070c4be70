"""``bench serve`` in a process, with a real client over loopback."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(sys.executable).with_name("bench")


@pytest.fixture
def port(saved: Path) -> Iterator[int]:
    with subprocess.Popen([BENCH, "serve", str(saved), "--port", "0"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        found = re.search(r":(\d+)/docs", server.stdout.readline())
        assert found
        yield int(found[1])
        server.terminate()
        server.wait(10)


def call(connection: HTTPConnection, method: str, path: str, body: Any = None) -> Any:
    """Send a request with a JSON body and return the JSON answer."""
    connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
    with connection.getresponse() as reply:
        content = reply.read()
        assert reply.status in (200, 201, 204), content
        return json.loads(content) if content else None


@pytest.mark.slow
def test_a_thousand_sessions_at_once_get_the_policys_answers(patients: Any, policy: Any, port: int) -> None:
    table = patients(1000)
    expected = policy.decide(table)
    rows = table.drop(columns="outcome").to_dict("records")
    with ThreadPoolExecutor(16) as threads:
        clients = [HTTPConnection("127.0.0.1", port, timeout=60) for _ in range(16)]
        parts = [range(client, 1000, 16) for client in range(16)]
        opened: dict[int, Any] = {}

        def open_all(client: int) -> None:
            for row in parts[client]:
                opened[row] = call(clients[client], "POST", "/sessions", {})

        def answer_all(client: int) -> None:
            for row in parts[client]:
                state = opened[row]
                while state["wanted"]:
                    values = {wanted["feature"]: rows[row][wanted["feature"]] for wanted in state["wanted"]}
                    state = call(clients[client], "POST", f"/sessions/{state['session']}/values", {"values": values})
                opened[row] = state

        list(threads.map(open_all, range(16)))
        assert len({state["session"] for state in opened.values()}) == 1000
        list(threads.map(answer_all, range(16)))
    assert [opened[row]["answer"]["best"] for row in range(1000)] == list(expected.best)
    assert [opened[row]["cost"] for row in range(1000)] == list(expected.cost)


@pytest.mark.weekly
def test_a_port_in_use_and_a_folder_without_a_policy_are_reported_in_one_line(
    port: int, saved: Path, tmp_path: Path
) -> None:
    for arguments, named in [([str(saved), "--port", str(port)], str(port)), ([str(tmp_path)], str(tmp_path))]:
        done = subprocess.run([BENCH, "serve", *arguments], capture_output=True, text=True, timeout=60)
        assert done.returncode == 2
        assert named in done.stderr
        assert "Traceback" not in done.stderr
