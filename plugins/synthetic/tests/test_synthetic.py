"""The synthetic sources have the papers' shapes and rules, and one data set per seed."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from bench_synthetic import plugin
from bench_synthetic.cube import Cube, CubeNM
from bench_synthetic.families import MakeClassification, MakeRegression, Synthetic30
from bench_synthetic.quadrants import Quadrants
from bench_synthetic.ranking_regions import GRADE_SHARES, PRICE_COUNTS, RankingRegions
from bench_synthetic.sized_items import SizedItems
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_core import DataContext, DataSource, RequestError, build
from bench_core.suites import load_registry
from bench_core.testing import dataset_contract

SOURCES: list[type[DataSource]] = [
    Synthetic30,
    MakeClassification,
    MakeRegression,
    Cube,
    CubeNM,
    Quadrants,
    SizedItems,
    RankingRegions,
]

test_contract = dataset_contract(
    Synthetic30(),
    MakeClassification(),
    MakeRegression(),
    Cube(),
    CubeNM(),
    Quadrants(),
    SizedItems(),
    RankingRegions(features=40),
)


@pytest.fixture
def context(tmp_path):
    return DataContext(cache=tmp_path / "cache", offline=True)


@pytest.mark.parametrize("source", SOURCES)
def test_a_seed_determines_the_data_set(source, context):
    first, again, other = (source(seed=seed).load(context).content for seed in (3, 3, 4))
    assert first == again
    assert first != other


@pytest.mark.parametrize("source", SOURCES)
def test_a_source_is_built_in_and_writes_no_cache(source, context):
    source().fetch(context)
    assert source().status(context) == "built-in"
    assert not context.cache.exists()


def test_every_source_is_registered_by_name():
    registry = load_registry([("synthetic-under-test", plugin)], entry_points=False)
    assert not registry.broken
    for name in (
        "synthetic30",
        "make-classification",
        "make-regression",
        "quadrants",
        "sized-items",
        "ranking-regions",
    ):
        assert issubclass(registry.dataset(name), DataSource)


def test_the_plugin_module_imports_no_heavy_module():
    code = "import bench_synthetic.plugin, sys; print([m for m in ('sklearn', 'pandas', 'scipy') if m in sys.modules])"
    imported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert imported.strip() == "[]"


def test_synthetic30_has_the_papers_shape(context):
    data = Synthetic30(seed=1).load(context)
    assert (data.n_rows, data.n_features, data.task) == (1000, 30, "multiclass")
    counts = np.bincount(data.target)
    assert len(counts) == 3
    assert counts.min() > 300


def test_synthetic30_is_make_classification_with_the_papers_settings(context):
    data = Synthetic30(seed=5).load(context)
    family = MakeClassification(rows=1000, features=30, informative=25, redundant=0, classes=3, seed=5).load(context)
    assert data.content == family.content


def test_make_classification_follows_its_parameters(context):
    data = MakeClassification(
        rows=4000, features=6, informative=3, redundant=1, repeated=1, classes=3, clusters_per_class=1,
        weights=[0.6, 0.3, 0.1], flip_y=0.0, shuffle=False, seed=2,
    ).load(context)  # fmt: skip
    shares = np.bincount(data.target) / data.n_rows
    assert shares == pytest.approx([0.6, 0.3, 0.1], abs=0.02)
    values = data.values
    explained = np.linalg.lstsq(values[:, :3], values[:, 3], rcond=None)[0]
    assert values[:, :3] @ explained == pytest.approx(values[:, 3])  # redundant: linear in the informative ones
    assert any(np.array_equal(values[:, 4], values[:, j]) for j in range(4))  # repeated


def test_make_classification_has_the_statistics_of_scikit_learns(context):
    from sklearn.datasets import make_classification

    def summary(X, y):
        between = sum(np.mean((X[y == k].mean(axis=0) - X.mean(axis=0)) ** 2) for k in range(3))
        return [np.mean(X.std(axis=0)), np.mean(np.abs(X.mean(axis=0))), between]

    ours, theirs = [], []
    for seed in range(10):
        data = MakeClassification(rows=600, features=12, informative=8, classes=3, seed=seed).load(context)
        ours.append(summary(data.values, data.target))
        theirs.append(summary(*make_classification(600, 12, n_informative=8, n_classes=3, random_state=seed)))
    spread = np.std(ours, axis=0) + np.std(theirs, axis=0)
    assert (np.abs(np.mean(ours, axis=0) - np.mean(theirs, axis=0)) < spread).all()


def test_the_share_of_flipped_labels_follows_flip_y(context):
    plain, flipped = (
        MakeClassification(rows=4000, flip_y=share, shuffle=False, seed=1).draw()[1] for share in (0.0, 0.3)
    )
    assert (plain != flipped).mean() == pytest.approx(0.15, abs=0.03)


def test_clusters_are_centred_on_distinct_corners_of_the_hypercube(context):
    X, _ = MakeClassification(
        rows=40_000, features=3, informative=3, redundant=0, classes=4, clusters_per_class=2, flip_y=0.0,
        class_sep=30.0, shuffle=False,
    ).draw()  # fmt: skip
    corners = np.sign([part.mean(axis=0) for part in np.split(X, 8)])
    assert len(np.unique(corners, axis=0)) == 8
    assert np.abs(X.mean(axis=0)).max() < 1.0
    assert np.abs(X).mean() == pytest.approx(30.0, rel=0.02)


def test_low_rank_features_have_the_specified_singular_values(context):
    data = MakeRegression(rows=120, features=30, effective_rank=4, tail_strength=0.3).load(context)
    place = np.arange(30) / 4
    expected = 0.7 * np.exp(-(place**2)) + 0.3 * np.exp(-0.1 * place)
    assert np.linalg.svd(data.values, compute_uv=False) == pytest.approx(expected, abs=1e-6)


def test_make_regression_without_noise_is_linear_in_its_features(context):
    data = MakeRegression(rows=200, features=5, informative=2, noise=0.0, bias=3.0).load(context)
    design = np.column_stack([data.values, np.ones(data.n_rows)])
    weights = np.linalg.lstsq(design, data.target, rcond=None)[0]
    assert design @ weights == pytest.approx(data.target)
    assert weights[-1] == pytest.approx(3.0)
    assert (np.abs(weights[:-1]) > 1e-6).sum() == 2


@given(seed=st.integers(0, 10_000), rows=st.integers(4, 300))
@settings(max_examples=40, deadline=None)
def test_in_every_row_the_feature_of_its_own_quadrant_is_the_label(seed, rows, tmp_path_factory):
    data = Quadrants(rows=rows, seed=seed).load(DataContext(cache=tmp_path_factory.getbasetemp()))
    place = {(1, 1): "z++", (1, -1): "z+-", (-1, 1): "z-+", (-1, -1): "z--"}
    column = {name: i for i, name in enumerate(data.feature_names)}
    for row, label in zip(data.values, data.target, strict=True):
        own = place[int(row[column["sign_x"]]), int(row[column["sign_z"]])]
        assert row[column[own]] == label
        assert sum(row[column[name]] == label for name in place.values()) == 1


def test_the_cheapest_perfect_predictor_of_quadrants_costs_12(context):
    data = Quadrants().load(context)
    assert data.costs.cost_of([data.feature_names.index(name) for name in ("sign_x", "sign_z", "z-+")]) == 12
    assert data.costs.bill(np.ones((1, 6), dtype=bool)) == pytest.approx([42])


def test_labels_of_a_quadrant_are_gaussian_with_its_mean_and_variance_1(context):
    data = Quadrants(rows=40_000, means=(1.0, 2.0, 30.0, 40.0), seed=9).load(context)
    sign_x, sign_z = data.values[:, 4], data.values[:, 5]
    expected = {(1, 1): 1.0, (1, -1): 2.0, (-1, 1): 30.0, (-1, -1): 40.0}
    for (a, b), mean in expected.items():
        labels = data.target[(sign_x == a) & (sign_z == b)]
        assert len(labels) == pytest.approx(10_000, rel=0.05)
        assert labels.mean() == pytest.approx(mean, abs=0.05)
        assert labels.var() == pytest.approx(1.0, abs=0.06)


def test_the_default_means_give_the_weights_that_figure_5_prints(context):
    data = Quadrants(rows=40_000).load(context)
    sign_x, sign_z, y = data.values[:, 4], data.values[:, 5], data.target
    assert (y * sign_z).mean() == pytest.approx(-9.64, abs=0.5)
    halves = sorted((y * sign_x)[sign_z == side].mean() for side in (-1, 1))
    assert halves == pytest.approx([-5.27, 0.83], abs=0.5)


def test_the_squared_noise_is_the_error_of_predicting_the_right_feature(context):
    data = Quadrants(rows=20_000, noise=0.5).load(context)
    quadrant = (data.values[:, 4] < 0) * 2 + (data.values[:, 5] < 0)
    own = data.values[np.arange(data.n_rows), quadrant.astype(int)]
    assert ((own - data.target) ** 2).mean() == pytest.approx(0.25, rel=0.05)


def test_decoys_have_the_distribution_of_their_feature_or_are_standard_normal(context):
    alike = Quadrants(rows=40_000, noise=0.5, means=(1.0, 2.0, 30.0, -40.0)).load(context)
    standard = Quadrants(rows=40_000, noise=0.5, means=(1.0, 2.0, 30.0, -40.0), decoys="standard").load(context)
    quadrant = (alike.values[:, 4] < 0) * 2 + (alike.values[:, 5] < 0)
    for feature, mean in enumerate((1.0, 2.0, 30.0, -40.0)):
        own, other = quadrant == feature, quadrant != feature
        for rows in (own, other):
            assert alike.values[rows, feature].mean() == pytest.approx(mean, abs=0.05)
            assert alike.values[rows, feature].var() == pytest.approx(1.25, abs=0.06)
        assert standard.values[other, feature].mean() == pytest.approx(0.0, abs=0.05)
        assert standard.values[other, feature].var() == pytest.approx(1.0, abs=0.05)
        assert (standard.values[own, feature] == alike.values[own, feature]).all()
        assert abs(np.corrcoef(alike.values[other, feature], alike.target[other])[0, 1]) < 0.03


def test_item_sizes_and_prices_stay_within_the_papers_ranges(context):
    data = SizedItems(rows=5000, features=15, seed=3).load(context)
    assert (data.sizes.min(), data.sizes.max()) == (1, 500)
    assert (data.sizes == np.round(data.sizes)).all()
    prices = data.costs.prices
    assert prices.shape == (15, 3)
    assert (prices >= 0).all()
    assert (prices <= [100, 1, 0.001]).all()
    assert data.costs.depends_on_size


def test_a_sized_item_pays_its_polynomial(context):
    data = SizedItems(features=3, seed=7).load(context)
    a0, a1, a2 = data.costs.prices[1]
    assert data.costs.cost_of([1], size=200.0) == pytest.approx(a0 + a1 * 200 + a2 * 200**2)


def test_prices_of_sized_items_do_not_depend_on_the_number_of_rows(context):
    few, many = (SizedItems(rows=rows, seed=11).load(context) for rows in (10, 500))
    assert np.array_equal(few.costs.prices, many.costs.prices)


@pytest.mark.parametrize("features", range(1, 16))
def test_sized_items_can_have_every_number_of_features_in_the_paper(features, context):
    data = SizedItems(rows=40, features=features).load(context)
    assert data.n_features == features
    assert data.task == "binary"


def test_the_readmes_examples_build():
    text = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", text, flags=re.DOTALL)
    entries = [entry for block in blocks for entry in tomllib.loads(block)["datasets"]]
    registry = load_registry()  # the prices are those of another plugin
    assert len(entries) == 3
    for entry in entries:
        build(registry.dataset(entry["use"]), entry.get("parameters", {}), "README.md")
        for costs in entry["costs"]:
            build(registry.cost_scheme(costs["use"]), costs.get("parameters", {}), "README.md")


@pytest.mark.parametrize(
    ("source", "wrong", "said"),
    [
        (MakeClassification, {"informative": 3, "classes": 5}, "2**informative"),
        (MakeClassification, {"features": 3}, "must not be more than features, 3"),
        (MakeClassification, {"weights": [0.5, 0.6]}, "summing to 1"),
        (MakeClassification, {"sead": 1}, "did you mean 'seed'"),
        (MakeRegression, {"informative": 30}, "informative"),
        (Quadrants, {"rows": 2}, "at least 4"),
        (Quadrants, {"noise": -1.0}, "noise"),
        (SizedItems, {"helpful": 1.5}, "helpful"),
        (SizedItems, {"smallest": 9, "largest": 3}, "smallest"),
    ],
)
def test_wrong_parameters_are_refused_by_name(source, wrong, said):
    with pytest.raises(RequestError, match=r".") as caught:
        build(source, wrong, "suite.toml: datasets[0]")
    assert said in str(caught.value)


def test_a_ranking_has_the_papers_prices_and_the_shares_of_grades(context):
    data = RankingRegions(documents=2000, features=519).load(context)
    prices, counts = np.unique(data.costs.prices[:, 0], return_counts=True)
    assert dict(zip(prices.astype(int).tolist(), counts.tolist(), strict=True)) == PRICE_COUNTS
    assert (np.bincount(data.target.astype(int)) / 2000).tolist() == pytest.approx(GRADE_SHARES, abs=1e-3)
    assert np.bincount(data.query).tolist() == [25] * 80


@pytest.mark.parametrize("premise", ["regions", "shared"])
@pytest.mark.parametrize("depth", [2, 3])
def test_only_the_features_of_its_region_rank_a_document(context, premise, depth):
    """Without noise, the region's number and its two expensive features determine the grades; no other two do."""
    data = RankingRegions(documents=3000, features=40, depth=depth, premise=premise, noise=0.0).load(context)
    bits = data.values[:, :depth] > 0
    region = sum(bits[:, i].astype(int) << (depth - 1 - i) for i in range(depth))
    assert np.unique(region).tolist() == list(range(2**depth))
    other = dict.fromkeys(range(2**depth), 1.0)
    for r in range(2**depth):
        rows = region == r
        grades = data.target[rows]
        for place in other:
            score = data.values[rows, depth + place] + data.values[rows, depth + place + 1]
            order = np.argsort(score, kind="stable")
            sorted_by_it = bool((np.diff(grades[order]) >= 0).all())
            assert sorted_by_it == (place == (r if premise == "regions" else 0)) or len(np.unique(grades)) == 1
        assert set(data.costs.prices[depth + r : depth + r + 2, 0]) == {50.0, 150.0}


