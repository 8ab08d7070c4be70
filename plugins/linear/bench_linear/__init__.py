"""Linear models on some of a problem's features: fitting them hard, and scoring rows one by one.

A library for methods, not a plugin: it registers nothing. Importing it loads NumPy only.
"""

from __future__ import annotations

from bench_linear.fit import column_names, constant_model, fit_logistic, fit_ridge, refuse_missing
from bench_linear.model import ClassModel, ScoreModel, linear_scores

__all__ = [
    "ClassModel",
    "ScoreModel",
    "column_names",
    "constant_model",
    "fit_logistic",
    "fit_ridge",
    "linear_scores",
    "refuse_missing",
]
