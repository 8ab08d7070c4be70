"""The plugin's hook: registers the data sources. Imports nothing heavy."""

from __future__ import annotations

from bench_core import RegisterDataset, hookimpl
from bench_public_data import embedded, named
from bench_public_data.csv_source import Csv
from bench_public_data.openml_source import OpenML
from bench_public_data.parquet_source import Parquet
from bench_public_data.svmlight import SvmLight
from bench_public_data.uci import Uci

__all__ = ["bench_register_datasets"]


BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_datasets(register: RegisterDataset) -> None:
    """Sources by their format, then the ready-made data sets."""
    register("openml", OpenML)
    register("uci", Uci)
    register("csv", Csv)
    register("parquet", Parquet)
    register("svmlight", SvmLight)
    register("pima", embedded.Pima)
    register("breast-cancer", embedded.BreastCancer)
    register("wine", embedded.Wine)
    register("digits", embedded.Digits)
    register("iris", embedded.Iris)
    register("diabetes-regression", embedded.DiabetesRegression)
    register("heart", named.Heart)
    register("credit", named.Credit)
    register("adult", named.Adult)
    register("covertype", named.Covertype)
    register("spambase", named.Spambase)
    register("nomao", named.Nomao)
    register("miniboone", named.MiniBooNE)
    register("mnist", named.Mnist)
    register("mnist-pyramid", named.MnistPyramid)
