"""Forests as flat arrays, shared by the methods that prune them. Imports nothing heavy until it is used."""

from bench_forest.acquisition import Units, price_units
from bench_forest.flat import FlatForest, from_sklearn
from bench_forest.method import ForestMethod
from bench_forest.policy import ForestPolicy

__all__ = ["FlatForest", "ForestMethod", "ForestPolicy", "Units", "from_sklearn", "price_units"]
