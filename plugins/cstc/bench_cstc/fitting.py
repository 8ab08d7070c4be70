"""From a problem to a family of policies: targets, columns, trees along λ, calibration, diagnostics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from bench_models.columns import Boosting, Columns, PlainColumns, boost, price_of_evaluation
from bench_models.linear import ConstantPolicy, fit_platt
from bench_models.penalty import Penalty
from bench_models.targets import Target, targets_of
from numpy.typing import NDArray

from bench_core import Costs, Family, Problem, default_policy_first, validation_score
from bench_cstc.criterion import leaf_overlap
from bench_cstc.family import FittedTree, fit_trees, lambda_max, rho_max
from bench_cstc.parameters import TreeParameters
from bench_cstc.structure import criterion_of
from bench_cstc.walker import TreePolicy, Walker

__all__ = ["fit_family", "purchases"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Fitted:
    """The trees of one target, one per λ, and their columns."""

    target: Target
    columns: Columns
    constant: float
    largest: float
    trees: list[FittedTree]
    stops_fine_tuning: bool = False


def fit_family(method: TreeParameters, problem: Problem) -> Family:
    """Fit one policy per λ; the first is the best on validation. See `bench_cstc.methods.TreeMethod.fit`."""
    targets = targets_of(problem, method.positive_weight)
    if method.features == "linear":
        from bench_models.linear import refuse_missing

        refuse_missing(problem)
    lambdas = sorted(method.lambdas)
    if not targets:
        return Family([ConstantPolicy.learnt(problem)], diagnostics={"constant": True})
    fits = [_fit_target(method, problem, target, lambdas) for target in targets]
    policies = {lambda_: _policy(problem, fits, i, lambda_) for i, lambda_ in enumerate(lambdas)}
    if not method.include_empty_policy and any(policy.details["features"] for policy in policies.values()):
        policies = {lambda_: policy for lambda_, policy in policies.items() if policy.details["features"]}
    rows = problem.validation.rows()
    # In a tie, the policy of the greatest λ comes first: there the objective charges most for features.
    scores = [(*validation_score(problem, policy.decide(rows)), lambda_) for lambda_, policy in policies.items()]
    history = {
        f"objective, lambda={lambda_:g}{_suffix(fit.target)}": fit.trees[i].run.values
        for fit in fits
        for i, lambda_ in enumerate(lambdas)
    }
    # 0 for a tree with fewer than three leaves, or with equal overlap of all leaves.
    history["leaf_overlap"] = [
        float(np.mean([leaf_overlap(_tree_details(fit, fit.trees[i])["nodes"]) or 0.0 for fit in fits]))
        for i in range(len(lambdas))
    ]
    diagnostics: dict[str, Any] = {
        "lambda_max": [fit.largest for fit in fits],
        "not_converged": [
            lambda_ for i, lambda_ in enumerate(lambdas) if not all(_ended(fit.trees[i]) for fit in fits)
        ],
    }
    if method.report_purchases:
        diagnostics |= purchases(
            lambdas, [[_tree_details(fit, fit.trees[i])["nodes"] for fit in fits] for i in range(len(lambdas))]
        )
    return Family(default_policy_first(list(policies.values()), scores), history=history, diagnostics=diagnostics)


def purchases(lambdas: Sequence[float], trees: Sequence[Sequence[list[dict[str, Any]]]]) -> dict[str, float | None]:
    """How many nodes below the root buy a new feature: the diagnostics of `TreeParameters.report_purchases`.

    Args:
        lambdas: the λ of the family.
        trees: for each λ, the nodes of each target's tree, as in a policy's details.

    Returns:
        ``new below the root, lambda=…``: share of the nodes below the root that read a feature which no node above them
        reads; ``new below the root``: the same over all λ. None if every tree has only its root.
    """
    shares: dict[str, float | None] = {}
    everywhere: list[bool] = []
    for lambda_, here in zip(lambdas, trees, strict=True):
        new = [answer for nodes in here for answer in _new_below(nodes)]
        shares[f"new below the root, lambda={lambda_:g}"] = float(np.mean(new)) if new else None
        everywhere += new
    return {"new below the root": float(np.mean(everywhere)) if everywhere else None, **shares}


def _new_below(nodes: list[dict[str, Any]]) -> list[bool]:
    """For every node below the root, whether it reads a feature that no node above it reads."""
    read: dict[int, set[int]] = {}
    new = []
    for node in nodes:
        above = read.get(node["name"] // 2, set())
        read[node["name"]] = above | set(node["features"])
        if node["name"] > 1:
            new.append(len(read[node["name"]]) > len(above))
    return new


def _ended(tree: FittedTree) -> bool:
    return tree.run.converged or tree.run.stopped


def _suffix(target: Target) -> str:
    return "" if target.code is None else f", class={target.code}"


def _fit_target(method: TreeParameters, problem: Problem, target: Target, lambdas: Sequence[float]) -> _Fitted:
    columns: Columns = PlainColumns.of(problem)
    constant = 0.0
    if method.features == "boosted":
        price = price_of_evaluation(problem, method.evaluation)
        how = Boosting(method.n_estimators, method.max_depth, method.learning_rate, price)
        boosted = boost(problem, target.y, how, target.weights)
        columns, constant = boosted, boosted.base
    costs = problem.costs if method.cost_terms != "evaluation" else Costs(np.zeros(problem.n_features))
    evaluation = columns.evaluation if method.cost_terms != "features" else None
    penalty = Penalty.build(costs, columns.features_of, problem.train.sizes, evaluation)
    X, y, weights = columns.values(problem.train.X), target.y - constant, target.weights
    settings, unit, largest = (method.settings(), 1.0, lambda_max(X, y, weights, 0.0, penalty, method.intercept))
    if method.unit == "relative":
        settings = replace(settings, rho=method.rho * rho_max(X, y, weights, method.intercept))
        unit = largest
    criterion = criterion_of(method.criterion, problem, target, constant)
    trees = fit_trees(
        X,
        y,
        weights,
        penalty,
        [lambda_ * unit for lambda_ in lambdas],
        settings,
        columns.values(problem.validation.X),
        criterion,
    )
    return _Fitted(target, columns, constant, largest, trees, method.stop_fine_tuning)


def _policy(problem: Problem, fits: Sequence[_Fitted], i: int, lambda_: float) -> TreePolicy:
    walkers = tuple(
        Walker.of(fit.columns, tree.state, tree.beta, tree.bias, problem.n_features, fit.constant)
        for fit in fits
        for tree in [fit.trees[i]]
    )
    used = np.zeros(problem.n_features, dtype=bool)
    for walker in walkers:
        used |= walker.features.any(axis=0)
    details: dict[str, Any] = {
        "lambda": lambda_,
        "features": int(used.sum()),
        "nodes": sum(len(walker.state.shape) for walker in walkers),
        "converged": all(_ended(fit.trees[i]) for fit in fits),
        "trees": [_tree_details(fit, fit.trees[i]) for fit in fits],
    }
    if len(fits) == 1 and fits[0].trees[i].rho_ratio is not None:
        details["rho_ratio"] = fits[0].trees[i].rho_ratio
    if not problem.n_classes:
        return TreePolicy(walkers, 0, label=f"lambda={lambda_:g}", details=details)
    part = problem.validation if len(problem.validation) else problem.train
    sigmoids = tuple(
        fit_platt(walker(fit.columns.values(part.X))[0], part.y == fit.target.positive)
        for walker, fit in zip(walkers, fits, strict=True)
    )
    present = tuple(int(code) for code in np.unique(problem.train.y))
    return TreePolicy(walkers, problem.n_classes, sigmoids, present, f"lambda={lambda_:g}", details)


def _tree_details(fit: _Fitted, tree: FittedTree) -> dict[str, Any]:
    """The details of a tree that are kept, sufficient to draw it."""
    nodes = []
    for k, name in enumerate(tree.state.shape.names):
        columns = np.flatnonzero((tree.state.beta[k] != 0) | (tree.beta[k] != 0))
        acquired = sorted({int(f) for t in columns for f in fit.columns.features_of[t]})
        node: dict[str, Any] = {
            "name": name,
            "share": float(tree.share[k]),
            "mean": float(tree.mean[k]) if np.isfinite(tree.mean[k]) else None,
            "threshold": None if tree.state.shape.is_leaf(k) else float(tree.state.theta[k]),
            "features": acquired,
        }
        if len(columns) <= 16:
            node["weights"] = {str(int(t)): float(tree.state.beta[k, t]) for t in columns}
            node["tuned"] = {str(int(t)): float(tree.beta[k, t]) for t in columns}
        nodes.append(node)
    chosen: dict[str, Any] = {}
    if tree.rho_ratio is not None:
        chosen["rho_ratio"] = tree.rho_ratio
    if fit.stops_fine_tuning:
        chosen["tuning_steps"] = tree.tuning_steps
    return chosen | {
        "class": fit.target.code,
        "lambda": tree.lambda_,
        "objective": tree.run.values[-1],
        "sweeps": len(tree.run.values) - 1,
        "converged": tree.run.converged,
        "stopped_by_validation": tree.run.stopped,
        "warm": tree.warm,
        "nodes": nodes,
    }
