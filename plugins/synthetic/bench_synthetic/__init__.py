"""Synthetic data sets for budgetbench."""

__version__ = "0.1.0"
