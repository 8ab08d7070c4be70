"""PolyDom: an index of models under a run-time budget ("Indexing Cost Sensitive Prediction").

As a library: `build_index` and `ModelIndex.lookup`. The pieces are in `bench_polydom.lattice` (which sets to train),
`bench_polydom.candidates` (which to keep), `bench_polydom.index` (which to use), `bench_polydom.greedy`,
`bench_polydom.pricing` (measuring prices).
"""

from __future__ import annotations

from bench_polydom.candidates import Candidates, prune
from bench_polydom.greedy import GreedyIndex, grow
from bench_polydom.index import FullIndex, NaiveScan, PolyDomIndex
from bench_polydom.lattice import Expansion, search
from bench_polydom.library import Choice, Feature, ModelIndex, build_index
from bench_polydom.progressive import progressive_search

__all__ = [
    "Candidates",
    "Choice",
    "Expansion",
    "Feature",
    "FullIndex",
    "GreedyIndex",
    "ModelIndex",
    "NaiveScan",
    "PolyDomIndex",
    "build_index",
    "grow",
    "progressive_search",
    "prune",
    "search",
]
