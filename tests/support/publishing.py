"""The plugins that read, compare and publish records, for registries that a test fills itself."""

from __future__ import annotations

from bench_leaderboard import plugin as leaderboard
from bench_records import plugin as records

PUBLISHING = [("records", records), ("leaderboard", leaderboard)]
"""Name → plugin, in the order in which they define hooks for each other."""
