"""Measure sessions per second of ``bench serve`` over loopback, and of the same sessions in this process.

    python benchmarks/bench_serve.py

Every answer and cost is compared with the policy's decision on the complete row. The table shows how many sessions a
second are opened and answered feature by feature.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bench_core

SESSIONS, CONNECTIONS = 2000, 8


def patients(rows: int) -> pd.DataFrame:
    """A table of eight features, five of which determine the label."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(rows, 8)), columns=[f"f{i}" for i in range(8)])
    return table.assign(y=np.where(table.iloc[:, :5].sum(axis=1) + rng.normal(size=rows) > 0, "sick", "well"))


async def call(reader: Any, writer: Any, path: str, body: Any) -> Any:
    """Post a JSON body on an open connection and return the JSON answer."""
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
    answered = await reader.readuntil(b"\r\n\r\n")
    found = re.search(rb"content-length: (\d+)", answered, re.IGNORECASE)
    return json.loads(await reader.readexactly(int(found[1])))  # type: ignore[index]


async def client(port: int, rows: list[dict[str, Any]], out: list[Any]) -> None:
    """Answer rows one after the other on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for row in rows:
        state = await call(reader, writer, "/sessions", {})
        while state["wanted"]:
            values = {wanted["feature"]: row[wanted["feature"]] for wanted in state["wanted"]}
            state = await call(reader, writer, f"/sessions/{state['session']}/values", {"values": values})
        out.append((row["row"], state["answer"]["best"], state["cost"]))
    writer.close()


async def clients(port: int, rows: list[dict[str, Any]]) -> list[Any]:
    """Answer all rows on several connections at once."""
    out: list[Any] = []
    await asyncio.gather(*(client(port, rows[start::CONNECTIONS], out) for start in range(CONNECTIONS)))
    return sorted(out)


def main() -> None:
    """Print the table."""
    from bench_policies import save_policy

    table = patients(SESSIONS)
    policy = bench_core.fit_policy("cost-ordered", table, {"prices": list(range(1, 9))}, target="y", splits=0)
    expected = policy.decide(table)
    rows = [row | {"row": number} for number, row in enumerate(table.drop(columns="y").to_dict("records"))]
    start = time.perf_counter()
    for row in rows:
        session = policy.start()
        while session.wanted:
            session.give({name: row[name] for name in session.wanted})
        session.answer  # noqa: B018
    inside = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as place:
        folder = save_policy(policy, Path(place) / "policy")
        bench = Path(sys.executable).with_name("bench")
        with subprocess.Popen([bench, "serve", folder, "--port", "0"], stdout=subprocess.PIPE, text=True) as server:
            found = re.search(r":(\d+)/docs", server.stdout.readline())  # type: ignore[union-attr]
            start = time.perf_counter()
            answers = asyncio.run(clients(int(found[1]), rows))  # type: ignore[index]
            outside = time.perf_counter() - start
            server.terminate()
    assert answers == [(i, row.best, row.cost) for i, row in enumerate(expected.itertuples())]
    steps = np.mean([len(names) for names in expected.acquired])
    print(f"| {SESSIONS} sessions, {steps:.1f} features each | sessions a second |\n|---|---|")
    print(f"| in one process, one after the other | {SESSIONS / inside:.0f} |")
    print(f"| over HTTP, {CONNECTIONS} connections | {SESSIONS / outside:.0f} |")


if __name__ == "__main__":
    main()
