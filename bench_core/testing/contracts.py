"""The contracts as pytest cases, and as plain results for ``bench check``."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from bench_core.contract.dataset import Dataset
from bench_core.contract.errors import BenchError, DataUnavailable, did_you_mean
from bench_core.contract.facts import Task
from bench_core.contract.method import Method
from bench_core.contract.metric import Metric, resolve_metric
from bench_core.contract.sources import CostScheme, DataContext, DataSource
from bench_core.testing import checks_sources as sources
from bench_core.testing.checks import CHECKS, Check
from bench_core.testing.checks_metrics import METRIC_CHECKS
from bench_core.testing.problems import make_dataset

__all__ = [
    "CheckResult",
    "check_cost_scheme",
    "check_dataset",
    "check_method",
    "check_metric",
    "cost_scheme_contract",
    "dataset_contract",
    "method_contract",
    "metric_contract",
]

TASKS: tuple[Task, ...] = ("binary", "multiclass", "regression", "ranking")
VARIANT_CHECKS = ("determinism", "shapes", "audit")
"""Checks of every further instance of a class; the remaining checks have the marker ``weekly``."""


@dataclass(frozen=True)
class CheckResult:
    """The result of one check.

    Attributes:
        check: the check's name.
        task: the task that it was run on; empty for a check without a task.
        outcome: ``passed``, ``failed`` or ``skipped``.
        message: the error, or why it was skipped.
        seconds: how long it took.
    """

    check: str
    task: str
    outcome: Literal["passed", "failed", "skipped"]
    message: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class _Planned:
    check: str
    task: str
    run: Callable[[], None]
    reason: str

    @property
    def id(self) -> str:
        return f"{self.check}-{self.task}" if self.task else self.check


def _reason(skip: Mapping[str, str], check: str, task: str) -> str:
    return skip.get(f"{check}-{task}", skip.get(check, ""))


def _refuse_unknown(skip: Mapping[str, str], names: Sequence[str]) -> None:
    ids = [*names, *(f"{name}-{task}" for name in names for task in TASKS)]
    for name in skip:
        if name not in ids:
            raise ValueError(f"skip names {name!r}, which is no check; {did_you_mean(name, ids)}")


def _plan_method(method: Method, skip: Mapping[str, str], tasks: Sequence[Task] | None) -> Iterator[_Planned]:
    _refuse_unknown(skip, [check.name for check in CHECKS])
    own = [task for task in TASKS if task in (tasks or method.tasks)]
    if tasks and (foreign := set(tasks) - set(method.tasks)):
        raise ValueError(f"{type(method).__name__} does not do {', '.join(sorted(foreign))}")
    for check in CHECKS:
        for task in own if check.per_task else own[:1] or TASKS[:1]:
            if not check.per_task or task in check.tasks:
                shown = task if check.per_task else ""
                yield _Planned(check.name, shown, _bound(check, method, task), _reason(skip, check.name, shown))


def _bound(check: Check, method: Method, task: Task) -> Callable[[], None]:
    return lambda: check.run(method, task)


def _run(checks: Iterator[_Planned]) -> list[CheckResult]:
    results = []
    for planned in checks:
        if planned.reason:
            results.append(CheckResult(planned.check, planned.task, "skipped", planned.reason))
            continue
        start = time.perf_counter()
        outcome: Literal["passed", "failed", "skipped"] = "passed"
        message = ""
        try:
            planned.run()
        except DataUnavailable as error:
            outcome, message = "skipped", str(error)
        except BenchError as error:
            outcome, message = "failed", str(error)
        except (Exception, SystemExit) as error:
            outcome, message = "failed", f"{type(error).__name__}: {error}"
        results.append(CheckResult(planned.check, planned.task, outcome, message, time.perf_counter() - start))
    return results


def _labels(things: Sequence[Any]) -> list[str]:
    """Labels for test ids: empty for a single object; else class names, numbered if they are equal."""
    if len(things) == 1:
        return [""]
    names = [type(thing).__name__ for thing in things]
    return [f"-{name}{i if names.count(name) > 1 else ''}" for i, name in enumerate(names)]


def check_method(
    method: Method, *, tasks: Sequence[Task] | None = None, skip: Mapping[str, str] | None = None
) -> list[CheckResult]:
    """Run the complete contract on a method, without pytest.

    Args:
        method: an instance; its parameters are part of what is tested.
        tasks: only these of its tasks.
        skip: check name (``audit``, or ``audit-binary`` for one task) → why it is left out.
    """
    return _run(_plan_method(method, skip or {}, tasks))


def method_contract(
    *methods: Method, tasks: Sequence[Task] | None = None, skip: Mapping[str, str] | None = None, slow: bool = False
) -> Callable[..., None]:
    """Make a test function with a case for every check and task of the methods: ``test_contract[audit-binary]`` ….

    Args:
        *methods: instances. With several, test ids contain the class. The first instance of a class gets the complete
            contract, the others `VARIANT_CHECKS`; their remaining checks have the marker ``weekly``.
        tasks: only these of their tasks.
        skip: check name (``audit``, or ``audit-binary`` for one task) → why it is left out, shown as a skip.
        slow: whether fitting takes seconds. Then every instance gets `VARIANT_CHECKS` with the marker ``slow``; its
            remaining checks have the marker ``weekly``.

    Example::

        test_contract = method_contract(SingleStage(), skip={"tiny": "needs two rows per class and fold"})

    Raises:
        ValueError: there is no method, a method lacks one of ``tasks``, or ``skip`` names an unknown check.
    """
    import pytest

    if not methods:
        raise ValueError("method_contract needs at least one method")
    cases = []
    classes: set[type[Method]] = set()
    for method, label in zip(methods, _labels(methods), strict=True):
        for planned in _plan_method(method, skip or {}, tasks):
            marks = [pytest.mark.skip(reason=planned.reason)] if planned.reason else []
            if (slow or type(method) in classes) and planned.check not in VARIANT_CHECKS:
                marks.append(pytest.mark.weekly)
            elif slow:
                marks.append(pytest.mark.slow)
            cases.append(pytest.param(planned.run, id=planned.id + label, marks=marks))
        classes.add(type(method))

    @pytest.mark.parametrize("check", cases)
    def contract(check: Callable[[], None]) -> None:
        __tracebackhide__ = True
        check()

    return contract


def _plan_dataset(source: DataSource, context: DataContext, skip: Mapping[str, str]) -> Iterator[_Planned]:
    _refuse_unknown(skip, list(sources.DATASET_CHECKS))
    for name, check in sources.DATASET_CHECKS.items():
        yield _Planned(name, "", lambda check=check: check(source, context), skip.get(name, ""))  # type: ignore[misc]


def _plan_cost_scheme(scheme: CostScheme, dataset: Dataset, skip: Mapping[str, str]) -> Iterator[_Planned]:
    _refuse_unknown(skip, list(sources.COST_CHECKS))
    for name, check in sources.COST_CHECKS.items():
        yield _Planned(name, "", lambda check=check: check(scheme, dataset), skip.get(name, ""))  # type: ignore[misc]


def check_dataset(
    source: DataSource, context: DataContext | None = None, *, skip: Mapping[str, str] | None = None
) -> list[CheckResult]:
    """Run the contract of data sources, without pytest. If the data is not available, checks are skipped.

    Args:
        source: an instance.
        context: where data may come from; None: an empty cache, no network.
        skip: check name → why it is left out.
    """
    if context is not None:
        return _run(_plan_dataset(source, context, skip or {}))
    with tempfile.TemporaryDirectory() as folder:
        return _run(_plan_dataset(source, DataContext(Path(folder), offline=True), skip or {}))


def dataset_contract(*source: DataSource, skip: Mapping[str, str] | None = None) -> Callable[..., None]:
    """Make a test function with a case for every check of data sources; it uses the fixture ``data_context``.

    If the data is not available (`DataUnavailable`), a case is skipped with the error's message.
    """
    import pytest

    if not source:
        raise ValueError("dataset_contract needs at least one data source")
    nowhere = DataContext(Path())
    cases = [
        pytest.param(
            data_source,
            name,
            id=name + label,
            marks=[pytest.mark.skip(reason=planned.reason)] if planned.reason else [],
        )
        for data_source, label in zip(source, _labels(source), strict=True)
        for planned in _plan_dataset(data_source, nowhere, skip or {})
        for name in [planned.check]
    ]

    @pytest.mark.parametrize(("source", "check"), cases)
    def contract(source: DataSource, check: str, data_context: DataContext) -> None:
        __tracebackhide__ = True
        try:
            sources.DATASET_CHECKS[check](source, data_context)
        except DataUnavailable as error:
            pytest.skip(f"{error} {error.hint}".strip())

    return contract


def check_cost_scheme(
    scheme: CostScheme, dataset: Dataset | None = None, *, skip: Mapping[str, str] | None = None
) -> list[CheckResult]:
    """Run the contract of cost schemes, without pytest.

    Args:
        scheme: an instance.
        dataset: the data set to price; None: the kit's binary data set of six features.
        skip: check name → why it is left out.
    """
    return _run(_plan_cost_scheme(scheme, dataset or make_dataset(), skip or {}))


def cost_scheme_contract(
    *schemes: CostScheme, dataset: Dataset | None = None, skip: Mapping[str, str] | None = None
) -> Callable[..., None]:
    """Make a test function with a case for every check of cost schemes, on ``dataset`` or the kit's binary data set."""
    import pytest

    if not schemes:
        raise ValueError("cost_scheme_contract needs at least one cost scheme")
    priced = dataset or make_dataset()
    cases = [
        pytest.param(
            planned.run,
            id=planned.id + label,
            marks=[pytest.mark.skip(reason=planned.reason)] if planned.reason else [],
        )
        for scheme, label in zip(schemes, _labels(schemes), strict=True)
        for planned in _plan_cost_scheme(scheme, priced, skip or {})
    ]

    @pytest.mark.parametrize("check", cases)
    def contract(check: Callable[[], None]) -> None:
        __tracebackhide__ = True
        check()

    return contract


