"""A metric whose definition changed is recomputed, for the store and for the export; old values are never shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bench_records.committed import records_of
from support import tiny_plugin
from support.publishing import PUBLISHING
from support.sessions import Place

from bench_core import Metric, Outcome, hookimpl
from bench_core.suites import load_registry

SUITE = '[[datasets]]\nuse = "blobs"\n[[methods]]\nuse = "slopes"\nselect = "ours"\n'


def first(outcome: Outcome) -> float:
    """The metric as it was first defined."""
    return float(outcome.bill.mean())


def second(outcome: Outcome) -> float:
    """The metric as it is now defined."""
    return 1000.0 + float(outcome.bill.mean())


def place_with(folder: Path, metric: Metric) -> Place:
    class Ours:
        BENCH_CONTRACT_VERSION = 1

        @hookimpl
        def bench_register_metrics(self, register: Any) -> None:
            register(metric)

    plugins = [*PUBLISHING, ("tiny", tiny_plugin), ("ours", Ours())]
    return Place(folder, load_registry(plugins, entry_points=False))


def shown(place: Place, store: str = "store") -> list[float]:
    session = place.session(SUITE, store)
    return records_of(session).policies["test.ours"].tolist()


def test_a_stored_metric_of_another_version_is_computed_again(tmp_path: Path) -> None:
    old = Metric("ours", first, "min")
    place_with(tmp_path, old).run(SUITE)
    before = shown(place_with(tmp_path, old))
    new = place_with(tmp_path, replace(old, function=second, version=2))
    assert new.run(SUITE).summary.computed == 0, "decisions are stored, so nothing is fitted again"
    assert shown(new) == [1000.0 + value for value in before]
    assert shown(place_with(tmp_path, old)) == before, "the other version's values stay"


@pytest.mark.slow
def test_a_published_metric_of_another_version_is_not_shown(tmp_path: Path) -> None:
    old = Metric("ours", first, "min")
    place_with(tmp_path, old).run(SUITE)
    new = place_with(tmp_path, replace(old, function=second, version=2))
    # An export has no decisions from which to compute the metric, so the trials are run again.
    assert new.run(SUITE, store="other").summary.computed == len(new.session(SUITE, "other").plan().planned)
    assert all(value >= 1000.0 for value in shown(new, "other"))
    assert new.run(SUITE, store="third").summary.computed == 0, "the export has this version now"
    assert all(value >= 1000.0 for value in shown(new, "third"))
