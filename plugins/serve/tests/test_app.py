"""The HTTP interface: answers and prices as in a session, limits, and hostile requests."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from bench_policies import Columns
from bench_serve.app import create_app
from bench_serve.live import Limits
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.fixture
def client(policy: Any) -> TestClient:
    return TestClient(create_app(policy, Limits(sessions=3, body=4096), ("testserver",)), raise_server_exceptions=True)


def answered(client: TestClient, row: dict[str, Any], known: dict[str, Any] | None = None) -> dict[str, Any]:
    """Open a session, give the wanted values until there is an answer, and close it."""
    state = client.post("/sessions", json={"known": known or {}}).json()
    while state["wanted"]:
        assert state["answer"] is None
        values = {wanted["feature"]: row[wanted["feature"]] for wanted in state["wanted"]}
        before = state["cost"] + sum(wanted["price"] for wanted in state["wanted"])
        state = client.post(f"/sessions/{state['session']}/values", json={"values": values}).json()
        assert state["cost"] == pytest.approx(before)
    assert client.delete(f"/sessions/{state['session']}").status_code == 204
    return state


@pytest.mark.slow
def test_answers_and_costs_are_those_of_the_policy(patients: Any, policy: Any, client: TestClient) -> None:
    table = patients(40)
    decided = policy.decide(table)
    assert decided.cost.nunique() > 1
    for (_, row), expected in zip(table.iterrows(), decided.itertuples(), strict=True):
        state = answered(client, row.drop("outcome").to_dict())
        assert state["answer"]["best"] == expected.best
        assert state["answer"]["confidence"] == expected.probability
        assert state["cost"] == expected.cost


def test_known_values_cost_nothing_and_pay_for_their_group(patients: Any, policy: Any, client: TestClient) -> None:
    row = patients(40).drop(columns="outcome").iloc[int(policy.decide(patients(40)).cost.argmax())].to_dict()
    dear = answered(client, row)
    assert answered(client, row, row)["cost"] == 0
    assert answered(client, row, row)["answer"] == dear["answer"]
    without = {name: value for name, value in row.items() if name != "glucose"}
    assert answered(client, row, without)["cost"] == 8  # insulin is known, so the blood sample was paid before
    assert answered(client, row, {})["cost"] == dear["cost"] >= 10


def test_a_missing_value_is_null(client: TestClient) -> None:
    state = client.post("/sessions", json={}).json()
    first = state["wanted"][0]["feature"]
    after = client.post(f"/sessions/{state['session']}/values", json={"values": {first: None}})
    assert after.status_code == 200


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"known": {"agee": 1}}, "age"),
        ({"known": {"smoker": "yess"}}, "yes"),
        ({"known": {"smoker": [1]}}, "known.smoker"),
        ({"knwon": {}}, "body: there is no key 'knwon'; did you mean 'known'?"),
        ({"known": {"age": 10**400}}, "age"),
        ({"size": -1}, "size"),
        ({"known": {f"f{i}": 1 for i in range(100)}}, "f0"),
    ],
)
def test_an_invalid_opening_is_refused_by_name(client: TestClient, body: Any, named: str) -> None:
    refused = client.post("/sessions", content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert refused.status_code == 422
    assert named in refused.json()["detail"]


@pytest.mark.parametrize(
    "content",
    [b"{", b"\xff", b'{"known":{"age":NaN}}', b'{"known":{"age":Infinity}}', b'{"known":{"age":1e999}}', b"[" * 4000,
     b"", b'{"known":{"age":' + b"9" * 4000 + b"}}"],
)  # fmt: skip
def test_invalid_json_is_refused(client: TestClient, content: bytes) -> None:
    refused = client.post("/sessions", content=content, headers={"Content-Type": "application/json"})
    assert refused.status_code in (400, 422)
    assert refused.json()["detail"]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    )
)
def test_no_json_causes_a_server_error(policy: Any, body: Any) -> None:
    client = TestClient(create_app(policy, Limits(sessions=100), ("testserver",)))
    for content in (body, {"known": body}, {"known": {"age": body, "smoker": body}}):
        text = json.dumps(content)
        reply = client.post("/sessions", content=text, headers={"Content-Type": "application/json"})
        assert reply.status_code in (201, 400, 422)


def test_a_refused_value_changes_nothing(client: TestClient) -> None:
    state = client.post("/sessions", json={}).json()
    url = f"/sessions/{state['session']}"
    wanted = [wanted["feature"] for wanted in state["wanted"]]
    assert client.post(f"{url}/values", json={"values": {wanted[0]: 1, "scan": 2}}).status_code == 422
    assert client.get(url).json() == state


def test_the_number_of_sessions_is_limited_and_closing_one_frees_a_place(client: TestClient) -> None:
    opened = [client.post("/sessions", json={}).json()["session"] for _ in range(3)]
    assert len(set(opened)) == 3
    full = client.post("/sessions", json={})
    assert full.status_code == 503
    assert 1 <= int(full.headers["Retry-After"]) <= 900
    assert client.delete(f"/sessions/{opened[0]}").status_code == 204
    assert client.get(f"/sessions/{opened[0]}").status_code == 404
    assert client.post("/sessions", json={}).status_code == 201


def test_a_large_body_is_refused(client: TestClient) -> None:
    assert client.post("/sessions", content=b" " * 5000).status_code == 413
    assert client.post("/sessions", content=iter([b" " * 3000] * 2)).status_code == 413


def test_another_host_header_is_refused(client: TestClient) -> None:
    assert client.get("/policy", headers={"Host": "evil.example"}).status_code == 400


def test_the_policy_is_described(policy: Any, client: TestClient) -> None:
    described = client.get("/policy").json()
    assert described["classes"] == ["sick", "well"]
    features = {feature["name"]: feature for feature in described["features"]}
    assert {name: feature["price"] for name, feature in features.items()} == {
        "age": 1, "smoker": 1, "glucose": 10, "insulin": 7,
    }  # fmt: skip
    assert features["smoker"]["categories"] == ["no", "yes"]


def test_the_documentation_needs_no_other_server(client: TestClient) -> None:
    page = client.get("/").text
    assert "//" not in page.replace("window.location.protocol + '//'", "").replace("http://www.w3.org", "")
    assert client.get("/static/swagger-ui-bundle.js").status_code == 200
    paths = client.get("/openapi.json").json()["paths"]
    assert {"/policy", "/sessions", "/sessions/{session}", "/sessions/{session}/values"} <= set(paths)


def test_sizes_are_needed_where_prices_depend_on_them(patients: Any) -> None:
    import bench_core

    prices = {"prices": {"age": [1.0, 0.5], "glucose": 8.0, "insulin": 5.0, "smoker": 1.0}}
    table = patients().assign(length=np.arange(300) % 7 + 1.0)
    policy = bench_core.fit_policy(
        "single-stage", table, prices, target="outcome", columns=Columns(size="length"), splits=0
    )
    client = TestClient(create_app(policy, hosts=("testserver",)))
    assert client.post("/sessions", json={}).status_code == 422
    state = client.post("/sessions", json={"size": 4}).json()
    assert {wanted["feature"]: wanted["price"] for wanted in state["wanted"]}["age"] == 3
