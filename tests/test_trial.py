"""A trial's record, computed by hand: bills, budgets, evaluations, usage; shared, copied, shuffled arrays; errors."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from support import cheats, tiny_plugin

from bench_core import DataContext, Dataset, Decisions, Method, Policy, Problem, Rows
from bench_core.builtin.cost_schemes import PriceTable
from bench_core.builtin.metrics import BUILT_IN
from bench_core.contract.costs import Costs
from bench_core.contract.errors import ContractError, DataWritten
from bench_core.contract.metric import Metric, measure, resolve_metric
from bench_core.contract.sources import CostScheme
from bench_core.plugins.hookspecs import hookimpl
from bench_core.plugins.manager import load_registry
from bench_core.protocol.prepare import prepare
from bench_core.protocol.split import SplitRule
from bench_core.run.execute import Options, execute
from bench_core.run.run_trial import Solver, TrialResult, run_trial
from bench_core.run.session import SuiteSession
from bench_core.run.store import Store
from bench_core.run.suite_file import load_suite
from bench_core.run.trial import Trial

KNOWN = {metric.name: metric for metric in BUILT_IN}
METRICS = {name: metric for name, metric in KNOWN.items() if not name.endswith("@k") and not metric.on_request}
GIVEN = SplitRule(kind="given")

# a costs 1 + the item's size, b 2, c 3, d 4; b and c are in a group that costs 5 once; a base model costs 0.5.
PRICES = PriceTable(
    prices={"a": [1.0, 1.0], "b": 2.0, "c": 3.0, "d": 4.0},
    groups={"scan": ["b", "c"]},
    group_prices={"scan": 5.0},
    evaluation=0.5,
)


def data() -> Dataset:
    """Four rows each for training, validation and test; validation items are larger; c is constant on the test rows."""
    a = [3.0, -3.0, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0, 1.0, -1.0, 2.0, -2.0]
    c = [0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0, 7.0, 7.0, 7.0, 7.0]
    b, d = np.linspace(-1, 1, 12), np.array([5.0, 1.0, 4.0, 2.0, 3.0, 6.0, 0.0, 7.0, 8.0, 9.0, 10.0, 11.0])
    y = np.array([1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0])
    return Dataset(
        "by hand",
        "binary",
        np.column_stack([a, b, c, d]),
        ("a", "b", "c", "d"),
        y,
        ("no", "yes"),
        sizes=np.array([1.0] * 4 + [10.0] * 4 + [1.0, 2.0, 3.0, 4.0]),
        split=np.repeat([0, 1, 2], 4).astype(np.int8),
    )


Answer = Callable[[Rows], Decisions]


@dataclass
class FunctionPolicy(Policy):
    """A policy from one function."""

    answer: Answer
    budget: float | None = None
    label: str = ""

    def decide(self, rows: Rows) -> Decisions:
        return self.answer(rows)


@dataclass(frozen=True, init=False)
class Made(Method):
    """A method from one function."""

    def __init__(self, make: Callable[[Problem], Any]) -> None:
        object.__setattr__(self, "make", make)

    def fit(self, problem: Problem) -> Any:
        return self.make(problem)  # type: ignore[attr-defined]


def sure(rows: Rows) -> np.ndarray:
    """Probability 0.9 for the class given by the sign of a."""
    yes = np.where(rows.X[:, 0] > 0, 0.9, 0.1)
    return np.column_stack([1 - yes, yes])


def acquiring(rows: Rows, *features: int) -> np.ndarray:
    acquired = np.zeros((len(rows), rows.X.shape[1]), dtype=bool)
    acquired[:, features] = True
    return acquired


def only_a(rows: Rows) -> Decisions:
    return Decisions(acquiring(rows, 0), sure(rows))


def b_where_a_is_negative(rows: Rows) -> Decisions:
    acquired = acquiring(rows, 0)
    acquired[:, 1] = rows.X[:, 0] <= 0
    stage = np.where(acquired[:, 1], 2, 1)
    return Decisions(acquired, sure(rows), stage=stage, evaluations=stage.astype(float))


def b_and_c(rows: Rows) -> Decisions:
    half = np.full((len(rows), 2), 0.5)
    price = 0.1 * rows.sizes if rows.sizes is not None else np.zeros(len(rows))
    return Decisions(acquiring(rows, 1, 2), half, evaluations=np.full(len(rows), 2.0), evaluation_cost=price)


def peeks_at_c(rows: Rows) -> Decisions:
    yes = np.where(rows.X[:, 2] > 5, 0.9, 0.1)
    return Decisions(acquiring(rows, 0), np.column_stack([1 - yes, yes]))


def run(
    make: Callable[[Problem], Any],
    dataset: Dataset | None = None,
    scheme: CostScheme = PRICES,
    metrics: dict[str, Metric] = METRICS,
    rounds: int = 2,
    threshold: float | None = None,
    rule: SplitRule = GIVEN,
    reject: bool | None = None,
    solver: Solver | None = None,
) -> TrialResult:
    """Run a trial of a method from one function; by default it refuses answers if there is a threshold."""
    dataset = data() if dataset is None else dataset
    prepared = prepare(dataset, scheme, rule, "raw", 0, rounds)
    labels = ("A", "a", tiny_plugin.Blobs(), "c", "c", scheme, "m", "m", Made(make))
    refuses = threshold is not None if reject is None else reject
    trial = Trial(*labels, 0, rule, "raw", threshold, refuses, 0, rounds)
    fitting = {name: metric for name, metric in metrics.items() if dataset.task in metric.tasks}
    return run_trial(trial, dataset, prepared, fitting, solver=solver)


def record(*args: Any, **options: Any) -> dict[str, Any]:
    """The record of a trial that worked."""
    made = run(*args, **options).record
    assert made["status"] == "ok", made["error"]
    return made


def failure(*args: Any, **options: Any) -> str:
    """The message of a trial that failed."""
    made = run(*args, **options).record
    assert made["status"] == "failed"
    return str(made["error"]["message"])


def test_the_time_before_a_method_is_called_is_not_that_of_its_fit() -> None:
    slow = Solver()
    slow.starting = 1000.0
    usual, late = (record(lambda problem: [FunctionPolicy(only_a)], solver=one)["timings"] for one in (None, slow))
    assert usual["fit"] >= 0
    assert late["fit"] < -900


def test_a_method_that_never_refuses_is_conclusive_on_every_row() -> None:
    refusing = record(lambda problem: [FunctionPolicy(b_and_c)], threshold=0.9)["policies"]["test"]
    never = record(lambda problem: [FunctionPolicy(b_and_c)], threshold=0.9, reject=False)["policies"]["test"]
    assert (refusing["coverage"], never["coverage"]) == ([0.0], [1.0])


THREE = [FunctionPolicy(only_a, budget=3.5), FunctionPolicy(b_where_a_is_negative), FunctionPolicy(b_and_c)]


def test_the_numbers_of_a_record_are_those_worked_out_by_hand() -> None:
    made = record(lambda problem: THREE)
    policies, test, validation = made["policies"], made["policies"]["test"], made["policies"]["validation"]
    assert policies["budget"] == [3.5, None, None]
    # a for items of size 1, 2, 3, 4: 2, 3, 4, 5; with b (and its group) on the second and the fourth row 7 more.
    assert test["cost"] == pytest.approx([3.5, 7.0, 10.0])
    # All of a, b, c, d and the group: 15 and the size, 2.5 in the mean of the test rows, 10 of the validation rows.
    assert test["cost-share"] == pytest.approx([3.5 / 17.5, 7 / 17.5, 10 / 17.5])
    assert validation["cost"] == pytest.approx([11.0, 14.5, 10.0])
    assert validation["cost-share"] == pytest.approx([11 / 25, 14.5 / 25, 10 / 25])
    assert test["budget-violations"] == [0.5, 0.0, 0.0]
    assert validation["budget-violations"] == [1.0, 0.0, 0.0]
    # Not said: one base model. Said: 1 or 2 of them. Priced by the policy: a tenth of the size.
    assert test["evaluation-cost"] == pytest.approx([0.5, 0.75, 0.25])
    assert validation["evaluation-cost"] == pytest.approx([0.5, 0.75, 1.0])
    assert test["total-cost"] == pytest.approx([4.0, 7.75, 10.25])
    assert test["mean-base-models"] == [1.0, 1.5, 2.0]
    assert test["mean-stages"] == [1.0, 1.5, 1.0]
    assert test["features"] == [1.0, 1.5, 2.0]
    assert test["error"] == [0.25, 0.25, 0.25]
    assert made["usage"] == [
        [[1.0, 0.0, 0.0, 0.0]],
        [[0.5, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]],
        [[0.0, 1.0, 1.0, 0.0]],
    ]
    assert made["costs"]["evaluation"] == 0.5


@pytest.mark.parametrize("threshold", [None, 0.7, 0.4])
def test_a_record_has_the_metrics_of_the_empty_policy(threshold: float | None) -> None:
    """They equal those of a method that answers every row with the class frequencies of the training part."""

    dataset = data()
    target = dataset.target.copy()
    target[0] = 0  # three rows of four are of the first class
    dataset = replace(dataset, target=target)
    made = record(lambda problem: [FunctionPolicy(only_a)], dataset=dataset, threshold=threshold)["empty"]
    assert made["answer"] == [0.75, 0.25]

    def stated(problem: Problem) -> list[Policy]:
        answer = np.array(made["answer"])
        return [
            FunctionPolicy(
                lambda rows: Decisions(
                    acquiring(rows), np.tile(answer, (len(rows), 1)), evaluations=np.zeros(len(rows))
                )
            )
        ]

    said = record(stated, dataset=dataset, threshold=threshold)["policies"]
    for part in ("validation", "test"):
        assert made[part] == {name: value for name, (value,) in said[part].items()}
    assert made["test"]["cost"] == made["test"]["evaluation-cost"] == 0
    assert made["test"]["error"] == 0.25


def test_every_policy_is_audited_with_values_from_the_training_rows_where_the_test_rows_have_but_one() -> None:
    said = failure(lambda problem: [*THREE, FunctionPolicy(peeks_at_c, label="last")])
    assert said == "policy 3 (last) read without paying: feature 'c' on 4 rows (of 4 rows)"
    # c is 7 on every test row; only the training rows have other values.
    assert len(set(data().values[8:, 2])) == 1


# Shared arrays


def handed(problem: Problem) -> dict[str, np.ndarray]:
    """Every array that a method gets."""
    arrays = {f"{part}.{name}": getattr(getattr(problem, part), name) for part in ("train", "validation")
              for name in ("X", "y", "sizes")}  # fmt: skip
    arrays |= {f"costs.{name}": getattr(problem.costs, name) for name in ("prices", "groups", "group_prices")}
    return arrays | {"feature_of_column": problem.feature_of_column}


def test_a_methods_arrays_are_read_only() -> None:
    seen: dict[str, np.ndarray] = {}

    def make(problem: Problem) -> list[Policy]:
        seen.update(handed(problem))

        def look(rows: Rows) -> Decisions:
            if len(rows) == 4:
                seen.update({"rows.X": rows.X, "rows.sizes": rows.sizes})
            return only_a(rows)

        return [FunctionPolicy(look)]

    record(make, rounds=0)
    assert len(seen) == 12
    for name, array in seen.items():
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
        assert isinstance(array.base, bytes), name


def test_the_error_for_writing_in_place_recommends_a_copy() -> None:
    def scales(problem: Problem) -> list[Policy]:
        problem.train.X[:] -= 1.0
        return THREE

    assert "work on a copy" in failure(scales)

    def fills(rows: Rows) -> Decisions:
        rows.X[:] = 0.0
        return only_a(rows)

    assert "work on a copy" in failure(lambda problem: [FunctionPolicy(fills)])


def scribble(array: np.ndarray) -> None:
    """Write to the memory of an array without NumPy."""
    ctypes.memset(array.ctypes.data, 0, array.nbytes)


@pytest.mark.parametrize("name", ["costs.prices", "costs.group_prices", "train.X", "validation.y", "train.sizes"])
def test_an_array_that_was_written_past_numpy_fails_the_trial_by_name(name: str) -> None:
    def scribbles(problem: Problem) -> list[Policy]:
        scribble(handed(problem)[name])
        return THREE

    result = run(scribbles)
    assert result.written == (f"problem.{name}",)
    assert result.record["error"]["message"].startswith(f"problem.{name} was written to")
    assert result.outcomes is None


def test_rows_to_decide_on_that_were_written_past_numpy_fail_the_trial() -> None:
    def scribbles(rows: Rows) -> Decisions:
        given = only_a(rows)
        scribble(rows.X)
        return given

    result = run(lambda problem: [FunctionPolicy(scribbles)], rounds=0)
    assert set(result.written) == {"rows.X of validation", "rows.X of test"}


def test_the_result_of_a_failed_trial_names_the_arrays_it_wrote_to() -> None:
    def scribbles(problem: Problem) -> list[Policy]:
        scribble(problem.train.X)
        raise ZeroDivisionError("no reason")

    result = run(scribbles)
    assert result.record["error"]["message"] == "no reason"
    assert result.written == ("problem.train.X",)


@dataclass(frozen=True)
class Scribbles(Method):
    """Sets all prices to zero by writing without NumPy."""

    def fit(self, problem: Problem) -> list[Policy]:
        scribble(problem.costs.prices)
        scribble(problem.train.X)
        return [tiny_plugin.FirstFeature(1.0, problem.n_features)]


@hookimpl
def register_scribbles(register: Any) -> None:
    register("scribbles", Scribbles)


SCRIBBLERS = ModuleType("scribblers")
SCRIBBLERS.BENCH_CONTRACT_VERSION = 1  # type: ignore[attr-defined]
SCRIBBLERS.bench_register_methods = register_scribbles  # type: ignore[attr-defined]


def test_the_next_trial_after_one_that_writes_gets_unchanged_data(tmp_path: Path) -> None:
    alone = '[[datasets]]\nuse = "blobs"\n[[methods]]\nuse = "slopes"\n'
    both = alone.replace("[[methods]]", '[[methods]]\nuse = "scribbles"\n[[methods]]', 1)
    costs = []
    for name, text in (("alone", alone), ("both", both)):
        path = tmp_path / f"{name}.toml"
        path.write_text(f'[suite]\nname = "{name}"\n[protocol]\nseeds = 1\nthreshold = 0.7\n{text}', encoding="utf-8")
        registry = load_registry([("tiny", tiny_plugin), ("scribblers", SCRIBBLERS)], entry_points=False)
        store = Store(tmp_path / name)
        here = SuiteSession(
            load_suite(path, registry), registry, store, tmp_path / "out", DataContext(cache=tmp_path / "cache")
        )
        plan = here.plan()
        needed = tuple(here.suite.needed_metrics())
        summary = execute(plan, here.cache, needed, Options(isolation="none"))
        assert len(summary.failures) == (name == "both")
        done = [store.read(planned.name) for planned in plan.planned if planned.trial.method == "slopes"]
        assert done[0] is not None
        costs.append(done[0]["policies"])
    assert costs[0] == costs[1]
    assert costs[0]["test"]["cost"] == [1.0, 1.0, 1.0]


def test_a_cost_scheme_cannot_write_into_the_data_set() -> None:
    @dataclass(frozen=True)
    class Writes(CostScheme):
        past: bool

        def price(self, dataset: Dataset, train: np.ndarray, seed: int) -> Costs:
            if self.past:
                scribble(dataset.values)
            else:
                dataset.values[:] = 0.0
            return Costs(np.ones(dataset.n_features))

    with pytest.raises(ValueError, match="read-only"):
        prepare(data(), Writes(False), GIVEN, "raw", 0, 2)
    with pytest.raises(DataWritten, match="Writes wrote into the data set's values"):
        prepare(data(), Writes(True), GIVEN, "raw", 0, 2)


def test_only_a_refused_write_to_an_array_is_explained() -> None:
    def writes_to_an_array(problem: Problem) -> list[Policy]:
        problem.train.X[:] = 0.0
        return THREE

    def writes_to_a_disk(problem: Problem) -> list[Policy]:
        raise OSError(30, "Read-only file system", "/sys/x")

    assert "copy" in failure(writes_to_an_array)
    assert failure(writes_to_a_disk) == "[Errno 30] Read-only file system: '/sys/x'"


def test_a_metric_cannot_write_into_an_outcome() -> None:
    def writes(outcome: Any) -> float:
        outcome.bill[:] = 0.0
        return 0.0

    bad = {"bad": Metric("bad", writes, "min")}
    made = run(lambda problem: THREE, metrics={**bad, **METRICS})
    assert made.record["policies"] == record(lambda problem: THREE)["policies"]
    assert made.outcomes
    with pytest.raises(ContractError, match=r"metric 'bad' must return a number.*read-only"):
        measure(made.outcomes[0].outcome, bad)


# Returned arrays


def test_what_a_policy_does_to_its_arrays_later_changes_nothing() -> None:
    policy = cheats.ClearsWhatItAcquired(4)
    made = record(lambda problem: [policy], rounds=2)
    assert made["policies"]["test"]["cost"] == pytest.approx([3.5 + 2 + 5])
    assert not any(acquired.any() for acquired in policy.earlier[:-1])


def test_a_policy_may_use_its_buffers_again() -> None:
    buffers = {}

    def reuses(rows: Rows) -> Decisions:
        table = buffers.setdefault(len(rows), np.zeros((len(rows), 2)))
        table[:] = sure(rows)
        return Decisions(acquiring(rows, 0), table)

    expected = record(lambda problem: [FunctionPolicy(only_a)])["policies"]
    assert record(lambda problem: [FunctionPolicy(reuses)])["policies"] == expected


class Forgetful(np.ndarray):
    """An array that pretends to be empty when it is indexed."""

    def __getitem__(self, key: Any) -> Any:
        return np.zeros_like(np.asarray(super().__getitem__(key)))

    def __array_finalize__(self, other: Any) -> None:
        self.flags.writeable = True


def test_an_array_of_a_subclass_is_billed_by_its_memory() -> None:
    def forgets(rows: Rows) -> Decisions:
        return Decisions(acquiring(rows, 0).view(Forgetful), sure(rows))

    assert record(lambda problem: [FunctionPolicy(forgets)])["policies"]["test"]["cost"] == pytest.approx([3.5])


def test_a_subclass_of_decisions_is_refused() -> None:
    said = failure(lambda problem: [cheats.ReturnsASubclass(4)])
    assert said == "policy 0: decide must return Decisions, not its subclass OtherDecisions"


def test_a_policys_description_is_read_once() -> None:
    class Changing(FunctionPolicy):
        calls = 0

        @property
        def details(self) -> dict[str, int]:  # type: ignore[override]
            Changing.calls += 1
            return {"calls": Changing.calls}

    made = record(lambda problem: [Changing(only_a)])
    assert made["policies"]["details"] == [{"calls": 1}]
    assert Changing.calls == 1


@pytest.mark.parametrize("budget", [-1.0, float("nan"), "cheap"])
def test_a_budget_is_a_number_from_zero(budget: Any) -> None:
    said = failure(lambda problem: [FunctionPolicy(only_a, budget=budget)])
    assert said.startswith("policy 0: budget must be a number from 0")


def test_no_control_character_of_a_methods_error_reaches_a_terminal() -> None:
    def fit(problem: Problem) -> list[Policy]:
        raise ValueError("\x1b]0;title\x07 gone\u202e")

    assert failure(fit) == "?]0;title? gone?"


# Comparison of decisions


def many(task: str = "binary", rows: int = 120) -> Dataset:
    """Random features a, b, c, d; c determines the class. The rows are sorted by c."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(rows, 4))
    X = X[np.argsort(X[:, 2])]
    split = (np.arange(rows) % 3).astype(np.int8)
    y: np.ndarray = X[:, 2]
    classes: tuple[str, ...] = ()
    if task == "binary":
        y, classes = (X[:, 2] > 0).astype(np.int64), ("no", "yes")
    if task == "ranking":
        y = (X[:, 2] > 0).astype(np.float64) + (X[:, 2] > 1)
    query = np.repeat(np.arange(rows // 12), 12) + 700 if task == "ranking" else None
    names = ("a", "b", "c", "d")
    return Dataset("many", task, X, names, y, classes, split=split, query=query)  # type: ignore[arg-type]


FREE = PriceTable(prices=[1.0, 1.0, 1.0, 1.0])


def cheating(policy: Policy, task: str = "binary", **options: Any) -> str:
    return failure(lambda problem: [policy], many(task), FREE, **options)


def test_a_label_within_rounding_of_another_is_no_channel() -> None:
    said = cheating(cheats.NearlyEven(4, unpaid=2))
    assert "read without paying: feature 'c'" in said


def test_a_conclusive_answer_within_rounding_of_the_threshold_is_no_channel() -> None:
    def nearly(rows: Rows) -> Decisions:
        sure_ = 0.8 + np.where(rows.X[:, 2] > 0, 4e-10, -4e-10)
        return Decisions(acquiring(rows), np.column_stack([sure_, 1 - sure_]))

    assert "feature 'c'" in cheating(FunctionPolicy(nearly), threshold=0.8)
    record(lambda problem: [FunctionPolicy(nearly)], many(), FREE)  # without a threshold it is uninformative


@pytest.mark.parametrize("task", ["ranking", "regression"])
def test_scores_far_from_zero_are_no_channel(task: str) -> None:
    assert "feature 'c'" in cheating(cheats.FarScores(4, unpaid=2), task)


def test_an_order_within_a_query_is_no_channel() -> None:
    assert "feature 'c'" in cheating(cheats.TinyScores(4, unpaid=2), "ranking")


def test_scores_of_a_regression_may_differ_by_a_billionth_of_the_targets_spread_and_it_does_not_help() -> None:
    made = record(lambda problem: [cheats.TinyScores(4, unpaid=2)], many("regression"), FREE)
    blind = record(
        lambda problem: [FunctionPolicy(lambda rows: Decisions(acquiring(rows), score=np.zeros(len(rows))))],
        many("regression"),
        FREE,
    )
    assert made["policies"]["test"]["mse"] == pytest.approx(blind["policies"]["test"]["mse"], rel=1e-8)


def test_an_order_is_compared_where_a_metric_of_the_run_reads_it() -> None:
    def nearly(rows: Rows) -> Decisions:
        little = 1e-10 * np.tanh(rows.X[:, 2])
        return Decisions(acquiring(rows), np.column_stack([0.7 - little, 0.3 + little]))

    for name in ("ndcg@5", "misclassification-cost@2"):
        ordered = METRICS | {name: resolve_metric(name, KNOWN)}
        assert "feature 'c'" in cheating(FunctionPolicy(nearly), metrics=ordered)


def test_unpaid_values_are_no_channel_on_the_validation_rows_either() -> None:
    tested = set(many().values[2::3, 2].tolist())

    def selected(rows: Rows) -> Decisions:
        """Nothing is declared on rows that are not of the test part, but their third feature decides."""
        own = np.isin(rows.X[:, 2], sorted(tested))
        yes = np.where(~own & (rows.X[:, 2] > 0), 0.9, 0.1)
        return Decisions(acquiring(rows, 2) & own[:, None], np.column_stack([1 - yes, yes]))

    assert "feature 'c'" in cheating(FunctionPolicy(selected))


# Shown rows


def test_rows_are_shown_in_one_order_that_is_not_the_splits() -> None:
    seen: list[np.ndarray] = []

    def look(rows: Rows) -> Decisions:
        seen.append(rows.X[:, 2].copy())
        return only_a(rows)

    for _ in range(2):
        record(lambda problem: [FunctionPolicy(look)], many(), FREE, rounds=0)
    (validation, test), again = seen[:2], seen[2:]
    for one, other in zip((validation, test), again, strict=True):
        np.testing.assert_array_equal(one, other)
    # The table is sorted by c; the shown rows are not, not even approximately.
    assert abs(np.corrcoef(np.arange(len(test)), test)[0, 1]) < 0.5
    np.testing.assert_array_equal(np.sort(test), many().values[2::3, 2])


def test_the_position_of_a_row_is_uninformative() -> None:
    def by_place(rows: Rows) -> Decisions:
        yes = np.where(np.arange(len(rows)) >= len(rows) / 2, 0.9, 0.1)
        return Decisions(acquiring(rows), np.column_stack([1 - yes, yes]))

    assert (
        record(lambda problem: [FunctionPolicy(by_place)], many(), FREE, rounds=0)["policies"]["test"]["error"][0] > 0.2
    )
    assert "its place in the batch or on other rows" in cheating(FunctionPolicy(by_place))


def test_a_memory_of_places_is_caught() -> None:
    assert "answers differently" in cheating(cheats.RemembersByPlace(4, unpaid=2))
    assert "answers differently" in cheating(cheats.RemembersByShape(4, unpaid=2))


@dataclass
class Looking(Policy):
    """Ranks by a feature, and keeps the rows that it is shown."""

    seen: list[Rows] = field(default_factory=list)
    decision_scope: Any = "query"

    def decide(self, rows: Rows) -> Decisions:
        self.seen.append(rows)
        query = np.zeros(len(rows)) if rows.query is None else rows.query
        same = query[:, None] == query[None, :]
        below = rows.X[:, 0][:, None] > rows.X[:, 0][None, :]
        return Decisions(acquiring(rows, 0), score=(same & below).sum(axis=1).astype(float))


def test_queries_stay_complete_under_new_ids_and_a_policy_that_ranks_them_passes() -> None:
    looking = Looking()
    ndcg = {"ndcg@5": resolve_metric("ndcg@5", KNOWN)}
    dataset = many("ranking")
    record(lambda problem: [looking], dataset, FREE, metrics=ndcg, rounds=4)
    validation, test, *audits = looking.seen
    for rows in looking.seen:
        assert rows.query is not None
        changes = np.flatnonzero(np.diff(rows.query))
        assert len(changes) == rows.query.max() == len(set(rows.query)) - 1
        assert rows.query[0] == 0
    assert len(audits) == 8
    own = dataset.query[2::3], dataset.values[2::3, 2]  # type: ignore[index]
    belongs = dict(zip(own[1], own[0], strict=True))
    ids = [belongs[value] for value in test.X[:, 2]]
    assert len(set(zip(ids, test.query, strict=True))) == len(set(own[0]))  # type: ignore[arg-type]
    # Some queries are in an audit's batch twice, completely.
    assert {len(rows) for rows in audits[:4]} == {len(test) + 8}
    assert {len(rows) for rows in audits[4:]} == {len(validation) + 8}


def test_every_row_is_changed_in_the_audit_and_a_quarter_of_them_is_repeated() -> None:
    calls: list[np.ndarray] = []

    def look(rows: Rows) -> Decisions:
        calls.append(np.array(rows.X))
        return only_a(rows)

    record(lambda problem: [FunctionPolicy(look)], many(), FREE)
    validation, test, *audits = calls
    train = many().values[0::3]
    assert [len(call) for call in audits] == [50, 25, 25, 50, 25, 25]  # every second round has two calls
    rounds = [audits[0], np.vstack(audits[1:3]), audits[3], np.vstack(audits[4:])]
    for batch, true in zip(rounds, (test, test, validation, validation), strict=True):
        assert len(batch) == 50
        assert not np.isin(batch[:, 1:], true[:, 1:]).any()
        assert np.isin(batch[:, 1:], train[:, 1:]).all()
        # Every row occurs with its paid value, in another order.
        assert not np.array_equal(batch[:40, 0], true[:, 0])
        assert set(batch[:, 0]) == set(true[:, 0])


def test_results_are_put_back_into_the_splits_order() -> None:
    result = run(lambda problem: [FunctionPolicy(b_where_a_is_negative)], many(), FREE)
    assert result.outcomes is not None
    assert result.rows is not None
    for judged in result.outcomes:
        values = many().values[result.rows[judged.part]]
        np.testing.assert_array_equal(judged.outcome.decisions.acquired[:, 1], values[:, 0] <= 0)
        np.testing.assert_array_equal(judged.outcome.y, many().target[result.rows[judged.part]])


def test_prepared_data_is_for_any_number_of_trials() -> None:
    dataset = many()
    prepared = prepare(dataset, FREE, GIVEN, "raw", 0, 2)
    labels = ("A", "a", tiny_plugin.Blobs(), "c", "c", FREE, "m", "m")
    made = []
    for _ in range(2):
        trial = Trial(*labels, Made(lambda problem: [FunctionPolicy(only_a)]), 0, GIVEN, "raw", None, False, 0)
        made.append(run_trial(trial, dataset, prepared, METRICS).record["policies"])
    assert made[0] == made[1]
    assert prepared.written() == []
    assert replace(prepared, sums={"problem.train.X": 0}).written() == ["problem.train.X"]


def test_a_record_counts_the_rows_of_each_part() -> None:
    counts = SplitRule("random", 6, 4, 2)
    made = record(lambda problem: [FunctionPolicy(only_a)], replace(data(), split=None), rule=counts)
    assert made["rows"] == {"train": 6, "validation": 4, "test": 2}
