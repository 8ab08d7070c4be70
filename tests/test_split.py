"""Splits: disjoint, of the requested sizes, stratified, seeded, by query."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_core.contract.dataset import Dataset
from bench_core.contract.errors import DataError
from bench_core.protocol.shuffle import Shuffler
from bench_core.protocol.split import SplitRule, make_split


def labelled(target, **others):
    target = np.asarray(target)
    levels, codes = np.unique(target, return_inverse=True)
    task = "binary" if len(levels) == 2 else "multiclass"
    return Dataset(
        "toy", task, np.arange(float(len(target)))[:, None], ("x",), codes.astype(np.int64),
        tuple(map(str, levels)), **others,
    )  # fmt: skip


def plain(rows, **others):
    return Dataset("toy", "regression", np.ones((rows, 1)), ("x",), np.arange(float(rows)), **others)


def parts(split):
    return [split.train, split.validation, split.test]


fractions = st.tuples(*[st.floats(0.05, 1.0)] * 3).map(lambda f: tuple(x / max(sum(f), 1.0) for x in f))


@given(st.integers(30, 300), fractions, st.integers(0, 2**31))
def test_parts_are_disjoint_sorted_and_within_one_of_the_size_asked_for(rows, sizes, seed):
    train, validation, test = sizes
    try:
        split = make_split(plain(rows), SplitRule(train=train, validation=validation, test=test), seed)
    except DataError:
        assert min(sizes) * rows < 1
        return
    together = np.concatenate(parts(split))
    assert len(np.unique(together)) == len(together)
    assert set(together) <= set(range(rows))
    for part, size in zip(parts(split), sizes, strict=True):
        assert (np.diff(part) > 0).all()
        assert abs(len(part) - size * rows) < 1 + 1e-6


class_counts = st.lists(st.integers(1, 40), min_size=2, max_size=8).filter(lambda counts: sum(counts) >= 12)


@given(class_counts, fractions, st.integers(0, 1000))
def test_every_class_has_its_share_of_every_part_to_within_one_row(counts, sizes, seed):
    dataset = labelled(np.repeat(np.arange(len(counts)), counts))
    try:
        split = make_split(dataset, SplitRule("random", *sizes), seed)
    except DataError:
        assert min(sizes) * sum(counts) < 1
        return
    for part in parts(split):
        held = np.bincount(dataset.target[part], minlength=len(counts))
        share = np.array(counts) * len(part) / sum(counts)
        assert (np.abs(held - share) < 1).all()


@pytest.mark.parametrize("rare", [0, 1])
def test_the_only_row_of_a_class_is_for_training(rare):
    target = np.full(100, 1 - rare)
    target[17] = rare
    for seed in range(20):
        split = make_split(labelled(target), SplitRule(), seed)
        assert 17 in split.train
        assert [len(part) for part in parts(split)] == [50, 25, 25]


@pytest.mark.parametrize("counts", [(99, 1), (50, 49, 1), (1, 33, 33, 33)])
@pytest.mark.parametrize("sizes", [(0.5, 0.25, 0.25), (0.2, 0.4, 0.4), (0.4, 0.3, 0.2)])
def test_the_only_row_of_a_class_is_for_training_also_where_other_parts_are_larger(counts, sizes):
    dataset = labelled(np.repeat(np.arange(len(counts)), counts))
    (row,) = np.flatnonzero(dataset.target == counts.index(1))
    for seed in range(5):
        assert row in make_split(dataset, SplitRule("random", *sizes), seed).train


def test_three_rows_of_a_class_are_one_in_each_part():
    target = np.array([0] * 97 + [1] * 3)
    for seed in range(20):
        split = make_split(labelled(target), SplitRule(), seed)
        assert [int(target[part].sum()) for part in parts(split)] == [1, 1, 1]


def test_the_seed_and_nothing_else_decides():
    dataset = labelled(np.arange(120) % 3)
    np.random.seed(0)  # noqa: NPY002
    first = make_split(dataset, SplitRule(), 7)
    np.random.seed(1)  # noqa: NPY002
    for a, b in zip(parts(first), parts(make_split(dataset, SplitRule(), 7)), strict=True):
        np.testing.assert_array_equal(a, b)
    assert first.train.tolist() != make_split(dataset, SplitRule(), 8).train.tolist()


def test_the_rows_of_a_known_seed_never_change():
    split = make_split(plain(12), SplitRule(), 0)
    assert [part.tolist() for part in parts(split)] == [[0, 3, 5, 6, 9, 11], [2, 8, 10], [1, 4, 7]]


@given(st.lists(st.integers(1, 9), min_size=8, max_size=30), st.integers(0, 100))
def test_no_query_is_in_two_parts(lengths, seed):
    query = np.repeat(np.arange(len(lengths)) * 7, lengths)
    rows = len(query)
    dataset = Dataset("toy", "ranking", np.ones((rows, 1)), ("x",), np.zeros(rows), query=query)
    split = make_split(dataset, SplitRule(), seed)
    queries = [set(query[part]) for part in parts(split)]
    assert sum(map(len, queries)) == len(set.union(*queries)) == len(lengths)
    assert sum(map(len, parts(split))) == rows


def test_integer_counts_are_met_exactly():
    split = make_split(labelled(np.arange(100) % 4), SplitRule("random", 31, 11, 21), 0)
    assert [len(part) for part in parts(split)] == [31, 11, 21]


def test_without_stratification_classes_fall_as_they_may():
    target = np.array([0, 1] * 50)
    held = {int(target[make_split(labelled(target), SplitRule(stratify=False), seed).train].sum()) for seed in range(9)}
    assert len(held) > 1


def given_split(codes, **others):
    return plain(len(codes), split=np.array(codes, dtype=np.int8), **others)


def test_a_given_split_is_taken_as_it_is():
    split = make_split(given_split([0, 2, 1, 0, 2]), SplitRule("given"), 5)
    assert [part.tolist() for part in parts(split)] == [[0, 3], [2], [1, 4]]


def test_a_missing_validation_part_is_carved_from_the_training_part_by_class():
    target = np.array([0] * 60 + [1] * 20 + [0, 1] * 10)
    dataset = labelled(target, split=np.array([0] * 80 + [2] * 20, dtype=np.int8))
    split = make_split(dataset, SplitRule("given", validation=0.25), 1)
    assert split.test.tolist() == list(range(80, 100))
    assert np.bincount(target[split.validation]).tolist() == [15, 5]
    assert sorted([*split.train, *split.validation]) == list(range(80))


def test_a_carved_validation_part_has_complete_queries():
    query = np.repeat(np.arange(10), 3)
    dataset = Dataset(
        "toy", "ranking", np.ones((30, 1)), ("x",), np.zeros(30), query=query,
        split=np.array([0] * 24 + [2] * 6, dtype=np.int8),
    )  # fmt: skip
    split = make_split(dataset, SplitRule("given", validation=0.25), 1)
    assert len(split.validation) == 6
    assert not set(query[split.validation]) & set(query[split.train])


@pytest.mark.parametrize(
    ("dataset", "rule", "said"),
    [
        (plain(2), SplitRule(), "2 rows are too few, the (validation|test) part would be empty"),
        (plain(1), SplitRule(), "1 rows are too few"),
        (plain(10), SplitRule("random", 8, 2, 2), "12 rows asked for, it has 10"),
        (plain(10), SplitRule("given"), "comes without a split; use split.kind = 'random'"),
        (given_split([0, 0, 1]), SplitRule("given"), "no training or no test rows"),
        (given_split([0, 2]), SplitRule("given"), "1 training units cannot give 0"),
        (
            Dataset("toy", "ranking", np.ones((4, 1)), ("x",), np.zeros(4), query=np.array([0, 0, 1, 1])),
            SplitRule(),
            "2 queries are too few",
        ),
    ],
)
def test_data_that_cannot_be_split_is_refused(dataset, rule, said):
    with pytest.raises(DataError, match=f"data set 'toy'.*{said}"):
        make_split(dataset, rule, 0)


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ((0.5, 0.5, 0.5), "1.5, more than 1"),
        ((0.5, 0.0, 0.5), "above 0"),
        ((0.5, float("nan"), 0.5), "above 0"),
        ((100, 0.5, 50), "all fractions or all whole counts"),
        ((100.5, 50, 50), "all fractions or all whole counts"),
    ],
)
def test_invalid_sizes_are_refused(sizes, said):
    with pytest.raises(ValueError, match=said):
        SplitRule("random", *sizes)


def test_permutations_never_change():
    shuffler = Shuffler(np.random.PCG64(7))
    assert [shuffler.permutation(count).tolist() for count in (10, 5, 3, 1, 0)] == [
        [8, 0, 7, 1, 3, 6, 2, 4, 5, 9],
        [4, 3, 1, 2, 0],
        [0, 1, 2],
        [0],
        [],
    ]


@given(st.integers(0, 200), st.integers(0, 2**31))
def test_a_permutation_has_every_number_once_and_continues_the_stream(count, seed):
    shuffler, again = Shuffler(np.random.PCG64(seed)), Shuffler(np.random.PCG64(seed))
    first, second = shuffler.permutation(count), shuffler.permutation(count)
    assert sorted(first.tolist()) == sorted(second.tolist()) == list(range(count))
    assert (again.permutation(count) == first).all()
    assert (again.permutation(count) == second).all()


@pytest.mark.parametrize(
    ("rows", "sizes", "expected"),
    [
        # Shares 5.72, 3.19, 2.09: of one row left the training part has the largest remainder.
        (11, (0.52, 0.29, 0.19), [6, 3, 2]),
        # Shares 3.7, 3.6, 2.7: two rows left; the first and the last remainder are equal and the largest.
        (10, (0.37, 0.36, 0.27), [4, 3, 3]),
        # Shares 2.1, 2.2, 5.7.
        (10, (0.21, 0.22, 0.57), [2, 2, 6]),
        # Shares 5, 2.5, 2.5: a tie goes to the earlier part.
        (10, (0.5, 0.25, 0.25), [5, 3, 2]),
    ],
)
def test_rows_that_shares_leave_over_go_to_the_largest_remainders(rows, sizes, expected):
    assert [len(part) for part in parts(make_split(plain(rows), SplitRule("random", *sizes), 3))] == expected


def test_seeds_carve_different_validation_parts_where_classes_do_not_count():
    codes = [0] * 40 + [2] * 10
    ranking = Dataset(
        "toy", "ranking", np.ones((50, 1)), ("x",), np.zeros(50), query=np.repeat(np.arange(25), 2),
        split=np.array(codes, dtype=np.int8),
    )  # fmt: skip
    unstratified = labelled(np.arange(50) % 2, split=np.array(codes, dtype=np.int8))
    for dataset in (given_split(codes), ranking, unstratified):
        carved = {
            tuple(make_split(dataset, SplitRule("given", validation=0.25, stratify=False), seed).validation)
            for seed in range(5)
        }
        assert len(carved) == 5
        assert {len(rows) for rows in carved} == {10}
