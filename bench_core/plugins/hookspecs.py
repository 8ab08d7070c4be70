"""The hooks that a plugin may implement, when each is called, and the sections of suite files that plugins own.

Types of `bench_core.run`, such as `bench_core.suites.FinishedRun`, cannot be imported here: hooks annotate them as Any.

A plugin is a distribution with an entry point in the group ``budgetbench``::

    [project.entry-points.budgetbench]
    my-plugin = "bench_mine.plugin"

The module named there states the version of the contract that it was built for (``BENCH_CONTRACT_VERSION = 1``). It is
imported in its own restricted process, the probe, which describes it; in the processes where its methods run; and in
the judge if a suite uses its data, prices or metrics. So it must import quickly: import NumPy if you must, and
scikit-learn, numba or pandas inside ``fit`` and ``load``.

Commands are in a separate module, in the group ``budgetbench.commands``. Each entry point is named after a command that
the module adds or adds options to. The module is imported when that command is called::

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

# Types of ``register``, the argument of registering hooks: it takes name and class, or an object with a name.
RegisterDataset: TypeAlias = "Callable[[str, type[DataSource]], None]"
RegisterCostScheme: TypeAlias = "Callable[[str, type[CostScheme]], None]"
RegisterMethod: TypeAlias = "Callable[[str, type[Method]], None]"
RegisterMetric: TypeAlias = "Callable[[Metric], None]"
RegisterSuiteSection: TypeAlias = "Callable[[SuiteSection], None]"
RegisterExecutor: TypeAlias = "Callable[[str, Callable[[Any], None]], None]"


OWNERS = {
    **dict.fromkeys(("tables", "figures", "paper", "grid_ends"), "budgetbench-leaderboard"),
    "claims": "budgetbench-claims",
    "comparison": "budgetbench-comparison",
}
"""Sections in the suites of this repository → the distribution that owns them.

If this distribution is not installed, the section is not read. Any other key that no plugin owns is an error.
"""

Place = tuple[Any, ...]


@dataclass(frozen=True)
class SectionRules:
    """The rules for the contents of a section.

    Attributes:
        model: the section's type, which pydantic validates, such as ``list[Claim]``.
        check: called with the `bench_core.suites.Suite` and the validated value after everything else in the suite is
            checked. It returns the metrics that the section needs in every record, or raises `RequestError`, naming
            file and key.
        tables: keys within the section → the pydantic model of that table, for hints about a wrong key.
        kinds: kinds of entries, for hints about a wrong ``kind``.
        place: converts pydantic's location of an error to (the location in the file, its model or None).
    """

    model: Any
    check: Callable[[Any, Any], Mapping[str, Metric]]
    tables: Mapping[str, type[Any]] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    place: Callable[[Place], tuple[Place, type[Any] | None]] = lambda place: (place, None)


@dataclass(frozen=True)
class SuiteSection:
    """A top-level key of suite files that a plugin owns.

    Attributes:
        key: the key.
        define: returns its rules; called when the first suite is read.
    """

    key: str
    define: Callable[[], SectionRules]

    @cached_property
    def rules(self) -> SectionRules:
        """The rules for the section's contents."""
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
    """Register sections of suite files that this plugin owns and validates (`SuiteSection`).

    Example: ``register(SuiteSection("claims", lambda: SectionRules(list[Claim], check_claims)))``.
    """


@hookspec
def bench_register_executors(register: RegisterExecutor) -> None:
    """Register executors. An executor is called with `bench_core.execution.Work` and returns when all trials are noted.

    Example::

        @hookimpl
        def bench_register_executors(register):
            register("backwards", run_backwards)

        def run_backwards(work):
            with closing(Worker(work.settings, work.cache.registry, work.cache)) as worker:
                for planned in reversed(work.todo):
                    work.note(worker.run(planned))
    """


@hookspec
def bench_register_commands(group: click.Group) -> None:
    """Add commands to ``bench``, or options to its commands. Only modules in ``budgetbench.commands`` may implement it.

    Called once: when help is shown, or when a command is called that has the name of one of the module's entry points.

    An option added to ``bench run`` reaches `bench_run_finished` as ``run.options``.

    Example::

        @hookimpl
        def bench_register_commands(group):
            group.add_command(my_command)
    """


@hookspec
def bench_add_hookspecs(manager: pluggy.PluginManager) -> None:
    """Add hook specs of this plugin, which other plugins may implement (with ``@hookimpl(optionalhook=True)``).

    Called once when the plugin is loaded, before the core checks that every hook is known.

    Example::

        @hookimpl
        def bench_add_hookspecs(manager):
            manager.add_hookspecs(bench_mine.hookspecs)
    """


@hookspec(firstresult=True)
def bench_known_trials(session: Any) -> Any:
    """Return finished trials of a suite that are not in the store, such as published ones.

    Called whenever a suite is planned. The first answer that is not None is used.

    Args:
        session: the `bench_core.suites.SuiteSession`.

    Returns:
        A `bench_core.suites.KnownTrials`, or an object with its attributes; or None.

    Example::

        class Mirrored(KnownTrials):
            done = frozenset(path.stem for path in Path("records").glob("*.json"))

        @hookimpl
        def bench_known_trials(session):
            return Mirrored()
    """


@hookspec
def bench_run_finished(run: Any) -> Any:
    """Use a run's records, for instance to write a page. Called when all trials of ``bench run`` are done.

    Args:
        run: the `bench_core.suites.FinishedRun`.

    Returns:
        A line for the user, such as the path of a page; a line with a table of results
        (`bench_core.suites.Written`); or None.

    Raises:
        DamagedRecordsError: records are damaged. They are computed again, then the hook is called again.
        RequestError: nothing was written; ``bench run`` shows why and exits with 2.

    Example::

        @hookimpl
        def bench_run_finished(run):
            return f"{run.session.suite.name} is done"
    """
