"""The leaderboard: from the numbers of `bench_analysis` to tables, figures and pages.

The names below are what a plugin needs that brings a kind of figure (`bench_leaderboard.hookspecs`), and what the site
is made with. They are loaded on first use.
"""

from __future__ import annotations

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
