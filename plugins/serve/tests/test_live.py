"""Open sessions expire after a time without use."""

from __future__ import annotations

from typing import Any

import pytest
from bench_serve.live import Limits, Live


def test_sessions_expire_after_a_time_without_use(policy: Any) -> None:
    now = [0.0]
    live = Live(policy, Limits(sessions=2, seconds=10), lambda: now[0])
    (first, _), (second, _) = live.open({}, None), live.open({}, None)
    now[0] = 8.0
    live.get(first)
    now[0] = 12.0
    live.get(first)  # renewed at 8
    with pytest.raises(KeyError):
        live.get(second)
    assert len(live) == 1
    live.open({}, None)
    now[0] = 100.0
    assert len(live) == 0
