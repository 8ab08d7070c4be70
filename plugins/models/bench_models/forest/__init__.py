"""Forests as flat arrays, shared by the methods that prune them. Heavy modules are imported only when used."""

from bench_models.forest.acquisition import Units, price_units
from bench_models.forest.flat import FlatForest, from_sklearn
from bench_models.forest.method import ForestMethod
from bench_models.forest.policy import ForestPolicy
from bench_models.forest.spread import mean_cost, spread_over_cost

__all__ = [
    "FlatForest",
    "ForestMethod",
    "ForestPolicy",
    "Units",
    "from_sklearn",
    "mean_cost",
    "price_units",
    "spread_over_cost",
]
