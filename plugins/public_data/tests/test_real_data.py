"""The real data sets, from a mirror, have the shapes, classes and splits that their sources state."""

from __future__ import annotations

import io
import lzma
import zipfile
from pathlib import Path

import numpy as np
import pytest
from bench_public_data import embedded, named
from bench_public_data.medical_prices import TurneyPrices
from bench_public_data.mnist import Mnist, MnistPyramid
from bench_public_data.openml_named import SETS, SOURCES
from bench_public_data.openml_source import OpenML
from bench_public_data.parquet_source import Parquet
from bench_public_data.svmlight import SvmLight
from bench_public_data.uci import Uci
from bench_public_data.uci_archives import PHYSIONET

from bench_core import DataContext


@pytest.fixture(scope="module")
def mirrored(shared, tmp_path_factory) -> DataContext:
    return DataContext(tmp_path_factory.mktemp("cache"), mirror=shared, offline=True)


def packed(data: bytes, name: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return file.getvalue()


def test_embedded_pima_is_openml_37(mirrored):
    ours, theirs = embedded.Pima().load(mirrored), OpenML(id=37).load(mirrored)
    assert theirs.classes == ("tested_negative", "tested_positive")
    rows = [sorted(map(tuple, np.column_stack([data.values, data.target]).tolist())) for data in (ours, theirs)]
    assert rows[0] == rows[1]


def test_heart(mirrored):
    data = named.Heart().load(mirrored)
    assert (data.values.shape, np.bincount(data.target).tolist()) == ((299, 12), [203, 96])
    assert [data.feature_names[i] for i in (0, 2, 3, 11)] == [
        "age", "high_blood_pressure", "creatinine_phosphokinase", "time",
    ]  # fmt: skip
    for i in data.categorical:
        assert set(np.unique(data.values[:, i])) == {0, 1}


def test_credit_has_the_categories_of_the_papers_table_5(mirrored):
    data = named.Credit().load(mirrored)
    assert (data.values.shape, np.bincount(data.target).tolist()) == ((690, 14), [383, 307])
    levels = {1: {0, 1}, 4: {1, 2, 3}, 5: set(range(1, 15)), 6: set(range(1, 10)), 8: {0, 1}, 9: {0, 1},
              11: {0, 1}, 12: {1, 2, 3}}  # fmt: skip
    assert [i + 1 for i in data.categorical] == list(levels)
    for number, allowed in levels.items():
        assert set(np.unique(data.values[:, number - 1])) <= allowed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "shape", "classes", "missing", "categorical"),
    [
        (named.BankMarketing(), (45211, 15), {"no": 39922, "yes": 5289}, 0, 9),
        (named.BankMarketing(with_duration=True), (45211, 16), {"no": 39922, "yes": 5289}, 0, 9),
        (named.ChronicKidneyDisease(), (400, 24), {"ckd": 250, "notckd": 150}, 1012, 13),
        (named.Actg175(), (2139, 22), {"censored": 1618, "event": 521}, 0, 2),
        (named.Actg175(with_time=True), (2139, 23), {"censored": 1618, "event": 521}, 0, 2),
        (named.OnlineShoppers(), (12330, 17), {"FALSE": 10422, "TRUE": 1908}, 0, 7),
        (named.PhysioNet2012(), (12000, 41), {"died": 1707, "survived": 10293}, 129088, 2),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "label") else None,
)
def test_afabenchs_sets(source, shape, classes, missing, categorical, mirrored):
    data = source.load(mirrored)
    assert (data.name, data.values.shape) == (source.label, shape)
    assert dict(zip(data.classes, np.bincount(data.target).tolist(), strict=True)) == classes
    assert (int(np.isnan(data.values).sum()), len(data.categorical)) == (missing, categorical)
    assert not {"duration", "time"} & set(data.feature_names) or shape[1] in (16, 23)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "path"),
    [
        (named.BankMarketing(), "/222/bank+marketing.zip"),
        (named.ChronicKidneyDisease(), "/336/data.csv"),
        (named.Actg175(), "/890/data.csv"),
        (named.OnlineShoppers(), "/468/online+shoppers+purchasing+intention+dataset.zip"),
        (named.PhysioNet2012(), f"/{PHYSIONET.title}"),
    ],
    ids=lambda value: value.label if hasattr(value, "label") else None,
)
def test_afabenchs_sets_are_accepted_when_downloaded(source, path, mirrored, context, server, monkeypatch):
    file = source.source().mirrored(mirrored)[0]
    data = file.read_bytes()
    if file.suffix == ".arff":  # UCI's data.csv: a header, empty for missing, line feeds
        head = ",".join([*source.source().archive.columns])
        data = f"{head}\n{data.decode().split('@data')[1].lstrip()}".replace("?", "").encode()
    if path.endswith(".zip"):
        data = packed(data, file.name)
    if path.startswith("/222/"):
        data = packed(data, "bank.zip")
    server.bodies[path] = data
    monkeypatch.setenv("BUDGETBENCH_UCI_SERVER", server.url)
    monkeypatch.setenv("BUDGETBENCH_GITHUB_SERVER", server.url)
    assert source.load(context).content == source.load(mirrored).content
    assert server.asked == [f"GET {path}"]


