"""A small table with prices."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "tests"))

from support.patients import make_table


@pytest.fixture(scope="session")
def table() -> pd.DataFrame:
    return make_table()
