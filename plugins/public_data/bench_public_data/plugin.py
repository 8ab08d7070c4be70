"""The plugin's hooks, which register data sources, published prices and cost classes. No heavy import here."""

from __future__ import annotations

from bench_core import RegisterCostScheme, RegisterDataset, hookimpl
from bench_public_data import embedded, named
from bench_public_data.cost_classes import CostClasses, ImportanceQuantiles
from bench_public_data.csv_source import Csv
from bench_public_data.medical_prices import TurneyPrices
from bench_public_data.mnist import Mnist, MnistPyramid
from bench_public_data.openml_named import SOURCES
from bench_public_data.openml_source import OpenML
from bench_public_data.parquet_source import Parquet
from bench_public_data.svmlight import SvmLight
from bench_public_data.uci import Uci

__all__ = ["bench_register_cost_schemes", "bench_register_datasets"]


BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_datasets(register: RegisterDataset) -> None:
    """Register sources by format, then the ready-made data sets."""
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
    register("heart-cleveland", named.HeartCleveland)
    register("hepatitis", named.Hepatitis)
    register("liver-bupa", named.LiverBupa)
    register("thyroid", named.Thyroid)
    register("bank-marketing", named.BankMarketing)
    register("ckd", named.ChronicKidneyDisease)
    register("actg175", named.Actg175)
    register("online-shoppers", named.OnlineShoppers)
    register("physionet-2012", named.PhysioNet2012)
    register("adult", named.Adult)
    register("covertype", named.Covertype)
    register("spambase", named.Spambase)
    register("nomao", named.Nomao)
    register("miniboone", named.MiniBooNE)
    register("mnist", Mnist)
    register("mnist-pyramid", MnistPyramid)
    for name, source in SOURCES.items():
        register(name, source)


@hookimpl
def bench_register_cost_schemes(register: RegisterCostScheme) -> None:
    """Register the prices of medical tests, and prices by cost class."""
    register("turney", TurneyPrices)
    register("cost-classes", CostClasses)
    register("importance-quantiles", ImportanceQuantiles)
