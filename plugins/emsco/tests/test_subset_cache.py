"""The cache's bits are the models' decisions, whatever the order and number of requests."""

from __future__ import annotations

import numpy as np
import pytest
from bench_emsco import _compile, _kernels_decide, _kernels_lookup
from bench_emsco._compile import compile_after_others, compile_from_the_end
from bench_emsco.subset_cache import SubsetCache
from bench_emsco.table_cache import TableCache
from bench_models.subsets import kernels_linalg, kernels_regression, kernels_scores
from bench_models.subsets.models import stage_probabilities, subset_columns
from bench_models.subsets.sets import pack_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core import config
from sklearn.linear_model import LogisticRegression


def make_cache(classes=2, columns=6, threshold=0.7, seed=0, **options):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(230, columns))
    y = np.argmax(X @ rng.normal(size=(columns, classes)) + rng.normal(size=(230, classes)), axis=1)
    y[:classes] = np.arange(classes)
    return SubsetCache(X[:130], y[:130], X[130:], y[130:], classes, threshold, **options), X, y


@pytest.mark.parametrize("classes", [2, 3])
def test_bits_are_the_models_decisions(classes):
    cache, X, y = make_cache(classes)
    for mask, index in enumerate(cache.indices(np.arange(64))):
        probabilities = stage_probabilities(X[130:][:, cache.columns(mask)], cache.coefficients(mask))
        confident = probabilities.max(axis=1) >= 0.7
        right = confident & (probabilities.argmax(axis=1) == y[130:])
        assert (cache.confident[index] == pack_rows(confident)[0]).all()
        assert (cache.right[index] == pack_rows(right)[0]).all()


@pytest.mark.parametrize("classes", [2, 3])
def test_lazy_and_full_tables_are_identical(classes):
    full, _, _ = make_cache(classes)
    full.fill_all()
    assert full.n_fitted == 64
    assert (full.masks[:64] == np.arange(64)).all()
    lazy, _, _ = make_cache(classes, threads=1)
    for mask in np.random.default_rng(1).permutation(64):
        index = lazy.indices([mask])[0]
        assert lazy.masks[index] == mask
        assert (lazy.confident[index] == full.confident[mask]).all()
        assert (lazy.right[index] == full.right[mask]).all()
    lazy.fill_all()
    assert lazy.indices([5, 63, 0]).tolist() == [5, 63, 0]
    assert (lazy.confident == full.confident).all()


@pytest.mark.parametrize("classes", [2, 3])
def test_several_thresholds_have_the_bits_that_each_has_alone(classes):
    both, _, _ = make_cache(classes, threshold=(0.6, 0.8))
    order = np.random.default_rng(0).permutation(64)
    both.indices(order[:20])
    both.use(1)
    places = both.indices(order)
    for number, threshold in enumerate((0.6, 0.8)):
        both.use(number)
        one, _, _ = make_cache(classes, threshold=threshold)
        assert (both.confident[places] == one.confident[one.indices(order)]).all()
        assert (both.right[places] == one.right[one.indices(order)]).all()
    assert both.n_fitted == 64


@pytest.mark.parametrize(("classes", "share"), [(2, 0.0), (2, 0.4), (3, 0.7), (2, 1.0)])
def test_within_a_limit_of_work_the_cheapest_subsets_are_fitted_and_the_others_decide_nothing(classes, share):
    full, limited = make_cache(classes)[0], make_cache(classes)[0]
    full.fill_all()
    prices = np.random.default_rng(2).integers(0, 9, 64)
    limit = int(share * full.work) + limited.most_work
    left_out = limited.fill_all(prices, limit)
    assert limited.work <= limit
    assert 63 not in left_out
    fitted = np.setdiff1d(np.arange(64), left_out)
    assert (limited.masks[:64] == np.arange(64)).all()
    for bits, all_bits in ((limited.confident, full.confident), (limited.right, full.right)):
        assert (bits[fitted] == all_bits[fitted]).all()
        assert not bits[left_out].any()
    if len(left_out):
        assert prices[left_out].min() >= prices[fitted[:-1]].max(initial=0)
    assert (len(left_out) == 0) == (share == 1.0)
    assert len(limited.fill_all()) == 0


@settings(max_examples=10, deadline=None)
@given(requests=st.lists(st.lists(st.integers(0, 2**24 - 1), min_size=1, max_size=200), min_size=1, max_size=5))
def test_hashed_lookup_finds_each_subset_once(requests):
    cache, _, _ = make_cache(columns=24)
    assert cache.lookup.direct.size == 0
    for masks in requests:
        index = cache.indices(masks)
        assert (cache.masks[index] == np.array(masks, dtype=np.uint64)).all()
    assert cache.n_fitted == len({mask for masks in requests for mask in masks})


def test_many_subsets_survive_growth():
    cache, _, _ = make_cache(columns=24)
    masks = np.random.default_rng(2).integers(1, 2**24, size=3000).astype(np.uint64)
    first = cache.indices(masks[:100])
    bits = cache.confident[first].copy()
    cache.indices(masks)
    assert (cache.indices(masks[:100]) == first).all()
    assert (cache.confident[first] == bits).all()


