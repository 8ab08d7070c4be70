"""Fan's bins, compared with a plain implementation of Appendix C that uses a dictionary."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from bench_qwyc.adapters import adapt
from bench_qwyc.fan import Bins, _numbered, make_bins
from bench_qwyc.policy import StoppingPolicy
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier

from bench_core import Rows


def plain_tables(scores: Any, order: Any, width: float, bias: float) -> list[dict[int, list[float]]]:
    """The training examples' distances from the full score, by position and bin."""
    full = [bias + sum(column) for column in scores.T]
    tables: list[dict[int, list[float]]] = []
    g = [bias] * scores.shape[1]
    for model in order[:-1]:
        table: dict[int, list[float]] = {}
        for i in range(scores.shape[1]):
            g[i] += scores[model, i]
            table.setdefault(math.floor(g[i] / width), []).append(g[i] - full[i])
        tables.append(table)
    return tables


@settings(deadline=None)
@given(st.integers(1, 5), st.integers(1, 40), st.sampled_from([0.25, 0.5, 2.0]), st.integers(0, 2**32 - 1))
def test_bins_hold_mean_and_spread_of_the_distance_from_the_full_score(
    models: int, examples: int, width: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(-8, 9, (models, examples)) / 4.0
    order = rng.permutation(models)
    bins = make_bins(scores, order, width, 0.25)
    for r, table in enumerate(plain_tables(scores, order, width, 0.25)):
        part = slice(bins.first[r], bins.first[r + 1])
        assert bins.number[part].tolist() == sorted(table)
        np.testing.assert_allclose(bins.mean[part], [np.mean(table[b]) for b in sorted(table)], atol=1e-12)
        np.testing.assert_allclose(bins.spread[part], [np.std(table[b]) for b in sorted(table)], atol=1e-12)


def boosted() -> tuple[Any, Any]:
    X, y = make_classification(600, 5, n_informative=4, n_redundant=0, random_state=2)
    model = HistGradientBoostingClassifier(max_iter=15, early_stopping=False, random_state=0).fit(X[:300], y[:300])
    return adapt(model, X[:300], np.arange(5), n_features=5, n_classes=2), X


@pytest.mark.parametrize("gamma", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("two_sided", [True, False])
def test_rows_stop_as_appendix_c_says_and_unseen_bins_mean_full_evaluation(gamma: float, two_sided: bool) -> None:
    ensemble, X = boosted()
    train, new = ensemble.scores(X[:300]), ensemble.scores(X[300:] * 1.5)
    order = np.random.default_rng(0).permutation(15)
    bias = float(ensemble.bias[0])
    bins = make_bins(train, order, 0.02, bias)
    tables = plain_tables(train, order, 0.02, bias)
    decided = StoppingPolicy(ensemble, bins, gamma=gamma, two_sided=two_sided).decide(Rows(X[300:] * 1.5))
    assert decided.probabilities is not None
    assert decided.evaluations is not None
    unseen = 0
    for i in range(new.shape[1]):
        g, runs = bias, 15
        positive = bool(bias + new[:, i].sum() >= 0)
        for r, model in enumerate(order[:-1]):
            g += new[model, i]
            away = tables[r].get(math.floor(g / 0.02))
            if away is None:
                unseen += 1
                break
            if (above := g > np.mean(away) + gamma * np.std(away) and two_sided) or (
                g < np.mean(away) - gamma * np.std(away)
            ):
                runs, positive = r + 1, above
                break
        assert decided.evaluations[i] == runs
        assert decided.probabilities[i].argmax() == positive
    assert unseen > 0 or gamma == 0.0  # the case is in the data


def test_a_higher_confidence_never_stops_earlier() -> None:
    ensemble, X = boosted()
    bins = make_bins(ensemble.scores(X[:300]), np.arange(15), 0.5, float(ensemble.bias[0]))
    runs = [StoppingPolicy(ensemble, bins, gamma=g).decide(Rows(X)).evaluations for g in (0.0, 1.0, 2.0, 5.0)]
    for one, two in itertools.pairwise(runs):
        assert one is not None
        assert two is not None
        assert (one <= two).all()


def test_bad_bins_are_refused() -> None:
    for width in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="width of a bin"):
            make_bins(np.ones((2, 2)), [0, 1], width)
    with pytest.raises(ValueError, match="too narrow"):
        make_bins(np.full((2, 2), 1e10), [0, 1], 1e-9)


@pytest.mark.parametrize("spread", [3.0, 500.0, 1e9])
def test_bin_numbers_equal_those_of_a_sort_for_dense_and_sparse_bins(spread: float) -> None:
    place = np.floor(np.random.default_rng(0).normal(size=200) * spread)
    number, which = _numbered(place)
    expected, places = np.unique(place, return_inverse=True)
    np.testing.assert_array_equal(number, expected)
    np.testing.assert_array_equal(which, places)


def test_one_base_model_has_no_bins() -> None:
    bins = make_bins(np.ones((1, 3)), [0], 0.1)
    assert isinstance(bins, Bins)
    assert bins.mean_bins == 0
