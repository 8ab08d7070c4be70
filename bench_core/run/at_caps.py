"""What policies answer under hard budgets: every row is cut where it would cost more than a cap.

Policies are asked before they decide on complete rows, lower caps first: a process that answers at a cap has seen no
value of these rows that a policy of its family did not buy under this cap or a lower one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.decisions import Decisions, Outcome
from bench_core.contract.method import Policy, Problem, can_be_asked
from bench_core.protocol.cap import Capped, background_of
from bench_core.protocol.prepare import Shown

__all__ = ["Cuts", "at_caps", "cut_at_caps"]

_MOST = 32
"""Policies of a family that are cut; of larger ones as many, evenly spaced."""

Cuts = Mapping[tuple[int, str], Mapping[int, NDArray[np.int64]]]
"""(policy, part) → cap → int64 (rows,): the class that a cut row gets; −1 for a row that stays under the cap."""


def cut_at_caps(policies: Sequence[Policy], caps: Sequence[int], problem: Problem, shown: Mapping[str, Shown]) -> Cuts:
    """Ask the policies that can be asked under each cap, and answer the rows that are cut.

    Args:
        policies: a family's.
        caps: ascending.
        problem: prices, and the training part that stands for unknown values.
        shown: the parts as policies see them.
    """
    asked = [number for number, policy in enumerate(policies) if caps and can_be_asked(policy)]
    if len(asked) > _MOST:
        asked = [asked[place] for place in np.linspace(0, len(asked) - 1, _MOST).round().astype(int)]
    columns = problem.feature_of_column
    background = background_of(np.where(np.isnan(problem.train.X), 0.0, problem.train.X), columns, problem.seed)
    known: dict[tuple[int, str], NDArray[np.bool_] | None] = {}
    cuts: dict[tuple[int, str], dict[int, NDArray[np.int64]]] = {}
    for cap in caps:
        for number in asked:
            capped = Capped(policies[number], cap, problem.costs, background, columns)
            for part, seen in shown.items():
                bought, cut = capped.buy(seen.rows, known.get((number, part)))
                known[number, part] = bought
                labels = np.full(len(cut), -1, dtype=np.int64)
                over = np.flatnonzero(cut)
                if len(over):
                    answer = capped.answer(seen.rows.take(over), bought[over])
                    answer = Decisions.exact(answer).checked(len(over), problem.n_features, problem.n_classes)
                    if answer.probabilities is not None:
                        labels[over] = answer.probabilities.argmax(axis=1)
                cuts.setdefault((number, part), {})[cap] = labels[seen.place]
    return cuts


def at_caps(outcome: Outcome, caps: Sequence[int], cuts: Mapping[int, NDArray[np.int64]]) -> Outcome:
    """The outcome with what is answered at each cap: own answers of rows under it, and those of the cut rows.

    A cap is left out if rows are over it and the policy was not cut.
    """
    labels = {}
    for cap in caps:
        cut = cuts.get(cap)
        if cut is not None:
            labels[cap] = np.where(cut >= 0, cut, outcome.label)
        elif (outcome.bill <= cap * (1 + 1e-9)).all():
            labels[cap] = outcome.label
    return replace(outcome, at_caps=labels)
