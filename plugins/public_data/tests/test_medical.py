"""Turney's medical data sets, from UCI's archives and from prepared tables, and the prices of their tests."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from bench_public_data import embedded, named, plugin
from bench_public_data.exact_csv import read_exact
from bench_public_data.medical_prices import PRICES, TurneyPrices
from bench_public_data.table_cache import table_hash
from bench_public_data.uci import Uci
from bench_public_data.uci_archives import ARCHIVES
from bench_public_data.uci_table import prepared

from bench_core import DataContext, DataError, DataFacts, Dataset, RequestError, build
from bench_core.suites import load_registry
from bench_core.testing import cost_scheme_contract, dataset_contract

FILES = {
    45: {"processed.cleveland.data": b"63.0,1.0,1.0,145.0,233.0,1.0,2.0,150.0,0.0,2.3,3.0,0.0,6.0,0\n"
                                     b"67.0,1.0,4.0,160.0,286.0,0.0,2.0,108.0,1.0,1.5,2.0,?,3.0,2\n"
                                     b"37.0,1.0,3.0,130.0,250.0,0.0,0.0,187.0,0.0,3.5,3.0,0.0,3.0,4\n"},
    46: {"hepatitis.data": b"2,30,2,1,2,2,2,2,1,2,2,2,2,2,1.00,85,18,4.0,?,1\n"
                           b"1,50,1,1,2,1,2,2,1,2,2,2,2,2,0.90,135,42,3.5,?,1\n"},
    60: {"bupa.data": b"85,92,45,27,31,0.0,1\n85,64,59,32,23,2.0,2\n86,54,33,16,54,3.0,2\n91,78,34,24,36,20.0,2\n"},
    102: {"ann-train.data": b"0.73 0 1 0 0 0 0 0 1 0 0 0 0 0 0 0 0.0006 0.015 0.12 0.082 0.146 3  \n"
                            b"0.24 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0.00025 0.03 0.143 0.133 0.108 2  \n",
          "ann-test.data": b"0.29 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0.0061 0.028 0.111 0.131 0.085 1  \n"},
}  # fmt: skip
CLASSES = {
    45: ["absent", "present", "present"], 46: ["live", "die"],
    60: ["under 3", "under 3", "3 or more", "3 or more"], 102: ["3", "2", "1"],
}  # fmt: skip
SOURCES = {45: named.HeartCleveland, 46: named.Hepatitis, 60: named.LiverBupa, 102: named.Thyroid}
EACH = pytest.mark.parametrize("number", [45, 46, 60, 102])


def zipped(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("Index", "about")
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


@pytest.fixture
def site(server, monkeypatch):
    """A server with a few rows in the form of each archive, whose hashes replace the real ones."""
    for number, files in FILES.items():
        archive = ARCHIVES[number]
        frames = [read_exact(data.decode(), archive.separator, archive.columns) for data in files.values()]
        content = table_hash(prepared(archive, frames))
        monkeypatch.setitem(ARCHIVES, number, replace(archive, content=content))
        server.bodies[f"/{number}/{archive.title.replace(' ', '+')}.zip"] = zipped(files)
    monkeypatch.setenv("BUDGETBENCH_UCI_SERVER", server.url)
    return server


@EACH
def test_an_archive_is_downloaded_and_its_classes_are_named(number, site, context):
    data = SOURCES[number]().load(context)
    assert [data.classes[code] for code in data.target] == CLASSES[number]
    assert data.feature_names == ARCHIVES[number].features
    assert data.task == ("multiclass" if number == 102 else "binary")
    assert np.isnan(data.values).sum() == {45: 1, 46: 2}.get(number, 0)
    if number == 102:
        assert data.split.tolist() == [0, 0, 2]
        assert "fti" not in data.feature_names
    else:
        assert data.split is None
    cached = SOURCES[number]().load(replace(context, offline=True))
    assert cached.content == data.content
    assert SOURCES[number]().status(context) == "cached"


@EACH
@pytest.mark.parametrize("form", ["archive", "prepared"])
def test_a_mirror_gives_the_same_data_from_either_form(number, form, site, context, tmp_path):
    downloaded = SOURCES[number]().load(context)
    archive, mirror = ARCHIVES[number], tmp_path / "mirror"
    if form == "archive":
        places = [mirror / "uci" / str(number) / name for name in archive.files]
        texts = [data.decode() for data in FILES[number].values()]
    else:
        places = [mirror / "files" / name for name in archive.mirrored]
        frames = [read_exact(data.decode(), archive.separator, archive.columns) for data in FILES[number].values()]
        table = prepared(archive, frames)
        parts = [table] if len(places) == 1 else [table[table["split"] == part] for part in ("train", "test")]
        texts = [part.drop(columns="split", errors="ignore").to_csv(index=False) for part in parts]
    for place, text in zip(places, texts, strict=True):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    there = DataContext(tmp_path / "other", mirror=mirror, offline=True)
    assert SOURCES[number]().status(there) == "mirrored"
    assert SOURCES[number]().load(there).content == downloaded.content


@EACH
def test_a_changed_value_is_refused(number, site, context):
    archive = ARCHIVES[number]
    changed = {name: data.replace(b"3", b"4", 1) for name, data in FILES[number].items()}
    site.bodies[f"/{number}/{archive.title.replace(' ', '+')}.zip"] = zipped(changed)
    with pytest.raises(DataError, match="content hash"):
        Uci(id=number).load(context)


def test_a_part_that_is_not_in_the_archive_is_named(site, context):
    site.bodies["/102/thyroid+disease.zip"] = zipped({"ann-train.data": FILES[102]["ann-train.data"]})
    with pytest.raises(DataError, match=r"ann-test\.data"):
        Uci(id=102).load(context)


@pytest.mark.parametrize("value", ["21", "?", "no"])
def test_a_target_outside_the_classes_is_refused(value, site, context):
    site.bodies["/60/liver+disorders.zip"] = zipped({"bupa.data": f"85,92,45,27,31,{value},1\n".encode()})
    with pytest.raises(DataError, match="drinks"):
        Uci(id=60).load(context)


test_from_a_mirror = dataset_contract(*(source() for source in SOURCES.values()))


@pytest.fixture(scope="module")
def mirrored(shared, tmp_path_factory) -> DataContext:
    return DataContext(tmp_path_factory.mktemp("cache"), mirror=shared, offline=True)


@pytest.mark.parametrize(
    ("number", "shape", "counts", "holes"),
    [
        (45, (303, 13), [164, 139], 6),
        (46, (155, 19), [32, 123], 75),
        (60, (345, 5), [176, 169], 0),
        (102, (7200, 20), [166, 368, 6666], 0),
    ],
)
def test_the_real_sets_have_their_known_shapes(number, shape, counts, holes, mirrored):
    data = SOURCES[number]().load(mirrored)
    assert data.values.shape == shape
    assert np.bincount(data.target).tolist() == counts
    assert np.isnan(data.values).any(axis=1).sum() == holes
    if number == 102:
        assert np.bincount(data.split).tolist() == [3772, 0, 3428]
        assert np.bincount(data.target[data.split == 0]).tolist() == [93, 191, 3488]


@EACH
def test_the_real_table_in_its_archives_form_is_accepted(number, mirrored, server, context, monkeypatch):
    archive = ARCHIVES[number]
    codes = {"absent": 0, "present": 3, "die": 1, "live": 2, "under 3": 1.5, "3 or more": 6}
    files = {}
    for name, place in zip(archive.files, archive.mirrored, strict=True):
        frame = pd.read_csv(mirrored.mirror / "files" / place, dtype=str, keep_default_na=False, na_values=["", "?"])
        frame[archive.target] = [codes.get(label, label) for label in frame[archive.target]]
        frame["selector"] = 1
        separator = "," if archive.separator == "," else " "
        files[name] = frame[list(archive.columns)].to_csv(header=False, index=False, sep=separator, na_rep="?").encode()
    server.bodies[f"/{number}/{archive.title.replace(' ', '+')}.zip"] = zipped(files)
    monkeypatch.setenv("BUDGETBENCH_UCI_SERVER", server.url)
    assert Uci(id=number).load(context).content == Uci(id=number).load(mirrored).content


def table(features: tuple[str, ...]) -> Dataset:
    """Return 40 random rows with these features."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(40, len(features)))
    return Dataset("synthetic", "binary", values, features, np.arange(40) % 2, ("a", "b"))


