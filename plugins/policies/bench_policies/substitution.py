"""Ask a policy without ``next_features`` step by step, by substituting values for unknown features.

Unknown values are filled in from background rows, and the policy decides on each filled row. An honest policy's answer
does not depend on features that it has not acquired. So if it acquires only known features for at least one filling,
that answer is final. Otherwise the features that the most fillings acquire are asked for. The answer equals that of
``decide``; the bill may be larger.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench_core import Decisions, Policy, Rows
from bench_core.execution import background_of

__all__ = ["AskedBySubstitution", "background_of"]


@dataclass(frozen=True, eq=False)
class AskedBySubstitution(Policy):
    """A policy made askable by substitution. It may ask for more features than the policy's answer needs.

    Attributes:
        policy: the policy that decides.
        background: float64 (fillings, columns), from `background_of`.
        feature_of_column: int64 (columns,).
    """

    policy: Policy
    background: NDArray[np.float64]
    feature_of_column: NDArray[np.int64]

    def decide(self, rows: Rows) -> Decisions:
        """Decide as the wrapped policy does."""
        return self.policy.decide(rows)

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the features to ask for, bool (rows, features): those that the most fillings acquire.

        A row gets none if the policy acquires only known features for one of its fillings.
        """
        fillings, count = len(self.background), len(rows)
        if not count:
            return np.zeros_like(known)
        shown = known[:, self.feature_of_column]
        X = np.where(shown[:, None, :], rows.X[:, None, :], self.background[None, :, :])
        repeated = rows.take(np.repeat(np.arange(count), fillings))
        acquired = self.policy.decide(repeated.having(X.reshape(count * fillings, -1))).acquired
        missing = acquired.reshape(count, fillings, -1) & ~known[:, None, :]
        answered = np.logical_not(missing.any(axis=2)).any(axis=1)
        votes = missing.sum(axis=1)
        wanted = (votes == votes.max(axis=1, keepdims=True)) & (votes > 0)
        wanted[answered] = False
        return np.asarray(wanted)
