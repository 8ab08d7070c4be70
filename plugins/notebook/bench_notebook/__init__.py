"""Suites from Python: `run` computes missing trials; `Results` has data frames and figures."""

from bench_notebook.results import Drawing, Results, run

__all__ = ["Drawing", "Results", "run"]
