"""A cap holds for every row: of a fitted policy, a loaded one, a session and the scikit-learn classifier."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from bench_policies import BudgetedClassifier, Goal, fit_policy, load_policy, save_policy
from support.patients import SUM_PRICES as PRICES
from support.patients import make_sum_table


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return make_sum_table()


def test_no_row_costs_more_than_the_cap_in_tables_sessions_and_after_loading(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    fitted = fit_policy("cost-ordered", frame, PRICES, target="y", goal=Goal(cap=6), splits=1)
    free = fit_policy("cost-ordered", frame, PRICES, target="y", splits=0)
    assert free.decide(frame).cost.max() > 6
    answers = fitted.decide(frame)
    assert 3 <= answers.cost.max() <= 6
    assert (answers.label == frame.y).mean() > 0.7
    assert fitted.about["measured"]["most"] <= 6
    save_policy(fitted, tmp_path / "policy")
    pd.testing.assert_frame_equal(load_policy(tmp_path / "policy").decide(frame), answers)
    for i in range(20):
        session = fitted.start()
        while session.answer is None:
            session.give({name: frame.loc[i, name] for name in session.wanted})
        assert session.answer.cost == answers.cost[i]
        assert session.answer.label == answers.label[i]


def test_the_classifier_keeps_a_cap_and_a_mean_budget(frame: pd.DataFrame) -> None:
    X, y = frame[list("abcd")], frame["y"]
    model = BudgetedClassifier("cost-ordered", prices=[4, 3, 2, 1], cap=6).fit(X, y)
    assert model.cost_(X).max() <= 6
