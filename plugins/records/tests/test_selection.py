"""Selection: the policy that becomes a table's row, on families small enough to pick from by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from bench_records.records import Labels, Records, tabulate
from bench_records.selection import select
from hypothesis import given, settings
from hypothesis import strategies as st
from support.synthetic import policies_of, record_of

from bench_core.builtin.metrics import BUILT_IN
from bench_core.contract.metric import Metric

METRICS = {metric.name: metric for metric in BUILT_IN}
Grid = Sequence[Sequence[float]]
"""A metric's values: a row per grid point, a column per policy."""


@dataclass(frozen=True)
class By:
    """The same rule for every method, or one for each."""

    rule: str = "combined"
    of: Mapping[str, str] = field(default_factory=dict)
    least_coverage: float = 0.0

    def selection_of(self, dataset: str, method: str, task: str, threshold: float | None) -> str:
        return self.of.get(method, self.rule)

    def selection_metrics(self) -> dict[str, Metric]:
        return METRICS


def families(
    validation: Mapping[str, Grid], test: Mapping[str, Grid], method: str = "A", seed: int = 0, failed: int = -1
) -> list[tuple[Labels, dict[str, object]]]:
    """Records for each grid point, with a policy per column of the grid; the trial of point ``failed`` has failed."""
    pieces: list[tuple[Labels, dict[str, object]]] = []
    count, width = np.shape(next(iter(validation.values())))
    for point in range(count):
        numbers = None if point == failed else {"combined": 0.0}
        record = record_of("D", f"{method}{point}", seed, numbers)
        if point != failed:
            parts = (
                {name: list(map(float, grid[point])) for name, grid in part.items()} for part in (validation, test)
            )
            record["policies"] = policies_of(*parts, labels=[f"{point}.{policy}" for policy in range(width)])
        pieces.append((Labels("D", "uniform", method, seed, point), record))
    return pieces


def chosen(pieces: list[tuple[Labels, dict[str, object]]], rule: By) -> list[str]:
    """Labels ``point.policy`` of the chosen rows, from a table with its rows in reverse order."""
    records = tabulate(pieces)
    mixed = Records(records.policies.iloc[::-1].reset_index(drop=True), records.infos)
    return list(select(mixed, rule)["label"])


# Two grid points of three policies. On validation, policies 1 and 2 of point 0 and policies 0 and 2 of point 1 have the
# greatest value, 3.0. On the test part, other policies have the greatest and the least value.
VALIDATION = {"combined": [[1.0, 3.0, 3.0], [3.0, 2.0, 3.0]], "cost": [[5.0, 4.0, 2.0], [2.0, 6.0, 2.0]]}
TEST = {"combined": [[2.0, 1.0, 5.0], [6.0, 9.0, 7.0]], "cost": [[1.0, 8.0, 9.0], [7.0, 0.5, 6.0]]}


def test_validation_decides_and_among_equals_the_earlier_grid_point_then_the_earlier_policy() -> None:
    assert chosen(families(VALIDATION, TEST), By("combined")) == ["0.1"]


def test_a_metric_that_is_better_when_less_takes_the_least() -> None:
    assert chosen(families(VALIDATION, TEST), By("cost")) == ["0.2"]


def test_a_policy_that_answers_too_few_rows_is_taken_only_where_all_do() -> None:
    best = {"combined": [[3.0, 2.0, 1.0]], "coverage": [[0.1, 0.25, 0.9]]}
    none = {"combined": [[1.0, 3.0, 2.0]], "coverage": [[0.1, 0.2, 0.24]]}
    assert chosen(families(best, best), By("combined", least_coverage=0.25)) == ["0.1"]
    assert chosen(families(none, none), By("combined", least_coverage=0.25)) == ["0.1"]
    assert chosen(families(best, best), By("first", least_coverage=0.25)) == ["0.0"]


def test_a_seed_whose_policies_all_answer_too_few_rows_keeps_the_best_of_them() -> None:
    answers = {"combined": [[1.0, 3.0]], "coverage": [[0.9, 0.1]]}
    silent = {"combined": [[1.0, 3.0]], "coverage": [[0.2, 0.1]]}
    pieces = [*families(answers, answers, seed=0), *families(silent, silent, seed=1)]
    assert chosen(pieces, By("combined", least_coverage=0.25)) == ["0.0", "0.1"]


def test_where_the_metric_has_no_value_the_rule_is_first() -> None:
    """As on a data set of another task in a suite with one rule."""
    nothing = {"combined": [[1.0, 3.0]], "auc": [[float("nan"), float("nan")]]}
    some = {"combined": [[1.0, 3.0]], "auc": [[0.5, 0.75]]}
    pieces = [*families(nothing, nothing, "A"), *families(some, some, "B")]
    both = select(tabulate(pieces), By("auc"))
    assert list(zip(both["rule"], both["label"], strict=True)) == [("first", "0.0"), ("auc", "0.1")]
    assert set(select(tabulate(families(VALIDATION, TEST)), By("auc"))["rule"]) == {"first"}


def test_first_takes_the_first_policy_of_the_first_grid_point_whatever_its_numbers() -> None:
    assert chosen(families(VALIDATION, TEST), By("first")) == ["0.0"]


def test_a_later_grid_point_is_taken_when_it_is_better_on_validation() -> None:
    better = {"combined": [[1.0, 3.0, 2.0], [2.0, 3.5, 3.5]]}
    assert chosen(families(better, {"combined": [[9.0, 9.0, 9.0], [0.0, 0.0, 5.0]]}), By("combined")) == ["1.1"]


def test_a_grid_point_that_failed_is_passed_over() -> None:
    pieces = families(VALIDATION, TEST, failed=0)
    assert chosen(pieces, By("combined")) == ["1.0"]
    assert chosen(pieces, By("first")) == ["1.0"]


def test_every_seed_and_method_has_a_row_of_its_own_by_its_own_rule() -> None:
    turned = {name: [row[::-1] for row in grid] for name, grid in VALIDATION.items()}
    pieces = [
        *families(VALIDATION, TEST, "A", 0),
        *families(turned, TEST, "A", 1),
        *families(VALIDATION, TEST, "B", 0),
        *families(turned, TEST, "B", 1),
    ]
    assert chosen(pieces, By(of={"A": "cost", "B": "first"})) == ["0.2", "0.0", "0.0", "0.0"]


@settings(max_examples=40)
@given(
    st.integers(1, 3).flatmap(
        lambda width: st.lists(
            st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=width, max_size=width),
            min_size=1,
            max_size=3,
        )
    ),
    st.sampled_from(["combined", "cost"]),
)
def test_the_choice_is_the_first_best_in_the_order_of_points_and_policies(
    table: list[list[tuple[int, int]]], rule: str
) -> None:
    validation, test = ({rule: [[pair[part] for pair in row] for row in table]} for part in (0, 1))
    sign = -1 if METRICS[rule].goal == "max" else 1
    cells = [(sign * value, point, policy) for point, row in enumerate(table) for policy, (value, _) in enumerate(row)]
    _, point, policy = min(cells)
    assert chosen(families(validation, test), By(rule)) == [f"{point}.{policy}"]
