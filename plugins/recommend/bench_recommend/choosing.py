"""Choose the recommended method from the results of a race.

The best of many noisy means is partly luck: of k equally good methods, any may have the best mean, which is expected to
be about s · √(2 ln k) above the truth; s is the standard error of a mean. So if the goal is the best quality within a
budget or a cap, one method is the default, chosen before any data is seen, and another one is recommended only if it is
better by more than the paired 95 % interval. That is a hard form of shrinkage towards the default (James and Stein,
Estimation with quadratic loss, 1961): if methods truly differ by less than the interval, as they mostly do on small
tables, choosing the best mean adds variance and gains nothing. The default is the stack of `affordable-subset`, because
it contains the models that a practitioner would fit (LightGBM, logistic regression).

For an accuracy at least cost, or the least total of prices and errors, the best mean is chosen: under these goals,
policies that buy row by row differ from fixed sets by more than noise. For the best quality at any price, the
cheapest method on the decision rows is chosen of those that do not differ from the best one by more than the interval.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bench_policies.goals import Goal

from bench_recommend.race import Candidate, behind, is_default, prefers_default

__all__ = ["equals", "preferred", "ranked"]


def ranked(finished: Sequence[Candidate]) -> list[Candidate]:
    """Return the methods with a result: first those that were not stopped, by mean value, then the others.

    The mean value is over the splits on which all methods that were not stopped have a result.
    """
    left = [candidate for candidate in finished if candidate.status == "tried"]
    common = min((len(candidate.values) for candidate in left), default=1)
    stopped = [candidate for candidate in finished if candidate.status != "tried"]
    return [
        *sorted(left, key=lambda one: -float(np.mean(one.values[:common]))),
        *sorted(stopped, key=lambda one: (-len(one.chosen), -float(np.mean(one.values)))),
    ]


def preferred(order: Sequence[Candidate], goal: Goal) -> Candidate | None:
    """Return the method to recommend; None if there is no method.

    Args:
        order: from `ranked`.
        goal: the goal.
    """
    if not order:
        return None
    alike = [order[0], *equals(order[0], order, goal)]
    if goal == Goal(measure=goal.measure, class_shares=goal.class_shares):
        return min(alike, key=lambda candidate: float(np.mean([judged.cost for judged in candidate.decided])))
    if prefers_default(goal):
        return next((candidate for candidate in alike if is_default(candidate)), order[0])
    return order[0]


def equals(best: Candidate, finished: Sequence[Candidate], goal: Goal) -> list[Candidate]:
    """Return the others that were not stopped, met the goal as often and differ by at most the paired interval."""
    equal = []
    for candidate in finished:
        common = min(len(candidate.values), len(best.values))
        if candidate is best or candidate.status != "tried" or sum(candidate.met[:common]) != sum(best.met[:common]):
            continue
        mean, half = behind(best, candidate, common, goal)
        if abs(mean) <= half:
            equal.append(candidate)
    return equal