@pytest.mark.parametrize("number", [143, 519])
def test_cache_and_mirror_give_one_content(number, mirrored, tmp_path):
    fresh = DataContext(tmp_path, mirror=mirrored.mirror, offline=True)
    first = Uci(id=number).load(fresh).content
    assert Uci(id=number).load(DataContext(tmp_path, offline=True)).content == first


@pytest.mark.parametrize("number", [143, 519])
def test_the_real_table_is_accepted_when_downloaded(number, mirrored, context, server, monkeypatch):
    source = Uci(id=number)
    data = source.mirrored(mirrored)[0].read_bytes()
    server.bodies[f"/{number}/{source.archive.title.replace(' ', '+')}.zip"] = packed(data, source.archive.file)
    monkeypatch.setenv("BUDGETBENCH_UCI_SERVER", server.url)
    assert source.load(context).content == source.load(mirrored).content
    assert source.fingerprint(context) == source.fingerprint(mirrored)


def test_adult_has_ucis_own_split(mirrored):
    data = named.Adult().load(mirrored)
    assert (data.name, data.values.shape) == ("adult", (48842, 14))
    assert np.bincount(data.target).tolist() == [37155, 11687]
    assert int(np.isnan(data.values).sum()) == 6465
    assert np.bincount(data.split).tolist() == [32561, 0, 16281]
    assert np.flatnonzero(data.split == 2).tolist() == list(range(16281))
    assert len(data.categorical) == 8
    # The first row of UCI's adult.data has age 39, that of adult.test age 25.
    assert data.values[16281, 0] == 39
    assert data.values[0, 0] == 25


def test_spambase(mirrored):
    data = named.Spambase().load(mirrored)
    assert (data.values.shape, np.bincount(data.target).tolist()) == ((4601, 57), [2788, 1813])


@pytest.mark.weekly
def test_covertype(mirrored):
    data = named.Covertype().load(mirrored)
    assert (data.values.shape, len(data.classes), data.categorical) == ((581012, 54), 7, ())
    assert np.bincount(data.target).tolist() == [211840, 283301, 35754, 2747, 9493, 17367, 20510]
    assert set(np.unique(data.values[:, 10:])) == {0, 1}
    assert (data.values[:, 10:14].sum(axis=1) == 1).all()


