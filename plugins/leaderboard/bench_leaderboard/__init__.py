"""The leaderboard: from the numbers of `bench_analysis` to tables, figures and pages.

The names below are for plugins that add a kind of figure (`bench_leaderboard.hookspecs`), and for the site. They are
loaded on first use.
"""

from __future__ import annotations

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
