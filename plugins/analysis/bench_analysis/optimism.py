"""How much better a method looks on the validation part, which selects its policy, than on the test part.

Part of it comes with any selection: the policy that is best on some rows is partly lucky on them. The rest comes from
methods that fit or choose something on the validation rows themselves: it shows in the mean over all policies of the
family, which selects nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import stdev

from bench_records import EMPTY

from bench_analysis.analysed import Analysed
from bench_analysis.points import cells_of
from bench_analysis.quality import default_quality

__all__ = ["Optimism", "optimism_of"]


@dataclass(frozen=True)
class Optimism:
    """The optimism of a method.

    Attributes:
        method: its name in the suite.
        policies: mean number of own policies of a family, over data sets.
        value: mean over data sets of the mean over seeds of validation minus test quality of the policy that is best
            on validation; 0.01 is a point. Positive: it looks better than it is.
        worst: the greatest of the data sets' means, and its data set.
        every: as ``value``, but the mean over all own policies of the family: 0 in expectation for a method that does
            not look at the labels of the validation part.
        error: standard error of ``every`` over data sets; NaN for a single one.
        datasets: number of data sets.
    """

    method: str
    policies: float
    value: float
    worst: tuple[float, str]
    every: float
    error: float
    datasets: int


def optimism_of(analysed: Analysed) -> Sequence[Optimism]:
    """The optimism of every method, in the suite's order, on data sets whose quality is a percentage.

    The selected policy has the best validation quality over all points of the grid; among equals it is the first.
    """
    suite, records = analysed.suite, analysed.records
    found: dict[str, dict[str, list[float]]] = {}
    counts: dict[str, dict[str, list[float]]] = {}
    unchosen: dict[str, dict[str, list[float]]] = {}
    for (dataset, _), cell in cells_of(records).items():
        own = cell[~cell[EMPTY].to_numpy(dtype=bool)]
        quality = default_quality(suite, records, own)
        if quality is None or not quality.percent:
            continue
        sign = 1.0 if quality.goal == "max" else -1.0
        table = own[["method", "seed"]].assign(
            chosen=sign * quality.values(own, "validation"), test=sign * quality.values(own, "test")
        )
        table = table[table.notna().all(axis=1)]
        groups = table.groupby(["method", "seed"], sort=False)
        best = table.loc[groups["chosen"].idxmax()].assign(policies=groups.size().to_numpy())
        for method, chosen, test, policies in best[["method", "chosen", "test", "policies"]].itertuples(index=False):
            found.setdefault(str(method), {}).setdefault(dataset, []).append(chosen - test)
            counts.setdefault(str(method), {}).setdefault(dataset, []).append(policies)
        means_of = (table["chosen"] - table["test"]).groupby([table["method"], table["seed"]], sort=False).mean()
        for (method, _), difference in zip(means_of.index.tolist(), means_of.tolist(), strict=True):
            unchosen.setdefault(str(method), {}).setdefault(dataset, []).append(difference)
    rows = []
    for method in suite.method_names():
        if method in found:
            means = {dataset: _mean(values) for dataset, values in found[method].items()}
            policies = _mean([_mean(values) for values in counts[method].values()])
            worst = max((value, dataset) for dataset, value in means.items())
            every = [_mean(values) for values in unchosen[method].values()]
            error = stdev(every) / math.sqrt(len(every)) if len(every) > 1 else math.nan
            rows.append(Optimism(method, policies, _mean(list(means.values())), worst, _mean(every), error, len(means)))
    return rows


def _mean(values: Sequence[float]) -> float:
    """The mean, from an exact sum: the same on every machine."""
    return math.fsum(values) / len(values)