@pytest.mark.weekly
def test_mnist_and_its_pyramid(mirrored):
    mnist = Mnist().load(mirrored)
    assert (mnist.values.shape, np.bincount(mnist.split).tolist()) == ((70000, 784), [60000, 0, 10000])
    assert np.bincount(mnist.target[mnist.split == 2]).tolist() == [
        980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009,
    ]  # fmt: skip
    data = MnistPyramid().load(mirrored)
    assert (data.n_features, data.classes) == (1120, ("3", "8"))
    assert np.bincount(data.split).tolist() == [6131 + 5851, 0, 1010 + 974]
    kept = np.isin(mnist.target, [3, 8])
    original = mnist.values[kept].astype(np.float64) / 255
    assert np.abs(data.values[:, 336:] - original).max() < 1e-6
    corner = original.reshape(-1, 28, 28)[:, 7:14, 14:21].mean(axis=(1, 2))
    assert np.abs(data.values[:, data.feature_names.index("p4_1_2")] - corner).max() < 1e-6
    means = [data.values[:, low:high].mean(axis=1) for low, high in ((0, 16), (16, 80), (80, 336), (336, 1120))]
    for coarser in means[:3]:
        assert np.abs(coarser - means[3]).max() < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_a_set_of_openml_has_rows_of_every_class_in_every_part(name, mirrored):
    data = SOURCES[name]().load(mirrored)
    table = SETS[name]
    assert (data.name, data.task, data.values.shape) == (name, table.task, (table.rows, table.features))
    assert not set(data.feature_names) & set(table.without)
    assert not np.isnan(data.values).all(axis=0).any()
    assert data.provenance["licence"] != "not stated"
    if data.classes:
        assert np.bincount(data.target, minlength=len(data.classes)).min() >= 8
        assert set(table.classes) <= set(data.classes)


@pytest.mark.parametrize("name", ["heart-h", "sick", "hypothyroid"])
def test_openmls_medical_sets_have_prices(name, mirrored):
    data = SOURCES[name]().load(mirrored)
    costs = TurneyPrices().price(data, np.arange(40), 0)
    assert TurneyPrices(prices_of=name).price(data, np.arange(40), 0).as_plain() == costs.as_plain()
    assert costs.total(1)[0] == pytest.approx({"heart-h": 323.97}.get(name, 69.81))


def brute_force(path: Path) -> tuple[list[float], list[dict[int, float]]]:
    target, rows = [], []
    for line in lzma.decompress(path.read_bytes()).decode().splitlines():
        words = line.split()
        target.append(float(words[0]))
        pairs = (word.split(":") for word in words[1:] if not word.startswith("qid:"))
        rows.append({int(index): float(value) for index, value in pairs})
    return target, rows


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stem", "queries", "features", "rows"),
    [("mslr-fold1-{}-5k", (43, 43), 136, (5000, 5000)), ("lambdarank-{}", (201, 50), 300, (3005, 768))],
)
def test_letor_files_against_a_plain_reading(stem, queries, features, rows, mirrored):
    folder = "files/letor/" + stem
    train, test = folder.format("train") + ".txt.xz", folder.format("test") + ".txt.xz"
    data = SvmLight(path=train, test_path=test).load(mirrored)
    assert (data.task, data.n_features) == ("ranking", features)
    assert np.bincount(data.split).tolist() == [rows[0], 0, rows[1]]
    for code, count in ((0, queries[0]), (2, queries[1])):
        assert len(np.unique(data.query[data.split == code])) == count
    target, expected = brute_force(mirrored.mirror / test)
    assert data.target[data.split == 2].tolist() == target
    dense = np.zeros((len(expected), features))
    for i, row in enumerate(expected):
        for index, value in row.items():
            dense[i, index - 1] = value
    assert np.array_equal(data.values[data.split == 2], dense)
    assert set(np.unique(data.target)) <= {0, 1, 2, 3, 4}


def test_scene15_has_three_views_as_groups(mirrored):
    data = Parquet(
        path="files/scene15-features.parquet",
        target="class",
        groups={"view1": "view1_*", "view2": "view2_*", "view3": "view3_*"},
        group_prices={"view1": 2.0, "view2": 3.0, "view3": 5.0},
    ).load(mirrored)
    assert (data.values.shape, len(data.classes), data.task) == ((4485, 119), 15, "multiclass")
    assert np.bincount(data.costs.groups).tolist() == [20, 59, 40]
    assert data.costs.cost_of(range(119)) == 10
    assert data.costs.cost_of([0, 19, 20]) == 5
