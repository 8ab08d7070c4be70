"""Linear models on some of a problem's features: fitting to a tight tolerance, scoring row by row; Platt scaling.

A library that registers nothing. Importing it loads only NumPy.
"""

from __future__ import annotations

from bench_models.linear.calibration import Platt, combine, fit_platt
from bench_models.linear.constant import ConstantPolicy
from bench_models.linear.fit import column_names, constant_model, fit_logistic, fit_ridge, refuse_missing
from bench_models.linear.model import ClassModel, ScoreModel, linear_scores

__all__ = [
    "ClassModel",
    "ConstantPolicy",
    "Platt",
    "ScoreModel",
    "column_names",
    "combine",
    "constant_model",
    "fit_logistic",
    "fit_platt",
    "fit_ridge",
    "linear_scores",
    "refuse_missing",
]
