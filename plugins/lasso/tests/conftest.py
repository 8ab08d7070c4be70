"""The fixture `make_problem`: a problem built by hand, with features of several columns."""

from __future__ import annotations

from bench_core.testing.by_hand import make_problem

__all__ = ["make_problem"]
