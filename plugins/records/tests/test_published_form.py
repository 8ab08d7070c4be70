"""Published records have all their numbers, and those details of a fit that a page shows."""

from __future__ import annotations

from bench_records import Records, published_form, tabulate
from hypothesis import given
from hypothesis import strategies as st
from support.synthetic import labelled, record_of

from bench_core import canonical_json

NAMES = ["loss", "loss_margin", "trees", "lambda", "usage", "evaluations", "features"]


def records(history: dict[str, list[float]], details: dict[str, object]) -> Records:
    found = tabulate(labelled([record_of("D", "A", seed, {"cost": 1.0 + seed}) for seed in range(2)]))
    for info in found.infos.values():
        info |= {"history": history, "diagnostics": {"lambdas": [1.0, 2.0]}, "usage": [[0.5]], "evaluations": {}}
    found.policies["details"] = canonical_json(details)
    return found


@given(st.sets(st.sampled_from(NAMES)), st.sets(st.sampled_from(NAMES)), st.sets(st.sampled_from(NAMES)))
def test_only_what_is_shown_is_published_and_publishing_again_changes_nothing(
    shown: set[str], series: set[str], keys: set[str]
) -> None:
    whole = records({key: [1.0, 2.0] for key in series}, {key: [1, 2] for key in keys})
    found = published_form(whole, shown)
    for info in found.infos.values():
        assert set(info["history"]) == {n for n in series if n.removesuffix("_margin") in shown}
        assert {key for key in ("usage", "evaluations") if key in info} == shown & {"usage", "evaluations"}
        assert info["diagnostics"] == {"lambdas": [1.0, 2.0]}
    assert set(found.policies["details"]) == {canonical_json({key: [1, 2] for key in sorted(keys & shown)})}
    numbers = [column for column in whole.policies if "." in column]
    assert found.policies[numbers].equals(whole.policies[numbers])
    assert published_form(found, shown) is found


def test_details_that_place_a_policy_on_a_grid_are_published() -> None:
    found = published_form(records({}, {"lambda": 0.5, "kkt_residual": 1e-12}), set())
    assert set(found.policies["details"]) == {'{"lambda":0.5}'}


def test_records_are_not_changed_by_publishing_them() -> None:
    whole = records({"loss": [1.0]}, {"trees": [1]})
    before = canonical_json(whole.infos)
    published_form(whole, set())
    assert canonical_json(whole.infos) == before
    assert set(whole.policies["details"]) == {'{"trees":[1]}'}
