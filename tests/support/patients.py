"""A table of patients with prices, for the tests of policies and recommendations."""

from __future__ import annotations

import numpy as np
import pandas as pd

PRICES = {
    "prices": {"age": 0.0, "smoker": 1.0, "glucose": 5.0, "insulin": 5.0, "scan": 40.0},
    "groups": {"blood": ["glucose", "insulin"]},
    "group_prices": {"blood": 3.0},
}


def make_table(rows: int = 300, seed: int = 0) -> pd.DataFrame:
    """Patients with a free feature, a category, two features of a blood sample, and an expensive scan."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 80, rows),
            "smoker": rng.choice(["no", "yes", "former"], rows),
            "glucose": rng.normal(120, 25, rows).round(1),
            "insulin": rng.normal(90, 30, rows).round(1),
            "scan": rng.normal(0, 1, rows).round(3),
        }
    )
    risk = 0.02 * (frame.age - 50) + 0.05 * (frame.glucose - 120) + 0.8 * (frame.smoker == "yes") + 0.7 * frame.scan
    frame["outcome"] = np.where(risk + rng.normal(0, 0.5, rows) > 0.3, "sick", "healthy")
    return frame
