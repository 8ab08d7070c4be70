"""The contracts as pytest cases, and as plain results for ``bench check``."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from bench_core.contract.dataset import Dataset
from bench_core.contract.errors import DataUnavailable
from bench_core.contract.facts import Task
from bench_core.contract.method import Method
from bench_core.contract.metric import Metric, resolve_metric
from bench_core.contract.sources import CostScheme, DataContext, DataSource
from bench_core.testing import checks_sources as sources
from bench_core.testing.checks import CHECKS, Check
from bench_core.testing.checks_metrics import METRIC_CHECKS
from bench_core.testing.planned import TASKS, CheckResult, PlannedCheck, labels_of, reason_of, refuse_unknown, run_all
from bench_core.testing.problems import make_dataset

__all__ = [
    "check_cost_scheme",
    "check_dataset",
    "check_method",
    "check_metric",
    "cost_scheme_contract",
    "dataset_contract",
    "method_contract",
    "metric_contract",
]

VARIANT_CHECKS = ("determinism", "shapes", "audit")
"""Checks of every further instance of a class; the remaining checks have the marker ``weekly``."""


def _plan_method(method: Method, skip: Mapping[str, str], tasks: Sequence[Task] | None) -> Iterator[PlannedCheck]:
    refuse_unknown(skip, [check.name for check in CHECKS])
    own = [task for task in TASKS if task in (tasks or method.tasks)]
    if tasks and (foreign := set(tasks) - set(method.tasks)):
        raise ValueError(f"{type(method).__name__} does not do {', '.join(sorted(foreign))}")
    for check in CHECKS:
        for task in own if check.per_task else own[:1] or TASKS[:1]:
            if not check.per_task or task in check.tasks:
                shown = task if check.per_task else ""
                yield PlannedCheck(check.name, shown, _bound(check, method, task), reason_of(skip, check.name, shown))


def _bound(check: Check, method: Method, task: Task) -> Callable[[], None]:
    return lambda: check.run(method, task)


def check_method(
    method: Method, *, tasks: Sequence[Task] | None = None, skip: Mapping[str, str] | None = None
) -> list[CheckResult]:
    """Run the complete contract on a method, without pytest.

    Args:
        method: an instance; its parameters are part of what is tested.
        tasks: only these of its tasks.
        skip: check name (``audit``, or ``audit-binary`` for one task) → why it is left out.
    """
    return run_all(_plan_method(method, skip or {}, tasks))


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
    for method, label in zip(methods, labels_of(methods), strict=True):
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


def _plan_dataset(source: DataSource, context: DataContext, skip: Mapping[str, str]) -> Iterator[PlannedCheck]:
    refuse_unknown(skip, list(sources.DATASET_CHECKS))
    for name, check in sources.DATASET_CHECKS.items():
        yield PlannedCheck(name, "", lambda check=check: check(source, context), skip.get(name, ""))  # type: ignore[misc]


def _plan_cost_scheme(scheme: CostScheme, dataset: Dataset, skip: Mapping[str, str]) -> Iterator[PlannedCheck]:
    refuse_unknown(skip, list(sources.COST_CHECKS))
    for name, check in sources.COST_CHECKS.items():
        yield PlannedCheck(name, "", lambda check=check: check(scheme, dataset), skip.get(name, ""))  # type: ignore[misc]


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
        return run_all(_plan_dataset(source, context, skip or {}))
    with tempfile.TemporaryDirectory() as folder:
        return run_all(_plan_dataset(source, DataContext(Path(folder), offline=True), skip or {}))


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
        for data_source, label in zip(source, labels_of(source), strict=True)
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
    return run_all(_plan_cost_scheme(scheme, dataset or make_dataset(), skip or {}))


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
        for scheme, label in zip(schemes, labels_of(schemes), strict=True)
        for planned in _plan_cost_scheme(scheme, priced, skip or {})
    ]

    @pytest.mark.parametrize("check", cases)
    def contract(check: Callable[[], None]) -> None:
        __tracebackhide__ = True
        check()

    return contract


def _plan_metric(metric: Metric, skip: Mapping[str, str]) -> Iterator[PlannedCheck]:
    refuse_unknown(skip, list(METRIC_CHECKS))
    tasks = [task for task in TASKS if task in metric.tasks] or list(TASKS[:1])
    for name, check in METRIC_CHECKS.items():
        for task in tasks if name != "declaration" else tasks[:1]:
            shown = task if name != "declaration" else ""
            tried = _with_cut(metric) if shown else metric
            yield PlannedCheck(name, shown, partial(check, tried, task), reason_of(skip, name, shown))


def check_metric(metric: Metric, *, skip: Mapping[str, str] | None = None) -> list[CheckResult]:
    """Run the contract of metrics, without pytest; ``name@k`` is checked with k = 5.

    Args:
        metric: the registered metric.
        skip: check name (``value``, or ``value-binary`` for one task) → why it is left out.
    """
    return run_all(_plan_metric(metric, skip or {}))


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
