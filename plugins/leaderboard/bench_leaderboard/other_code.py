"""Whether the kept records of a run were made by the installed code."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench_core.suites import FinishedRun, Planned

__all__ = ["other_code"]

_NAMED = 3


def other_code(run: FinishedRun) -> str:
    """A line on methods whose first record in the plan was made by other code than is installed; empty without any.

    A developer who edits a method sees its old results, unless its ``version`` is raised. One record of each method is
    read, because a run that computes nothing should not read all of them; ``bench plan`` counts.
    """
    session = run.session
    first: dict[str, Planned] = {}
    for planned in run.plan.planned:
        if planned.state == "done":
            first.setdefault(planned.trial.method, planned)
    other = []
    for method, planned in first.items():
        record = session.store.read(planned.name, attachment=False)
        provenance = record["provenance"] if record else session.known.provenance(planned.name)
        if not session.registry.plugin_of("methods", planned.trial.method_use).made(provenance):
            other.append(method)
    if not other:
        return ""
    more = f" and {len(other) - _NAMED} more" if len(other) > _NAMED else ""
    return (
        f"records of {', '.join(other[:_NAMED])}{more} were made by other code than is installed: bench plan counts "
        "them; raise the method's version to compute them again"
    )
