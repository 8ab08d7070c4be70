"""Image features: fixed lengths at any size, and a data set whose groups are descriptors with measured prices."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench_polydom.pricing import Measurements
from bench_polydom.sized_images import SizedImages

from bench_core import Costs, DataContext, DataError, DataUnavailable
from bench_core.suites import load_registry
from bench_core.testing import dataset_contract

pytest.importorskip("skimage", reason="image features need scikit-image")
if "digits" not in load_registry().datasets:
    pytest.skip("the digits come with budgetbench-public-data", allow_module_level=True)

SMALL = SizedImages(images=30, sides=(8, 12), every_side=True)

test_contract = pytest.mark.slow(dataset_contract(SMALL))


def test_every_extractor_gives_one_length_for_all_sizes() -> None:
    from bench_polydom.extractors import EXTRACTORS

    rng = np.random.default_rng(0)
    images = [rng.random((side, side)) for side in (8, 13, 32)] + [np.zeros((16, 16)), np.ones((9, 20))]
    for name, extract in EXTRACTORS.items():
        lengths = {np.shape(np.nan_to_num(extract(image))) for image in images}
        assert len(lengths) == 1, name
        assert len(lengths.pop()) == 1, name


def test_a_row_is_an_image_at_a_side_and_a_descriptor_is_a_group(data_context: DataContext) -> None:
    loaded = SMALL.load(data_context)
    assert loaded.n_rows == 60
    assert loaded.sizes is not None
    assert set(loaded.sizes) == {64.0, 144.0}
    assert (loaded.target[:30] == loaded.target[30:]).all()
    assert loaded.split is not None
    assert (loaded.split[:30] == loaded.split[30:]).all()
    assert np.bincount(loaded.split).tolist() == [30, 16, 14]
    assert isinstance(loaded.costs, Costs)
    assert loaded.costs.groups is not None
    assert loaded.costs.group_prices is not None
    assert len(loaded.costs.group_prices) == 13
    members = np.flatnonzero(loaded.costs.groups == 4).tolist()
    assert loaded.costs.cost_of(members, 64.0) == loaded.costs.cost_of(members[:1], 64.0) > 0


@pytest.mark.slow
def test_the_content_hash_does_not_need_or_cover_descriptors(
    data_context: DataContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = SMALL.load(data_context)
    assert SMALL.content(data_context) == loaded.content
    assert loaded.costs is not None
    assert loaded.costs.group_prices is not None
    moved = replace(
        loaded,
        values=loaded.values * (1 + 1e-15),
        costs=replace(loaded.costs, group_prices=loaded.costs.group_prices * (1 + 1e-15)),
    )
    assert moved.content == loaded.content
    monkeypatch.setattr("bench_polydom.extractors.VERSION", 10**6)
    assert SMALL.content(data_context) != loaded.content


@pytest.mark.weekly
@pytest.mark.parametrize(
    "change",
    [{"seed": 1}, {"sides": (8, 13)}, {"images": 29}, {"statistic": "median"}, {"degree": 1}, {"every_side": False}],
)
def test_every_input_changes_the_content_hash(change: dict[str, object], data_context: DataContext) -> None:
    changed = replace(SMALL, **change)  # type: ignore[arg-type]
    assert changed.content(data_context) != SMALL.content(data_context)


def test_other_times_change_the_content_hash(tmp_path: Path, data_context: DataContext) -> None:
    from bench_polydom.pricing import load_measurements

    reference = load_measurements("reference")
    times = {name: [list(some) for some in several] for name, several in reference.times.items()}
    same = replace(SMALL, prices=str(tmp_path / "same.json"))
    Measurements("another machine", reference.sizes, times).save(tmp_path / "same.json")
    times["hog"][0][0] += 1.0
    other = replace(SMALL, prices=str(tmp_path / "other.json"))
    Measurements("another machine", reference.sizes, times).save(tmp_path / "other.json")
    assert same.content(data_context) == SMALL.content(data_context) != other.content(data_context)


def test_without_every_side_an_image_is_one_row(data_context: DataContext) -> None:
    loaded = SizedImages(images=30, sides=(8, 12)).load(data_context)
    assert loaded.n_rows == 30
    assert loaded.split is None
    assert loaded.sizes is not None
    assert (loaded.sizes == 64.0).sum() == 15


@pytest.mark.slow
def test_features_are_computed_once_and_kept(data_context: DataContext, monkeypatch: pytest.MonkeyPatch) -> None:
    first = SMALL.load(data_context)
    monkeypatch.setattr("bench_polydom.sized_images.describe", lambda *_: pytest.fail("computed again"))
    assert SMALL.load(data_context).content == first.content


def test_a_folder_of_class_named_folders_is_read(tmp_path: Path, data_context: DataContext) -> None:
    from skimage.io import imsave

    rng = np.random.default_rng(1)
    for name in ("forest", "coast"):
        (tmp_path / name).mkdir()
        for i in range(4):
            shape = (12, 14, 3) if i % 2 else (16, 11)
            imsave(tmp_path / name / f"{i}.png", rng.integers(0, 256, shape).astype(np.uint8), check_contrast=False)
    loaded = SizedImages(path=str(tmp_path), images=0, sides=(8,)).load(data_context)
    assert loaded.classes == ("coast", "forest")
    assert loaded.n_rows == 8
    grey = loaded.values[:, loaded.feature_names.index("sample[0]")]
    assert ((grey >= 0) & (grey <= 1)).all()
    with pytest.raises(DataUnavailable, match="no folder 'nowhere'"):
        SizedImages(path=str(tmp_path / "nowhere"), sides=(8,)).load(data_context)


def test_measurements_that_lack_a_descriptor_are_an_error(tmp_path: Path, data_context: DataContext) -> None:
    Measurements("here", (64.0,), {"sample": [[1.0]]}).save(tmp_path / "few.json")
    with pytest.raises(DataError, match="no times of 'tiny_image'"):
        SizedImages(images=30, sides=(8,), prices=str(tmp_path / "few.json")).load(data_context)


def test_rows_that_are_not_images_are_an_error(data_context: DataContext) -> None:
    with pytest.raises(DataError, match="no square images"):
        SizedImages(source="wine", sides=(8,)).load(data_context)


@pytest.mark.parametrize("wrong", [{"sides": ()}, {"sides": (4,)}, {"sides": (8, 8)}, {"degree": 9}, {"images": -1}])
def test_parameters_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="must"):
        SizedImages(**wrong)  # type: ignore[arg-type]
