"""Public data sets for budgetbench: OpenML, UCI, your own files, and sets that need no network."""

__version__ = "0.1.0"
