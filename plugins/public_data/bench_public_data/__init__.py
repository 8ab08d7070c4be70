"""Public data sets for budgetbench: OpenML, UCI, files of one's own, and sets that need no network."""

__version__ = "0.1.0"
