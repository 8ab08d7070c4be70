"""The CSTC criterion: Jaccard coefficients by hand, data with known overlaps, and the command."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bench_cstc.criterion import LabelOverlap, jaccard, label_overlap, leaf_overlap, main
from bench_cstc.criterion_method import LabelOverlapMethod
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bench_core.testing import method_contract

test_contract = method_contract(LabelOverlapMethod(), LabelOverlapMethod(strength=0.5, levels=3))


def test_jaccard_by_hand() -> None:
    selected = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]], dtype=bool)
    assert jaccard(selected).tolist() == [
        [1.0, pytest.approx(1 / 3), 0.0, 0.5],
        [pytest.approx(1 / 3), 1.0, 0.0, 0.5],
        [0.0, 0.0, 1.0, 0.0],
        [0.5, 0.5, 0.0, 1.0],
    ]


@given(arrays(bool, st.tuples(st.integers(1, 6), st.integers(1, 8))))
def test_jaccard_is_that_of_sets(selected: np.ndarray) -> None:
    sets = [set(np.flatnonzero(row)) for row in selected]
    for i, a in enumerate(sets):
        for j, b in enumerate(sets):
            expected = len(a & b) / len(a | b) if a | b else 1.0
            assert jaccard(selected)[i, j] == pytest.approx(expected)


def staircase(rows: int = 2000, noise: float = 0.01, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Labels 0 to 4; the step from k to k + 1 changes only columns k and k + 1; column 6 is noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, rows)
    X = noise * rng.standard_normal((rows, 7))
    for step in range(4):
        X[y == step + 1, step] += 1.0
        X[y == step + 1, step + 1] += 0.9
        X[y > step + 1, step] += 1.0
        X[y > step + 1, step + 1] += 0.9
    return X, y


def test_classes_in_ranges_are_named_by_their_ranges() -> None:
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(12), 20)
    X = rng.standard_normal((240, 3)) + y[:, None]
    found = label_overlap(X, y, levels=4, names=[f"class{k}" for k in range(12)])
    assert found.matrix.shape == (3, 3)
    assert found.pairs == label_overlap(X, y, levels=4).pairs
    few = label_overlap(X[y < 4], y[y < 4], names=[f"class{k}" for k in range(4)])
    assert few.pairs == ("class0 vs class1", "class1 vs class2", "class2 vs class3")


def test_a_data_set_whose_steps_need_neighbouring_features_has_a_falling_matrix() -> None:
    X, y = staircase(noise=0.5)
    found = label_overlap(X, y, strength=0.5)
    assert found.pairs == ("0 vs 1", "1 vs 2", "2 vs 3", "3 vs 4")
    for step in range(4):
        assert set(np.flatnonzero(found.selected[step])) <= {step, step + 1}
        assert found.selected[step, step]
    assert found.matrix[0, 2] == found.matrix[0, 3] == 0.0
    assert found.by_distance[0] == 1.0
    assert found.falling == 1.0


def test_a_data_set_with_one_feature_for_all_labels_has_a_matrix_of_ones() -> None:
    y = np.tile(np.arange(4), 50)
    X = np.column_stack([y.astype(float), np.zeros(200)])
    found = label_overlap(X, y)
    assert (found.matrix == 1.0).all()
    assert found.selected.tolist() == [[True, False]] * 3


def test_columns_of_one_feature_count_as_one() -> None:
    X, y = staircase()
    owner = np.array([0, 0, 1, 1, 2, 2, 2])
    found = label_overlap(X, y, feature_of_column=owner)
    assert found.selected.shape == (4, 3)


def test_scale_and_shift_of_columns_do_not_matter() -> None:
    X, y = staircase(noise=0.3)
    other = label_overlap(X * np.array([1e-6, 1e6, 3, 1, 1, 1, 50]) + 7.0, y)
    assert (other.selected == label_overlap(X, y).selected).all()


def test_a_rising_step_is_counted() -> None:
    matrix = np.array([[1.0, 0.2, 0.4], [0.2, 1.0, 0.3], [0.4, 0.3, 1.0]])
    found = LabelOverlap(("a", "b", "c"), np.ones((3, 1), dtype=bool), matrix)
    # Rows a: .2 falls, .4 rises. b: .3 and .2 fall. c: .3 falls, .4 rises.
    assert found.falling == pytest.approx(4 / 6)
    assert found.by_distance == [1.0, pytest.approx(0.25), pytest.approx(0.4)]


def test_leaves_whose_overlap_falls_with_distance_have_a_negative_correlation() -> None:
    root = {"name": 1, "features": [9], "mean": 0.0}
    inner = [{"name": n, "features": [9], "mean": 0.0} for n in (2, 3)]

    def tree(*sets: list[int]) -> list[dict[str, Any]]:
        leaves = [{"name": 4 + i, "features": s, "mean": float(i)} for i, s in enumerate(sets)]
        return [root, *inner, *leaves]

    falling = leaf_overlap(tree([0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]))
    assert falling is not None
    assert falling == pytest.approx(-1.0)
    rising = leaf_overlap(tree([0, 1], [4, 5], [6, 7], [0, 1]))
    assert rising is not None
    assert rising > 0
    assert leaf_overlap(tree([0], [0], [0], [0])) is None
    assert leaf_overlap(tree([0], [1])) is None
    assert leaf_overlap([root]) is None


def test_a_target_with_many_values_is_cut_into_ranges_of_equally_many_rows() -> None:
    y = np.arange(100.0)
    found = label_overlap(y[:, None] + 0.0, y, levels=4)
    assert len(found.pairs) == 3
    assert found.pairs[0] == "0..24.8 vs 24.8..49.5"


@pytest.mark.parametrize(
    ("X", "y", "options", "said"),
    [
        (np.ones((4, 1)), [0, 1, 0, 1], {}, "no two pairs"),
        (np.full((3, 1), np.nan), [0, 1, 2], {}, "finite"),
        (np.ones((3, 1)), [0, 1, 2], {"strength": 1.0}, "strength"),
        (np.ones((3, 1)), [0, 1, 2], {"levels": 2}, "levels"),
    ],
)
def test_invalid_input_is_refused(X: np.ndarray, y: list[int], options: dict[str, float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        label_overlap(X, np.array(y), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{"strength": 0.0}, {"strength": 1.0}, {"levels": 2}])
def test_the_methods_parameters_have_ranges(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        LabelOverlapMethod(**wrong)  # type: ignore[arg-type]


def test_constant_columns_select_nothing_and_empty_sets_overlap_fully() -> None:
    found = label_overlap(np.ones((6, 2)), np.array([0, 1, 2, 0, 1, 2]))
    assert not found.selected.any()
    assert (found.matrix == 1.0).all()


def test_the_command_prints_the_matrix(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quadrants", "rows=400", "--strength", "0.2", "--levels", "4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert " 1.00 " in lines[0]
    assert lines[-1].startswith("away from the diagonal")


def test_the_command_reports_errors(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, said in (
        (["nothing"], "there is no data set 'nothing'"),
        (["quadrants", "rowz=3"], "no parameter 'rowz'"),
        (["quadrants", "rows"], "is not KEY=VALUE"),
        (["breast-cancer"], "no two pairs"),
    ):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 2
        assert said in capsys.readouterr().err
