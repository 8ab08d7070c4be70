"""Suites: TOML files that define comparisons. A suite is checked completely before anything runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

from bench_core.contract.errors import RequestError, did_you_mean
from bench_core.contract.metric import DEFAULT_METRICS, Metric, default_metric
from bench_core.contract.parameters import build
from bench_core.plugins.registry import Registry
from bench_core.run.suite_schema import DatasetEntry, Entry, MethodEntry, SuiteFile, seed_list
from bench_core.run.trial import Trial

MOST_TRIALS = 1_000_000
"""The most trials of a suite; a trial is a combination of data set, seed, cost scheme, method and grid point."""

_MethodPoint = tuple[MethodEntry, int, Any]
"""Entry, grid point, instance."""


def _grid_of(entry: MethodEntry, dataset: str) -> Iterator[dict[str, Any]]:
    """The parameters of a method on a data set, at every point of its grid."""
    fixed = {**entry.parameters, **entry.on.get(dataset, {})}
    for values in product(*entry.grid.values()):
        yield {**fixed, **dict(zip(entry.grid, values, strict=True))}


def _refuse_twice(entries: Sequence[Entry], where: str) -> None:
    twice = min((label for label, count in Counter(entry.label for entry in entries).items() if count > 1), default="")
    if twice:
        raise RequestError(f"{where}: the name {twice!r} is used twice; give one of them a name")


class Suite:
    """A checked suite: every name in it is known and every parameter is valid.

    Attributes:
        path: the file's path, for messages.
        file: the file's contents.
        name: the suite's name, which is also its leaderboard's file name.
        least_coverage: the share of validation rows that a policy must answer to be selected by a metric; a policy
            below it is selected only if all are below it.
        metrics: the table's metrics, in order.
        text: the file's text.
        unread: sections of the file that are not read, because their owner is not installed.
    """

    def __init__(self, path: str, text: str, file: SuiteFile, registry: Registry, unread: Sequence[str] = ()) -> None:
        self.path, self.text, self.file, self.registry = path, text, file, registry
        self.name, self.least_coverage = file.suite.name, file.protocol.least_coverage
        self.unread = tuple(unread)
        named = enumerate(file.metrics)
        self.metrics: dict[str, Metric] = {name: self.metric(name, f"{path}: metrics[{i}]") for i, name in named}
        _refuse_twice(file.datasets, f"{path}: datasets")
        _refuse_twice(file.methods, f"{path}: methods")
        for i, dataset in enumerate(file.datasets):
            _refuse_twice(dataset.costs, f"{path}: datasets[{i}].costs")
        for name in file.titles:
            self.metric(name, f"{path}: titles")
        for key, rule, on in self._selects():
            self.metric(rule, f"{path}: {key}")
            if rule.startswith("accuracy-at-cap@") and rule not in self._at_caps(on):
                raise RequestError(f"{path}: {key}: {rule!r} needs the cap {rule.partition('@')[2]} in caps")
        self._check_methods()
        self._refuse_too_many()
        self._section_metrics: dict[str, Metric] = {}
        for key, section in registry.sections.items():
            self._section_metrics |= section.rules.check(self, self.section(key))
        self.selection_metrics()  # raises if several plugins claim one of them
        self._built: dict[tuple[Any, str], Any] = {}
        self._build_methods()
        self._whole_grid = list(self._grids({}))  # builds every instance, so that errors are found now

    def section(self, key: str) -> Any:
        """Return the contents of a plugin's section, or an empty list if the file does not have the section."""
        value = getattr(self.file, key, None)
        return [] if value is None else value

    def dataset_names(self) -> list[str]:
        """Names of the data sets, in the file's order."""
        return [entry.label for entry in self.file.datasets]

    def method_names(self) -> list[str]:
        """Names of the methods, in the file's order."""
        return [entry.label for entry in self.file.methods]

    def methods_on(self, dataset: str) -> list[str]:
        """Names of the methods that run on a data set, in the file's order."""
        return [entry.label for entry in self.file.methods if entry.runs_on(dataset)]

    @cached_property
    def grids(self) -> list[tuple[str, str]]:
        """Every (data set, cost scheme) pair, in the file's order."""
        return [(e.label, c.label) for e in self.file.datasets for c in e.costs]

    @cached_property
    def _datasets(self) -> dict[str, DatasetEntry]:
        return {entry.label: entry for entry in self.file.datasets}

    def has_several_costs(self, dataset: str) -> bool:
        """Whether a data set is priced in more than one way."""
        return len(self._datasets[dataset].costs) > 1

    def seed_count(self, dataset: str) -> int:
        """The number of seeds for a data set."""
        return len(self._seeds(self._datasets[dataset]))

    def drawn_from(self, dataset: str) -> int | str | None:
        """Return the key ``drawn_from`` of a data set's split, see `SplitTable`."""
        return (self._datasets[dataset].split or self.file.protocol.split).drawn_from

    def _seeds(self, entry: DatasetEntry) -> list[int]:
        return seed_list(self.file.protocol.seeds if entry.seeds is None else entry.seeds)

    def caps_of(self, dataset: str) -> tuple[int, ...]:
        """Hard budgets at which policies are cut on a data set, ascending."""
        own = self._datasets[dataset].caps
        return tuple(self.file.protocol.caps if own is None else own)

    def selection_of(self, dataset: str, method: str, task: str, threshold: float | None) -> str:
        """The rule that picks a method's row on a data set: ``first``, or a metric's name."""
        own = (entry.select for entry in self.file.methods if entry.label == method)
        rules = (*own, self._datasets[dataset].select, self.file.protocol.select)
        return next(filter(None, rules), default_metric(task, threshold))

    def needed_metrics(self) -> dict[str, Metric]:
        """The table's metrics, those that the suite selects by, and those of its other sections."""
        names = [*self._at_caps(self.dataset_names()), *(rule for _, rule, _ in self._selects())]
        return {**self.metrics, **self._section_metrics, **{name: self.metric(name) for name in names}}

    def _at_caps(self, datasets: Sequence[str]) -> list[str]:
        """The metrics of the data sets' caps, ascending."""
        return [f"accuracy-at-cap@{cap}" for cap in sorted({cap for name in datasets for cap in self.caps_of(name)})]

    def selection_metrics(self) -> dict[str, Metric]:
        """Every metric that may be used for selection, defaults included."""
        return {**{name: self.metric(name) for name in DEFAULT_METRICS}, **self.needed_metrics()}

    def metric(self, name: str, where: str = "") -> Metric:
        """A metric by name, with the suite's title for it; ``where`` is the place for messages."""
        metric = self.registry.metric(name, where or self.path)
        return replace(metric, title=self.file.titles.get(name, metric.title))

    def _selects(self) -> list[tuple[str, str, list[str]]]:
        """The metrics that the file uses for selection: the key that names one, the metric, and the data sets."""
        file, names = self.file, self.dataset_names()
        rules = [("protocol.select", file.protocol.select, [e.label for e in file.datasets if e.select is None])]
        rules += [(f"datasets[{i}].select", entry.select, [entry.label]) for i, entry in enumerate(file.datasets)]
        own = [(i, entry) for i, entry in enumerate(file.methods) if entry.select is not None]
        rules += [(f"methods[{i}].select", entry.select, [*filter(entry.runs_on, names)]) for i, entry in own]
        return [(key, rule, on) for key, rule, on in rules if rule is not None and rule != "first"]

    def check_tasks(self, tasks: Mapping[str, str]) -> None:
        """Refuse a metric of selection that none of its data sets can have.

        Args:
            tasks: data set → task; empty where it is not known.

        Raises:
            RequestError: the key that names the metric, and the tasks.
        """
        for key, rule, on in self._selects():
            held, fit = {tasks.get(name, "") for name in on}, self.metric(rule).tasks
            if held and not held & {"", *fit}:
                tried, known = (", ".join(sorted(some)) for some in (held, fit))
                raise RequestError(f"{self.path}: {key}: {rule!r} is for the task {known}, not for {tried}")

    def _check_methods(self) -> None:
        known = self.dataset_names()
        for i, entry in enumerate(self.file.methods):
            where = f"{self.path}: methods[{i}]"
            for key, named in (("only", entry.only), ("without", entry.without), ("on", list(entry.on))):
                for name in filter(lambda name: name not in known, named):
                    hint = did_you_mean(name, known)
                    raise RequestError(f"{where}.{key}: there is no data set {name!r}; {hint}")
            if not any(map(entry.runs_on, known)):
                raise RequestError(f"{where}.without: no data set remains for {entry.label!r}")
            for table in (entry.parameters, *entry.on.values()):
                for name in filter(entry.grid.__contains__, table):
                    raise RequestError(f"{where}.grid: {name!r} is also in parameters or on; give it once")

    def _refuse_too_many(self) -> None:
        """Refuse a suite of more than `MOST_TRIALS` trials before its grids are expanded."""
        total = 0
        splits = {e.label: len(self._seeds(e)) * len(e.costs) for e in self.file.datasets}
        for i, entry in enumerate(self.file.methods):
            points = prod(map(len, entry.grid.values()))
            total += points * sum(splits[label] for label in splits if entry.runs_on(label))
            if total > MOST_TRIALS:
                shown = str(points) if points < 10**30 else "more than 10**30"
                raise RequestError(
                    f"{self.path}: methods[{i}].grid: {entry.label!r} has {shown} points; "
                    f"a suite may have {MOST_TRIALS} trials"
                )

    def trials(self, seeds: int | None = None, only: Mapping[str, list[str]] | None = None) -> Iterator[Trial]:
        """Every trial, in a fixed order: data set, seed, cost scheme, method, grid point.

        Args:
            seeds: how many seeds of each data set to use, from the first; None: all.
            only: ``dataset``, ``method``, ``costs`` → names to keep.

        Raises:
            RequestError: a name or a parameter is invalid; file and key are named.
        """
        protocol = self.file.protocol
        for entry, source, schemes, methods in self._grids(only) if only else self._whole_grid:
            split = (entry.split or protocol.split).rule()
            threshold = entry.threshold if entry.threshold is not None else protocol.threshold
            for seed in self._seeds(entry)[:seeds]:
                for costs, scheme in schemes:
                    for method, point, estimator in methods:
                        yield Trial(
                            dataset=entry.label, dataset_use=entry.use, source=source,
                            costs=costs.label, costs_use=costs.use, scheme=scheme, only_costs=len(entry.costs) == 1,
                            method=method.label, method_use=method.use, estimator=estimator, point=point,
                            split=split, encode=entry.encode or protocol.encode,
                            threshold=method.exit_threshold if threshold is None else threshold,
                            reject=method.reject and (threshold is not None or method.exit_threshold is None),
                            seed=seed, audit_rounds=protocol.audit_rounds, caps=self.caps_of(entry.label),
                        )  # fmt: skip

    def _grids(
        self, only: Mapping[str, list[str]]
    ) -> Iterator[tuple[DatasetEntry, Any, list[tuple[Entry, Any]], list[_MethodPoint]]]:
        """Every data set's entry with instances of its source, its cost schemes and the methods that run on it."""
        for d, entry in enumerate(self.file.datasets):
            if "dataset" in only and entry.label not in only["dataset"]:
                continue
            where = f"{self.path}: datasets[{d}] {entry.label!r}"
            source_class = self.registry.dataset(entry.use, where)
            source = self._build(source_class, entry.parameters, f"{where}.parameters")
            if source.own_split and (entry.split or self.file.protocol.split).kind != "given":
                raise RequestError(f"{where}.split: kind = 'given' is needed, as the parameters name a test file")
            schemes: list[tuple[Entry, Any]] = []
            for costs in entry.costs:
                if "costs" not in only or costs.label in only["costs"]:
                    scheme_class = self.registry.cost_scheme(costs.use, f"{where}.costs")
                    schemes.append((costs, self._build(scheme_class, costs.parameters, f"{where}.costs.parameters")))
            yield entry, source, schemes, list(self._methods_on(entry.label, only))

    def _methods_on(self, dataset: str, only: Mapping[str, list[str]]) -> Iterator[_MethodPoint]:
        """Every method that runs on a data set, at every point of its grid."""
        for entry in self.file.methods:
            if ("method" in only and entry.label not in only["method"]) or not entry.runs_on(dataset):
                continue
            for point, parameters in enumerate(_grid_of(entry, dataset)):
                built = self._built[entry.use, repr(parameters)]
                if isinstance(built, BaseException):
                    raise built
                yield entry, point, built

    def _build_methods(self) -> None:
        """Build every method at every point of its grid, all at once, since plugins may have to be asked.

        The error of a method is raised when the method is used.
        """
        requests: dict[tuple[str, str], tuple[str, Mapping[str, Any], str]] = {}
        for m, entry in enumerate(self.file.methods):
            where = f"{self.path}: methods[{m}] {entry.label!r}"
            for dataset in filter(entry.runs_on, self.dataset_names()):
                for parameters in _grid_of(entry, dataset):
                    requests.setdefault((entry.use, repr(parameters)), (entry.use, parameters, where))
        self._built |= dict(zip(requests, self.registry.build_methods(list(requests.values())), strict=True))

    def _build(self, cls: type[Any], parameters: Mapping[str, Any], where: str) -> Any:
        """One instance per class and parameters, shared by all trials that use it."""
        key = (cls, repr(parameters))
        if key not in self._built:
            self._built[key] = build(cls, parameters, where)
        return self._built[key]
