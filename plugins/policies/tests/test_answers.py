"""Budgets that cannot be kept, answers by error costs, confidence thresholds, and hostile texts in tables."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from bench_policies import (
    BudgetedClassifier,
    FittedPolicy,
    Goal,
    Setup,
    evaluate,
    explain,
    fit_policy,
    load_policy,
    save_policy,
)
from bench_policies.answering import Answering
from bench_policies.card import card
from support.patients import PRICES, bench, write_files

from bench_core import Decisions, Method, Policy, Problem, RequestError, Rows

FULL = 54.0
MISSED = {"sick": {"healthy": 500.0}, "healthy": {"sick": 20.0}}


@pytest.fixture
def files(table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The arguments of ``bench fit`` for a table and its prices."""
    return write_files(table, tmp_path, monkeypatch)


# Budgets


@pytest.mark.slow
@pytest.mark.parametrize(("method", "budget"), [("single-stage", 0.0), ("single-stage", 53.9), ("eg2", 0.5)])
def test_a_budget_below_every_policy_is_an_error_that_names_the_least_budget(
    table: pd.DataFrame, method: str, budget: float
) -> None:
    def fit(budget: float) -> FittedPolicy:
        return fit_policy(method, table, PRICES, target="outcome", goal=Goal(budget=budget), splits=0)

    with pytest.raises(RequestError, match=f"{method} cannot keep to a mean cost of {budget:g} a row") as error:
        fit(budget)
    least = float(str(error.value).split()[-1])
    assert budget < least <= FULL
    assert fit(least).about["validation"]["cost"] <= least
    with pytest.raises(RequestError, match="cannot keep"):
        fit(least * (1 - 1e-5))


def test_fit_ends_with_code_2_where_the_budget_cannot_be_kept_and_writes_nothing(files: list[str]) -> None:
    done = bench("fit", *files, "--budget", "0", "--method", "single-stage", "--splits", "0", "--out", "policy")
    assert done.exit_code == 2
    assert done.output.count("\n") == 1
    assert "the least budget that works is 54" in done.output
    assert not Path("policy").exists()


def test_the_classifier_refuses_a_budget_that_it_cannot_keep() -> None:
    X = np.random.default_rng(0).normal(size=(100, 10))
    with pytest.raises(RequestError, match="the least budget that works is 10"):
        BudgetedClassifier("single-stage", budget=2).fit(X, X[:, 0] > 0)
    assert BudgetedClassifier("single-stage", budget=10).fit(X, X[:, 0] > 0).cost_(X).mean() == 10


def test_the_card_counts_the_splits_whose_test_part_keeps_the_budget(table: pd.DataFrame) -> None:
    fitted = fit_policy("cost-ordered", table, PRICES, target="outcome", goal=Goal(budget=12), splits=4)
    measured, text = fitted.about["measured"], card(fitted)
    for shown in (repr(fitted), fitted._repr_html_()):
        assert "cost-ordered" in shown
        assert "healthy, sick" in shown
        assert "array" not in shown
    assert "a mean cost of at most 12 a row" in text
    assert f"the budget, a mean of 12, is kept on {measured['met']} of 4 splits" in text
    assert fitted.about["validation"]["cost"] <= 12
    nothing = fit_policy("majority", table, PRICES, target="outcome", goal=Goal(budget=0), splits=1)
    assert "a mean of 0, is kept on 1 of 1 split" in card(nothing)


def test_the_card_says_that_an_accuracy_is_not_reached(table: pd.DataFrame) -> None:
    fitted = fit_policy("stump", table, PRICES, target="outcome", goal=Goal(quality=0.99), splits=2)
    text = card(fitted)
    assert "below the goal of 99 %, which no policy of the method reaches" in text
    assert "99 % right answers are reached on 0 of 2 splits" in text


# Error costs


@pytest.fixture(scope="module")
def careful(table: pd.DataFrame) -> FittedPolicy:
    """A policy for error costs that make a missed sick patient 25 times as costly as a false alarm."""
    return fit_policy("eg2", table, PRICES, target="outcome", goal=Goal(error_costs=MISSED), splits=2)


