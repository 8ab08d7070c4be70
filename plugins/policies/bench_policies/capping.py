"""Cut the policies of a method at a cap, the most that the features of any row may cost; fit the chosen one again."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field, replace

import numpy as np

from bench_core import Family, Method, Part, Policy, Problem, as_family
from bench_core.execution import Capped, background_of, can_be_asked
from bench_policies.goals import within
from bench_policies.substitution import AskedBySubstitution

__all__ = ["CappedMethod", "capped", "refitted"]


def capped(policy: Policy, cap: float, problem: Problem) -> Policy:
    """Return a policy cut at a cap.

    Args:
        policy: the policy; one that cannot be asked step by step is asked by substitution.
        cap: the most that the features of a row may cost.
        problem: what the policy was fitted on, for the prices and the background rows.
    """
    columns = np.array(problem.feature_of_column)
    background = background_of(problem.train.X, problem.feature_of_column, problem.seed)
    if not can_be_asked(policy):
        policy = AskedBySubstitution(policy, background, columns)
    return Capped(policy, cap, problem.costs, background, columns, policy.label, dict(policy.details))


@dataclass(frozen=True)
class CappedMethod(Method):
    """A method whose policies are cut at a cap; it runs in this process only.

    Attributes:
        method: the method.
        cap: the most that the features of a row may cost.
    """

    method: InitVar[Method]
    cap: float
    _method: Method = field(init=False, repr=False)

    def __post_init__(self, method: Method) -> None:
        object.__setattr__(self, "_method", method)

    def fit(self, problem: Problem) -> Family:
        """Fit the method, and cut every policy of its family."""
        family = as_family(self._method.fit(problem), type(self._method).__name__)
        return replace(
            family, policies=[capped(policy, self.cap, problem) for policy in family.policies], reference=None
        )


def refitted(method: Method, policy: Policy, problem: Problem, cap: float | None = None) -> Policy:
    """Return a policy fitted again on training and validation rows if its method offers ``refitted``; else unchanged.

    ``refitted(policy, problem)`` returns the same operating point with the same settings, fitted on more rows. The
    validation rows have already chosen the policy, so it may train on them. With a cap, the policy is unchanged if more
    of these rows would exceed it after refitting.
    """
    again = getattr(method, "refitted", None)
    if again is None:
        return policy
    train, validation = problem.train, problem.validation
    X, y = np.concatenate([train.X, validation.X]), np.concatenate([train.y, validation.y])
    known = [part.sizes for part in (train, validation) if part.sizes is not None]
    fitted: Policy = again(policy, replace(problem, train=Part(X, y, np.concatenate(known) if known else None)))
    if cap is not None and _above(fitted, problem, cap) > _above(policy, problem, cap):
        return policy  # it may choose a set above the cap, which would buy nothing
    return fitted


def _above(policy: Policy, problem: Problem, cap: float) -> int:
    """The number of validation rows that would cost more than a cap."""
    acquired = policy.decide(problem.validation.rows()).acquired
    return sum(not within(float(bill), cap) for bill in problem.costs.bill(acquired, problem.validation.sizes))
