"""Quantities of claims: a number from the records with its interval, or the reason why it is missing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from bench_analysis import Cells, overlap, quality_named
from bench_records import Records, refusal_threshold
from numpy.typing import NDArray

from bench_claims.estimates import Estimate, Scale, mean_estimate, predicted, ratio_by_split, ratio_estimate
from bench_claims.readings import first_of_curves, quality_matched, quality_within
from bench_core import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

    from bench_core.suites import Suite

__all__ = ["Missing", "Source", "difference", "plain", "ratio"]

Numbers = NDArray[np.float64]
_EQUAL = 1e-12


class Missing(Exception):
    """Raised for a number that the records do not hold; the message says which and why."""


@dataclass(frozen=True)
class Source:
    """The source of a claim's numbers.

    Attributes:
        suite, records: those of the page.
        cells: the numbers of the selected policies.
    """

    suite: Suite
    records: Records
    cells: Cells

    def places(self, check: Any) -> list[tuple[str, str]]:
        """The (data set, cost scheme) pairs a check is about."""
        names = check.datasets or self.suite.dataset_names()
        return [(d, check.costs or self.first_costs(d)) for d in names]

    def first_costs(self, dataset: str) -> str:
        """A data set's first cost scheme."""
        return next(costs for known, costs in self.suite.grids if known == dataset)

    def expected(self, places: Sequence[tuple[str, str]]) -> int:
        """The smallest number of seeds that the suite requests for these data sets."""
        return min(self.suite.seed_count(dataset) for dataset, _ in places)

    def overlaps(self, places: Sequence[tuple[str, str]]) -> list[float]:
        """The overlap of the splits of each data set; see `bench_analysis.summary.overlap`."""
        return [self._overlaps[place] for place in places]

    @cached_property
    def _overlaps(self) -> dict[tuple[str, str], float]:
        named = {(dataset, costs): names[0] for (dataset, costs, _), names in self.records.trials.items()}
        drawn_from = self.suite.drawn_from
        return {place: overlap(self.records.infos[name], drawn_from(place[0])) for place, name in named.items()}

    def threshold(self, dataset: str) -> float:
        """The confidence threshold p̂ of a data set's records.

        Raises:
            Missing: the data set has no reject option, or no records.
        """
        names = [name for place, those in self.records.trials.items() if place[0] == dataset for name in those]
        if not names:
            raise Missing(f"no records on {dataset}")
        threshold = refusal_threshold(self.records.identities[name] for name in names)
        if threshold is None:
            raise Missing(f"{dataset} has no confidence threshold")
        return float(threshold)

    def is_share(self, check: Any) -> bool:
        """Whether a check's quantity is a share, between 0 and 1."""
        metric = getattr(check, "metric", "") or next(iter(getattr(check, "averaged", [])), "")
        return self.suite.metric(metric).percent if metric else bool(getattr(check, "percent", False))

    def by_seed(self, check: Any, place: tuple[str, str], method: str) -> tuple[NDArray[np.int64], Numbers]:
        """Seeds and numbers of a check's quantity, NaN where it is undefined.

        Raises:
            Missing: the records do not hold it.
        """
        if getattr(check, "averaged", []):
            return self._averaged(check, place, method)
        dataset, costs = place
        seeds = self.cells.seeds(dataset, costs, method)
        if not len(seeds):
            hint = did_you_mean(method, known := self.suite.method_names())
            where = f" on {dataset}" if method in known else f"; {hint}" if hint.startswith("did you mean") else ""
            raise Missing(f"no records of {method}{where}")
        if getattr(check, "read_off", False):
            seeds, values = self._off_the_curve(check, place, method)
            match = check.matched
            at = f"within {check.within:g}" if match is None else f"at {match.metric} {self.read_at(check, place):g}"
            what = f"metric {check.metric} {at}"
        elif getattr(check, "metric", ""):
            over = self.cells.over_budget(dataset, costs, method)
            if over:
                raise Missing(f"{method} is over its cap on {over} of {len(seeds)} seeds of {dataset}")
            values = self.cells.values(dataset, costs, method, check.metric)
            what = f"metric {check.metric}"
        else:
            infos = [self.records.infos[name] for name in self.cells.names(dataset, costs, method)]
            quantities = [_quantity_in(check, info) for info in infos]
            values = np.array([v for v in quantities if v is not None], dtype=np.float64)
            series = f"series {check.series}" + (f" over {check.over}" if check.over else "")
            what = f"diagnostic {check.diagnostic}" if check.diagnostic else series
        if len(values) != len(seeds):
            raise Missing(f"no {what} in the records of {method} on {dataset}")
        if getattr(check, "undefined", None) is not None:
            values = np.where(values == check.undefined, np.nan, values)
        _mostly_defined(values, what, method, dataset)
        return seeds, values

    def _averaged(self, check: Any, place: tuple[str, str], name: str) -> tuple[NDArray[np.int64], Numbers]:
        """The mean of several metrics by seed, each read from its own row, over the seeds that all rows have."""
        rows = check.rows.get(name, [name] * len(check.averaged))
        parts = [
            self.by_seed(check.model_copy(update={"metric": metric, "averaged": [], "rows": {}}), place, row)
            for metric, row in zip(check.averaged, rows, strict=True)
        ]
        common = reduce(np.intersect1d, [seeds for seeds, _ in parts])
        if not len(common):
            raise Missing(f"the rows of {name} have no seed in common on {place[0]}")
        table = np.stack([values[np.isin(seeds, common)] for seeds, values in parts])
        return common, table.mean(axis=0)

    def _off_the_curve(self, check: Any, place: tuple[str, str], method: str) -> tuple[NDArray[np.int64], Numbers]:
        """A metric off a method's curve, by seed."""
        frame = self._families.get((*place, method))
        quality = quality_named(check.metric, {check.metric: self.suite.metric(check.metric)})
        if frame is None or not quality.known(frame):
            raise Missing(f"no metric {check.metric} in the records of {method} on {place[0]}")
        match = check.matched
        if match is not None:
            if not {f"{part}.{match.metric}" for part in ("validation", "test")} <= set(frame):
                raise Missing(f"no metric {match.metric} in the records of {method} on {place[0]}")
            most = self.read_at(check, place)
            return quality_matched(frame, quality, match.metric, most, check.reading, match.full)
        return quality_within(self.records, frame, quality, check.within, check.reading, check.cost)

    def read_at(self, check: Any, place: tuple[str, str]) -> float:
        """The value at which a check with ``matched`` is read: its own, or a larger one if a family needs it.

        If the full model (``full``), which every family contains, begins the curve, a method may have no policy of its
        own at the value on some split. The curve there is a lottery over the full model and the method's first policy,
        which says nothing about the method. So the value is raised to the smallest one at which every family has its
        own policy on every split.
        """
        match = check.matched
        if match.full is None:
            return float(match.most)
        named = [getattr(check, key, "") for key in ("method", "against")]
        methods = (*named, *getattr(check, "among", ()), *getattr(check, "methods", ()))
        other = getattr(check, "against_dataset", "")
        places = [place, *([(other, self.first_costs(other)), *self.places(check)] if other else [])]
        starts = [self._start((*there, method), check) for there in places for method in filter(None, methods)]
        return max([float(match.most), *starts])

    def _start(self, family: tuple[str, str, str], check: Any) -> float:
        """The value of a metric at which a family's own curve begins: the greatest over splits; −∞ without records."""
        key = (*family, check.metric, check.matched.metric, check.reading)
        if key not in self._starts:
            frame, metric = self._families.get(family), check.matched.metric
            quality = quality_named(check.metric, {check.metric: self.suite.metric(check.metric)})
            columns = {f"{part}.{metric}" for part in ("validation", "test")}
            first = np.zeros(0)
            if frame is not None and quality.known(frame) and columns <= set(frame):
                first = first_of_curves(frame, quality, metric, check.reading)
            self._starts[key] = float(first.max()) if len(first) else -math.inf
        return self._starts[key]

    @cached_property
    def _starts(self) -> dict[tuple[str, ...], float]:
        return {}

    @cached_property
    def _families(self) -> dict[tuple[str, str, str], pd.DataFrame]:
        frame = self.records.policies
        done = frame[frame["status"] == "ok"]
        groups = done.groupby(["dataset", "costs", "method"], sort=False).indices
        return {key: done.take(np.asarray(rows)) for key, rows in groups.items()}  # type: ignore[misc]

    def paired(self, check: Any, place: tuple[str, str], a: str, b: str) -> tuple[Numbers, Numbers]:
        """The numbers of two methods over their common seeds, on which both are defined."""
        other = getattr(check, "against_dataset", "")
        seeds, ours = self.by_seed(check, place, a)
        others, theirs = self.by_seed(check, (other, self.first_costs(other)) if other else place, b)
        common, at, at_other = np.intersect1d(seeds, others, return_indices=True)
        if not len(common):
            raise Missing(f"{a} and {b} have no seed in common on {place[0]}")
        return ours[at], theirs[at_other]

    def identical(self, check: Any, a: str, b: str) -> bool:
        """Whether two rows have equal values in all metrics on every common seed, that is, are the same policy."""
        return all(self.cells.identical(*place, a, b) for place in self.places(check))


