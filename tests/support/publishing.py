"""The plugins that read, compare and publish records, for registries that tests build themselves."""

from __future__ import annotations

from bench_claims import plugin as claims
from bench_comparison import plugin as comparison
from bench_leaderboard import plugin as leaderboard
from bench_records import plugin as records

PUBLISHING = [("records", records), ("leaderboard", leaderboard), ("comparison", comparison), ("claims", claims)]
"""Name → plugin, in the order in which they define hooks for each other."""
