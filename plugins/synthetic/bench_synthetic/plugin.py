"""The plugin's hook, which registers the data sources. Heavy modules are not imported here."""

from __future__ import annotations

from bench_core import RegisterDataset, hookimpl
from bench_synthetic.cube import Cube, CubeNM
from bench_synthetic.families import MakeClassification, MakeRegression, Synthetic30
from bench_synthetic.quadrants import Quadrants
from bench_synthetic.ranking_regions import RankingRegions
from bench_synthetic.sized_items import SizedItems

__all__ = ["bench_register_datasets"]


BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_datasets(register: RegisterDataset) -> None:
    """Register the sources; each is a pure function of its parameters."""
    register("synthetic30", Synthetic30)
    register("make-classification", MakeClassification)
    register("make-regression", MakeRegression)
    register("cube", Cube)
    register("cube-nm", CubeNM)
    register("quadrants", Quadrants)
    register("sized-items", SizedItems)
    register("ranking-regions", RankingRegions)
