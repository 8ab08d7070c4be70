"""The contract of methods as a list of checks. Each is a function of a method and a task, from a ``checks_`` module."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench_core.contract.facts import ALL_TASKS, Task
from bench_core.contract.method import Method
from bench_core.testing import checks_decide, checks_declared, checks_fit, checks_unusual

__all__ = ["CHECKS", "Check"]

CLASSIFICATION = frozenset({"binary", "multiclass"})


@dataclass(frozen=True)
class Check:
    """One check of the contract.

    Attributes:
        name: its name in test ids and in ``skip``.
        run: raises when the contract is broken; the message says how.
        per_task: whether it is run for every task of the method.
        tasks: the tasks it makes sense for.
    """

    name: str
    run: Callable[[Method, Task], None]
    per_task: bool = True
    tasks: frozenset[str] = ALL_TASKS

    @property
    def summary(self) -> str:
        """The first line of the check's docstring."""
        return (self.run.__doc__ or "").strip().splitlines()[0]


CHECKS: tuple[Check, ...] = (
    Check("declaration", checks_declared.check_declaration, per_task=False),
    Check("parameters", checks_declared.check_parameters, per_task=False),
    Check("unknown-parameter", checks_declared.check_unknown_parameter, per_task=False),
    Check("family", checks_fit.check_family),
    Check("determinism", checks_fit.check_determinism),
    Check("global-random-state", checks_fit.check_global_random_state),
    Check("threads", checks_fit.check_threads),
    Check("problem-unchanged", checks_fit.check_problem_unchanged),
    Check("shapes", checks_decide.check_shapes),
    Check("audit", checks_decide.check_audit),
    Check("bill", checks_decide.check_bill),
    Check("one-row", checks_decide.check_one_row),
    Check("no-rows", checks_decide.check_no_rows),
    Check("row-order", checks_decide.check_row_order),
    Check("batch-size", checks_decide.check_batch_size),
    Check("no-trace", checks_decide.check_no_trace),
    Check("pickling", checks_decide.check_pickling),
    Check("rows-unchanged", checks_decide.check_rows_unchanged),
    Check("next-features", checks_decide.check_next_features),
    Check("zero-prices", checks_unusual.check_zero_prices),
    Check("constant-features", checks_unusual.check_constant_features),
    Check("one-hot", checks_unusual.check_one_hot),
    Check("groups", checks_unusual.check_groups),
    Check("one-feature", checks_unusual.check_one_feature),
    Check("tiny", checks_unusual.check_tiny),
    Check("item-sizes", checks_unusual.check_item_sizes),
    Check("missing-values", checks_unusual.check_missing_values),
    Check("no-threshold", checks_unusual.check_no_threshold, tasks=CLASSIFICATION),
    Check("missing-class", checks_unusual.check_missing_class, tasks=CLASSIFICATION),
)
