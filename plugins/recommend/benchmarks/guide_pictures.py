"""Make the pictures of docs/how-to/recommend.md from the guide's own table and prices.

    python plugins/recommend/benchmarks/guide_pictures.py

``recommend-tradeoff.svg`` is the figure that ``bench recommend`` draws for the guide's table.
``recommend-session.svg`` shows real requests to the guide's policy as ``bench serve`` answers them, over HTTP.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from io import StringIO
from pathlib import Path

from bench_policies import Goal, fit_policy
from bench_recommend import recommend
from bench_recommend.tradeoff import draw_tradeoff

GUIDE = Path(__file__).parents[3] / "docs" / "how-to" / "recommend.md"
METHODS = ("affordable-subset", "cost-ordered", "eg2")
"""The methods of the guide's command."""
VALUES = {"age": 61, "ward": "B", "glucose": 148, "insulin": 85, "scan": 0.4}


def write_table() -> None:
    """Write the guide's table, by running its code, and its prices to the working folder."""
    text = GUIDE.read_text(encoding="utf-8")
    code = re.search(r"```python\n(import csv.*?)```", text, re.S)
    prices = re.search(r'```toml title="prices.toml"\n(.*?)```', text, re.S)
    assert code
    assert prices
    exec(compile(code[1], "recommend.md", "exec"), {})
    Path("prices.toml").write_text(prices[1], encoding="utf-8")


def draw_session(path: Path) -> None:
    """Serve a policy, ask it about one row, and draw the requests with their responses."""
    from bench_serve.app import create_app
    from rich.console import Console
    from starlette.testclient import TestClient

    policy = fit_policy("cost-ordered", "patients.csv", "prices.toml", target="outcome", goal=Goal(budget=20), splits=0)
    console = Console(record=True, width=96, file=StringIO(), force_terminal=True)

    def show(request: str, body: object, state: dict[str, object]) -> None:
        console.print(f"[bold]{request}[/bold]")
        console.print_json(json.dumps(body), indent=None)
        shown = {name: state[name] for name in ("wanted", "cost", "answer")}
        if isinstance(shown["answer"], dict):
            shown["answer"] = {name: shown["answer"][name] for name in ("label", "confidence", "refused")}
            shown["answer"]["confidence"] = round(shown["answer"]["confidence"], 3)
        console.print_json(json.dumps(shown), indent=2)
        console.print()

    with TestClient(create_app(policy), base_url="http://127.0.0.1") as client:
        body: dict[str, object] = {"known": {"age": VALUES["age"], "ward": VALUES["ward"]}}
        state = client.post("/sessions", json=body).json()
        show("POST /sessions", body, state)
        while state["answer"] is None:
            body = {"values": {wanted["feature"]: VALUES[wanted["feature"]] for wanted in state["wanted"]}}
            state = client.post(f"/sessions/{state['session']}/values", json=body).json()
            show("POST /sessions/ID/values", body, state)
    svg = console.export_svg(title="bench serve policy", unique_id="session")
    svg = re.sub(r"@font-face \{.*?\}|<!--.*?-->", "", svg, flags=re.S)  # fetch no fonts from other hosts
    path.write_text("\n".join(line.rstrip() for line in svg.splitlines()) + "\n", encoding="utf-8")


def main() -> None:
    """Make the pictures; fail if one is larger than 100 kB."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_table()
        found = recommend(
            "patients.csv", "prices.toml", target="outcome", goal=Goal(budget=20), methods=METHODS, splits=4
        )
        print(found.text)
        draw_tradeoff(found, GUIDE.with_name("recommend-tradeoff.svg"))
        draw_session(GUIDE.with_name("recommend-session.svg"))
    for name in ("tradeoff", "session"):
        size = GUIDE.with_name(f"recommend-{name}.svg").stat().st_size
        print(f"recommend-{name}.svg: {size} bytes")
        assert size <= 100_000


if __name__ == "__main__":
    main()