# Data set, test, another test, the first's price alone, and its price after the other one (Turney 1995, Appendix A).
FIRST_AND_LATER = [
    ("heart-cleveland", "chol", "fbs", 7.27, 5.17),
    ("heart-cleveland", "fbs", "chol", 5.20, 3.10),
    ("heart-cleveland", "thalach", "thal", 102.90, 1.00),
    ("heart-cleveland", "thal", "thalach", 102.90, 1.00),
    ("heart-cleveland", "exang", "slope", 87.30, 1.00),
    ("heart-cleveland", "oldpeak", "exang", 87.30, 1.00),
    ("heart-cleveland", "slope", "oldpeak", 87.30, 1.00),
    ("heart-cleveland", "restecg", "chol", 15.50, 15.50),
    ("heart-cleveland", "ca", "thal", 100.90, 100.90),
    ("heart-cleveland", "trestbps", "ca", 1.00, 1.00),
    ("liver-bupa", "mcv", "sgpt", 7.27, 5.17),
    ("liver-bupa", "gammagt", "mcv", 9.86, 7.76),
    ("hepatitis", "bilirubin", "protime", 7.27, 5.17),
    ("hepatitis", "protime", "albumin", 8.30, 6.20),
    ("hepatitis", "histology", "sgot", 1.00, 1.00),
    ("thyroid", "tsh", "t3", 22.78, 20.68),
    ("thyroid", "t3", "tsh", 11.41, 9.31),
    ("thyroid", "tt4", "tsh", 14.51, 12.41),
    ("thyroid", "t4u", "tt4", 11.41, 9.31),
    ("thyroid", "tumor", "tsh", 1.00, 1.00),
    ("pima", "glucose", "insulin", 17.61, 15.51),
    ("pima", "insulin", "glucose", 22.78, 20.68),
    ("pima", "bmi", "insulin", 1.00, 1.00),
    ("heart-h", "chol", "fbs", 7.27, 5.17),
    ("heart-h", "oldpeak", "exang", 87.30, 1.00),
    ("heart-h", "chest_pain", "age", 1.00, 1.00),
    ("sick", "TSH", "T3", 22.78, 20.68),
    ("hypothyroid", "T4U", "TT4", 11.41, 9.31),
    ("hypothyroid", "goitre", "TSH", 1.00, 1.00),
]


