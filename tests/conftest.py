"""Fixtures of the core's tests."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from support.fixtures import bench

__all__ = ["bench"]
