"""The contract kit passes an honest method and finds each kind of bad one."""

from __future__ import annotations

import importlib
import itertools
import os
import random
import re
import subprocess
import sys
import textwrap
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from support import cheats

from bench_core.contract.costs import Costs
from bench_core.contract.decisions import Decisions, Rows
from bench_core.contract.errors import DataUnavailable, RequestError
from bench_core.contract.method import Family, Method, Policy
from bench_core.contract.sources import CostScheme, DataContext, DataSource
from bench_core.testing import (
    CHECKS,
    VARIANTS,
    check_cost_scheme,
    check_dataset,
    check_method,
    cost_scheme_contract,
    dataset_contract,
    make_case,
    make_dataset,
    make_problem,
    method_contract,
    toml_text,
)
from bench_core.testing.checks_fit import check_global_random_state

TASKS = ("binary", "multiclass", "regression", "ranking")


@dataclass
class Linear(Policy):
    """Scores by some of the columns; classes by a softmax."""

    weights: np.ndarray
    acquired: np.ndarray
    classes: int
    label: str = ""
    budget: float | None = None

    def decide(self, rows):
        X = np.where(np.isnan(rows.X), 0.0, rows.X)
        # einsum, not BLAS: a row's sum must not depend on its neighbours.
        score = np.einsum("ij,jk->ik", X, self.weights[:-1]) + self.weights[-1]
        acquired = np.tile(self.acquired, (len(rows), 1))
        if not self.classes:
            return Decisions(acquired, score=score[:, 0])
        shifted = np.exp(score - score.max(axis=1, keepdims=True))
        return Decisions(acquired, shifted / shifted.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Good(Method):
    """Ridge regression on the one-hot target: with the cheapest feature, and with all of them."""

    ridge: float = 1.0
    sizes: tuple[int, ...] = (1, 99)
    note: str | None = None

    def fit(self, problem):
        X = np.nan_to_num(problem.train.X)
        y = problem.train.y[:, None] if not problem.n_classes else np.eye(problem.n_classes)[problem.train.y] * 5
        order = np.argsort(problem.costs.prices[:, 0], kind="stable")
        policies = []
        for size in self.sizes:
            features = order[: min(size, problem.n_features)]
            acquired = np.isin(np.arange(problem.n_features), features)
            Z = np.column_stack([X * acquired[problem.feature_of_column], np.ones(len(X))])
            weights = np.linalg.solve(Z.T @ Z + self.ridge * np.eye(Z.shape[1]), Z.T @ y)
            policies.append(self.policy(weights, acquired, problem))
        return Family(policies, history={"loss": np.array([1.0, 0.5])}, diagnostics={"rows": len(X)})

    def policy(self, weights, acquired, problem):
        return Linear(weights, acquired, problem.n_classes, label=f"{int(acquired.sum())} features")


test_contract = method_contract(Good(), Good(ridge=0.5, sizes=(2,), note="x"))
test_honest_cheats = method_contract(cheats.Cheat("honest-early-exit"))


def test_a_compiled_policy_passes():
    pytest.importorskip("numba")
    assert failures(cheats.Cheat("honest-kernel")) == {}


def failures(method, tasks=("binary",)):
    return {result.check: result.message for result in check_method(method, tasks=tasks) if result.outcome == "failed"}


def bad(decide):
    """A method whose policies apply ``decide(policy, rows, decisions)`` to the decisions of an honest policy."""

    @dataclass
    class Spoiled(Linear):
        state: dict = field(default_factory=dict)

        def decide(self, rows):
            return decide(self, rows, super().decide(rows))

    @dataclass(frozen=True)
    class Bad(Good):
        """Bad in one way."""

        def policy(self, weights, acquired, problem):
            return Spoiled(weights, acquired, problem.n_classes)

    return Bad()


def with_nan(policy, rows, decisions):
    return replace(decisions, probabilities=np.where(rows.X[:, :1] > 0, np.nan, decisions.probabilities))


def of_the_wrong_shape(policy, rows, decisions):
    return replace(decisions, acquired=decisions.acquired[:, :-1])


def a_tuple(policy, rows, decisions):
    return decisions.probabilities, decisions.acquired


def ranked_in_the_batch(policy, rows, decisions):
    return replace(decisions, stage=1 + np.arange(len(rows)) // 2)


def normalised_by_the_batch(policy, rows, decisions):
    top = decisions.probabilities.max(axis=0, initial=1e-9)
    table = decisions.probabilities / top
    return replace(decisions, probabilities=table / table.sum(axis=1, keepdims=True))


def in_place(policy, rows, decisions):
    rows.X[:] = 0.0
    return decisions


def counting(policy, rows, decisions):
    policy.state["calls"] = policy.state.get("calls", 0) + 1
    return replace(decisions, evaluations=np.full(len(rows), float(policy.state["calls"])))


def failing_on_one_row(policy, rows, decisions):
    if len(rows) == 1:
        raise IndexError("too few rows")
    return decisions


def failing_on_no_rows(policy, rows, decisions):
    return replace(decisions, stage=np.full(len(rows), int(rows.X[:, 0].argmax()) * 0 + 1))


def drawing_globally(policy, rows, decisions):
    np.random.random()  # noqa: NPY002
    return decisions


def peeking(policy, rows, decisions):
    acquired = decisions.acquired.copy()
    acquired[:, 0] = False
    return replace(decisions, acquired=acquired)


BAD_POLICIES = [
    (with_nan, "shapes", r"policy 0: Decisions.probabilities holds NaN in \d+ row"),
    (of_the_wrong_shape, "shapes", r"acquired must have shape \(30, 6\), not \(30, 5\)"),
    (a_tuple, "shapes", "decide must return Decisions, not tuple"),
    (ranked_in_the_batch, "row-order", "rows in another order: .* rows were decided differently, .*stage"),
    (normalised_by_the_batch, "batch-size", "in batches of 7: .* decided differently"),
    (in_place, "rows-unchanged", "decide changed rows.X in place"),
    (counting, "no-trace", "asked again after other rows"),
    (failing_on_one_row, "one-row", "IndexError: too few rows"),
    (failing_on_no_rows, "no-rows", "ValueError"),
    (drawing_globally, "global-random-state", r"use problem.rng\(\)"),
    (peeking, "audit", r"policy 1 read without paying: feature 'strong' on \d+ rows \(of 30 rows\)"),
]


@pytest.mark.parametrize(("habit", "check", "said"), BAD_POLICIES, ids=lambda value: getattr(value, "__name__", None))
def test_a_bad_policy_fails_the_check_for_it(habit, check, said):
    found = failures(bad(habit))
    assert check in found
    assert re.search(said, found[check]), found[check]


@dataclass(frozen=True)
class NoPolicy(Good):
    """Returns nothing."""

    def fit(self, problem):
        return []


@dataclass(frozen=True)
class Forgetful(Good):
    """Forgets the list."""

    def fit(self, problem):
        return super().fit(problem).policies[0]


_CALLS = itertools.count()


@dataclass(frozen=True)
class Unseeded(Good):
    """Other weights at every fit."""

    def policy(self, weights, acquired, problem):
        return super().policy(weights + 1e-3 * next(_CALLS), acquired, problem)


@dataclass(frozen=True)
class GloballySeeded(Good):
    """Draws from Python's global generator, and puts it back."""

    def policy(self, weights, acquired, problem):
        state = random.getstate()
        weights = weights + random.random()
        random.setstate(state)
        return super().policy(weights, acquired, problem)


@dataclass(frozen=True)
class Reseeding(Good):
    """Seeds the global generator."""

    def fit(self, problem):
        np.random.seed(problem.seed)  # noqa: NPY002
        return super().fit(problem)


@dataclass(frozen=True)
class ImportsInFit(Good):
    """Imports a library in its fit; the import draws from Python's random state, as LightGBM's does."""

    def fit(self, problem):
        importlib.import_module("draws_on_import")
        return super().fit(problem)


@dataclass(frozen=True)
class InPlace(Good):
    """Centres the training rows in place."""

    def fit(self, problem):
        problem.train.X[:] -= 0.5
        return super().fit(problem)


@dataclass(frozen=True)
class Threaded(Good):
    """Does something else with more threads."""

    def policy(self, weights, acquired, problem):
        return super().policy(weights * problem.threads, acquired, problem)


@dataclass(frozen=True)
class KeepsALambda(Good):
    """What its policy keeps cannot be pickled."""

    def policy(self, weights, acquired, problem):
        policy = super().policy(weights, acquired, problem)
        policy.link = lambda score: score
        return policy


class Shifted(Linear):
    """Its copy has other weights."""

    def __reduce__(self):
        return Linear, (self.weights + 0.5, self.acquired, self.classes, self.label)


@dataclass(frozen=True)
class CopiesOtherwise(Good):
    """Its policy is another one when it is restored from a pickle."""

    def policy(self, weights, acquired, problem):
        policy = super().policy(weights, acquired, problem)
        return Shifted(policy.weights, policy.acquired, policy.classes, policy.label)


@dataclass(frozen=True)
class OverBudget(Good):
    """Exceeds the budget that it promises."""

    def policy(self, weights, acquired, problem):
        return replace(super().policy(weights, acquired, problem), budget=1.0)


@dataclass(frozen=True)
class DividesByPrice(Good):
    """Fails if features are free."""

    def fit(self, problem):
        if not problem.costs.prices.all():
            raise ZeroDivisionError("division by zero")
        return super().fit(problem)


@dataclass(frozen=True)
class Rude(Good):
    """Refuses missing values, sizes and missing thresholds without a clear message."""

    def fit(self, problem):
        if np.isnan(problem.train.X).any() or problem.threshold is None or problem.costs.depends_on_size:
            raise ValueError("cannot do this")
        return super().fit(problem)


@dataclass(frozen=True)
class Polite(Good):
    """Refuses the same with clear messages."""

    def fit(self, problem):
        problem.need_threshold("polite")
        if problem.costs.depends_on_size:
            raise RequestError("polite cannot do with prices that depend on item size")
        gaps = np.isnan(problem.train.X).any(axis=0)
        if gaps.any():
            name = problem.feature_names[problem.feature_of_column[gaps.argmax()]]
            raise ValueError(f"feature {name!r} has missing values")
        return super().fit(problem)


@dataclass(frozen=True)
class ForgetsAClass(Good):
    """Counts classes in the training part."""

    def fit(self, problem):
        return super().fit(replace(problem, n_classes=int(problem.train.y.max()) + 1))


@dataclass(frozen=True)
class Unwritable(Good):
    """Keeps an object where plain values belong."""

    def fit(self, problem):
        return replace(super().fit(problem), diagnostics={"model": object()})


@dataclass(frozen=True)
class Undocumented(Good):
    pass


@dataclass
class Mutable(Good.__mro__[1]):
    """Not frozen."""

    def fit(self, problem):
        return Good().fit(problem)


@dataclass(frozen=True)
class Unversioned(Good):
    """A version that is a text."""

    version: ClassVar = "1.0"


@dataclass(frozen=True)
class Sloppy(Good):
    """An integer as the default of a float parameter."""

    rate: float = 1


@dataclass(frozen=True)
class Opaque(Good):
    """A parameter that TOML cannot express."""

    function: object = print


BAD_METHODS = [
    (NoPolicy(), "family", "returned no policy"),
    (Forgetful(), "family", "must return policies or a Family, not Linear"),
    (Unseeded(), "determinism", r"fitted twice under one seed: \d+ of 30 rows were decided differently"),
    (GloballySeeded(), "global-random-state", r"under another global seed: \d+ of 30 rows"),
    (Reseeding(), "global-random-state", "draws from the global random state"),
    (InPlace(), "problem-unchanged", "fit changed problem.train.X in place"),
    (Threaded(), "threads", "two threads instead of one: 30 of 30"),
    (KeepsALambda(), "pickling", "does not survive pickling.* no lambda"),
    (CopiesOtherwise(), "pickling", r"pickled and restored: \d+ of 30 rows were decided differently"),
    (OverBudget(), "bill", r"promises a budget of 1 and exceeds it on 30 of 30 rows \(dearest: 12\)"),
    (DividesByPrice(), "zero-prices", "division by zero"),
    (Rude(), "missing-values", "must name a feature with missing values; it was ValueError: cannot do this"),
    (Rude(), "no-threshold", "must mention the threshold"),
    (Rude(), "item-sizes", "must say that prices depend on item size"),
    (ForgetsAClass(), "missing-class", r"must have shape \(30, 2\), not \(30, 1\)"),
    (Unwritable(), "family", "diagnostics cannot be kept in a record: object has no plain JSON form"),
    (Undocumented(), "declaration", "needs a docstring"),
    (Mutable(), "declaration", "must be a frozen dataclass"),
    (Unversioned(), "declaration", "version must be a whole number"),
    (Sloppy(), "parameters", "Sloppy.rate is 1, but 1.0 when read from TOML"),
    (Opaque(), "parameters", "cannot be written in a suite"),
]


@pytest.mark.parametrize(
    ("method", "check", "said"), BAD_METHODS, ids=[f"{type(m).__name__}-{check}" for m, check, _ in BAD_METHODS]
)
def test_a_bad_method_fails_the_check_for_it(method, check, said):
    found = failures(method)
    assert check in found
    assert re.search(said, found[check]), found[check]


def test_a_refusal_with_a_clear_message_passes():
    assert failures(Polite()) == {}


def test_a_method_may_import_a_library_that_draws_from_the_random_state(tmp_path, monkeypatch):
    (tmp_path / "draws_on_import.py").write_text("import random\n\nrandom.random()\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "draws_on_import", raising=False)
    check_global_random_state(ImportsInFit(), "binary")


# It changes only its own arrays, which the kit has copied, so there is nothing to find (tests/test_trial.py: it pays).
HARMLESS = "clears-what-it-acquired"
DISHONEST = [habit for habit in cheats.HABITS if not habit.startswith("honest") and habit != HARMLESS]


@pytest.mark.parametrize("habit", DISHONEST)
def test_every_cheat_is_caught(habit):
    found = failures(cheats.Cheat(habit))
    said = {
        "recognises-the-audit": ("no-trace", "remembers earlier rows: paid values changed, a fresh policy differs"),
        "remembers-by-shape": ("audit", "of 30 rows when nothing is replaced and the rows come in another order"),
        "remembers-by-place": ("audit", "answers differently on"),
        "returns-a-subclass": ("shapes", "decide must return Decisions, not its subclass OtherDecisions"),
        "writes-prices": ("problem-unchanged", "fit changed problem.costs in place"),
    }
    check, message = said.get(habit, ("audit", "read without paying: feature 'large' on "))
    assert message in found[check]
    if habit == "recognises-the-audit":
        assert "audit" not in found, "this is why the kit looks for memory"


@pytest.mark.parametrize("habit", ["tiny-scores", "far-scores"])
def test_scores_within_rounding_cannot_distinguish_rows(habit):
    found = failures(cheats.ScoreCheat(habit), tasks=("ranking",))
    assert "read without paying: feature 'large' on " in found["audit"]
    assert failures(cheats.ScoreCheat("honest-scores"), tasks=("ranking", "regression")) == {}


def test_a_policy_that_recognises_replaced_values_is_caught():
    """It repeats its answers for rows with the same paid values, and recomputes the others."""

    @dataclass
    class Sly(cheats.ReadsUnpaid):
        memory: dict = field(default_factory=dict)

        def score(self, X, acquired):
            said = [self.memory.setdefault(x[0], x[0] + x[1]) for x in X]
            return np.array(said, dtype=float)

    @dataclass(frozen=True)
    class SlyMethod(cheats.Cheat):
        """Sly."""

        def fit(self, problem):
            return [Sly(problem.n_features, 0, min(1, problem.n_features - 1))]

    found = failures(SlyMethod())
    assert "audit" not in found
    assert "no-trace" in found


def test_the_kit_of_a_slow_method_runs_its_short_checks_in_the_slow_run_and_the_others_weekly():
    (mark,) = method_contract(Good(), tasks=["binary"], slow=True).pytestmark
    marked = {case.id: {mark.name for mark in case.marks} for case in mark.args[1]}
    short = {f"{check}-binary" for check in ("audit", "determinism", "shapes")}
    assert {name for name, marks in marked.items() if marks == {"slow"}} == short
    assert all(marks == {"weekly"} for name, marks in marked.items() if name not in short)
    assert len(marked) > 20


# ---- the kit's own pieces


@pytest.mark.parametrize(
    ("task", "variant"),
    [
        (task, variant)
        for task, variant in itertools.product(TASKS, VARIANTS)
        if variant != "missing-class" or task in ("binary", "multiclass")
    ],
)
def test_problems_are_deterministic_and_as_documented(task, variant):
    case, again = make_case(task, variant), make_case(task, variant)
    np.testing.assert_array_equal(case.rows.X, again.rows.X)
    np.testing.assert_array_equal(case.problem.train.y, again.problem.train.y)
    problem = case.problem
    assert len(problem.feature_of_column) == problem.train.X.shape[1] == case.rows.X.shape[1]
    assert problem.costs.n_features == problem.n_features
    assert np.isnan(problem.train.X).any() == (variant == "missing-values")
    assert (problem.threshold is None) == (variant == "no-threshold" or not problem.n_classes)
    assert problem.costs.depends_on_size == (variant == "item-sizes")
    assert len(problem.train) == 6 or variant != "tiny"
    if variant == "missing-class":
        assert set(problem.train.y) == set(range(problem.n_classes - 1))
    elif variant != "tiny" and problem.n_classes:
        assert set(problem.train.y) == set(range(problem.n_classes))
    if variant == "one-hot":
        assert len(problem.columns_of(4)) == 3


def test_another_seed_is_another_problem():
    assert not np.array_equal(make_problem(seed=1).train.X, make_problem(seed=2).train.X)


def test_the_problems_can_be_learned():
    case = make_case("binary")
    policy = Good().fit(case.problem).policies[1]
    right = policy.decide(case.rows).probabilities.argmax(axis=1) == case.y
    assert right.mean() > 0.8


def test_the_error_for_an_unknown_variant_suggests_the_nearest():
    with pytest.raises(ValueError, match="did you mean 'one-hot'"):
        make_case("binary", "onehot")


def test_a_skip_needs_a_known_check_and_gives_its_reason():
    results = check_method(Good(), skip={"audit-binary": "slow", "tiny": "needs 7 rows"})
    assert {(r.check, r.task, r.message) for r in results if r.outcome == "skipped"} == {
        ("audit", "binary", "slow"),
        *(("tiny", task, "needs 7 rows") for task in TASKS),
    }
    with pytest.raises(ValueError, match="skip names 'audits', which is no check; did you mean 'audit'"):
        method_contract(Good(), skip={"audits": "x"})


def test_every_check_has_a_summary():
    assert all(check.summary for check in CHECKS)
    assert len({check.name for check in CHECKS}) == len(CHECKS)


def test_toml_that_is_written_is_read_back_unchanged():
    table = {
        "a": 1,
        "b": [1.5, True, 'q"\\\n\x7f\u00e9'],
        "c d": {"x": "y", "none": None},
        "e": float("inf"),
        "f": None,
    }
    assert tomllib.loads(toml_text(table)) == {
        "a": 1, "b": [1.5, True, 'q"\\\n\x7f\u00e9'], "c d": {"x": "y"}, "e": float("inf"),
    }  # fmt: skip


@pytest.mark.slow
def test_pytest_shows_one_case_per_check_and_task(tmp_path):
    (tmp_path / "test_cheat.py").write_text(
        textwrap.dedent(
            """
            import pytest
            from bench_core.testing import method_contract
            from support.cheats import Cheat

            test_contract = method_contract(Cheat("reads-unpaid"), skip={"tiny": "known: six rows are too few"})

            @pytest.mark.slow
            def test_fixtures(data_context, budgetbench_shared):
                assert data_context.mirror == budgetbench_shared and data_context.offline
                assert not data_context.cache.exists()
            """
        )
    )
    shared = tmp_path / "shared"
    shared.mkdir()
    environment = {**os.environ, "BUDGETBENCH_SHARED": str(shared), "PYTHONPATH": str(Path(__file__).parent)}
    command = [sys.executable, "-m", "pytest", "-v", "-rs", "--strict-markers", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    lines = done.stdout.splitlines()
    assert any("test_contract[audit-binary] FAILED" in line for line in lines), done.stdout
    assert any("test_contract[row-order-binary] PASSED" in line for line in lines)
    assert any("test_contract[declaration] PASSED" in line for line in lines)
    assert any("test_contract[tiny-binary] SKIPPED" in line for line in lines)
    assert "known: six rows are too few" in done.stdout
    assert any("test_fixtures PASSED" in line for line in lines)
    assert "read without paying: feature 'large' on 30 rows" in done.stdout
    del environment["BUDGETBENCH_SHARED"]
    done = subprocess.run([*command, "-k", "fixtures"], capture_output=True, text=True, env=environment, check=False)
    assert "BUDGETBENCH_SHARED is not set" in done.stdout


def test_the_pytest_plugin_imports_nothing_heavy():
    code = "import sys, bench_core.testing.pytest_plugin; print([m for m in ('numpy', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ---- data sources and cost schemes


@dataclass(frozen=True)
class Table(DataSource):
    """The kit's own table."""

    rows: int = 60

    def load(self, context):
        return make_dataset(rows=self.rows)


@dataclass(frozen=True)
class Unavailable(DataSource):
    """Data that is not available."""

    network: ClassVar[bool] = True

    def load(self, context):
        raise DataUnavailable("it is far away", "run bench data fetch")


test_data_contract = dataset_contract(Table(), Unavailable())


def outcomes(results):
    return {result.check: result.message for result in results if result.outcome == "failed"}


_LOADS = itertools.count()


@dataclass(frozen=True)
class Shifting(Table):
    """Other data at every load."""

    def load(self, context):
        return make_dataset(seed=next(_LOADS))


@dataclass(frozen=True)
class Restless(Table):
    """A fingerprint that changes with every call."""

    def fingerprint(self, context):
        return str(next(_LOADS))

    def status(self, context):
        return "downloaded"


@dataclass(frozen=True)
class Misnamed(Table):
    """Returns a wrong content hash; and gives different data at every load, which its origin hides."""

    def load(self, context):
        return replace(make_dataset(seed=next(_LOADS)), origin={"source": "misnamed"})

    def content(self, context):
        return "0" * 64


def test_good_sources_pass_and_absent_ones_are_skipped(tmp_path):
    assert outcomes(check_dataset(Table())) == {}
    absent = {r.check: r.outcome for r in check_dataset(Unavailable(), DataContext(tmp_path))}
    assert absent == {
        "declaration": "passed", "loads-twice": "skipped", "content": "skipped", "fingerprint": "skipped",
        "status": "skipped", "usable": "skipped",
    }  # fmt: skip


def test_bad_sources_are_found():
    assert "other content the second time" in outcomes(check_dataset(Shifting()))["loads-twice"]
    found = outcomes(check_dataset(Restless()))
    assert "fingerprint changed from" in found["fingerprint"]
    assert "not 'downloaded'" in found["status"]
    found = outcomes(check_dataset(Misnamed()))
    assert "other content the second time" in found["loads-twice"]
    assert "but what load gives has the content" in found["content"]


@dataclass(frozen=True)
class Spread(CostScheme):
    """Prices by the spread of each feature."""

    everything: bool = False
    by_target: bool = False
    short: bool = False
    in_place: bool = False

    def price(self, dataset, train, seed):
        values = dataset.values if self.everything else dataset.values[train]
        prices = values.std(axis=0) + (dataset.target.mean() if self.by_target else 0)
        if self.in_place:
            dataset.values[train] -= values.mean(axis=0)
        return Costs(prices[:-1] if self.short else prices)


@dataclass(frozen=True)
class Dice(CostScheme):
    """Random prices without a seed."""

    def price(self, dataset, train, seed):
        return Costs(np.random.default_rng().random(dataset.n_features))


def test_good_cost_schemes_pass():
    assert outcomes(check_cost_scheme(Spread())) == {}


@pytest.mark.parametrize(
    ("scheme", "check", "said"),
    [
        (Spread(everything=True), "training-rows-only", "looks beyond the training rows"),
        (Spread(by_target=True), "training-rows-only", "looks beyond the training rows"),
        (Spread(short=True), "prices", "gives 5 prices for 6 features"),
        (Spread(in_place=True), "dataset-unchanged", "changed the dataset in place"),
        (Dice(), "same-prices", "other prices the second time"),
    ],
)
def test_bad_cost_schemes_are_found(scheme, check, said):
    assert said in outcomes(check_cost_scheme(scheme))[check]


test_cost_contract = cost_scheme_contract(Spread())


def test_rows_are_copied_before_a_policy_sees_them():
    case = make_case()
    before = case.rows.X.copy()
    check_method(bad(in_place), tasks=("binary",))
    np.testing.assert_array_equal(make_case().rows.X, before)
    assert isinstance(case.rows, Rows)