def test_the_grade_rises_with_the_region(context):
    data = RankingRegions(documents=4000, features=40).load(context)
    region = (data.values[:, :3] > 0) @ [4, 2, 1]
    means = [data.target[region == r].mean() for r in range(8)]
    assert means == sorted(means)


@pytest.mark.parametrize(
    "wrong", [{"documents": 10}, {"per_query": 1}, {"depth": 6}, {"features": 11}, {"noise": -1.0}, {"local": np.inf}]
)
def test_a_ranking_refuses_invalid_parameters(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        RankingRegions(**wrong)


def test_cube_shows_the_bits_of_the_label_from_its_position_on(context):
    data = Cube(rows=4000).load(context)
    rows, label = np.arange(data.n_rows), np.asarray(data.target)
    shown = np.stack([data.values[rows, label + bit] for bit in range(3)], axis=1)
    assert np.abs(shown - (label[:, None] >> np.arange(3) & 1)).max() < 0.5
    assert abs(data.values[:, 10:].std() - 0.3) < 0.01
    noisy = Cube(rows=4000, noise=0.3).load(context)
    places = np.stack([noisy.values[rows, noisy.target + bit] for bit in range(3)], axis=1)
    assert abs((places - (np.asarray(noisy.target)[:, None] >> np.arange(3) & 1)).std() - 0.3) < 0.01


def test_cube_nm_shows_the_bits_in_the_block_of_the_context_which_is_bought_at_once(context):
    data = CubeNM(rows=4000).load(context)
    rows, label, block = np.arange(data.n_rows), np.asarray(data.target), data.values[:, :5].argmax(axis=1)
    assert np.bincount(block).min() > 700
    shown = np.stack([data.values[rows, 5 + 10 * block + (label + bit) % 10] for bit in range(3)], axis=1)
    assert np.abs(shown - (label[:, None] >> np.arange(3) & 1)).max() < 0.5
    other = np.stack([data.values[rows, 5 + 10 * ((block + 1) % 5) + (label + bit) % 10] for bit in range(3)], axis=1)
    assert abs(other.mean() - 0.5) < 0.02
    assert data.costs.cost_of(range(5)) == data.costs.cost_of([3]) == 1
    assert data.costs.cost_of(range(55)) == 51
