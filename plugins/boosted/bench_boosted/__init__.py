"""Boosted trees as flat arrays, shared by the methods that grow them (`greedymiser`, `cegb`)."""

from bench_boosted.trees import AdditiveTrees

__all__ = ["AdditiveTrees"]