def _plan_metric(metric: Metric, skip: Mapping[str, str]) -> Iterator[_Planned]:
    _refuse_unknown(skip, list(METRIC_CHECKS))
    tasks = [task for task in TASKS if task in metric.tasks] or list(TASKS[:1])
    for name, check in METRIC_CHECKS.items():
        for task in tasks if name != "declaration" else tasks[:1]:
            shown = task if name != "declaration" else ""
            tried = _with_cut(metric) if shown else metric
            yield _Planned(name, shown, partial(check, tried, task), _reason(skip, name, shown))


def check_metric(metric: Metric, *, skip: Mapping[str, str] | None = None) -> list[CheckResult]:
    """Run the contract of metrics, without pytest; ``name@k`` is checked with k = 5.

    Args:
        metric: the registered metric.
        skip: check name (``value``, or ``value-binary`` for one task) → why it is left out.
    """
    return _run(_plan_metric(metric, skip or {}))


def metric_contract(*metrics: Metric, skip: Mapping[str, str] | None = None) -> Callable[..., None]:
    """Make a test function with a case for every check and task of the metrics; ``name@k`` is checked with k = 5."""
    import pytest

    if not metrics:
        raise ValueError("metric_contract needs at least one metric")
    cases = [
        pytest.param(
            planned.run,
            id=f"{metric.name}-{planned.id}",
            marks=[pytest.mark.skip(reason=planned.reason)] if planned.reason else [],
        )
        for metric in metrics
        for planned in _plan_metric(metric, skip or {})
    ]

    @pytest.mark.parametrize("check", cases)
    def contract(check: Callable[[], None]) -> None:
        __tracebackhide__ = True
        check()

    return contract


def _with_cut(metric: Metric) -> Metric:
    stem, _, cut = metric.name.partition("@")
    return resolve_metric(f"{stem}@5", {metric.name: metric}) if cut == "k" else metric