@pytest.mark.slow
def test_tables_sessions_explanations_and_loaded_policies_all_answer_with_least_expected_cost(
    careful: FittedPolicy, table: pd.DataFrame, tmp_path: Path
) -> None:
    costs = np.array([[MISSED.get(t, {}).get(a, 0.0) for a in careful.classes] for t in careful.classes])
    probabilities = careful.decisions(table).probabilities
    assert probabilities is not None
    least = np.array(careful.classes)[(probabilities @ costs).argmin(axis=1)]
    probable = np.array(careful.classes)[probabilities.argmax(axis=1)]
    answers = careful.decide(table)
    assert answers.label.tolist() == least.tolist()
    different = np.flatnonzero(least != probable)
    assert len(different)
    at = int(different[0])
    assert answers.probability.iloc[at] == probabilities[at].min()
    row = table.iloc[at].to_dict()
    session = careful.start()
    while session.answer is None:
        session.give({name: row[name] for name in session.wanted})
    assert (session.answer.label, session.answer.probability) == (least[at], answers.probability.iloc[at])
    explained = explain(careful, row)
    assert f"Answer: {least[at]}, probability {answers.probability.iloc[at]:.3f}" in explained.trace
    assert set(re.findall(r"answer (\w+)", explained.drawing)) <= set(least)
    loaded = load_policy(save_policy(careful, tmp_path / "policy"))
    pd.testing.assert_frame_equal(loaded.decide(table), answers, check_exact=True)
    assert explain(loaded, row) == explained


@pytest.mark.slow
def test_the_card_compares_the_total_with_answers_without_features(careful: FittedPolicy) -> None:
    about, text = careful.about, card(careful)
    measured, trivial = about["measured"], {row["answer"]: row for row in about["trivial"]}
    assert measured["total"] == pytest.approx(measured["cost"] + measured["loss"])
    assert f"mean total, which was minimised: {measured['total']:.4g}"[:40] in text
    assert trivial["always sick"]["cost"] == 0
    assert trivial["always sick"]["total"] == pytest.approx(20 * (1 - trivial["always sick"]["quality"]))
    assert trivial["always healthy"]["total"] == pytest.approx(500 * (1 - trivial["always healthy"]["quality"]))
    assert trivial["by the frequencies of the classes"]["total"] == trivial["always sick"]["total"]
    assert 'Without buying any feature, the answer "always sick" gives a mean total cost of' in text
    for answer in trivial:
        assert f"| {answer}" in text
        assert f"Without any feature: {answer}" in explain(careful).stages


def test_a_row_is_refused_where_every_answer_is_expected_to_cost_more(table: pd.DataFrame) -> None:
    goal = Goal(error_costs={"sick": {"healthy": 100.0}, "healthy": {"sick": 100.0}}, refused_cost=10.0)
    fitted = fit_policy("single-stage", table, PRICES, target="outcome", goal=goal, splits=2)
    answers = fitted.decide(table)
    assert 0 < answers.refused.sum() < len(table)
    assert (answers.refused == (answers.probability < 0.9)).all()
    assert answers.label[answers.refused].isna().all()
    assert {"refuse every row"} < {row["answer"] for row in fitted.about["trivial"]}
    assert "refused where every answer is expected to cost more than 10" in card(fitted)


def test_the_card_says_that_refusals_cost_nothing_without_a_cost_of_refusals(table: pd.DataFrame) -> None:
    fitted = fit_policy(
        "single-stage",
        table,
        PRICES,
        target="outcome",
        goal=Goal(error_costs=MISSED),
        setup=Setup(threshold=0.9),
        splits=1,
    )
    assert "is below 0.9 is refused; a refusal costs nothing, as no cost is given" in card(fitted)
    answers = fitted.decide(table)
    most = answers.probability.where(answers.probability > 0.5, 1 - answers.probability)
    assert (answers.refused == (most < 0.9)).all()


def test_the_classifier_predicts_the_class_of_least_expected_cost(table: pd.DataFrame) -> None:
    X, y = table[["age", "glucose", "insulin", "scan"]], table["outcome"].to_numpy()
    plain = BudgetedClassifier("single-stage").fit(X, y)
    careful = BudgetedClassifier("single-stage", error_costs=MISSED).fit(X, y)
    assert np.array_equal(plain.predict_proba(X), careful.predict_proba(X))
    sick = careful.predict_proba(X)[:, list(careful.classes_).index("sick")]
    assert ((careful.predict(X) == "sick") == (sick * 500 > (1 - sick) * 20)).all()
    assert (careful.predict(X) != plain.predict(X)).any()
    with pytest.raises(RequestError, match="'well', which is not a class"):
        BudgetedClassifier("single-stage", error_costs={"well": {"sick": 1.0}}).fit(X, y)
    with pytest.raises(RequestError, match="no cost for 1 answered as 0; write 0 if it is free"):
        BudgetedClassifier("single-stage", error_costs={0: {1: 1.0}}).fit(X, (y == "sick").astype(int))


# Confidence thresholds


class LabelledByThreshold(Policy):
    """Buys the first feature of every row; its label is the threshold that its method was given."""

    def __init__(self, threshold: float | None) -> None:
        self.label = str(threshold)

    def decide(self, rows: Rows) -> Decisions:
        acquired = np.zeros((len(rows), 5), dtype=bool)
        acquired[:, 0] = True
        return Decisions(acquired, np.tile([0.4, 0.6], (len(rows), 1)))


