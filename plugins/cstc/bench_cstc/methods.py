"""The methods ``cstc``, ``cscc``, ``cronus`` and ``single-cost-sensitive`` (Xu et al., JMLR 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from annotated_types import Interval

from bench_core import Family, Problem
from bench_cstc.parameters import TreeParameters

__all__ = ["CSCC", "CSTC", "Cronus", "SingleCostSensitive", "TreeMethod"]


class TreeMethod(TreeParameters):
    """A family of trees, one per λ."""

    def fit(self, problem: Problem) -> Family:
        """One policy per λ; the first is the best on validation.

        Raises:
            ValueError: features have missing values with ``linear`` (the message names them), targets are not numbers,
                or class weights are given for a regression.
        """
        from bench_cstc.fitting import fit_family

        return fit_family(self, problem)


@dataclass(frozen=True)
class CSTC(TreeMethod):
    """Cost-sensitive tree of classifiers: linear scores send rows to leaves that acquire different features.

    CSTC's Algorithm 1: top-down initialisation, pruning on validation (or greedy building), block coordinate descent on
    Eq. 12 (Eq. 22 with boosted trees), fine-tuning. The loss is squared. The targets are values, grades, or ±1 for two
    classes; with more classes, each is fitted against the rest. Probabilities come from Platt's sigmoid, fitted on
    validation and normalised over classes.

    Attributes:
        levels: levels of the tree of classifiers, 1 to 10; 1 is a single classifier.
        structure: ``prune``: prune the full tree on validation (§3.6.1); ``greedy``: build it from the root (§3.6.2);
            ``full``: keep all nodes.

    The other parameters are those of `TreeParameters`.
    """

    levels: Annotated[int, Interval(ge=1, le=10)] = 4
    structure: Literal["prune", "greedy", "full"] = "prune"


@dataclass(frozen=True)
class CSCC(TreeMethod):
    """Cost-sensitive cascade of classifiers: rows below a stage's threshold leave there (CSCC, Xu et al. 2014, Eq. 19).

    A stage's loss is that of the rows that leave there, weighted by class. Otherwise as ``cstc``.

    Attributes:
        stages: number of stages, 1 to 50; 1 is a single classifier.
        structure: as for ``cstc``.

    The other parameters are those of `TreeParameters`.
    """

    variant: ClassVar[Literal["cstc", "cscc", "cronus"]] = "cscc"
    stages: Annotated[int, Interval(ge=1, le=50)] = 5
    structure: Literal["prune", "greedy", "full"] = "prune"

    @property
    def levels(self) -> int:
        return self.stages


@dataclass(frozen=True)
class Cronus(CSCC):
    """Cascade whose cost scales a stage's weights by the share of rows that reach it (Cronus, §4.1; Chen et al. 2012).

    Otherwise as ``cscc``, with its parameters.
    """

    variant: ClassVar[Literal["cstc", "cscc", "cronus"]] = "cronus"


@dataclass(frozen=True)
class SingleCostSensitive(TreeMethod):
    """Single cost-sensitive classifier: the tree of one node (Xu et al. 2014, Eq. 1 with the relaxed cost).

    The parameters are those of `TreeParameters`; those of branching have no effect.
    """

    @property
    def levels(self) -> int:
        return 1
