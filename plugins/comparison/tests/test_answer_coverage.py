"""The procedure of the answer, checked by simulation: the best is found, variants are equal, intervals cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from bench_comparison.draws import Table, draws_of, simplex, split_draws
from bench_comparison.kinds import Place
from bench_comparison.layout import Layout
from bench_comparison.losses import losses
from bench_comparison.scale import Measured
from bench_comparison.schema import Prices
from bench_comparison.sets import unit_values
from bench_comparison.views import task_views
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

SPREAD, NOISE, SPLITS = 0.12, 0.05, 5
"""Standard deviations of a method's quality over data sets (beyond the effect on all methods), and over splits."""


def world(rng: np.random.Generator, means: Sequence[float], datasets: int, spread: float = SPREAD) -> list[Numbers]:
    """Quality of each method on each split of random data sets: float64 (methods, splits, 1) each."""
    cells = []
    for _ in range(datasets):
        own = np.asarray(means) + rng.normal(0, 0.2) + rng.normal(0, spread, len(means))
        cells.append((own[:, None] + rng.normal(0, NOISE, (len(means), SPLITS)))[:, :, None])
    return cells


def measured(cells: Sequence[Numbers]) -> list[Measured]:
    return [
        Measured(
            dataset=f"D{i}",
            costs="unit",
            prices="unit",
            task="classification",
            family=f"D{i}",
            metric="accuracy",
            seeds=tuple(range(SPLITS)),
            quality=cell,
            beside=np.full((len(cell), 1), np.nan),
            points=0.25,
            empty=0.5,
            reference=0.75,
            gain=(0.25, 0.2, 0.3),
            facts={"features": 10, "rows": 500, "classes": 2},
        )
        for i, cell in enumerate(cells)
    ]


def step(cells: Sequence[Numbers], places: Mapping[str, Place]) -> dict[str, Any]:
    layout = Layout.of(places, dict.fromkeys(places, 1.0))
    used = measured(cells)
    views = task_views("classification", used, [], unit_values(used, layout), layout, [0.1])
    found: dict[str, Any] = views[0]["steps"][0]
    return found


def own(names: str) -> dict[str, Place]:
    return {name: Place("trees", name, True) for name in names}


def test_with_each_kind_of_prices_the_best_methods_are_those_with_these_prices() -> None:
    # Row by row, method a is best with unit prices, b with drawn ones; the fixed subset has 0.5 everywhere.
    places = {
        "a": Place("look-ahead", "a", True),
        "b": Place("neural", "b", True),
        "c": Place("fixed subset", "c", False),
    }
    by_prices: dict[Prices, list[float]] = {"unit": [0.9, 0.3, 0.5], "drawn": [0.2, 0.7, 0.5]}
    used = []
    for prices, qualities in by_prices.items():
        cells = [np.repeat(np.array(qualities)[:, None, None], SPLITS, axis=1) for _ in range(8)]
        for cell in measured(cells):
            name = f"{cell.dataset}, {prices}"
            used.append(replace(cell, dataset=name, family=name, prices=prices))
    layout = Layout.of(places, dict.fromkeys(places, 1.0))
    views = task_views("classification", used, [], unit_values(used, layout), layout, [0.1])
    groups = {group["title"]: group["difference"][0] for group in views[0]["dynamic"][0]["groups"]}
    assert groups["unit prices"] == pytest.approx(0.4)
    assert groups["drawn prices"] == pytest.approx(0.2)
    assert views[0]["dynamic"][0]["difference"][0] == pytest.approx(0.3)


def test_the_best_method_is_recommended_and_the_others_are_clearly_worse() -> None:
    found = step(world(np.random.default_rng(1), [0.5, 0.8, 0.4, 0.45], 20), own("abcd"))
    assert found["recommended"]["algorithm"] == "b"
    assert found["recommended"]["best"] > 0.95
    assert found["recommended"]["equal"] == []
    assert {row["name"]: row["group"] for row in found["algorithms"]} == {
        "b": "recommended",
        "a": "worse",
        "c": "worse",
        "d": "worse",
    }
    lost = {row["name"]: row["loss"] for row in found["algorithms"]}
    assert lost["c"][1] < 0.4 < lost["c"][2]


def test_methods_that_differ_by_little_are_practically_equal_with_enough_data_sets() -> None:
    found = step(world(np.random.default_rng(2), [0.7, 0.7, 0.4], 60, spread=0.03), own("abc"))
    assert [one["algorithm"] for one in found["recommended"]["equal"]] == sorted(
        {"a", "b"} - {found["recommended"]["algorithm"]}
    )


