"""Suites: an invalid one gets one message that names file, key and the nearest valid name."""

from __future__ import annotations

import copy
import datetime
import json
import math
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from bench_public_data import plugin as public_data
from hypothesis import given, settings
from hypothesis import strategies as st
from support import tiny_plugin
from support.bench import ROOT, SMALL, Bench
from support.publishing import PUBLISHING

from bench_core import Metric, hookimpl
from bench_core.contract.errors import RequestError
from bench_core.plugins.manager import load_registry
from bench_core.plugins.registry import Registry
from bench_core.run.suite import Suite
from bench_core.run.suite_file import load_suite, parse_suite, suite_of

GOOD = f'\n[suite]\nname = "s"\n{SMALL}'


REGISTRY = load_registry([*PUBLISHING, ("tiny", tiny_plugin)], entry_points=False)


@pytest.fixture(scope="module")
def registry() -> Registry:
    return REGISTRY


def parse(text: str, registry: Registry) -> Suite:
    return parse_suite(text, "s.toml", registry)


def change(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


def test_drawn_from_is_not_part_of_a_trials_name(registry: Registry) -> None:
    counts = "split = { train = 10, validation = 5, test = 5 }"
    said = counts.replace(" }", ", drawn_from = 1000 }")
    plain, drawn = (parse(change("seeds = 2", f"seeds = 2\n{split}"), registry) for split in (counts, said))
    assert [trial.split for trial in plain.trials()] == [trial.split for trial in drawn.trials()]
    [dataset] = drawn.dataset_names()
    assert (plain.drawn_from(dataset), drawn.drawn_from(dataset)) == (None, 1000)


def test_a_suite_is_refused_if_two_plugins_claim_a_metric_that_selects_by_default() -> None:
    """Otherwise its pages could not be written after its trials have run."""
    claiming = ModuleType("claiming")

    @hookimpl
    def bench_register_metrics(register: Callable[[Metric], None]) -> None:
        register(Metric("mse", len, "min"))

    vars(claiming).update(BENCH_CONTRACT_VERSION=1, bench_register_metrics=bench_register_metrics)
    plugins = [*PUBLISHING, ("tiny", tiny_plugin), ("claiming", claiming)]
    with pytest.raises(RequestError, match="'mse' is claimed by plugins 'bench-core' and 'claiming'"):
        parse(GOOD, load_registry(plugins, entry_points=False))


CLAIM = '[[claims]]\ntext = "t"\nsource = "p. 1"\nstanding = "same data"\n'
PAPER = '[[paper]]\ndataset = "blobs"\nmethod = "slopes"\nmetric = "cost"\n'

WRONG = {
    "unknown key of the file": ("metric = ['cost']\n" + GOOD, ["metric", "did you mean 'metrics'?"]),
    "unknown key of a table": (change("threshold", "treshold"), ["protocol.treshold", "did you mean 'threshold'?"]),
    "unknown key of a method": (
        change('use = "slopes"', 'use = "slopes"\nparameter = {}'),
        ["methods[0].parameter", "did you mean 'parameters'?"],
    ),
    "a parameter beside its method": (
        change('use = "slopes"', 'use = "slopes"\nnoise = 0.5'),
        ["methods[0].noise: unknown key 'noise'", "a parameter belongs in parameters = { … }"],
    ),
    "unknown key of a split": (
        change("seeds = 2", "seeds = 2\nsplit = { trian = 0.5 }"),
        ["protocol.split.trian", "did you mean 'train'?"],
    ),
    "unknown key of costs": (
        change('use = "blobs"', 'use = "blobs"\ncosts = { use = "uniform", params = {} }'),
        ["datasets[0].costs", "params"],
    ),
    "unknown method": (change("slopes", "slops"), ["methods[0]", "no method 'slops'", "did you mean 'slopes'?"]),
    "unknown data set": (change("blobs", "blob"), ["datasets[0]", "no data set 'blob'", "did you mean 'blobs'?"]),
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
    "a table smaller than its parts": (
        change("seeds = 2", "split = { train = 50, validation = 25, test = 25, drawn_from = 99 }"),
        ["protocol.split", "'drawn_from' is 99", "100"],
    ),
    "a table's rows beside fractions": (
        change("seeds = 2", "split = { train = 0.5, drawn_from = 99 }"),
        ["protocol.split", "'drawn_from'", "counts"],
    ),
    "splits drawn from something else": (
        change("seeds = 2", "split = { drawn_from = 'afresh' }"),
        ["protocol.split.drawn_from", "independent"],
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
    "an unknown selection on a data set": (
        change('use = "blobs"', 'use = "blobs"\nselect = "combine"'),
        ["datasets[0].select", "did you mean 'combined'?"],
    ),
    "no method": ('[suite]\nname = "s"\n[[datasets]]\nuse = "blobs"\n', ["methods"]),
    "a name that is no file name": (change('name = "s"', 'name = "../s"'), ["suite.name"]),
    "not TOML": ("[suite\n", ["is not TOML"]),
    "a name that is the index's file": (change('name = "s"', 'name = "ReadMe"'), ["suite.name", "'ReadMe'"]),
    "a name that is the site's index": (change('name = "s"', 'name = "index"'), ["suite.name"]),
    "a name that is another page's file": (change('name = "s"', 'name = "other.md"'), ["suite.name"]),
    "a name that is this folder": (change('name = "s"', 'name = "."'), ["suite.name"]),
    "a name that is the folder above": (change('name = "s"', 'name = ".."'), ["suite.name"]),
    "a name in another folder": (change('name = "s"', 'name = "a/b"'), ["suite.name"]),
    "a name of 300 letters": (change('name = "s"', f'name = "{"s" * 300}"'), ["suite.name", "100 characters"]),
    "a data set's name of 300 letters": (
        change('use = "blobs"', f'use = "blobs"\nname = "{"b" * 300}"'),
        ["datasets[0].name", "200 characters"],
    ),
    "a name of two lines": (change('use = "blobs"', 'use = "blobs"\nname = "a\\nb"'), ["datasets[0].name"]),
    "a list of no seeds": (change("seeds = 2", "seeds = []"), ["protocol.seeds"]),
    "no seeds on a data set": (change('use = "blobs"', 'use = "blobs"\nseeds = 0'), ["datasets[0].seeds"]),
    "a list of no seeds on a data set": (change('use = "blobs"', 'use = "blobs"\nseeds = []'), ["datasets[0].seeds"]),
    "seeds as a truth": (change("seeds = 2", "seeds = true"), ["protocol.seeds", "whole number"]),
    "a seed as a truth": (change("seeds = 2", "seeds = [0, true]"), ["protocol.seeds", "whole number"]),
    "seeds as a fraction": (change("seeds = 2", "seeds = 2.0"), ["protocol.seeds", "whole number"]),
    "far too many seeds": (change("seeds = 2", "seeds = 1000000000"), ["protocol.seeds", "10000"]),
    "a seed that no generator takes": (change("seeds = 2", "seeds = [4294967296]"), ["protocol.seeds"]),
    "a huge number of seeds": (change("seeds = 2", f"seeds = 1{'0' * 400}"), ["protocol.seeds"]),
    "a huge number of rounds": (
        change("seeds = 2", f"audit_rounds = 1{'0' * 400}"),
        ["protocol.audit_rounds", "a huge number"],
    ),
    "a number too long to be read": (change("seeds = 2", f"seeds = 1{'0' * 5000}"), ["is not TOML"]),
    "a threshold as text": (change("0.7", '"0.7"'), ["protocol.threshold", "valid number"]),
    "a threshold as a truth": (change("0.7", "true"), ["protocol.threshold", "valid number"]),
    "a truth as a number": (
        change('use = "slopes"', 'use = "slopes"\nreject = 1'),
        ["methods[0].reject", "valid boolean"],
    ),
    "a fraction as text": (change("seeds = 2", 'split = { train = "0.5" }'), ["protocol.split.train"]),
    "a fraction that is no number": (change("seeds = 2", "split = { train = nan }"), ["protocol.split.train"]),
    "no metrics": ("metrics = []\n" + GOOD, ["metrics", "at least 1"]),
    "no costs": (change('use = "blobs"', 'use = "blobs"\ncosts = []'), ["datasets[0].costs", "at least 1"]),
    "costs twice under one name": (
        change('use = "blobs"', 'use = "blobs"\ncosts = [{ use = "uniform" }, { use = "uniform" }]'),
        ["datasets[0].costs", "'uniform' is used twice"],
    ),
    "an empty grid list": (
        change('use = "slopes"', 'use = "slopes"\ngrid = { noise = [] }'),
        ["methods[0].grid.noise", "at least 1"],
    ),
    "a grid that has a value twice": (
        change('use = "slopes"', 'use = "slopes"\ngrid = { noise = [0.5, 0.5] }'),
        ["methods[0].grid.noise", "twice"],
    ),
    "a parameter that is no number": (
        change('use = "slopes"', 'use = "slopes"\nparameters = { noise = nan }'),
        ["methods[0] 'slopes'", "noise", "finite"],
    ),
    "an infinite value in a grid": (
        change('use = "slopes"', 'use = "slopes"\ngrid = { noise = [0.5, inf] }'),
        ["methods[0] 'slopes'", "noise", "finite"],
    ),
    "a huge number": (
        change('use = "blobs"', f'use = "blobs"\nparameters = {{ rows = 1{"0" * 400} }}'),
        ["datasets[0] 'blobs'", "rows", "64 bits"],
    ),
    "a price that is no number": (
        change('use = "blobs"', 'use = "blobs"\ncosts = { use = "uniform", parameters = { price_each = nan } }'),
        ["datasets[0]", "costs", "price_each", "finite"],
    ),
    "a price whose sum overflows": (
        change('use = "blobs"', 'use = "blobs"\ncosts = { use = "table", parameters = { prices = { a = 1e308 } } }'),
        ["datasets[0]", "costs", "prices['a']", "from 0 to 1e+12", "1e+308"],
    ),
    "a grid of more points than can be run": (
        change(
            'use = "slopes"',
            f'use = "slopes"\ngrid = {{ {", ".join(f"p{i} = {list(range(10))}" for i in range(12))} }}',
        ),
        ["methods[0].grid", "'slopes' has 1000000000000 points", "1000000 trials"],
    ),
    "a grid of more points than can be said": (
        change(
            'use = "slopes"',
            f'use = "slopes"\ngrid = {{ {", ".join(f"p{i} = {list(range(10))}" for i in range(5000))} }}',
        ),
        ["methods[0].grid", "'slopes' has more than 10**30 points"],
    ),
    "grids of more trials than a suite may have": (
        change('use = "slopes"', f'use = "slopes"\ngrid = {{ noise = {[i / 1e6 for i in range(600_000)]} }}'),
        ["methods[0].grid", "'slopes' has 600000 points", "1000000 trials"],
    ),
    "a parameter in the grid and fixed": (
        change('use = "slopes"', 'use = "slopes"\nparameters = { noise = 0.1 }\ngrid = { noise = [0.0, 0.5] }'),
        ["methods[0].grid: 'noise' is also in parameters"],
    ),
    "a parameter in the grid and on a data set": (
        change('use = "slopes"', 'use = "slopes"\non = { blobs = { noise = 0.1 } }\ngrid = { noise = [0.0, 0.5] }'),
        ["methods[0].grid: 'noise' is also in parameters or on"],
    ),
    "a method without a data set": (
        change('use = "slopes"', 'use = "slops"\nwithout = ["blobs"]'),
        ["methods[0].without: no data set remains for 'slops'"],
    ),
    "a selection by a cap that is not computed": (
        change("seeds = 2", "seeds = 2\ncaps = [3]\nselect = 'accuracy-at-cap@7'"),
        ["protocol.select: 'accuracy-at-cap@7' needs the cap 7 in caps"],
    ),
    "a time limit that the system cannot set": (
        change("seeds = 2", "seeds = 2\ntimeout = 1e300"),
        ["protocol.timeout", "less than or equal to 1000000000"],
    ),
    "a ratio of a method to itself": (
        GOOD + CLAIM + 'kind = "ratio"\nmethod = "slopes"\nagainst = "slopes"\nmetric = "cost"\nvalue = 1.0\n',
        ["claims[0].against: 'slopes' is named twice"],
    ),
    "a method that dominates itself": (
        GOOD + CLAIM + 'kind = "dominance"\nmethod = "slopes"\nagainst = ["slopes"]\n',
        ["claims[0].against: 'slopes' is named twice"],
    ),
    "an order with a method twice": (
        GOOD + CLAIM + 'kind = "order"\nmethods = ["slopes", "slopes"]\nmetric = "cost"\n',
        ["claims[0].methods: 'slopes' is named twice"],
    ),
    "a claim about a data set twice": (
        GOOD + CLAIM + 'kind = "value"\nmethod = "slopes"\nmetric = "cost"\nvalue = 1.0\n'
        'datasets = ["blobs", "blobs"]\n',
        ["claims[0].datasets: 'blobs' is named twice"],
    ),
    "a share of a share": (
        GOOD + CLAIM + 'kind = "share"\ncount = 1\nof = { kind = "share", count = 1 }\n',
        ["claims[0].of.kind: 'share' is not a kind of claims here; known: difference"],
    ),
    "a number of the paper twice": (
        GOOD + PAPER + "value = 0.5\n" + PAPER + 'costs = "uniform"\nvalue = 0.7\n',
        ["paper[1]", "blobs · uniform · slopes · cost is in paper[0]"],
    ),
    "a step before the first": (
        GOOD + '[[tables]]\nkind = "history"\ntitle = "t"\nmethods = ["slopes"]\nseries = "length"\nat = [-1]\n',
        ["tables[0].at[0]", "greater than or equal to 0"],
    ),
    "a metric named twice": (f'metrics = ["cost", "error", "cost"]\n{GOOD}', ["metrics: holds the same value twice"]),
    "a negative price": (
        change('use = "blobs"', 'use = "blobs"\ncosts = { use = "table", parameters = { prices = [1, -1] } }'),
        ["datasets[0]", "costs", "prices[1]", "a number from 0 to", "not -1"],
    ),
    "a group that has a price and no features": (
        change(
            'use = "blobs"',
            'use = "blobs"\ncosts = { use = "table", '
            "parameters = { prices = [1, 1], groups = { lab = ['a'] }, group_prices = { lap = 1 } } }",
        ),
        ["datasets[0]", "costs", "did you mean 'lab'"],
    ),
    "a claim without a kind": (GOOD + '[[claims]]\ntext = "t"\n', ["claims[0].kind is needed; known: value, ratio"]),
    "deep nesting": (
        change('use = "slopes"', f'use = "slopes"\nparameters = {{ noise = {"[" * 10000}{"]" * 10000} }}'),
        ["is not TOML", "nested too deeply"],
    ),
}


@pytest.mark.parametrize(("text", "said"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_suite_is_refused_with_file_key_and_remedy(text: str, said: list[str], registry: Registry) -> None:
    with pytest.raises(RequestError) as caught:
        parse(text, registry)
    for part in ["s.toml", *said]:
        assert part in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 700


def test_a_suite_with_a_byte_order_mark_is_read(tmp_path: Path, registry: Registry) -> None:
    path = tmp_path / "s.toml"
    path.write_text(GOOD, encoding="utf-8-sig")
    assert load_suite(path, registry).file.suite.name == "s"


@pytest.mark.slow
def test_a_wrong_request_exits_with_2_and_runs_nothing(bench: Bench) -> None:
    suite = bench.suite('[[datasets]]\nuse = "blobs"\n[[methods]]\nuse = "slops"\n')
    said = bench("run", suite, expect=2)
    assert "did you mean 'slopes'?" in said.stderr
    assert not (bench.folder / ".bench-store").exists()
    assert "there is no suite other.yaml" in bench("run", "other.yaml", expect=2).stderr
    assert "did you mean 's.toml'?" in bench("run", "ss.toml", expect=2).stderr
    assert bench("run", suite, "--only", "methods=slopes", expect=2)
    assert bench("run", suite, "--timeout", "soon", expect=2)


@pytest.mark.parametrize(
    "text",
    [
        change("seeds = 2", f"seeds = 1{'0' * 5000}"),
        change('use = "slopes"', f'use = "slopes"\nparameters = {{ noise = {"[" * 10000}{"]" * 10000} }}'),
        change('name = "s"', 'name = "README"'),
    ],
    ids=["huge", "deep", "README"],
)
def test_a_suite_that_cannot_be_read_is_one_line_and_exit_code_2(text: str, bench: Bench) -> None:
    (bench.folder / "s.toml").write_text(text, encoding="utf-8")
    said = bench("run", "s.toml", expect=2)
    assert said.stderr.startswith("bench: s.toml")
    assert said.stderr.count("\n") == 1
    assert not (bench.folder / "leaderboard").exists()


@pytest.mark.slow
def test_prices_that_do_not_fit_are_an_error_of_the_data_set(bench: Bench) -> None:
    """A misspelt feature is found while planning, before anything runs; other data sets are run."""
    prices = "prices = { a = 1, b = 1, c = 1, d = 1, ee = 1 }"
    suite = bench.suite(
        f'[[datasets]]\nuse = "blobs"\ncosts = [{{ use = "table", parameters = {{ {prices} }} }}, '
        '{ use = "uniform" }]\n[[methods]]\nuse = "slopes"\n'
    )
    said = bench("run", suite, expect=1)
    assert "1 trial(s) computed" in said.stdout
    line = "data set 'blobs' cannot be priced by 'table': data set 'blobs': prices names 'ee'; did you mean"
    assert said.stderr.count(line) == 1
    assert "failed" not in said.stderr
    assert line in bench("plan", suite, expect=1).stderr


def _places(tree: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a TOML document: tables, lists, values."""
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    found = [place] if place else []
    for key, item in inside:
        found += _places(item, (*place, key))
    return found


WHOLE = """
metrics = ["coverage", "cost"]
[suite]
name = "s"
title = "A suite"
[protocol]
seeds = [0, 3]
threshold = 0.7
split = { train = 0.5, validation = 0.25, test = 0.25, stratify = true }
audit_rounds = 2
[[datasets]]
use = "blobs"
parameters = { rows = 60, seed = 2 }
costs = { use = "table", parameters = { prices = [1, [2.0, 0.5], 3, 4, 5], groups = { lab = ["a"] } } }
[[datasets]]
use = "blobs"
name = "other"
seeds = 1
costs = [{ use = "uniform" }, { use = "random", name = "dear", parameters = { choices = [1.0, 9.0] } }]
[[methods]]
use = "slopes"
grid = { noise = [0.0, 0.5] }
parameters = { slopes = [0.5, 1.0] }
on = { other = { seconds = 0.0 } }
select = "first"
[[figures]]
kind = "history"
series = "length"
[[paper]]
dataset = "blobs"
method = "slopes"
metric = "coverage"
value = 0.5
[[claims]]
kind = "value"
text = "It covers half."
source = "p. 1"
standing = "same data"
method = "slopes"
metric = "coverage"
value = 0.5
tolerance = 0.1
reason = "about half"
"""


def test_a_method_leaves_out_data_sets(registry: Registry) -> None:
    text = """
        [suite]
        name = "s"
        [protocol]
        seeds = [7, 5, 6]
        [[datasets]]
        use = "blobs"
        [[datasets]]
        use = "blobs"
        name = "other"
        [[methods]]
        use = "slopes"
        name = "few"
        without = ["other"]
        [[methods]]
        use = "slopes"
        name = "all"
        """
    suite = parse(text, registry)
    runs = [("all", "blobs"), ("all", "other"), ("few", "blobs")]
    assert {(t.method, t.dataset, t.seed) for t in suite.trials()} == {(*run, s) for run in runs for s in (7, 5, 6)}
    assert (suite.methods_on("blobs"), suite.methods_on("other")) == (["few", "all"], ["all"])
    with pytest.raises(RequestError, match=r"methods\[0\].without: there is no data set 'othre'; did you mean 'other'"):
        parse(text.replace('without = ["other"]', 'without = ["othre"]'), registry)


UNUSUAL: list[Any] = [
    True, False, 0, -1, 1, 2**63, 10**400, 0.5, -0.5, 1e308, math.nan, math.inf, -math.inf, "", " ", ".", "..",
    "a/b", "README", "x" * 300, "a\nb", "\x00", "\u202e", "nan", "1", "true", [], [[]], [True], [0, 0], {}, {"": {}},
    {"a": 1},
    datetime.date(2026, 1, 1), [1, "a", {}], {"use": "uniform"},
]  # fmt: skip


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_changed_suite_is_accepted_or_refused_in_one_line(data: st.DataObject) -> None:
    """One value of a valid suite is replaced, added or removed."""
    tree = tomllib.loads(WHOLE)
    place = data.draw(st.sampled_from(_places(tree)), label="place")
    around: Any = tree
    for key in place[:-1]:
        around = around[key]
    kind = data.draw(st.sampled_from(["replace", "add", "remove"]), label="kind")
    unusual = copy.deepcopy(data.draw(st.sampled_from(UNUSUAL), label="value"))
    if kind == "replace":
        around[place[-1]] = unusual
    elif kind == "remove":
        del around[place[-1]]
    elif isinstance(around, list):
        around.append(unusual)
    else:
        around[data.draw(st.sampled_from(["name", "more", "", "a\nb", "k" * 300]), label="key")] = unusual
    refusal, trials = "", []
    try:
        trials = list(suite_of(tree, "s.toml", REGISTRY).trials())
    except RequestError as error:
        refusal = str(error)
    if refusal:
        assert refusal.startswith("s.toml: ")
        assert len(refusal.splitlines()) == 1
        assert len(refusal) < 1000
    else:
        assert trials
        for trial in trials:
            json.loads(trial.identity("f" * 64))


def test_a_methods_selection_comes_before_a_data_sets_and_that_before_the_protocols(registry: Registry) -> None:
    text = GOOD + '[[datasets]]\nuse = "blobs"\nname = "by cost"\nselect = "cost"\n'
    text += '[[methods]]\nuse = "slopes"\nname = "first"\nselect = "first"\n'
    suite, general = (
        parse(made, registry) for made in (text, text.replace("seeds = 2", 'seeds = 2\nselect = "error"'))
    )
    pairs = [(dataset, method) for dataset in ("blobs", "by cost") for method in ("slopes", "first")]
    assert [suite.selection_of(*pair, "binary", 0.7) for pair in pairs] == ["combined", "first", "cost", "first"]
    assert [general.selection_of(*pair, "binary", 0.7) for pair in pairs] == ["error", "first", "cost", "first"]
    assert "cost" in suite.needed_metrics()


@pytest.mark.parametrize(("use", "target"), [("csv", ', target = "y"'), ("svmlight", "")])
def test_a_test_file_needs_the_given_split(use: str, target: str) -> None:
    registry = load_registry([("tiny", tiny_plugin), ("public-data", public_data)], entry_points=False)
    given = f'use = "{use}"\nparameters = {{ path = "a", test_path = "b"{target} }}'
    assert parse(change('use = "blobs"', f'{given}\nsplit = {{ kind = "given" }}'), registry).dataset_names() == [use]
    with pytest.raises(RequestError, match=r"s\.toml: datasets\[0\] .*\.split: kind = 'given' is needed"):
        parse(change('use = "blobs"', given), registry)


def test_a_selection_must_be_for_the_task_of_one_of_its_data_sets(registry: Registry) -> None:
    text = change("seeds = 2", 'seeds = 2\nselect = "auc"') + '[[datasets]]\nuse = "blobs"\nname = "other"\n'
    suite = parse(text, registry)
    suite.check_tasks({"blobs": "multiclass", "other": "binary"})
    suite.check_tasks({"blobs": "multiclass"})  # the task of the other is not known
    with pytest.raises(RequestError, match=r"s\.toml: protocol\.select: 'auc' is for the task binary, not for multicl"):
        suite.check_tasks({"blobs": "multiclass", "other": "multiclass"})
    other = parse(text + 'select = "mse"\n', registry)
    with pytest.raises(
        RequestError, match=r"datasets\[1\]\.select: 'mse' is for the task ranking, regression, not for"
    ):
        other.check_tasks({"blobs": "binary", "other": "binary"})


def test_a_suite_that_selects_by_a_metric_of_another_task_is_refused_before_it_runs(bench: Bench) -> None:
    suite = bench.suite('[protocol]\nselect = "mse"\n[[datasets]]\nuse = "blobs"\n[[methods]]\nuse = "slopes"\n')
    said = bench("run", suite, expect=2).stderr
    assert "protocol.select: 'mse' is for the task ranking, regression, not for binary" in said
    assert not list((bench.folder / ".bench-store").glob("??/*"))


def test_only_accepts_names_of_the_suite(bench: Bench) -> None:
    suite = bench.suite('[[datasets]]\nuse = "blobs"\n[[methods]]\nuse = "slopes"\n')
    said = bench("run", suite, "--only", "method=slops", expect=2)
    assert "the suite has no method 'slops'; did you mean 'slopes'?" in said.stderr


def test_a_grid_has_every_combination_and_overrides_apply_to_their_data_sets(registry: Registry) -> None:
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


def test_a_trials_name_depends_on_what_changes_the_result_and_on_nothing_else(registry: Registry) -> None:
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

    from bench_core.contract.canonical import canonical_json

    for trial in parse(GOOD, registry).trials():
        text = trial.identity("f" * 64)
        assert canonical_json(json.loads(text)) == text


def test_an_exit_threshold_is_used_only_without_another_threshold(registry: Registry) -> None:
    exits = 'use = "slopes"\nexit_threshold = 0.9'
    with_one = parse(change('use = "slopes"', exits), registry)
    assert {(t.threshold, t.reject) for t in with_one.trials()} == {(0.7, True)}
    without = change('use = "slopes"', exits).replace("threshold = 0.7", "")
    assert {(t.threshold, t.reject) for t in parse(without, registry).trials()} == {(0.9, False)}
    neither = GOOD.replace("threshold = 0.7", "")
    assert {(t.threshold, t.reject) for t in parse(neither, registry).trials()} == {(None, True)}


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=8, unique=True))
def test_seeds_may_be_listed(seeds: list[int]) -> None:
    registry = load_registry([*PUBLISHING, ("tiny", tiny_plugin)], entry_points=False)
    suite = parse(change("seeds = 2", f"seeds = {seeds}"), registry)
    assert [t.seed for t in suite.trials()] == seeds


@pytest.mark.parametrize("path", sorted((ROOT / "suites").glob("*.toml")), ids=lambda p: p.stem)
def test_every_suite_in_the_repository_is_valid(path: Path) -> None:
    suite = load_suite(path, load_registry())
    assert suite.name == path.stem
    assert next(suite.trials())


def test_support_is_imported_from_this_folder() -> None:
    assert Path(sys.modules["support"].__file__ or "").parent == Path(__file__).parent / "support"


@pytest.mark.parametrize("path", sorted((ROOT / "suites").glob("*.toml")), ids=lambda path: path.stem)
def test_a_suite_of_this_repository_is_known_by_its_name(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)  # no clone is needed
    registry = load_registry()
    assert load_suite(Path(path.stem), registry).text == path.read_text(encoding="utf-8")


def test_a_file_comes_before_a_suite_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("quickstart").write_text('[suite]\nname = "mine"\n[[datasets]]\nuse = "iris"\n[[methods]]\nuse = "majority"\n')
    assert load_suite(Path("quickstart"), load_registry()).name == "mine"
