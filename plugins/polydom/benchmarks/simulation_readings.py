"""Measure both readings of ambiguous sentences on the simulation: ``python benchmarks/simulation_readings.py``.

1. PolyDomIndexAll "indexes all intersection points between candidate feature sets" and has 1,000 entries at 10
   features, 6,000 at 12. Readings: the index is over the candidates, or over all expanded sets.
2. Greedy expands about 30 sets at 10 features. Readings: it counts all tried sets, or those that entered a sequence.
3. At budget 1,000, PolyDom has 80 % accuracy and Greedy 50 %. The item size is not known, so several are measured.

The output is mean [minimum, maximum] over 40 draws of the combiner f_1.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from bench_polydom.greedy import grow
from bench_polydom.index import Index
from bench_polydom.simulation import Algorithm, Draw, curves_of, draw_features, retrieved, simulate

DRAWS, BUDGET = 40, 1000.0


def main() -> None:
    draws = [draw_features(12, "best", np.random.default_rng(seed)) for seed in range(DRAWS)]
    for d in (10, 12):
        cut = [draw.first(d) for draw in draws]
        print(f"d = {d}")
        print(f"  PolyDomIndexAll over the candidates         {spread(entries(cut, 'polydom-index-all'))}")
        print(f"  PolyDomIndexAll over all expanded sets      {spread(entries(cut, 'polydom-index-expanded'))}")
        print(f"  Greedy, sets tried                          {spread(tried(draw) for draw in cut)}")
        print(f"  Greedy, sets that entered a sequence        {spread(chosen(draw) for draw in cut)}")
    greedy = [index_of(draw, "greedy") for draw in draws]
    polydom = [index_of(draw, "polydom") for draw in draws]
    for size in (500.0, 750.0, 1000.0, 1500.0):
        by_greedy = [retrieved(index, size, BUDGET) for index in greedy]
        by_polydom = [retrieved(index, size, BUDGET) for index in polydom]
        print(
            f"size {size:6.0f}: PolyDom {np.mean(by_polydom):.3f}, Greedy {np.mean(by_greedy):.3f}, "
            f"Greedy at most 0.55 on {np.mean(np.array(by_greedy) <= 0.55):.0%} of the draws"
        )


def index_of(draw: Draw, algorithm: Algorithm) -> Index:
    index = simulate(draw, algorithm)[1]
    if index is None:
        raise RuntimeError(f"{algorithm} built no index")
    return index


def entries(draws: Iterable[Draw], algorithm: Algorithm) -> list[int]:
    return [index_of(draw, algorithm).entries for draw in draws]


def tried(draw: Draw) -> int:
    return simulate(draw, "greedy", indexed=False)[0].n_expanded


def chosen(draw: Draw) -> int:
    sequences = grow(draw.accuracy, len(draw.single), curves_of(draw), 250.0).sequences
    return len({mask for sequence in sequences for mask in sequence})


def spread(values: Iterable[float]) -> str:
    all_of = list(values)
    return f"{np.mean(all_of):7.1f} [{min(all_of):.0f}, {max(all_of):.0f}]"


if __name__ == "__main__":
    main()