def test_copies_of_a_method_are_variants_of_one_algorithm_and_change_no_loss() -> None:
    cells = world(np.random.default_rng(3), [0.7, 0.68, 0.4], 12)
    copied = [np.concatenate([cell, cell[[0]], cell[[0]]]) for cell in cells]
    before = step(cells, own("abc"))
    places = {**own("abc"), "a2": Place("trees", "a", True), "a3": Place("trees", "a", True)}
    after = step(copied, places)
    assert [(row["name"], row["loss"], row["best"]) for row in before["algorithms"]] == [
        (row["name"], row["loss"], row["best"]) for row in after["algorithms"]
    ]


def test_a_kind_of_equally_good_methods_has_their_quality() -> None:
    """Whichever of them represents it; the standard error of a method's mean is 1.9 % here."""
    rng, layout = np.random.default_rng(8), Layout.of(own("abcde"), dict.fromkeys("abcde", 1.0))
    errors = []
    for _ in range(40):
        used = measured(world(rng, [0.6] * 5, 40))
        means = np.mean([cell.mean(axis=1)[:, 0] for cell in unit_values(used, layout)], axis=0)
        (kind,) = (len(layout.methods) + i for i, unit in enumerate(layout.units) if unit.name == "trees")
        errors.append(means[kind] - means[:5].mean())
    assert abs(np.mean(errors)) < 0.01
    assert np.sqrt(np.mean(np.square(errors))) < 0.019


def test_a_kind_is_represented_by_its_best_method_where_it_is_clear() -> None:
    layout = Layout.of(own("abc"), dict.fromkeys("abc", 1.0))
    for cell in unit_values(measured(world(np.random.default_rng(9), [0.2, 0.9, 0.3], 10)), layout):
        np.testing.assert_array_equal(cell[len(layout.methods) + len(layout.algorithms)], cell[1])


def test_a_method_that_is_best_because_of_one_data_set_is_found() -> None:
    cells = [np.full((2, SPLITS, 1), 0.5) + np.array([0.0, 0.1])[:, None, None] for _ in range(6)]
    cells[2][0] += 1.0
    found = step(cells, own("ab"))
    assert found["deciding"] == {"best": "a", "without": {"D2": "b"}}
    cells[2][0] -= 1.0
    assert step(cells, own("ab"))["deciding"] == {"best": "b", "without": {}}


def test_the_recommended_algorithm_is_also_judged_without_the_data_set_that_changes_its_mean_most() -> None:
    cells = world(np.random.default_rng(6), [0.5, 0.9], 12)
    cells[4][1] += 2.0
    found = step(cells, own("ab"))["recommended"]
    rest = step([cell for place, cell in enumerate(cells) if place != 4], own("ab"))["recommended"]
    assert found["without"]["family"] == "D4"
    assert found["without"]["quality"] == pytest.approx(rest["quality"][0], abs=1e-4)
    for level, chance in rest["reaches"].items():  # other draws of splits: data sets are numbered by their names
        assert found["without"]["reaches"][level] == pytest.approx(chance, abs=0.05)
    assert found["reaches"]["0.9"] > found["without"]["reaches"]["0.9"] + 0.1


def test_a_data_set_of_the_same_family_adds_nothing() -> None:
    cells = world(np.random.default_rng(4), [0.7, 0.6], 8)
    values = [split_draws(cell, i) for i, cell in enumerate(cells)]
    families, names = [f"D{i}" for i in range(8)], [f"D{i}" for i in range(8)]
    once = draws_of(Table.of(values, families, names, 2))
    again = draws_of(Table.of([*values, values[0]], [*families, "D0"], [*names, "a copy of D0"], 2))
    np.testing.assert_allclose(once, again, atol=1e-9)


def test_a_method_that_is_missing_on_easy_data_sets_is_not_worse_for_it() -> None:
    rng = np.random.default_rng(5)
    level = rng.uniform(0, 1, 12)
    cells = [np.full((3, SPLITS, 1), h) + np.array([0.0, 0.1, 0.2])[:, None, None] for h in level]
    for i in np.argsort(level)[-6:]:
        cells[i][2] = np.nan  # the best of them, absent where all are good
    table = Table.of([split_draws(c, i) for i, c in enumerate(cells)], [str(i) for i in range(12)], ["d"] * 12, 3)
    means = draws_of(table)
    np.testing.assert_allclose(means[:, 2, 0] - means[:, 0, 0], 0.2, atol=1e-9)


