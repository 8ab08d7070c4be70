"""The methods that grow one tree per setting: EG2, IDX, CS-ID3 and a C4.5-like tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Interval, MinLen

from bench_core import Family, Method, Problem
from bench_cost_trees.criteria import Criterion
from bench_cost_trees.family import grower_of, ordered, policy_of
from bench_cost_trees.induction import Limits, grow_compiled
from bench_cost_trees.prices import mean_prices
from bench_cost_trees.pruning import pruned

__all__ = ["C45", "CSID3", "EG2", "IDX"]


_Share = Annotated[float, Interval(gt=0, le=1)]


@dataclass(frozen=True)
class _TreeMethod(Method):
    """A tree grown top-down and pruned. The family is one policy per setting of the criterion × confidence factor.

    Attributes:
        confidence_factors: confidence factors CF of pessimistic pruning, in (0, 1]; smaller values usually prune more.
            C4.5's default is 0.25.
        max_depth: most tests on a path; no limit when None.
        min_samples_split: fewest training rows of a node that is split.
        min_samples_leaf: fewest training rows with a known value on either side of a split.
        fit_on: rows to learn from. ``training`` learns from the training part and orders the family by validation
            score; ``both`` learns from the training and validation parts and keeps the order of the settings.
    """

    tasks: ClassVar[frozenset[Any]] = frozenset({"binary", "multiclass"})
    takes_missing: ClassVar[bool] = True

    confidence_factors: Annotated[tuple[_Share, ...], MinLen(1)] = (0.25, 0.05, 0.01, 0.001)
    max_depth: Annotated[int, Ge(1)] | None = None
    min_samples_split: Annotated[int, Ge(2)] = 2
    min_samples_leaf: Annotated[int, Ge(1)] = 2
    fit_on: Literal["training", "both"] = "training"

    def criteria(self) -> list[tuple[str, Criterion]]:
        """Labels and criteria, one pair per setting."""
        raise NotImplementedError

    def by_path(self) -> bool:
        """Whether the price of a test depends on the tests above it."""
        return True

    def fit(self, problem: Problem) -> Family:
        """Grow a tree per setting of the criterion; prune it at every confidence factor."""
        grower, prices = grower_of(problem, self.fit_on), mean_prices(problem)
        limits = Limits(self.max_depth, self.min_samples_split, self.min_samples_leaf)
        policies = []
        nodes = []
        for setting, criterion in self.criteria():
            rows = np.arange(len(grower.y))
            tree = grow_compiled(grower, rows, criterion, prices, limits, by_path=self.by_path())
            nodes.append(len(tree))
            for confidence in self.confidence_factors:
                details: dict[str, Any] = {"confidence_factor": confidence}
                if setting:
                    details["omega"] = criterion.omega
                label = ", ".join([*([setting] if setting else []), f"CF={confidence:g}"])
                policies.append(policy_of(problem, pruned(tree, confidence), label, details))
        return Family(ordered(problem, policies, self.fit_on), diagnostics={"nodes": max(nodes)})


@dataclass(frozen=True)
class _PricedTreeMethod(_TreeMethod):
    """A tree whose criterion depends on prices."""

    prices: Literal["first", "path"] = "first"

    def by_path(self) -> bool:
        return self.prices == "path"


@dataclass(frozen=True)
class EG2(_PricedTreeMethod):
    """A decision tree whose tests maximise (2^ΔI − 1) / (C + 1)^ω (EG2, Núñez 1991).

    ΔI is the information gain in bits, C the price of the test. The family has one policy per ω × confidence factor.

    Attributes:
        omegas: exponents ω in [0, 1]; 0 ignores prices, and Turney's experiments use 1.
        prices: the price C of a test. ``first`` is always the price of a first test, as in Turney 1995. ``path`` takes
            the tests above it into account: a repeated test is free, and a test in a paid group costs less.
        confidence_factors, max_depth, min_samples_split, min_samples_leaf, fit_on: as for ``c45``.
    """

    omegas: Annotated[tuple[Annotated[float, Interval(ge=0, le=1)], ...], MinLen(1)] = (1.0, 0.75, 0.5, 0.25, 0.0)

    def criteria(self) -> list[tuple[str, Criterion]]:
        return [(f"omega={omega:g}", Criterion("eg2", omega)) for omega in self.omegas]


@dataclass(frozen=True)
class IDX(_PricedTreeMethod):
    """A decision tree whose tests maximise ΔI / C (IDX, Norton 1989; without its look-ahead).

    ΔI is the information gain in bits, C the price of the test; a free test with a gain precedes all priced ones.
    The family has one policy per confidence factor.

    Attributes:
        prices: the price C of a test. ``first`` is always the price of a first test, as in Turney 1995. ``path`` takes
            the tests above it into account: a repeated test is free, and a test in a paid group costs less. With
            ``path``, a path tests its first feature again for as long as there is any gain.
        confidence_factors, max_depth, min_samples_split, min_samples_leaf, fit_on: as for ``c45``.
    """

    def criteria(self) -> list[tuple[str, Criterion]]:
        return [("", Criterion("idx"))]


@dataclass(frozen=True)
class CSID3(_PricedTreeMethod):
    """A decision tree whose tests maximise ΔI² / C (CS-ID3, Tan and Schlimmer 1990; without its lazy evaluation).

    ΔI is the information gain in bits, C the price of the test; a free test with a gain precedes all priced ones.
    The family has one policy per confidence factor.

    Attributes:
        prices: the price C of a test. ``first`` is always the price of a first test, as in Turney 1995. ``path`` takes
            the tests above it into account: a repeated test is free, and a test in a paid group costs less. With
            ``path``, a path tests its first feature again for as long as there is any gain.
        confidence_factors, max_depth, min_samples_split, min_samples_leaf, fit_on: as for ``c45``.
    """

    def criteria(self) -> list[tuple[str, Criterion]]:
        return [("", Criterion("cs-id3"))]


@dataclass(frozen=True)
class C45(_TreeMethod):
    """A C4.5-like decision tree by information gain ratio, with pessimistic pruning; it ignores prices.

    Tests are thresholds on single columns. The family has one policy per confidence factor.

    Attributes:
        criterion: the score of a test: ``gain-ratio``, among tests whose gain is at least the mean gain, or ``gain``.
        confidence_factors: confidence factors CF of pessimistic pruning, in (0, 1]; smaller values usually prune more.
            C4.5's default is 0.25.
        max_depth: most tests on a path; no limit when None.
        min_samples_split: fewest training rows of a node that is split.
        min_samples_leaf: fewest training rows with a known value on either side of a split.
        fit_on: rows to learn from. ``training`` learns from the training part and orders the family by validation
            score; ``both`` learns from the training and validation parts and keeps the order of the settings.

    Source: Quinlan 1993.
    """

    criterion: Literal["gain-ratio", "gain"] = "gain-ratio"

    def criteria(self) -> list[tuple[str, Criterion]]:
        return [("", Criterion(self.criterion))]
