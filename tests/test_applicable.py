"""Every method of this repository on every kind of data: it runs, or the plan says that it is not applicable."""

from __future__ import annotations

import dataclasses
import types
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from bench_core import DataContext, Dataset, DataSource, hookimpl
from bench_core.plugins.manager import load_registry
from bench_core.plugins.registry import Registry
from bench_core.run.dataset_cache import DatasetCache
from bench_core.run.execute import Options, execute
from bench_core.run.plan import Plan, make_plan
from bench_core.run.store import Store
from bench_core.run.suite_file import parse_suite
from bench_core.testing import toml_text

CHEAP = {
    "n_estimators": 4, "sizes": [2, 4], "population": 12, "max_iter": 20, "count": 3,
    "lambdas": [0.1, 1.0], "search_rows": 50, "exits": 3, "draws": 50, "highest": 1.0, "features": 4,
    "most_features": 5, "pretraining": 50, "updates": 50, "hidden": 8, "samples": 2,
}  # fmt: skip
"""Values of parameters that make a fit quick, for every method with a parameter of this name and type."""


@dataclass(frozen=True)
class Made(DataSource):
    """A small data set of a kind."""

    task: str = "binary"
    classes: int = 2
    rows: int = 120
    features: int = 4
    holes: bool = False
    constant: bool = False

    def load(self, context: DataContext) -> Dataset:
        rng = np.random.default_rng(7)
        X = rng.integers(-8, 9, size=(self.rows, self.features)) / 4.0
        if self.constant:
            X[:] = 1.0
        signal = X[:, 0] + 0.5 * X[:, -1] + rng.integers(-4, 5, size=self.rows) / 8.0
        query = None
        target: np.ndarray = signal
        if self.task == "ranking":
            query = np.repeat(np.arange(self.rows // 6), 6)
            target = np.digitize(signal, [-1.0, 1.0]).astype(float)
        elif self.task != "regression":
            order = np.argsort(signal, kind="stable")
            target = np.empty(self.rows, dtype=np.int64)
            target[order] = np.arange(self.rows) * self.classes // self.rows
        if self.holes:
            X[rng.random(X.shape) < 0.1] = np.nan
        names = tuple(f"f{i}" for i in range(self.features))
        classes = () if self.task in ("regression", "ranking") else tuple(map(str, range(self.classes)))
        return Dataset("made", self.task, X, names, target, classes, query=query)  # type: ignore[arg-type]


KINDS: dict[str, dict[str, object]] = {
    "binary": {},
    "five": {"task": "multiclass", "classes": 5},
    "ten": {"task": "multiclass", "classes": 10, "rows": 200},
    "regression": {"task": "regression"},
    "ranking": {"task": "ranking"},
    "wide": {"features": 70},
    "twenty": {"features": 20, "rows": 60},
    "one": {"features": 1},
    "constant": {"constant": True},
    "missing": {"holes": True},
}


@hookimpl
def bench_register_datasets(register):  # type: ignore[no-untyped-def]
    register("made", Made)


@pytest.fixture(scope="module")
def registry() -> Registry:
    plugin = types.ModuleType("grid")
    plugin.BENCH_CONTRACT_VERSION = 1  # type: ignore[attr-defined]
    plugin.bench_register_datasets = bench_register_datasets  # type: ignore[attr-defined]
    return load_registry([("grid", plugin)])


def _cheap(cls: type) -> dict[str, object]:
    """The values of `CHEAP` for the parameters of a class, if their defaults are of the same kind."""
    kinds = {f.name: f.default for f in dataclasses.fields(cls)}
    return {
        name: value
        for name, value in CHEAP.items()
        if name in kinds and isinstance(kinds[name], tuple | list if isinstance(value, list) else type(value))
    }


def plan_of(
    registry: Registry,
    folder: Path,
    methods: list[str],
    kinds: list[str],
    protocol: str = "threshold = 0.6",
    own: str = "",
) -> tuple[Plan, DatasetCache]:
    """The plan of methods on kinds of data, cheap parameters given; ``own``: a line of every method's entry."""
    text = f'[suite]\nname = "grid"\n[protocol]\n{protocol}\n'
    for kind in kinds:
        encode = 'encode = "raw"\n' if kind == "missing" else ""
        text += f'[[datasets]]\nuse = "made"\nname = "{kind}"\n{encode}'
        text += "[datasets.parameters]\n" + toml_text(KINDS[kind])
    for method in methods:
        text += f'[[methods]]\nuse = "{method}"\n{own}\n[methods.parameters]\n'
        text += toml_text(_cheap(registry.methods[method]))
    cache = DatasetCache(DataContext(folder / "cache", None, True), registry, folder / "store")
    return make_plan(parse_suite(text, "grid.toml", registry).trials(), Store(folder / "store"), cache), cache


FORESTS = ["budgetprune", "budgetrf", "ccp", "greedyprune"]
TWO_CLASSES = ["adaboost-rs", "and-or", "early-exit", "fan"]
POLYDOM = ["naive-expand-all", "naive-lookup", "polydom", "polydom-best-first", "polydom-index-all"]
GREEDY = ["greedy", "greedy-acc", "greedy-cost"]
COST_TREES = ["c45", "cs-id3", "eg2", "icet", "idx"]
CLASSES_ONLY = [
    "aaco", "adapt-gbrt", "adapt-lin", "cact-lasso", "cae", "cost-ordered", "cwcf", "early-stopping", "eddi", "emsco",
    "exhaustive", "fan", "gdfs", "greedy-cmi", "ol", "polydom-simulation", "qwyc", "rbf-svm", "smaller-ensemble",
    *COST_TREES, *POLYDOM, *GREEDY,
]  # fmt: skip
LINEAR = [
    "adapt-lin",
    "and-or",
    "cronus",
    "cscc",
    "cstc",
    "label-overlap",
    "lasso",
    "single-cost-sensitive",
    "single-stage",
]
NOT_APPLICABLE: dict[str, list[str]] = {
    "binary": [],
    "five": TWO_CLASSES,
    "ten": TWO_CLASSES,
    "regression": [*CLASSES_ONLY, *FORESTS, "adaboost-rs", "and-or", "early-exit"],
    "ranking": [*CLASSES_ONLY, "affordable-subset", "dime", "mask-static"],
    "wide": ["exhaustive", *POLYDOM, *GREEDY],
    "twenty": POLYDOM,
    "one": [],
    "constant": [],
    "missing": [
        *LINEAR, *POLYDOM, *GREEDY, "cact-lasso", "cost-ordered", "emsco", "exhaustive", "forward-selection", "rbf-svm",
    ],
}  # fmt: skip
"""Kind of data → the methods that cannot be tried on it, with their default parameters."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_plan_knows_which_methods_do_not_apply(kind: str, registry: Registry, tmp_path: Path) -> None:
    methods = sorted(name for name in registry.methods if registry.plugin_of("methods", name).distribution)
    plan, _ = plan_of(registry, tmp_path, methods, [kind])
    assert [planned.trial.method for planned in plan.planned] == methods
    refused = {p.trial.method: p.reason for p in plan.planned if p.state == "not applicable"}
    assert sorted(refused) == sorted(NOT_APPLICABLE[kind])
    for reason in refused.values():
        assert reason.splitlines() == [reason]
    assert {planned.trial.method for planned in plan.to_run()} == set(methods) - set(refused)


def test_methods_that_stop_when_sure_apply_without_a_threshold_as_they_sweep_it(
    registry: Registry, tmp_path: Path
) -> None:
    methods = sorted(name for name in registry.methods if registry.plugin_of("methods", name).distribution)
    plan, _ = plan_of(registry, tmp_path, methods, ["binary"], protocol="")
    assert [p.trial.method for p in plan.planned if p.state == "not applicable"] == []
    plan, cache = plan_of(registry, tmp_path, ["cost-ordered"], ["binary"], protocol="")
    store = Store(tmp_path / "store")
    assert execute(plan, cache, ("coverage",), Options(executor="serial", isolation="none")).failures == []
    policies = (store.read(plan.planned[0].name) or {})["policies"]
    assert policies["test"]["coverage"] == [1.0] * 9
    assert {details["threshold"] for details in policies["details"]} == {
        0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95,
    }  # fmt: skip


def test_an_exit_threshold_lets_methods_run_and_refuses_nothing(registry: Registry, tmp_path: Path) -> None:
    plan, cache = plan_of(registry, tmp_path, ["cost-ordered"], ["binary", "five"], "", "exit_threshold = 0.99")
    assert [(p.trial.threshold, p.trial.reject) for p in plan.to_run()] == [(0.99, False)] * 2
    options = Options(executor="serial", isolation="none")
    store = Store(tmp_path / "store")
    done = execute(plan, cache, ("coverage", "mean-stages"), options)
    assert done.failures == []
    for planned in plan.planned:
        measured = (store.read(planned.name) or {})["policies"]["test"]
        assert measured["coverage"] == [1.0]


def _run(registry: Registry, folder: Path, methods: list[str], kinds: list[str]) -> list[str]:
    """Run the applicable trials of a plan; return those that fail."""
    plan, cache = plan_of(registry, folder, methods, kinds)
    done = execute(plan, cache, (), Options(executor="serial", isolation="none"))
    assert done.computed == len(plan.to_run())
    return [f"{planned.trial.method} on {planned.trial.dataset}: {said}" for planned, said in done.failures]


@pytest.mark.slow
def test_applicable_trials_run(registry: Registry, tmp_path: Path) -> None:
    """Quick methods only: those without kernels to compile."""
    quick = ["single-stage", "cost-ordered", "lasso", "greedy", "naive-lookup", "polydom-simulation"]
    assert _run(registry, tmp_path, quick, [kind for kind in KINDS if kind not in ("wide", "twenty")]) == []


@pytest.mark.weekly
@pytest.mark.parametrize("kind", KINDS)
def test_every_method_runs_where_it_is_applicable(kind: str, registry: Registry, tmp_path: Path) -> None:
    methods = sorted(name for name in registry.methods if registry.plugin_of("methods", name).distribution)
    assert _run(registry, tmp_path, methods, [kind]) == []