def test_a_feature_may_own_several_columns():
    owner = [[0, 2], [1], [3, 4, 5]]
    cache, _X, _y = make_cache(column_of_feature=owner)
    plain, _, _ = make_cache()
    assert cache.n_features == 3
    assert cache.columns(0b101).tolist() == [0, 2, 3, 4, 5]
    a, b = cache.indices([0b101])[0], plain.indices([0b111101])[0]
    assert (cache.confident[a] == plain.confident[b]).all()


def test_ties_between_classes_go_to_the_lowest():
    X = np.zeros((6, 1))
    cache = SubsetCache(X, [0, 1, 2, 0, 1, 2], X, [0, 1, 2, 0, 1, 2], 3, 0.2)
    index = cache.indices([0])[0]
    assert cache.confident[index, 0] == 0b111111
    assert int(cache.right[index, 0]).bit_count() == 2


def test_table_cache_has_the_same_interface():
    rng = np.random.default_rng(0)
    confident = pack_rows(rng.random((16, 70)) < 0.5)
    right = confident & pack_rows(rng.random((16, 70)) < 0.5)
    table = TableCache(confident, right, n_rows=70)
    assert (table.n_features, table.n_words, table.n_rows, table.n_fitted) == (4, 2, 70, 16)
    assert table.indices([3, 15, 0]).tolist() == [3, 15, 0]
    with pytest.raises(ValueError, match="within"):
        TableCache(confident, ~confident, n_rows=70)
    with pytest.raises(ValueError, match="2\\*\\*n"):
        TableCache(confident[:5], right[:5], n_rows=70)


def test_wrong_input_is_named():
    cache, X, y = make_cache()
    with pytest.raises(ValueError, match="masks"):
        cache.indices([64])
    with pytest.raises(ValueError, match="threshold"):
        SubsetCache(X, y, X, y, 2, 1.5)
    with pytest.raises(ValueError, match="X_eval"):
        SubsetCache(X, y, X[:, :3], y, 2, 0.5)
    with pytest.raises(ValueError, match="fill_all"):
        make_cache(columns=24)[0].fill_all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["heart", "pima", "credit"])
def test_not_one_confident_bit_differs_from_scikit_learn(real_split, name):
    differing = 0
    for seed in range(2):
        split = real_split(name, seed)
        cache = SubsetCache(split.X_train, split.y_train, split.X_valid, split.y_valid, 2, split.threshold)
        cache.fill_all()
        assert not cache.not_converged
        features = cache.n_features
        masks = np.arange(1, 1 << features)
        if masks.size > 120:  # a sample of the subsets, another one for every seed
            masks = np.random.default_rng(seed).choice(masks, size=120, replace=False)
        for mask in masks:
            columns = subset_columns(int(mask), np.arange(features))
            model = LogisticRegression(solver="newton-cholesky", tol=1e-10, max_iter=1000)
            probabilities = model.fit(split.X_train[:, columns], split.y_train).predict_proba(split.X_valid[:, columns])
            confident = probabilities.max(axis=1) >= split.threshold
            right = confident & (probabilities.argmax(axis=1) == split.y_valid)
            differing += int((cache.confident[mask] != pack_rows(confident)[0]).any())
            differing += int((cache.right[mask] != pack_rows(right)[0]).any())
    assert differing == 0


def test_kernels_are_compiled_from_the_end_if_another_process_has_compiled_some(tmp_path, monkeypatch):
    began = []
    monkeypatch.setattr(_compile, "compile_from_the_end", lambda: began.append(True))
    for folder, others in (("", False), (str(tmp_path / "none"), False), (str(tmp_path), False), (str(tmp_path), True)):
        monkeypatch.setattr(config, "CACHE_DIR", folder)
        if others:
            (tmp_path / "bench_emsco_1").mkdir()
            (tmp_path / "bench_emsco_1" / "kernel.nbc").touch()
        compile_after_others()
        assert bool(began) == others


def test_every_kernel_is_compiled_for_a_single_kind_of_array():
    compile_from_the_end()
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), rng.permutation(np.repeat([0, 1], 30))
    fixed = X.copy(), y.astype(np.int32)
    for array in fixed:
        array.setflags(write=False)
    for table, labels in ((X, y), fixed, (np.asfortranarray(X), y), (X.astype(np.float32), y.astype(float))):
        SubsetCache(table, labels, table, labels, 2, 0.7).indices(np.arange(16))
    compiled = {
        f"{module.__name__}.{name}": len(function.signatures)
        for module in (_kernels_decide, _kernels_lookup, kernels_linalg, kernels_regression, kernels_scores)
        for name, function in vars(module).items()
        if hasattr(function, "signatures")
    }
    assert compiled["bench_models.subsets.kernels_regression.fit_range"] == 1
    assert max(compiled.values()) == 1, compiled