def test_weights_are_uniform_on_the_simplex() -> None:
    weights = simplex(4000, 5, 7)
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    assert weights.min() >= 0
    # Dirichlet(1, …, 1): mean 1/n, variance (n − 1) / (n²(n + 1)).
    np.testing.assert_allclose(weights.mean(axis=0), 1 / 5, atol=0.01)
    np.testing.assert_allclose(weights.var(axis=0), 4 / 150, rtol=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("datasets", [5, 10, 20])
def test_nominal_95_per_cent_intervals_cover_90_to_98_per_cent(datasets: int) -> None:
    """Of the mean, of a difference, and of the loss of each method."""
    truth = np.array([0.7, 0.66, 0.6, 0.5])
    rng, worlds = np.random.default_rng(6), 400
    covered = np.zeros((worlds, 3))
    for i in range(worlds):
        cells = world(rng, truth.tolist(), datasets)
        names = [f"D{k}" for k in range(datasets)]
        means = draws_of(Table.of([split_draws(c, k) for k, c in enumerate(cells)], names, names, 4))[1:, :, 0]
        covered[i, 0] = inside(means, truth).mean()
        covered[i, 1] = inside(means[:, [0]] - means[:, 1:], truth[0] - truth[1:]).mean()
        lost = losses(means, range(4), [True] * 4)
        covered[i, 2] = inside(lost, truth.max() - truth).mean()
    shares = covered.mean(axis=0)
    print(datasets, shares)
    assert (shares > 0.90).all(), shares
    assert (shares <= 0.98).all(), shares


@pytest.mark.slow
def test_with_many_rivals_losses_are_overstated_but_not_that_of_the_recommended_method() -> None:
    """The loss against the best of many is that against a maximum of noisy means, which is too high."""
    truth = np.array([0.7, *np.linspace(0.69, 0.35, 35)])
    rng, worlds, datasets, count = np.random.default_rng(7), 60, 47, len(truth)
    covered, stated = np.zeros((worlds, count)), np.zeros((worlds, count))
    recommended = np.zeros((worlds, 2))
    names = [f"D{k}" for k in range(datasets)]
    for i in range(worlds):
        cells = world(rng, truth.tolist(), datasets)
        means = draws_of(Table.of([split_draws(c, k) for k, c in enumerate(cells)], names, names, count))[1:, :, 0]
        lost = losses(means, range(count), [True] * count)
        covered[i], stated[i] = inside(lost, truth.max() - truth), lost.mean(axis=0)
        best = stated[i].argmin()
        recommended[i] = stated[i, best], truth.max() - truth[best]
    print(
        covered.mean(), covered.mean(axis=0).min(), (stated - (truth.max() - truth)).mean(axis=0), recommended.mean(0)
    )
    bias = (stated - (truth.max() - truth)).mean(axis=0)
    assert (bias > 0).all()
    assert (bias < 0.03).all()
    assert recommended[:, 0].mean() == pytest.approx(recommended[:, 1].mean(), abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("dynamic", "fixed"), [(28, 11), (25, 14)])
def test_the_choice_of_a_unit_s_members_is_not_in_its_interval(dynamic: int, fixed: int) -> None:
    """The best of many row by row and the best of some fixed subsets are equal; intervals cover less than 95 %."""
    truth = [*np.linspace(0.7, 0.5, dynamic), *np.linspace(0.7, 0.5, fixed)]
    places = {
        f"m{i}": Place("look-ahead" if i < dynamic else "fixed subset", f"m{i}", i < dynamic) for i in range(len(truth))
    }
    layout = Layout.of(places, dict.fromkeys(places, 1.0))
    rng, worlds, datasets = np.random.default_rng(8), 60, 47
    names = [f"D{k}" for k in range(datasets)]
    covered, centre = [], []
    for _ in range(worlds):
        values = unit_values(measured(world(rng, truth, datasets)), layout)
        gaps = [split_draws(v[-2:-1] - v[-1:], k) for k, v in enumerate(values)]
        found = draws_of(Table.of(gaps, names, names, 1))[:, 0, 0]
        covered.append(inside(found[1:, None], np.zeros(1))[0])
        centre.append(found[0])
    print(dynamic, fixed, np.mean(covered), np.mean(centre), np.std(centre))
    assert np.mean(covered) > 0.7
    assert abs(np.mean(centre)) < 0.02


def inside(draws: Numbers, truth: Numbers) -> NDArray[np.bool_]:
    low, high = np.percentile(draws, [2.5, 97.5], axis=0)
    return np.asarray((low <= truth + 1e-12) & (truth <= high + 1e-12))
