"""The hooks of a plugin: what it may tell the core, and when it is asked.

A plugin is a distribution with an entry point in the group ``budgetbench``::

    [project.entry-points.budgetbench]
    my-plugin = "bench_mine.plugin"

The module named there says which version of the contract it was built for (``BENCH_CONTRACT_VERSION = 1``). It is
imported whenever a suite is read, so it must stay light: import NumPy if you must, and scikit-learn, numba or pandas
inside ``fit`` and ``load``.

Commands are in a module of their own, in the group ``budgetbench.commands``: it is imported at every command, so it
imports click and nothing heavier.

Hooks named ``bench_register_…`` only register; they are called once, when the plugins are loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pluggy

if TYPE_CHECKING:
    import click

    from bench_core.contract.costs import CostScheme
    from bench_core.contract.dataset import DataSource
    from bench_core.contract.method import Method
    from bench_core.contract.metric import Metric
    from bench_core.plugins.sections import SuiteSection
    from bench_core.run.known import KnownTrials
    from bench_core.run.runner import FinishedRun
    from bench_core.run.session import SuiteSession

__all__ = [
    "PROJECT",
    "RegisterCostScheme",
    "RegisterDataset",
    "RegisterMethod",
    "RegisterMetric",
    "RegisterSuiteSection",
    "hookimpl",
    "hookspec",
]

PROJECT = "budgetbench"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class RegisterDataset(Protocol):
    """``register(name, source)``: make a data source known under a name."""

    def __call__(self, name: str, source: type[DataSource]) -> None: ...


class RegisterCostScheme(Protocol):
    """``register(name, scheme)``: make a cost scheme known under a name."""

    def __call__(self, name: str, scheme: type[CostScheme]) -> None: ...


class RegisterMethod(Protocol):
    """``register(name, method)``: make a method known under a name."""

    def __call__(self, name: str, method: type[Method]) -> None: ...


class RegisterMetric(Protocol):
    """``register(metric)``: make a metric known under its own name."""

    def __call__(self, metric: Metric) -> None: ...


class RegisterSuiteSection(Protocol):
    """``register(section)``: own a section of suite files."""

    def __call__(self, section: SuiteSection) -> None: ...


@hookspec
def bench_register_datasets(register: RegisterDataset) -> None:
    """Register data sources.

    Example::

        @hookimpl
        def bench_register_datasets(register):
            register("my-table", MyTable)
    """


@hookspec
def bench_register_cost_schemes(register: RegisterCostScheme) -> None:
    """Register cost schemes.

    Example::

        @hookimpl
        def bench_register_cost_schemes(register):
            register("by-hospital", ByHospital)
    """


@hookspec
def bench_register_methods(register: RegisterMethod) -> None:
    """Register methods.

    Example::

        @hookimpl
        def bench_register_methods(register):
            register("single-stage", SingleStage)
    """


@hookspec
def bench_register_metrics(register: RegisterMetric) -> None:
    """Register metrics.

    Example::

        @hookimpl
        def bench_register_metrics(register):
            register(Metric("max-cost", lambda outcome: float(outcome.bill.max()), goal="min"))
    """


@hookspec
def bench_register_suite_sections(register: RegisterSuiteSection) -> None:
    """Register further sections of a suite file. Their owner validates them; see `SuiteSection`.

    Example::

        @hookimpl
        def bench_register_suite_sections(register):
            register(SuiteSection("claims", lambda: SectionRules(list[Claim], check_claims)))
    """


@hookspec
def bench_register_commands(group: click.Group) -> None:
    """Add commands to ``bench``, or options to its commands. Asked of plugins in ``budgetbench.commands`` only.

    An option added to ``bench run`` reaches `bench_run_finished` as ``run.options``.

    Example::

        @hookimpl
        def bench_register_commands(group):
            group.add_command(my_command)
    """


@hookspec
def bench_add_hookspecs(manager: pluggy.PluginManager) -> None:
    """Add hook specs of a plugin's own, which others may implement (with ``@hookimpl(optionalhook=True)``).

    Called once for a plugin, when it is loaded, before it is checked that every hook is known.

    Example::

        @hookimpl
        def bench_add_hookspecs(manager):
            manager.add_hookspecs(bench_mine.hookspecs)
    """


@hookspec(firstresult=True)
def bench_known_trials(session: SuiteSession) -> KnownTrials | None:
    """Trials of a suite that are done although the store does not hold them (those that are published).

    Called whenever a suite is planned; the first answer that is not None counts.
    """


@hookspec
def bench_run_finished(run: FinishedRun) -> str | None:
    """Make something of a run's records. Called when all trials of ``bench run`` are done.

    Returns:
        A line for the user, such as the page that was written; or None.

    Raises:
        DamagedRecordsError: records that were read are damaged. They are computed again, then the hook is called anew.
        RequestError: nothing was written; ``bench run`` shows why and exits with 2.
    """