def _mostly_defined(values: Numbers, what: str, method: str, dataset: str) -> None:
    """Refuse a quantity that is undefined on half of the seeds or more, since undefined values are rarely random.

    Raises:
        Missing: it is undefined on at least half of the seeds.
    """
    undefined = int((~np.isfinite(values)).sum())
    if 2 * undefined >= len(values):
        raise Missing(f"{what} of {method} is undefined on {undefined} of {len(values)} seeds of {dataset}")


def _quantity_in(check: Any, info: dict[str, Any]) -> float | None:
    """The quantity of a record; NaN if the record marks it as undefined, None if the record lacks it."""
    if check.diagnostic:
        if check.diagnostic not in info["diagnostics"]:
            return None
        return _number(info["diagnostics"][check.diagnostic])
    value = _placed(info, check.series, check.at)
    if check.over and value is not None:
        below = _placed(info, check.over, check.at)
        return None if below is None else value / below if below else math.nan
    return value


def _number(value: Any) -> float | None:
    if value is None:
        return math.nan
    return float(value) if isinstance(value, int | float) else None


def _placed(info: dict[str, Any], series: str, at: int) -> float | None:
    """The value of a series at an index, or its last value if it is shorter."""
    numbers = info["history"].get(series)
    return _number(numbers[min(at, len(numbers) - 1)]) if numbers else None


