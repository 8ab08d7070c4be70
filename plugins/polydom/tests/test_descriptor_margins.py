"""Margins of many descriptors: a group and a price for each, and no machine trained on a row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench_polydom.descriptor_margins import DescriptorMargins
from bench_polydom.pricing import load_measurements

from bench_core import Costs, DataContext, DataError
from bench_core.suites import load_registry
from bench_core.testing import dataset_contract

pytest.importorskip("skimage", reason="image features need scikit-image")
if "digits" not in load_registry().datasets:
    pytest.skip("the digits come with budgetbench-public-data", allow_module_level=True)

SMALL = DescriptorMargins(images=60, learning=80, sides=(8, 12), without=("gabor_energy", "daisy", "texton"))

test_contract = pytest.mark.slow(dataset_contract(SMALL))


@pytest.mark.slow
def test_a_descriptor_at_a_side_is_a_group_at_its_measured_price(data_context: DataContext) -> None:
    loaded = SMALL.load(data_context)
    assert loaded.values.shape == (60, 2 * 10 * 10)
    assert isinstance(loaded.costs, Costs)
    assert loaded.costs.groups is not None
    fitted = load_measurements("reference").prices()["hog"]
    first = loaded.feature_names.index("hog at 12: 0")
    members = list(range(first, first + 10))
    assert len(set(loaded.costs.groups[members])) == 1
    assert {loaded.feature_names[i].partition(":")[0] for i in members} == {"hog at 12"}
    price = sum(c * 144.0**power for power, c in enumerate(fitted))
    assert loaded.costs.cost_of(members, 1.0) == pytest.approx(price)
    assert loaded.costs.cost_of(members[:1], 1.0) == pytest.approx(price)


@pytest.mark.slow
def test_margins_predict_the_class(data_context: DataContext) -> None:
    loaded = SMALL.load(data_context)
    best = loaded.feature_names.index("hog at 12: 0")
    assert (loaded.values[:, best : best + 10].argmax(axis=1) == loaded.target).mean() > 0.7


@pytest.mark.slow
def test_margins_do_not_depend_on_the_label_of_their_row(tmp_path: Path, data_context: DataContext) -> None:
    """The images are noise in two classes: only a machine trained on a row could predict its class."""
    from skimage.io import imsave

    rng = np.random.default_rng(0)
    for name in ("left", "right"):
        (tmp_path / name).mkdir()
        for i in range(80):
            noise = rng.integers(0, 256, (8, 8)).astype(np.uint8)
            imsave(tmp_path / name / f"{i}.png", noise, check_contrast=False)
    loaded = DescriptorMargins(path=str(tmp_path), images=80, learning=80, sides=(8,)).load(data_context)
    right = ((loaded.values > 0) == loaded.target[:, None]).mean(axis=0)
    assert right.max() < 0.7


@pytest.mark.slow
def test_the_content_hash_does_not_need_descriptors(data_context: DataContext, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = SMALL.load(data_context)
    monkeypatch.setattr("bench_polydom.descriptor_margins._margins_of", lambda *_: pytest.fail("learnt again"))
    assert SMALL.content(data_context) == loaded.content
    assert SMALL.load(data_context).content == loaded.content  # kept from the first time


@pytest.mark.slow
@pytest.mark.parametrize("change", [{"seed": 1}, {"learning": 81}, {"sides": (8, 13)}, {"statistic": "median"}])
def test_every_input_changes_the_content_hash(change: dict[str, object], data_context: DataContext) -> None:
    assert replace(SMALL, **change).content(data_context) != SMALL.content(data_context)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"without": ("hogg",)}, "no extractor 'hogg'"),
        ({"images": 5000}, "there are 1797 images"),
        ({"learning": 4}, "do not hold every class"),
    ],
)
def test_impossible_settings_are_refused(change: dict[str, object], said: str, data_context: DataContext) -> None:
    with pytest.raises(DataError, match=said):
        replace(SMALL, **change).load(data_context)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{"images": 1}, {"learning": 0}, {"sides": (4,)}])
def test_parameters_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="must"):
        DescriptorMargins(**wrong)  # type: ignore[arg-type]
