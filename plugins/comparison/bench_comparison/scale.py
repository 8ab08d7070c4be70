"""One scale for all data sets: chance-corrected quality, 0 for the empty policy, 1 for a reference with everything.

The quality of a method on a split is (q − e) ÷ D. Here q is its answer's quality, e that of the empty policy on this
split, and D the reference's mean gain over the empty policy, over the splits of the data set. D is a mean so that one
split with a small gain does not count more than others. A mean squared error has its sign reversed: less is better.

A data set counts where the reference is clearly better than the empty policy: where D is above 1/√n for n test rows,
which is the 95 % margin of a share measured on n rows (of accuracy, of NDCG, of the variance that is explained). D
divides, so it has to be above the noise of a single split. The interval of D over splits would be no better: with two
splits it has one degree of freedom, so almost no data set would count.

Every method that was run has a number at every budget. The empty policy answers for it, on all splits of the data set,
where it failed or was over the time limit on some split, where it has no policy within the budget, and where its answer
costs more than the budget on the test part, on average and by more than the suite's tolerance. A method is missing only
where it cannot be tried (*not applicable*) or was not run on every split.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from bench_records import Records
from numpy.typing import NDArray

from bench_comparison.budgets import Answers
from bench_comparison.kinds import REFERENCES
from bench_comparison.populations import Population, Task
from bench_comparison.schema import ComparisonEntry, Prices

if TYPE_CHECKING:
    from bench_core.suites import Suite

__all__ = ["Measured", "measured", "reference_of"]

Numbers = NDArray[np.float64]

_COUNTS_AS_EMPTY = frozenset({"failed", "over the limit"})


@dataclass(frozen=True, eq=False)
class Measured:
    """Every method on one data set under one cost scheme, on the scale.

    Attributes:
        dataset, costs, prices, task: the data set, its cost scheme, the kind of its prices, its task.
        family: the family of near-duplicates that together count as one data set.
        metric: what the quality is computed from: ``accuracy``, ``mse``, ``ndcg@5``.
        seeds: of the splits.
        quality: float64 (methods, splits, budgets); NaN for a method that is missing here.
        beside: float64 (methods, budgets): mean area under the ROC curve; NaN where there is none.
        points: a quality of 1 in units of the metric; for a mean squared error, as a share of the empty policy's.
        empty, reference: mean quality of each, in the metric.
        gain: of the reference over the empty policy: the mean D, then D minus and plus its margin, 1/√n (for a mean
            squared error, the empty policy's error times 1/√n).
        facts: ``features``, ``rows`` (of all parts), ``classes`` (2; 3 for more; 0 for other tasks).
    """

    dataset: str
    costs: str
    prices: Prices
    task: Task
    family: str
    metric: str
    seeds: tuple[int, ...]
    quality: Numbers
    beside: Numbers
    points: float
    empty: float
    reference: float
    gain: tuple[float, float, float]
    facts: Mapping[str, int]

    @property
    def clear(self) -> bool:
        """Whether the reference is clearly better than the empty policy."""
        return self.gain[1] > 0


def measured(
    suite: Suite, records: Records, entry: ComparisonEntry, populations: Sequence[Population]
) -> list[Measured]:
    """Every data set and cost scheme on the scale, if the fallback and a reference have every split."""
    families = _families(suite, records, entry)
    found = []
    for population in populations:
        if population.task == "classification with refusals":
            continue  # the same tables again, with a reject option
        for answers in population.answers:
            one = _measured(suite, records, entry, population, answers, families[answers.dataset])
            found += [one] if one is not None else []
    return found


def _measured(
    suite: Suite, records: Records, entry: ComparisonEntry, population: Population, answers: Answers, family: str
) -> Measured | None:
    named = entry.reference or [method.label for method in suite.file.methods if method.use in REFERENCES]
    references = [m for i, m in enumerate(answers.methods) if m in named and answers.done[i].all()]
    fallback = answers.methods.index(entry.fallback) if entry.fallback in answers.methods else None
    if not references or fallback is None or not answers.done[fallback].all():
        return None
    sign = 1.0 if answers.quality.goal == "max" else -1.0
    empty = sign * answers.whole_test[fallback]
    full = sign * reference_of(answers, references)
    name = records.trials[answers.dataset, answers.costs, entry.fallback][0]
    info = records.infos[name]
    mse = answers.quality.name == "mse"
    margin = (abs(_mean(empty)) if mse else 1.0) / info["rows"]["test"] ** 0.5
    gain = _mean(full - empty)
    unit = gain if gain > 0 else float("nan")
    names = suite.method_names()
    shape = len(names), len(answers.seeds), len(answers.budgets)
    quality, beside = np.full(shape, np.nan), np.full((len(names), len(answers.budgets)), np.nan)
    for m, method in enumerate(names):
        for budget in range(len(answers.budgets)):
            status = answers.status(method, budget, entry.tolerance)
            if status == "ok":
                row = answers.methods.index(method)
                quality[m, :, budget] = (sign * answers.test[row, :, budget] - empty) / unit
                beside[m, budget] = _mean(answers.beside[row, :, budget])
            elif status in ("over budget", "no policy") or status in _COUNTS_AS_EMPTY:
                quality[m, :, budget] = 0.0
                beside[m, budget] = _mean(answers.beside[fallback, :, budget])
    return Measured(
        dataset=answers.dataset,
        costs=answers.costs,
        prices=population.prices,
        task=population.task,
        family=family,
        metric=answers.quality.name,
        seeds=answers.seeds,
        quality=np.round(quality, 12),
        beside=beside,
        points=unit / abs(_mean(empty)) if mse else unit,
        empty=sign * _mean(empty),
        reference=sign * _mean(full),
        gain=(gain, gain - margin, gain + margin),
        facts={
            "features": len(info["features"]),
            "rows": sum(info["rows"].values()),
            "classes": {"binary": 2, "multiclass": 3}.get(info["task"], 0),
        },
    )


def reference_of(answers: Answers, references: Sequence[str]) -> Numbers:
    """Split by split, test quality of the reference that is best on validation; the first among equals.

    Args:
        answers: of one data set and cost scheme.
        references: methods that have every split.

    Returns:
        float64 (splits,), in the metric.
    """
    rows = [answers.methods.index(m) for m in references]
    sign = 1.0 if answers.quality.goal == "max" else -1.0
    best = (sign * answers.whole_validation[rows]).argmax(axis=0)
    return np.asarray(answers.whole_test[rows][best, np.arange(len(answers.seeds))])


def _mean(values: Numbers) -> float:
    total = 0.0
    for value in values.tolist():
        total += value
    return total / len(values) if len(values) else float("nan")


def _families(suite: Suite, records: Records, entry: ComparisonEntry) -> dict[str, str]:
    """Data set → its family: the one that the suite names, else the first data set made from the same table."""
    named = {dataset: family for family, datasets in entry.families.items() for dataset in datasets}
    first: dict[str, str] = {}
    families = {}
    for dataset in suite.dataset_names():
        table = records.definitions.get(dataset, dataset)
        families[dataset] = named.get(dataset) or first.setdefault(table, dataset)
    return families
