"""Measured prices: fits checked by hand, files saved and loaded, and the shipped measurements."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bench_polydom.pricing import MEASURED, Measurements, fit_price, measure


def test_the_fit_recovers_a_polynomial() -> None:
    sizes = np.array([100.0, 1e4, 4e4, 1e6])
    for price in ([3.0, 0.5, 0.0], [10.0, 0.0, 2e-6], [0.0, 0.0, 1e-9], [7.0, 0.0, 0.0]):
        times = np.polynomial.polynomial.polyval(sizes, price)
        np.testing.assert_allclose(fit_price(sizes, times), price, rtol=1e-6, atol=1e-12 * times.max())


def test_coefficients_are_never_negative() -> None:
    assert (fit_price([1.0, 2.0, 3.0, 4.0], [9.0, 5.0, 3.0, 2.0]) >= 0).all()
    assert (fit_price([1.0, 2.0, 3.0], [0.0, 1.0, 8.0], 3) >= 0).all()


def test_the_worst_case_is_never_cheaper_than_the_median_where_measured() -> None:
    times = {"f": [[1.0, 2.0, 9.0], [4.0, 5.0, 30.0], [10.0, 11.0, 50.0]]}
    made = Measurements("here", (1.0, 2.0, 3.0), times)
    assert made.statistic("f").tolist() == [9.0, 30.0, 50.0]
    assert made.statistic("f", "median").tolist() == [2.0, 5.0, 11.0]
    assert (made.spread("f") > 1).all()


def test_measuring_times_every_extractor_at_every_size_and_keeps_it_in_a_file(tmp_path: Path) -> None:
    import time

    def slow(item: int) -> None:
        time.sleep(item / 1000)

    made = measure({"slow": slow, "free": lambda item: item}, {20.0: [20], 2.0: [2, 2]}, "bench", repeats=1)
    assert made.sizes == (2.0, 20.0)
    assert [len(times) for times in made.times["slow"]] == [2, 1]
    assert made.statistic("slow", "median")[1] >= 19_000
    assert (made.statistic("free") < 1000).all()
    made.save(tmp_path / "m.json")
    again = Measurements.load(tmp_path / "m.json")
    assert again.machine == "bench"
    np.testing.assert_allclose(again.statistic("slow"), made.statistic("slow"), atol=0.01)


def test_the_shipped_measurements_price_all_thirteen_features() -> None:
    from bench_polydom.extractors import EXTRACTORS

    prices = Measurements.load(MEASURED / "reference.json").prices()
    assert list(prices) == list(EXTRACTORS)
    assert all(min(price) >= 0 and max(price) > 0 for price in prices.values())


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"machine": "a"}', '{"machine": "a", "sizes": [1, 2], "times": {"f": [[1]]}}']
)
def test_a_file_without_measurements_is_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(ValueError, match=r"bad\.json does not hold measurements"):
        Measurements.load(tmp_path / "bad.json")


@pytest.mark.parametrize(
    ("sizes", "times", "degree"),
    [([1.0], [1.0, 2.0], 2), ([], [], 2), ([-1.0], [1.0], 2), ([1.0], [float("nan")], 2), ([1.0], [1.0], -1)],
)
def test_invalid_times_are_refused(sizes: list[float], times: list[float], degree: int) -> None:
    with pytest.raises(ValueError, match=r"sizes|times"):
        fit_price(sizes, times, degree)


def test_measuring_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one item"):
        measure({"f": len}, {1.0: []}, "here")
