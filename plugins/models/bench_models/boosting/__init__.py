"""LightGBM on some of a problem's columns, trained deterministically. Importing it loads NumPy only."""

from bench_models.boosting.model import BoostedModel, fit_boosted, probabilities_of
from bench_models.boosting.training import objective_of, train

__all__ = ["BoostedModel", "fit_boosted", "objective_of", "probabilities_of", "train"]
