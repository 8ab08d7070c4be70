"""Fixtures of the tests of analysis: the core's."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "tests"))

from support.fixtures import bench

__all__ = ["bench"]
