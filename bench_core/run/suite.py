"""Suites: what a TOML file says is compared, checked whole before anything runs."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bench_core.contract.errors import RequestError, did_you_mean
from bench_core.contract.metric import DEFAULT_METRICS, Metric, default_metric
from bench_core.contract.parameters import build
from bench_core.plugins.registry import Registry
from bench_core.plugins.sections import OWNERS
from bench_core.run.suite_schema import (
    CostsEntry,
    DatasetEntry,
    Header,
    MethodEntry,
    Protocol,
    SuiteFile,
    file_model,
    seed_list,
    spell_faults,
)
from bench_core.run.trial import Trial

__all__ = [
    "CostsEntry",
    "DatasetEntry",
    "Header",
    "MethodEntry",
    "Protocol",
    "Suite",
    "load_suite",
]


def _twice(names: list[str]) -> str:
    """The least name that is there twice; empty when none is."""
    return min((name for name, count in Counter(names).items() if count > 1), default="")


class Suite:
    """A checked suite: every name in it is known and every parameter is right.

    Attributes:
        path: where it was read from, for messages.
        file: what the file says.
        metrics: the table's metrics, in order.
        text: the file's text.
        unread: sections of the file that are left unread, since their owner is not installed.
    """

    def __init__(
        self, path: str, text: str, file: SuiteFile, registry: Registry, unread: Sequence[str] = ()
    ) -> None:
        self.path, self.text, self.file, self.registry = path, text, file, registry
        self.unread = tuple(unread)
        self.metrics: dict[str, Metric] = {}
        for i, name in enumerate(file.metrics):
            self.metrics[name] = self._metric(name, f"{path}: metrics[{i}]")
        for label, entries in (("datasets", file.datasets), ("methods", file.methods)):
            twice = _twice([entry.name or entry.use for entry in entries])
            if twice:
                raise RequestError(
                    f"{path}: {label}: the name {twice!r} is used twice; give one of them a name"
                )
        for i, dataset in enumerate(file.datasets):
            twice = _twice([costs.name or costs.use for costs in dataset.costs])
            if twice:
                raise RequestError(
                    f"{path}: datasets[{i}].costs: the name {twice!r} is used twice; give one of them a name"
                )
        for name in file.titles:
            self._metric(name, f"{path}: titles")
        self._check_selects()
        self._check_data_set_names()
        self._section_metrics: dict[str, Metric] = {}
        for key, section in registry.sections.items():
            self._section_metrics |= section.rules.check(self, self.section(key))
        self._built: dict[tuple[type[Any], str], Any] = {}
        for _ in self._grids({}):  # builds every parameter once, so that a fault is found now
            pass

    @property
    def name(self) -> str:
        """The suite's name: also its leaderboard's file name."""
        return self.file.suite.name

    def section(self, key: str) -> Any:
        """What the file holds in a section that a plugin owns; an empty list where there is none."""
        value = getattr(self.file, key, None)
        return [] if value is None else value

    def dataset_names(self) -> list[str]:
        """Names of the data sets, in the file's order."""
        return [entry.name or entry.use for entry in self.file.datasets]

    def method_names(self) -> list[str]:
        """Names of the methods, in the file's order."""
        return [entry.name or entry.use for entry in self.file.methods]

    def methods_on(self, dataset: str) -> list[str]:
        """Names of the methods that run on a data set, in the file's order."""
        return [e.name or e.use for e in self.file.methods if not e.only or dataset in e.only]

    @cached_property
    def grids(self) -> list[tuple[str, str]]:
        """Every (data set, cost scheme) pair, in the file's order."""
        return [(e.name or e.use, c.name or c.use) for e in self.file.datasets for c in e.costs]

    def has_several_costs(self, dataset: str) -> bool:
        """Whether a data set is priced in more than one way."""
        return self._counts[dataset][0] > 1

    def seed_count(self, dataset: str) -> int:
        """How many seeds the suite asks for on a data set."""
        return self._counts[dataset][1]

    @cached_property
    def _counts(self) -> dict[str, tuple[int, int]]:
        """Data set → how many cost schemes and seeds it has."""
        return {
            e.name or e.use: (
                len(e.costs),
                len(seed_list(self.file.protocol.seeds if e.seeds is None else e.seeds)),
            )
            for e in self.file.datasets
        }

    @property
    def path_in_repository(self) -> str:
        """How a page names the suite's file: the last two parts of its path."""
        return "/".join(Path(self.path).parts[-2:])

    def selection_of(self, method: str, task: str, threshold: float | None) -> str:
        """The rule that picks a method's row: ``first``, or a metric's name."""
        for entry in self.file.methods:
            if (entry.name or entry.use) == method and entry.select:
                return entry.select
        if self.file.protocol.select:
            return self.file.protocol.select
        return default_metric(task, threshold)

    def needed_metrics(self) -> dict[str, Metric]:
        """The table's metrics, those that the suite selects by, and those of its other sections."""
        needed = {**self.metrics, **self._section_metrics}
        for rule in (self.file.protocol.select, *(entry.select for entry in self.file.methods)):
            if rule and rule != "first":
                needed[rule] = self._metric(rule, self.path)
        return needed

    def selection_metrics(self) -> dict[str, Metric]:
        """Every metric that a selection may go by, defaults included."""
        defaults = {name: self._metric(name, self.path) for name in DEFAULT_METRICS}
        return {**defaults, **self.needed_metrics()}

    def metric(self, name: str) -> Metric:
        """A metric by name."""
        return self._metric(name, self.path)

    def _metric(self, name: str, where: str) -> Metric:
        metric = self.registry.metric(name, where)
        title = self.file.titles.get(name)
        return metric if title is None else replace(metric, title=title)

    @cached_property
    def known_metrics(self) -> dict[str, Metric]:
        """Every registered metric by name, called as the suite calls it."""
        return {
            name: replace(metric, title=self.file.titles.get(name, metric.title))
            for name, metric in self.registry.metrics.items()
        }

    def _check_selects(self) -> None:
        if self.file.protocol.select not in (None, "first"):
            self._metric(str(self.file.protocol.select), f"{self.path}: protocol.select")
        for i, entry in enumerate(self.file.methods):
            if entry.select not in (None, "first"):
                self._metric(str(entry.select), f"{self.path}: methods[{i}].select")

    def _check_data_set_names(self) -> None:
        known = self.dataset_names()
        for i, entry in enumerate(self.file.methods):
            for key, named in (("only", entry.only), ("on", list(entry.on))):
                for name in named:
                    if name not in known:
                        hint = did_you_mean(name, known)
                        raise RequestError(
                            f"{self.path}: methods[{i}].{key}: there is no data set {name!r}; {hint}"
                        )

    def trials(
        self, seeds: int | None = None, only: Mapping[str, list[str]] | None = None
    ) -> Iterator[Trial]:
        """Every trial, in a fixed order: data set, seed, cost scheme, method, grid point.

        Args:
            seeds: only the first so many seeds of each data set.
            only: ``dataset``, ``method``, ``costs`` → names to keep.

        Raises:
            RequestError: a name or a parameter is wrong; file and key are said.
        """
        protocol = self.file.protocol
        for entry, source, schemes, methods in self._grids(only or {}):
            label = entry.name or entry.use
            chosen = seed_list(protocol.seeds if entry.seeds is None else entry.seeds)
            split = (entry.split or protocol.split).rule()
            threshold = entry.threshold if entry.threshold is not None else protocol.threshold
            for seed in chosen[:seeds]:
                for cost_label, cost_use, scheme in schemes:
                    for method_label, point, use, method, reject in methods:
                        yield Trial(
                            dataset=label,
                            dataset_use=entry.use,
                            source=source,
                            costs=cost_label,
                            costs_use=cost_use,
                            scheme=scheme,
                            method=method_label,
                            method_use=use,
                            estimator=method,
                            point=point,
                            split=split,
                            encode=entry.encode or protocol.encode,
                            threshold=threshold,
                            reject=reject,
                            seed=seed,
                            audit_rounds=protocol.audit_rounds,
                        )

    def _grids(
        self, only: Mapping[str, list[str]]
    ) -> Iterator[
        tuple[DatasetEntry, Any, list[tuple[str, str, Any]], list[tuple[str, int, str, Any, bool]]]
    ]:
        """Every data set's entry with its source, its cost schemes and the methods that run on it, all built."""
        for d, entry in enumerate(self.file.datasets):
            label = entry.name or entry.use
            if "dataset" in only and label not in only["dataset"]:
                continue
            where = f"{self.path}: datasets[{d}] {label!r}"
            source_class = self.registry.dataset(entry.use, where)
            source = self._build(source_class, entry.parameters, f"{where}.parameters")
            schemes = []
            for cost in entry.costs:
                cost_label = cost.name or cost.use
                if "costs" in only and cost_label not in only["costs"]:
                    continue
                scheme_class = self.registry.cost_scheme(cost.use, f"{where}.costs")
                scheme = self._build(scheme_class, cost.parameters, f"{where}.costs.parameters")
                schemes.append((cost_label, cost.use, scheme))
            yield entry, source, schemes, list(self._methods_on(label, only))

    def _methods_on(
        self, dataset: str, only: Mapping[str, list[str]]
    ) -> Iterator[tuple[str, int, str, Any, bool]]:
        """(label, grid point, use, instance, reject) of every method that runs on a data set."""
        for m, entry in enumerate(self.file.methods):
            label = entry.name or entry.use
            if ("method" in only and label not in only["method"]) or (
                entry.only and dataset not in entry.only
            ):
                continue
            where = f"{self.path}: methods[{m}] {label!r}"
            method_class = self.registry.method(entry.use, where)
            given = {**entry.parameters, **entry.on.get(dataset, {})}
            for point, values in enumerate(product(*entry.grid.values())):
                parameters = {**given, **dict(zip(entry.grid, values, strict=True))}
                method = self._build(method_class, parameters, where)
                yield label, point, entry.use, method, entry.reject

    def _build(self, cls: type[Any], parameters: Mapping[str, Any], where: str) -> Any:
        """One instance per class and parameters, shared by all trials that use it."""
        key = (cls, repr(parameters))
        if key not in self._built:
            self._built[key] = build(cls, parameters, where)
        return self._built[key]


