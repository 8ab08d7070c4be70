"""Steps common to the methods of this plugin: the training table, and the order of the policies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from bench_core import Problem, default_policy_first, validation_score
from bench_cost_trees.induction import Grower
from bench_cost_trees.policy import TreePolicy
from bench_cost_trees.tree import Tree

__all__ = ["FitOn", "grower_of", "ordered", "policy_of"]

FitOn = Literal["training", "both"]


def grower_of(problem: Problem, fit_on: FitOn) -> Grower:
    """The table that trees are grown on: the training part, followed by the validation part for ``both``.

    Raises:
        ValueError: the task has no classes.
    """
    if not problem.n_classes:
        raise ValueError(f"cost-sensitive trees classify; the task {problem.task!r} has no classes")
    X, y = problem.train.X, problem.train.y
    if fit_on == "both":
        X, y = np.concatenate([X, problem.validation.X]), np.concatenate([y, problem.validation.y])
    return Grower.of(X, y, problem.n_classes, problem.feature_of_column)


def policy_of(problem: Problem, tree: Tree, label: str, details: dict[str, Any]) -> TreePolicy:
    """A policy that decides by a tree; adds the tree's size to the details."""
    tested = np.unique(problem.feature_of_column[tree.column[tree.column >= 0]])
    details = {**details, "leaves": int((tree.left < 0).sum()), "features": len(tested)}
    return TreePolicy(tree, problem.feature_of_column, problem.n_features, label, details)


def ordered(problem: Problem, policies: Sequence[TreePolicy], fit_on: FitOn) -> list[TreePolicy]:
    """Policies with the best on validation first; in the given order if validation rows were used for training."""
    if fit_on == "both":
        return list(policies)
    rows = problem.validation.rows()
    return default_policy_first(policies, [validation_score(problem, policy.decide(rows)) for policy in policies])
