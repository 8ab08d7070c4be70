"""The contract kit's tests, on every source that can be loaded without a network."""

from __future__ import annotations

from bench_public_data import embedded, named
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