def load_suite(path: Path, registry: Registry) -> Suite:
    """Read and check a suite file.

    Raises:
        RequestError: it cannot be read, is not TOML, or says something wrong; file and key are named.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        near = [p.name for p in path.parent.glob("*.toml")] if path.parent.is_dir() else []
        raise RequestError(
            f"there is no suite {path}; {did_you_mean(path.name, near)}".rstrip("; ")
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{path} cannot be read: {error}") from None
    return parse_suite(text, str(path), registry)


def parse_suite(text: str, path: str, registry: Registry) -> Suite:
    """Check a suite given as text; ``path`` is what messages call it."""
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # tomllib lets int() speak of numbers that are too long
        said = (
            "it is nested too deeply" if isinstance(error, RecursionError) else " ".join(str(error).split())
        )
        raise RequestError(f"{path} is not TOML: {said}") from None
    return suite_of(tables, path, registry, text)


def suite_of(tables: Mapping[str, Any], path: str, registry: Registry, text: str = "") -> Suite:
    """Check a suite given as TOML's tables; ``text`` is what they were read from.

    Raises:
        RequestError: it says something wrong; ``path`` and the key are named.
    """
    sections = registry.sections
    unread = [key for key in tables if key in OWNERS and key not in sections]
    read = {key: value for key, value in tables.items() if key not in unread}
    try:
        file = file_model(sections.values()).model_validate(read)
    except ValidationError as error:
        raise RequestError(spell_faults(path, error.errors(include_url=False), sections)) from None
    return Suite(path, text, file, registry, unread)
