"""Policies whose answers depend on other rows of the query; they must declare this."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from bench_core import Decisions, Method, Policy, Problem, Rows
from bench_core.contract.errors import ContractError
from bench_core.testing.checks_decide import check_batch_size


class Ranked(Policy):
    """Scores a row by how many rows of its query are below it."""

    def __init__(self, features: int, whole_batch: bool, decision_scope: str) -> None:
        self.features, self.whole_batch, self.decision_scope = features, whole_batch, decision_scope

    def decide(self, rows: Rows) -> Decisions:
        query = np.zeros(len(rows)) if self.whole_batch or rows.query is None else rows.query
        same = query[:, None] == query[None, :]
        below = rows.X[:, 0][:, None] > rows.X[:, 0][None, :]
        acquired = np.zeros((len(rows), self.features), dtype=bool)
        acquired[:, 0] = True
        return Decisions(acquired, score=(same & below).sum(axis=1).astype(float))


@dataclass(frozen=True)
class ByRank(Method):
    """A rank within the query, or within the batch."""

    whole_batch: bool = False
    decision_scope: str = "query"

    def fit(self, problem: Problem) -> list[Policy]:
        return [Ranked(problem.n_features, self.whole_batch, self.decision_scope)]


def test_a_policy_may_look_at_its_query_when_it_says_so() -> None:
    check_batch_size(ByRank(), "ranking")
    with pytest.raises(ContractError, match="decided alone"):
        check_batch_size(ByRank(whole_batch=True), "ranking")
    with pytest.raises(ContractError, match="in batches of"):
        check_batch_size(ByRank(decision_scope="row"), "ranking")


def test_queries_go_with_their_rows() -> None:
    rows = Rows(np.arange(6.0).reshape(3, 2), None, np.array([7, 7, 9]))

    assert rows.take(np.array([2, 0])).query.tolist() == [9, 7]
    assert rows.having(rows.X + 1.0).query.tolist() == [7, 7, 9]
    assert Rows(rows.X).take(np.array([1])).query is None
