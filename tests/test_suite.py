"""Suites: wrong requests get one message that names file, key and the nearest right thing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import tiny_plugin
from support.bench import ROOT, Bench

from bench_core.errors import RequestError
from bench_core.plugins import Registry, load_registry
from bench_core.suite import Suite, load_suite, parse_suite

GOOD = """
[suite]
name = "s"

[protocol]
seeds = 2
threshold = 0.7

[[datasets]]
use = "blobs"

[[methods]]
use = "slopes"
"""


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_registry([("tiny", tiny_plugin)], entry_points=False)


def parse(text: str, registry: Registry) -> Suite:
    return parse_suite(text, "s.toml", registry)


def change(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


WRONG = {
    "unknown key of the file": ("metric = ['cost']\n" + GOOD, ["metric", "did you mean 'metrics'?"]),
    "unknown key of a table": (
        change("threshold", "treshold"),
        ["protocol.treshold", "did you mean 'threshold'?"],
    ),
    "unknown key of a method": (
        change('use = "slopes"', 'use = "slopes"\nparameter = {}'),
        ["methods[0].parameter", "did you mean 'parameters'?"],
    ),
    "unknown key of a split": (
        change("seeds = 2", "seeds = 2\nsplit = { trian = 0.5 }"),
        ["protocol.split.trian", "did you mean 'train'?"],
    ),
    "unknown key of costs": (
        change('use = "blobs"', 'use = "blobs"\ncosts = { use = "uniform", params = {} }'),
        ["datasets[0].costs", "params"],
    ),
    "unknown method": (
        change("slopes", "slops"),
        ["methods[0]", "no method 'slops'", "did you mean 'slopes'?"],
    ),
    "unknown data set": (
        change("blobs", "blob"),
        ["datasets[0]", "no data set 'blob'", "did you mean 'blobs'?"],
    ),
    "unknown cost scheme": (
        change('use = "blobs"', 'use = "blobs"\ncosts = { use = "unifrom" }'),
        ["datasets[0]", "no cost scheme 'unifrom'", "did you mean 'uniform'?"],
    ),
    "unknown metric": ("metrics = ['converage']\n" + GOOD, ["metrics[0]", "did you mean 'coverage'?"]),
    "unknown parameter": (
        change('use = "slopes"', 'use = "slopes"\nparameters = { slope = [1.0] }'),
        ["methods[0] 'slopes'", "no parameter 'slope'", "did you mean 'slopes'?"],
    ),
    "wrong parameter type": (
        change('use = "slopes"', 'use = "slopes"\nparameters = { noise = "much" }'),
        ["methods[0] 'slopes'", "noise", "number"],
    ),
    "threshold of zero": (change("0.7", "0.0"), ["protocol.threshold", "greater than 0", "given: 0.0"]),
    "threshold above one": (change("0.7", "1.5"), ["protocol.threshold", "less than or equal to 1"]),
    "threshold NaN": (change("0.7", "nan"), ["protocol.threshold"]),
    "no seeds": (change("seeds = 2", "seeds = 0"), ["protocol", "seeds must be"]),
    "a seed twice": (change("seeds = 2", "seeds = [1, 1]"), ["protocol", "distinct"]),
    "fractions above one": (
        change("seeds = 2", "split = { train = 0.9, validation = 0.3, test = 0.1 }"),
        ["protocol.split", "more than 1"],
    ),
    "unknown encoding": (
        change("seeds = 2", "encode = 'one-hot'"),
        ["protocol.encode", "'one-hot' is unknown", "did you mean 'onehot'?"],
    ),
    "a name twice": (GOOD + '[[methods]]\nuse = "slopes"\n', ["methods", "'slopes' is used twice"]),
    "a data set it does not have": (
        change('use = "slopes"', 'use = "slopes"\nonly = ["Blobs"]'),
        ["methods[0].only", "did you mean 'blobs'?"],
    ),
    "parameters for a data set it does not have": (
        change('use = "slopes"', 'use = "slopes"\non = { blubs = { noise = 1.0 } }'),
        ["methods[0].on", "did you mean 'blobs'?"],
    ),
    "an unknown selection": (
        change('use = "slopes"', 'use = "slopes"\nselect = "combine"'),
        ["methods[0].select", "did you mean 'combined'?"],
    ),
    "no method": ('[suite]\nname = "s"\n[[datasets]]\nuse = "blobs"\n', ["methods"]),
    "a name that is no file name": (change('name = "s"', 'name = "../s"'), ["suite.name"]),
    "not TOML": ("[suite\n", ["is not TOML"]),
}


@pytest.mark.parametrize(("text", "said"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_suite_is_refused_with_file_key_and_remedy(
    text: str, said: list[str], registry: Registry
) -> None:
    with pytest.raises(RequestError) as caught:
        parse(text, registry)
    for part in ["s.toml", *said]:
        assert part in str(caught.value)


def test_a_wrong_request_exits_with_2_and_runs_nothing(bench: Bench) -> None:
    suite = bench.suite('[[datasets]]\nuse = "blobs"\n[[methods]]\nuse = "slops"\n')
    said = bench("run", suite, expect=2)
    assert "did you mean 'slopes'?" in said.stderr
    assert not (bench.folder / ".bench-store").exists()
    assert "there is no suite other.yaml" in bench("run", "other.yaml", expect=2).stderr
    assert "did you mean 's.toml'?" in bench("run", "ss.toml", expect=2).stderr
    assert bench("run", suite, "--only", "methods=slopes", expect=2)
    assert bench("run", suite, "--timeout", "soon", expect=2)


def test_only_names_what_the_suite_has(bench: Bench) -> None:
    suite = bench.suite('[[datasets]]\nuse = "blobs"\n[[methods]]\nuse = "slopes"\n')
    said = bench("run", suite, "--only", "method=slops", expect=2)
    assert "the suite has no method 'slops'; did you mean 'slopes'?" in said.stderr


def test_a_grid_is_every_combination_and_overrides_apply_where_they_are_said(registry: Registry) -> None:
    text = change(
        'use = "slopes"',
        'use = "slopes"\ngrid = { noise = [0.0, 1.0], seconds = [0.0, 0.1] }\non = { blobs = { slopes = [2.0] } }',
    )
    trials = list(parse(text, registry).trials())
    assert len(trials) == 2 * 4
    assert [t.point for t in trials] == [0, 1, 2, 3] * 2
    assert {(t.estimator.noise, t.estimator.seconds) for t in trials} == {  # type: ignore[attr-defined]
        (0.0, 0.0),
        (0.0, 0.1),
        (1.0, 0.0),
        (1.0, 0.1),
    }
    assert all(t.estimator.slopes == (2.0,) for t in trials)  # type: ignore[attr-defined]


def test_a_trials_name_knows_what_matters_and_nothing_else(registry: Registry) -> None:
    def names(text: str) -> list[str]:
        return [t.name("content") for t in parse(text, registry).trials()]

    base = names(GOOD)
    assert len(set(base)) == 2
    same = [
        change('use = "slopes"', 'use = "slopes"\nname = "other"'),
        change('use = "blobs"', 'use = "blobs"\nname = "other"'),
        change('use = "slopes"', 'use = "slopes"\nparameters = { noise = 0.0 }'),
        change("seeds = 2", "seeds = [0, 1]"),
        change("seeds = 2", "seeds = 2\naudit_rounds = 2"),
    ]
    for text in same:
        assert names(text) == base
    other = [
        change("0.7", "0.8"),
        change('use = "slopes"', 'use = "slopes"\nparameters = { noise = 0.1 }'),
        change('use = "slopes"', 'use = "slopes"\nreject = false'),
        change("seeds = 2", "seeds = 2\nencode = 'raw'"),
        change("seeds = 2", "seeds = 2\naudit_rounds = 5"),
        change("seeds = 2", "seeds = 2\nsplit = { train = 0.4 }"),
        change('use = "blobs"', 'use = "blobs"\ncosts = { use = "random" }'),
    ]
    for text in other:
        assert not set(names(text)) & set(base)
    assert names(GOOD.replace("slopes", "peeker"))[0] not in base


def test_the_identity_is_canonical_json(registry: Registry) -> None:
    import json

    from bench_core.canonical import canonical_json

    for trial in parse(GOOD, registry).trials():
        text = trial.identity("f" * 64)
        assert canonical_json(json.loads(text)) == text


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=8, unique=True))
def test_seeds_may_be_listed(seeds: list[int]) -> None:
    registry = load_registry([("tiny", tiny_plugin)], entry_points=False)
    suite = parse(change("seeds = 2", f"seeds = {seeds}"), registry)
    assert [t.seed for t in suite.trials()] == seeds


@pytest.mark.parametrize("path", sorted((ROOT / "suites").glob("*.toml")), ids=lambda p: p.stem)
def test_every_suite_in_the_repository_is_right(path: Path) -> None:
    suite = load_suite(path, load_registry())
    assert suite.name == path.stem
    assert next(suite.trials())


def test_support_is_imported_from_this_folder() -> None:
    assert Path(sys.modules["support"].__file__ or "").parent == Path(__file__).parent / "support"
