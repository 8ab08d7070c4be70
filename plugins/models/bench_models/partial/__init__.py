"""Predictors from any set of known features, and losses of candidate sets. Importing it loads only NumPy."""

from bench_models.partial.masks import Candidates, hidden, random_masks
from bench_models.partial.predictor import PartialPredictor, fit_installed, installed_types, removal_losses, set_losses
from bench_models.partial.trees import MaskedTrees, fit_masked_trees

__all__ = [
    "Candidates", "MaskedTrees", "PartialPredictor", "fit_installed", "fit_masked_trees", "hidden",
    "installed_types", "random_masks", "removal_losses", "set_losses",
]  # fmt: skip
