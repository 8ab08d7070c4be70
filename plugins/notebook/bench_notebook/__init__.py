"""Suites from Python: `run` computes what is missing; `Results` holds data frames and figures."""

from bench_notebook.results import Drawing, Results, run

__all__ = ["Drawing", "Results", "run"]
