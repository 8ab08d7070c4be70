"""The contract kit's tests, on every source that can be loaded without a network."""

from __future__ import annotations

import pickle

from bench_public_data import embedded, named
from bench_public_data.openml_named import SOURCES
from bench_public_data.openml_source import OpenML

from bench_core.testing import dataset_contract

test_built_in = dataset_contract(
    embedded.Pima(),
    embedded.Pima(zero_is_missing=True),
    embedded.BreastCancer(),
    embedded.Wine(),
    embedded.Digits(),
    embedded.Iris(),
    embedded.DiabetesRegression(),
)

test_from_a_mirror = dataset_contract(
    named.Heart(), named.Credit(), named.Spambase(), OpenML(id=37, rows="first:500", also_categorical=["preg"])
)


def test_every_set_of_openml_can_be_sent_to_a_worker():
    assert [pickle.loads(pickle.dumps(source())) for source in SOURCES.values()] == [s() for s in SOURCES.values()]
