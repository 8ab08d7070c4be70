"""The methods ``aaco`` and ``greedy-cmi``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Predicate

from bench_core import Family, Method, Problem, RegisterMethod, distinct, hookimpl

if TYPE_CHECKING:
    from bench_aaco.oracle import Oracle

__all__ = ["AACO", "GreedyCMI"]


BENCH_CONTRACT_VERSION = 1

_LEAST_COPIES, _MOST_MASKED = 4, 60_000
"""Bounds of the training set: the time to fit grows with its rows, and a large table needs fewer copies of each."""


@dataclass(frozen=True)
class AACO(Method):
    """Acquisition conditioned oracle: a look-ahead over the training rows nearest in the acquired features.

    Let o be the features that a row has acquired. Its k nearest training rows in o stand in for the row: among the
    candidate sets u of further features, the method finds the set that minimises the predictor's mean log loss on the
    neighbours' x_{o∪u}, plus λ · price(u). If u is empty, the row is classified by the same predictor. Otherwise it
    acquires the feature of u whose removal raises the loss most, per price, and looks ahead again. Candidates are all
    single features and random sets, drawn once from the problem's seed. When nothing is known, all training rows count.

    Attributes:
        lambdas: trade-offs λ ≥ 0, in nats per price of all features; when empty, they are chosen by ``spacing``.
        count: number of λ chosen when ``lambdas`` is empty.
        spacing: ``log``: λ are evenly spaced in log; at the lowest, all features cost a thousandth of the log loss of
            the class frequencies; at the highest, the cheapest feature costs all of it. ``cost``: from 0 to where
            nothing is bought, so that the policies' costs are evenly spread (`bench_models.tradeoff`).
        neighbours: number k of nearest training rows.
        subsets: number of random candidate sets.
        reference_rows: most training rows among which neighbours are searched; a random sample when there are more.
        predictor: ``trees``: LightGBM on masked copies of the training rows; ``neural``: the network of
            budgetbench-neural, which must be installed.
        masked_copies: masked copies of each training row; fewer, down to four, where that would be more than 60,000
            rows.
        passes: how often the trees are trained again, with three quarters of the copies masked to the features that the
            policy has bought for the row by a random step.
        n_estimators, max_leaf_nodes, learning_rate, min_samples_leaf: parameters of LightGBM's trees.

    Source: Valancius, Lennon, Oliva, Acquisition conditioned oracle for nongreedy active feature acquisition, ICML
    2024, Algorithm 1.
    """

    version: ClassVar[int] = 4
    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "multiclass"})
    takes_missing: ClassVar[bool] = True
    lambdas: Annotated[tuple[Annotated[float, Ge(0)], ...], Predicate(distinct)] = ()
    count: Annotated[int, Ge(2)] = 10
    spacing: Literal["log", "cost"] = field(default="log", metadata={"omit_default": True})
    neighbours: Annotated[int, Ge(1)] = 5
    subsets: Annotated[int, Ge(0)] = 100
    reference_rows: Annotated[int, Ge(1)] = 2000
    predictor: Literal["trees", "neural"] = "trees"
    masked_copies: Annotated[int, Ge(1)] = 20
    passes: Annotated[int, Ge(0)] = 2
    n_estimators: Annotated[int, Ge(1)] = 50
    max_leaf_nodes: Annotated[int, Ge(2)] = 16
    learning_rate: Annotated[float, Gt(0)] = 0.1
    min_samples_leaf: Annotated[int, Ge(1)] = 5

    def fit(self, problem: Problem) -> Family:
        """Fit the predictor on the training part; the default policy is the λ with the best validation score."""
        from bench_aaco.lambdas import in_cost, in_log, policy_at
        from bench_core import default_policy_first, validation_score

        # A copy, because it remembers losses: the time of a fit must not depend on other fits.
        oracle = replace(problem.shared(("aaco", self._key()), lambda: self._oracle(problem)))
        automatic = in_log if self.spacing == "log" else partial(in_cost, problem)
        lambdas = sorted(set(self.lambdas)) or automatic(oracle, self.count)
        policies = [policy_at(oracle, lambda_) for lambda_ in lambdas]
        rows = problem.validation.rows()
        scores = [validation_score(problem, policy.decide(rows)) for policy in policies]
        return Family(default_policy_first(policies, scores), diagnostics={"lambdas": lambdas})

    def _oracle(self, problem: Problem) -> Oracle:
        """Fit the predictor and the look-ahead, which all λ share."""
        from bench_models.partial import fit_installed, fit_masked_trees

        from bench_aaco.candidates import units_of
        from bench_aaco.fitting import fit_oracle, learn

        look_ahead = partial(
            fit_oracle, problem,
            neighbours=self.neighbours, subsets=self.subsets, reference_rows=self.reference_rows,
        )  # fmt: skip
        unit = units_of(problem)
        if self.predictor != "trees":
            return look_ahead(predictor=fit_installed(self.predictor, problem, unit))
        fit_trees = partial(
            fit_masked_trees, problem, unit, n_estimators=self.n_estimators, max_leaf_nodes=self.max_leaf_nodes,
            learning_rate=self.learning_rate, min_samples_leaf=self.min_samples_leaf,
        )  # fmt: skip
        copies = min(self.masked_copies, max(_LEAST_COPIES, _MOST_MASKED // max(len(problem.train), 1)))
        return learn(problem, fit_trees, look_ahead, copies, self.passes)

    def _key(self) -> tuple[object, ...]:
        """The parameters that the look-ahead depends on."""
        return tuple(value for name, value in vars(self).items() if name not in ("lambdas", "count", "spacing"))


@dataclass(frozen=True)
class GreedyCMI(AACO):
    """Greedy conditional mutual information: the look-ahead of AACO over single features only.

    A row acquires the feature of greatest expected fall of the log loss among the nearest training rows, minus
    λ · price. This fall estimates the feature's conditional mutual information with the class.

    Source: the baseline of Covert et al., ICML 2023, and Gadgil et al., ICLR 2024; here with nearest neighbours in the
    place of a generative model.
    """

    version: ClassVar[int] = 3
    subsets: Annotated[int, Ge(0)] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.subsets:
            raise ValueError(f"subsets must be 0, not {self.subsets}: greedy-cmi looks at single features; use aaco")


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """Register ``aaco`` and ``greedy-cmi``."""
    register("aaco", AACO)
    register("greedy-cmi", GreedyCMI)


@hookimpl(optionalhook=True)
def bench_policy_types() -> list[type]:
    """Return the types that a saved policy contains."""
    from bench_models.partial import Candidates, MaskedTrees, installed_types
    from bench_models.trees import FlatTrees

    from bench_aaco.oracle import Oracle, Prices
    from bench_aaco.policy import OraclePolicy

    return [OraclePolicy, Oracle, Prices, Candidates, MaskedTrees, FlatTrees, *installed_types()]