@dataclass(frozen=True)
class WithoutThreshold(Method):
    """A method that needs no threshold."""

    def fit(self, problem: Problem) -> list[Policy]:
        return [LabelledByThreshold(problem.threshold)]


@dataclass(frozen=True)
class WithThreshold(WithoutThreshold):
    """A method that needs a threshold."""

    needs_threshold: ClassVar[bool] = True


def test_the_exit_threshold_is_given_only_to_methods_that_need_one(table: pd.DataFrame) -> None:
    def given(method: Method, setup: Setup | None = None) -> str:
        fitted = fit_policy(method, table, PRICES, target="outcome", setup=setup, splits=1)
        return str(fitted.about["policy"]["label"])

    assert given(WithoutThreshold()) == "None"
    assert given(WithoutThreshold(), Setup(exit_threshold=0.7)) == "None"
    assert given(WithoutThreshold(), Setup(threshold=0.8)) == "0.8"
    assert given(WithThreshold(), Setup(exit_threshold=0.7)) == "0.7"
    assert given(WithThreshold(), Setup(threshold=0.8)) == "0.8"


def test_policies_of_early_stopping_come_near_to_every_budget() -> None:
    """The free feature says little, so that more rows buy the others, the higher the confidence they stop at."""
    rng = np.random.default_rng(0)
    y = rng.random(1500) < 0.5
    frame = pd.DataFrame({f"x{i}": y + rng.normal(0, noise, 1500) for i, noise in enumerate((1.5, 1.2, 0.9, 0.6))})
    frame["y"] = np.where(y, "yes", "no")
    for budget in (0, 6, 10, 15, 20, 25, 30, 40):
        goal = Goal(budget=budget)
        fitted = fit_policy("cost-ordered", frame, [0, 3, 10, 40], target="y", goal=goal, splits=0)
        assert 0.5 * budget <= fitted.about["validation"]["cost"] <= budget


@pytest.mark.parametrize(
    ("method", "given"),
    [
        (WithThreshold(), {0.5, 0.6, 0.7, 0.8, 0.9, 0.95}),
        ("cost-ordered", {0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95}),
        ("lasso", set()),
    ],
)
def test_a_method_is_evaluated_at_confidences_from_one_divided_by_the_classes(
    method: Method | str, given: set[float], table: pd.DataFrame
) -> None:
    found = evaluate(method, table, PRICES, target="outcome", splits=1)
    assert set(found["exit_threshold"].dropna()) == given


def test_a_stump_is_chosen_by_right_answers_and_not_by_its_confidence() -> None:
    """One feature is certain on a few rows; the other is right on 85 % of all rows, and must be chosen."""
    rng = np.random.default_rng(3)
    rows = 600
    y = rng.random(rows) < 0.4
    signal = np.where(rng.random(rows) < 0.85, y, ~y) + rng.normal(0, 0.1, rows)
    frame = pd.DataFrame({"number": np.where(y & (rng.random(rows) < 0.2), 1.0, 0.0), "signal": signal})
    frame["y"] = np.where(y, "yes", "no")
    fitted = fit_policy("stump", frame, [1.0, 1.0], target="y", goal=Goal(budget=1), splits=3)
    assert fitted.about["policy"]["label"] == "signal"
    assert fitted.about["measured"]["quality"] > 0.78


def test_the_exit_threshold_is_chosen_on_the_validation_rows(
    fitted: Callable[..., FittedPolicy], table: pd.DataFrame
) -> None:
    def at(budget: float) -> FittedPolicy:
        return fit_policy("cost-ordered", table, PRICES, target="outcome", goal=Goal(budget=budget), splits=1)

    little, much = at(4.0), at(FULL)
    assert little.about["exit_threshold"] < much.about["exit_threshold"]
    assert little.decide(table).cost.mean() < much.decide(table).cost.mean()
    assert f"probability is at least {little.about['exit_threshold']:g}" in card(little)
    assert fitted("cost-ordered", threshold=0.8).about["exit_threshold"] is None


# Texts of a table


def test_bars_and_commas_of_a_table_do_not_change_the_columns_of_the_card(table: pd.DataFrame) -> None:
    texts = {"no": "never", "yes": "yes, daily|weekly", "former": "former"}
    frame = table.rename(columns={"scan": "scan|CT"}).assign(smoker=table["smoker"].map(texts))
    frame["outcome"] = frame["outcome"].map({"sick": "sick|ill", "healthy": "healthy"})
    fitted = fit_policy("single-stage", frame, [0, 1, 5, 5, 40], target="outcome", splits=1)
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in card(fitted).splitlines() if line.startswith("|")]
    assert {len(row) for row in rows} == {2, 5}
    cells = {cell.strip() for row in rows for cell in row}
    assert {r"scan\|CT", r"always sick\|ill", r'category: former, never, "yes, daily\|weekly"'} <= cells


