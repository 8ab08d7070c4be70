"""The hooks that a plugin may implement, and when each is called; and sections of suite files that a plugin owns.

Objects of running a suite, such as `bench_core.FinishedRun`, are of rooms above this one: their hooks say Any.

A plugin is a distribution with an entry point in the group ``budgetbench``::

    [project.entry-points.budgetbench]
    my-plugin = "bench_mine.plugin"

The module named there says which version of the contract it was built for (``BENCH_CONTRACT_VERSION = 1``). It is
imported in a restricted process of its own, the probe, which describes what it offers, and where its methods run; in
the judge's when a suite uses its data, prices or metrics. So it must stay light: import NumPy if you must, and
scikit-learn, numba or pandas inside ``fit`` and ``load``.

Commands are in a module of their own, in the group ``budgetbench.commands``. Each entry point is named after a command
that the module brings or adds options to, and the module is imported when that command is called::

    [project.entry-points."budgetbench.commands"]
    greet = "bench_mine.cli"
    run = "bench_mine.cli"

Hooks named ``bench_register_…`` only register; they are called once, when the plugins are loaded::

    @hookimpl
    def bench_register_methods(register):
        register("single-stage", SingleStage)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import pluggy

if TYPE_CHECKING:
    import click

    from bench_core.contract.method import Method
    from bench_core.contract.metric import Metric
    from bench_core.contract.sources import CostScheme, DataSource

PROJECT = "budgetbench"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)

# What the registering hooks are given: name and class, or the thing itself.
RegisterDataset: TypeAlias = "Callable[[str, type[DataSource]], None]"
RegisterCostScheme: TypeAlias = "Callable[[str, type[CostScheme]], None]"
RegisterMethod: TypeAlias = "Callable[[str, type[Method]], None]"
RegisterMetric: TypeAlias = "Callable[[Metric], None]"
RegisterSuiteSection: TypeAlias = "Callable[[SuiteSection], None]"
RegisterExecutor: TypeAlias = "Callable[[str, Callable[[Any], None]], None]"


OWNERS = {
    "tables": "budgetbench-leaderboard",
    "figures": "budgetbench-leaderboard",
    "paper": "budgetbench-leaderboard",
    "claims": "budgetbench-claims",
    "comparison": "budgetbench-comparison",
}
"""Sections that the suites of this repository have → the distribution that owns them.

Where it is not installed they are left unread. Any other key that no plugin owns is an error.
"""

Place = tuple[Any, ...]


@dataclass(frozen=True)
class SectionRules:
    """What a section may hold.

    Attributes:
        model: what it holds, as a type that pydantic validates: ``list[Claim]``.
        check: called with the `bench_core.Suite` and the validated value when everything else of the suite is checked;
            returns the metrics that the section needs in every record. Raises `RequestError`, naming file and key.
        tables: keys within the section → the pydantic model of the table there, for hints about a wrong key.
        kinds: kinds of entries, for hints about a wrong ``kind``.
        place: from the place of an error as pydantic gives it to (the place as the file has it, its model or None).
    """

    model: Any
    check: Callable[[Any, Any], Mapping[str, Metric]]
    tables: Mapping[str, type[Any]] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    place: Callable[[Place], tuple[Place, type[Any] | None]] = lambda place: (place, None)


@dataclass(frozen=True)
class SuiteSection:
    """One further top-level key of suite files.

    Attributes:
        key: the key.
        define: gives its rules; called when the first suite is read.
    """

    key: str
    define: Callable[[], SectionRules]

    @cached_property
    def rules(self) -> SectionRules:
        """What the section may hold."""
        return self.define()


@hookspec
def bench_register_datasets(register: RegisterDataset) -> None:
    """Register data sources: ``register("my-table", MyTable)``."""


@hookspec
def bench_register_cost_schemes(register: RegisterCostScheme) -> None:
    """Register cost schemes: ``register("by-hospital", ByHospital)``."""


@hookspec
def bench_register_methods(register: RegisterMethod) -> None:
    """Register methods: ``register("single-stage", SingleStage)``."""


@hookspec
def bench_register_metrics(register: RegisterMetric) -> None:
    """Register metrics: ``register(Metric("max-cost", lambda outcome: float(outcome.bill.max()), goal="min"))``."""


@hookspec
def bench_register_suite_sections(register: RegisterSuiteSection) -> None:
    """Register further sections of a suite file, which their owner validates (`SuiteSection`).

    Example: ``register(SuiteSection("claims", lambda: SectionRules(list[Claim], check_claims)))``.
    """


@hookspec
def bench_register_executors(register: RegisterExecutor) -> None:
    """Register ways to run trials: called with `bench_core.execution.Work`, an executor returns when all is noted.

    Example::

        @hookimpl
        def bench_register_executors(register):
            register("backwards", run_backwards)

        def run_backwards(work):
            with closing(Worker(work.settings, work.registry, work.cache)) as worker:
                for planned in reversed(work.todo):
                    work.note(worker.run(planned))
    """


@hookspec
def bench_register_commands(group: click.Group) -> None:
    """Add commands to ``bench``, or options to its commands. Asked of modules in ``budgetbench.commands`` only.

    Called once, when one of the commands that the module's entry points are named after is called, or for help.

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
def bench_known_trials(session: Any) -> Any:
    """Trials of a suite that are done although the store does not hold them (those that are published).

    Called whenever a suite is planned; the first answer that is not None counts.

    Args:
        session: the `bench_core.SuiteSession`.

    Returns:
        An object whose ``done`` and ``failed`` are sets of names of trials; or None.
    """


@hookspec
def bench_run_finished(run: Any) -> Any:
    """Make something of a run's records. Called when all trials of ``bench run`` are done.

    Args:
        run: the `bench_core.FinishedRun`.

    Returns:
        A line for the user, such as the page that was written; the line with a table of results
        (`bench_core.Written`); or None.

    Raises:
        DamagedRecordsError: records that were read are damaged. They are computed again, then the hook is called anew.
        RequestError: nothing was written; ``bench run`` shows why and exits with 2.
    """