@pytest.mark.parametrize(("name", "test", "before", "first", "later"), FIRST_AND_LATER)
def test_a_test_costs_less_once_its_group_is_paid(name, test, before, first, later):
    data = table(PRICES[name].features)
    costs = TurneyPrices().price(data, np.arange(40), 0)
    place, other = data.feature_names.index(test), data.feature_names.index(before)
    assert costs.cost_of([place]) == pytest.approx(first)
    assert costs.cost_of([place, other]) - costs.cost_of([other]) == pytest.approx(later)


@pytest.mark.parametrize(
    ("name", "total"),
    # Sums over the tables of Appendix A: questions at a dollar, the groups' shared costs, and the tests' own prices.
    [("heart-cleveland", 4 + 2.10 + 5.17 + 3.10 + 15.50 + 101.90 + 2 + 86.30 + 3 + 100.90), ("pima", 6 + 2.10 + 36.19),
     ("hepatitis", 14 + 2.10 + 4 * 5.17 + 6.20), ("liver-bupa", 2.10 + 4 * 5.17 + 7.76),
     ("thyroid", 16 + 2.10 + 20.68 + 9.31 + 12.41 + 9.31), ("sick", 16 + 2.10 + 20.68 + 9.31 + 12.41 + 9.31),
     ("heart-h", 4 + 2.10 + 5.17 + 3.10 + 15.50 + 101.90 + 2 + 86.30 + 3 + 100.90)],
)  # fmt: skip
def test_all_tests_together_cost_the_sum(name, total):
    costs = TurneyPrices().price(table(PRICES[name].features), np.arange(40), 0)
    assert costs.total(1)[0] == pytest.approx(total)


def test_prices_follow_the_features_names_not_their_order():
    features = PRICES["heart-cleveland"].features
    straight = TurneyPrices().price(table(features), np.arange(40), 0)
    reversed_ = TurneyPrices(prices_of="heart-cleveland").price(table(features[::-1]), np.arange(40), 0)
    for i in range(13):
        for j in range(13):
            assert straight.cost_of([i, j]) == reversed_.cost_of([12 - i, 12 - j])


def test_embedded_pima_has_prices(context):
    data = embedded.Pima().load(context)
    assert TurneyPrices().price(data, np.arange(10), 0).total(1)[0] == pytest.approx(44.29)


@pytest.mark.parametrize(
    ("name", "units"), [("heart-cleveland", 9), ("hepatitis", 15), ("liver-bupa", 1), ("thyroid", 17), ("pima", 7)]
)
def test_units_are_groups_and_single_tests(name, units):
    facts = DataFacts(name, "binary", 2, PRICES[name].features, len(PRICES[name].features), False, False, False)
    assert TurneyPrices().units(facts) == units


def test_the_scheme_is_registered():
    registry = load_registry([("public-data-under-test", plugin)], entry_points=False)
    assert registry.cost_scheme("turney") is TurneyPrices


@pytest.mark.parametrize(
    ("features", "parameters", "said"),
    [
        (("a", "b"), {}, "heart-cleveland"),
        (("mcv", "alkphos", "sgpt", "sgot", "gamagt"), {"prices_of": "liver-bupa"}, "gammagt"),
        (("mcv", "alkphos", "sgpt", "sgot"), {"prices_of": "liver-bupa"}, "gammagt"),
    ],
)
def test_features_without_a_price_are_named(features, parameters, said):
    with pytest.raises(DataError, match=said):
        TurneyPrices(**parameters).price(table(features), np.arange(40), 0)


def test_an_unknown_price_list_is_refused_with_the_nearest_name():
    with pytest.raises(RequestError, match="thyroid"):
        build(TurneyPrices, {"prices_of": "thyroids"}, "suite.toml")


test_prices = cost_scheme_contract(TurneyPrices(), dataset=table(PRICES["liver-bupa"].features))