HOSTILE = "a\x1b[2Jb\x9b31m\u202ec\rAnswer: fine\n"


def test_no_control_character_of_a_table_reaches_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BUDGETBENCH_ISOLATION", "none")
    rng = np.random.default_rng(0)
    kind = rng.choice([HOSTILE + "1", HOSTILE + "2"], 240)
    frame = pd.DataFrame({HOSTILE: rng.normal(size=240), "kind": kind, "other": rng.normal(size=240)})
    frame["y"] = np.where(frame[HOSTILE] + (kind == HOSTILE + "1") > 0.3, HOSTILE + "yes", "no")
    frame.to_parquet("t.parquet")
    Path("p.toml").write_text("prices = [1, 2, 3]\n")
    Path("wrong.toml").write_text('[prices]\n"x\\u001b[2J" = 1\n')
    table = ["t.parquet", "--target", "y", "--prices", "p.toml"]
    row = json.dumps({HOSTILE: 1.0, "kind": HOSTILE + "1", "other": 0.0})
    commands = [
        bench("fit", *table, "--method", "stump", "--splits", "1", "--out", "stump"),
        bench("fit", *table, "--method", "single-stage", "--splits", "1", "--out", "policy"),
        bench("explain", "stump"),
        bench("explain", "policy", "--row", row),
        bench("explain", "policy", "--row", json.dumps({HOSTILE: "text", "kind": "", "other": 0.0})),
        bench("explain", "policy", "--row", "{}"),
        bench("fit", *table[:-1], "wrong.toml", "--method", "stump", "--out", "other"),
    ]
    assert [done.exit_code for done in commands] == [0, 0, 0, 0, 2, 2, 2], [done.output for done in commands]
    for done in commands:
        shown = done.output + done.stderr
        assert not re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown), shown
        assert not any(line.startswith("Answer: fine") for line in shown.splitlines())
    assert "a\\x1b[2Jb" in commands[0].output
    assert "Answer: a\\x1b[2Jb" in commands[3].output


def test_a_session_names_a_feature_without_its_control_characters(table: pd.DataFrame) -> None:
    frame = table.rename(columns={"scan": "sc\x1b[2Jan"})[["sc\x1b[2Jan", "outcome"]]
    session = fit_policy("single-stage", frame, [1.0], target="outcome", splits=0).start()
    for wrong in ({"sc\x1b[2Jan": "x"}, {"sc\x1b[2Jan": float("inf")}, {"other\x1b": 1}):
        with pytest.raises(RequestError) as error:
            session.give(wrong)
        assert "\x1b" not in str(error.value)
    session.give({"sc\x1b[2Jan": 1.0})
    with pytest.raises(RequestError, match="already") as error:
        session.give({"sc\x1b[2Jan": 1.0})
    assert "\x1b" not in str(error.value)


def test_of_two_answers_of_equal_cost_the_more_probable_is_given_whatever_the_other_rows_are() -> None:
    costs = np.array([[0.0, 3.0, 3.0], [3.0, 0.0, 0.0], [3.0, 0.0, 0.0]])
    table = np.random.default_rng(0).dirichlet(np.ones(3), 500)
    label, refused = Answering(None, costs).answers(table)
    assert set(label) == {0, 1, 2}
    assert not refused.any()
    assert (table[label == 2, 2] > table[label == 2, 1]).all()
    assert (label == 0).tolist() == (table[:, 0] > 0.5).tolist()
    alone = np.concatenate([Answering(None, costs).answers(table[i : i + 1])[0] for i in range(len(table))])
    assert np.array_equal(alone, label)
    assert Answering(0.6, costs).answers(table)[1].tolist() == (table.max(axis=1) < 0.6).tolist()


@pytest.mark.parametrize("change", ["[[0.0, 1.0]]", "[[0.0, -1.0], [1.0, 0.0]]"])
def test_forged_error_costs_are_refused(careful: FittedPolicy, tmp_path: Path, change: str) -> None:
    folder = save_policy(careful, tmp_path / "policy")
    manifest = json.loads((folder / "policy.json").read_text())
    (folder / "policy.json").write_text(json.dumps({**manifest, "error_costs": json.loads(change)}))
    sums = json.loads((folder / "checksums.json").read_text())
    sums["policy.json"] = hashlib.sha256((folder / "policy.json").read_bytes()).hexdigest()
    (folder / "checksums.json").write_text(json.dumps(sums))
    with pytest.raises(RequestError, match="error costs must be a table of 2 x 2"):
        load_policy(folder)
