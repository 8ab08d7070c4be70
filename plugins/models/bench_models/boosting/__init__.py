"""LightGBM on some of a problem's columns, trained deterministically. Importing this package loads only NumPy."""

from bench_models.boosting.flat import flat_trees
from bench_models.boosting.model import BoostedModel, fit_boosted, probabilities_of
from bench_models.boosting.training import objective_of, train

__all__ = ["BoostedModel", "fit_boosted", "flat_trees", "objective_of", "probabilities_of", "train"]