def plain(source: Source, check: Any, method: str, splits: int | None = None) -> Estimate:
    """Mean over data sets of a method's means over seeds; or, on one data set, the median over seeds.

    Args:
        splits: return the prediction interval for the mean of this many further splits instead of the mean's interval.
    """
    places = source.places(check)
    cells = [source.by_seed(check, place, method)[1] for place in places]
    scale: Scale = "share" if source.is_share(check) else "positive"
    estimate = mean_estimate(cells, source.overlaps(places), scale)
    if getattr(check, "statistic", "mean") == "median":
        estimate = replace(estimate, value=float(np.nanmedian(cells[0])))
    if splits:
        estimate = predicted(cells, splits, estimate.value, scale)
    return replace(estimate, expected=source.expected(places))


def difference(source: Source, check: Any, method: str, against: str, splits: int | None = None) -> Estimate:
    """Mean over data sets of the mean paired difference, ``method`` − ``against``; arguments as for `plain`."""
    places = source.places(check)
    cells = [_gap(*source.paired(check, place, method, against)) for place in places]
    estimate = mean_estimate(cells, source.overlaps(places))
    if splits:
        estimate = predicted(cells, splits, estimate.value)
    return replace(estimate, expected=source.expected(places))


def _gap(a: Numbers, b: Numbers) -> Numbers:
    """a − b; 0 for numbers that are equal up to rounding."""
    gap = a - b
    size = np.maximum(np.abs(a), np.abs(b))
    return np.where(np.abs(gap) <= _EQUAL * size, 0.0, gap)


def ratio(source: Source, check: Any, method: str, against: str, splits: int | None = None) -> Estimate:
    """Mean over data sets of the ratio of means; arguments as for `plain`.

    Raises:
        Missing: the records do not hold it, or the mean of ``against`` is zero on a data set.
    """
    places = source.places(check)
    pairs, undefined = [], 0
    for place in places:
        a, b = source.paired(check, place, method, against)
        defined = np.isfinite(a) & np.isfinite(b)
        undefined += int((~defined).sum())
        pairs.append((a[defined], b[defined]))
        if math.fsum(b[defined]) == 0:
            raise Missing(f"{against} is zero on {place[0]}")
    estimate = ratio_estimate(pairs, source.overlaps(places))
    if splits:
        estimate = predicted(ratio_by_split(pairs), splits, estimate.value, "positive")
    return replace(estimate, expected=source.expected(places), undefined=undefined)
