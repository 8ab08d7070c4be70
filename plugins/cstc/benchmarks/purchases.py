"""Why trees buy nearly everything at their root, on data whose right tree is known: ``python purchases.py``.

``ranking-regions`` (budgetbench-synthetic) with eight regions: the right tree splits three times on features of price
1, and every leaf buys its own two expensive features, for 3 + 200 per document. One thing is changed at a time: ρ,
pruning, whether zero weights may become nonzero, the start (the right tree), the steepness of Eq. 4's sigmoid. The
table has cost and NDCG@5 on new documents, the number of nodes, the share of nodes below the root that buy a new
feature, and the objective (Eq. 12) on the training documents.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from bench_cstc.descent import Descent
from bench_cstc.family import TreeSettings, fit_trees
from bench_cstc.objective import Objective, State
from bench_cstc.shape import Shape
from bench_cstc.structure import criterion_of, initialise, prune, walk
from bench_cstc.tuning import fine_tuned
from bench_models.penalty import Penalty
from bench_models.targets import Target
from bench_synthetic.ranking_regions import RankingRegions

from bench_core import DataContext, Decisions, Outcome, Part, Problem, ndcg_at

DEPTH = 3


class Waking(Descent):
    """A descent in which zero weights of leaves may become nonzero again."""

    def update(self, state: State, node: int) -> State:
        if not state.shape.is_leaf(node):
            return super().update(state, node)
        beta, bias, _ = self.as_leaf(state, node)
        return state.with_node(node, beta, bias, state.theta[node])


def problem_of(documents: int, features: int, premise: Any, seed: int) -> tuple[Problem, Part]:
    """Half of the documents for training, a fifth for validation, the others for testing."""
    data = RankingRegions(documents=documents, features=features, depth=DEPTH, premise=premise, seed=seed).load(
        DataContext(cache=Path("."), offline=True)
    )
    ends = [0, documents // 50 * 25, documents * 7 // 250 * 25, documents]
    values = np.asarray(data.values, dtype=np.float64)
    parts = [
        Part(values[a:b], data.target[a:b], None, None if data.query is None else data.query[a:b])
        for a, b in pairwise(ends)
    ]
    if data.costs is None:
        raise ValueError("the data set has no prices")
    problem = Problem(
        train=parts[0], validation=parts[1], costs=data.costs, task="ranking", n_classes=0,
        feature_names=data.feature_names, feature_of_column=np.arange(features),
    )  # fmt: skip
    return problem, parts[2]


def right_tree(objective: Objective) -> State:
    """The known tree: regions by the price-1 features, each leaf's own two expensive features."""
    X, y = objective.X, objective.y
    shape = Shape.full(DEPTH + 1)
    state = State.zeros(shape, X.shape[1])
    bits = X[:, :DEPTH] > 0
    region = bits @ (1 << np.arange(DEPTH)[::-1])
    for k, name in enumerate(shape.names):
        level = shape.depth(k) - 1
        ups = [(name >> shift & 1) == 0 for shift in range(level - 1, -1, -1)]
        here = np.all([bits[:, i] == up for i, up in enumerate(ups)], axis=0) if ups else np.ones(len(X), dtype=bool)
        own = list(range(level, DEPTH))
        if shape.is_leaf(k):
            own = [DEPTH + int(region[here][0]), DEPTH + int(region[here][0]) + 1]
        design = np.column_stack([X[here][:, own], np.ones(here.sum())])
        weights = np.linalg.lstsq(design, y[here], rcond=None)[0]
        beta = np.zeros(X.shape[1])
        beta[own] = weights[:-1]
        score = X @ beta + weights[-1]
        theta = 0.0
        if not shape.is_leaf(k):
            theta = (score[here & bits[:, level]].min() + score[here & ~bits[:, level]].max()) / 2
        state = state.with_node(k, beta, float(weights[-1]), float(theta))
    return state


def report(name: str, problem: Problem, test: Part, objective: Objective, state: State, beta: Any, bias: Any) -> None:
    """One line about a finished tree."""
    at = walk(state, test.X)
    shape = state.shape
    used = np.zeros((len(shape), test.X.shape[1]), dtype=bool)
    new = []
    for k in range(len(shape)):
        above = [j for j in shape.path(k) if j != k]
        before = np.any([state.beta[j] != 0 for j in above], axis=0) if above else np.zeros(test.X.shape[1], dtype=bool)
        mine = (beta[k] != 0) | (state.beta[k] != 0)
        used[k] = before | mine
        if above:
            new.append(bool((mine & ~before).any()))
    acquired = used[at]
    bill = problem.costs.bill(acquired)
    score = np.einsum("ij,ij->i", test.X, beta[at]) + bias[at]
    nothing = np.zeros(len(test))
    outcome = Outcome("ranking", test.y, Decisions(acquired, score=score), bill, bill, nothing, query=test.query)
    share = f"{np.mean(new):.2f}" if new else "–"
    print(
        f"{name:44s} cost {bill.mean():7.1f}  NDCG@5 {ndcg_at(outcome, 5):.3f}  nodes {len(shape):2d}  "
        f"new below {share}  objective {objective.value(state):.4f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=6000)
    parser.add_argument("--features", type=int, default=40)
    parser.add_argument("--premise", default="regions")
    parser.add_argument("--lambdas", type=float, nargs="+", default=[3e-4, 1e-3])
    parser.add_argument("--steepness", type=float, nargs="+", default=[10.0, 100.0])
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    problem, test = problem_of(given.documents, given.features, given.premise, given.seed)
    X, y = np.asfortranarray(problem.train.X), problem.train.y.astype(np.float64)
    weights = np.ones(len(y))
    target = Target(y, weights, problem.validation.y.astype(np.float64), np.ones(len(problem.validation)))
    penalty = Penalty.build(problem.costs, [np.array([f]) for f in range(X.shape[1])])
    ranked, loss = (criterion_of(name, problem, target, 0.0) for name in ("ndcg@5", "loss"))
    settings = TreeSettings(levels=DEPTH + 1, rho=1e-4, max_iter=20)
    for lambda_ in given.lambdas:
        print(f"λ = {lambda_:g}")
        objective = Objective(X, y, penalty, settings.rho, lambda_, weights)
        for name, changed, criterion in (
            ("one classifier", replace(settings, levels=1), ranked),
            ("pruned by NDCG@5", settings, ranked),
            ("pruned by NDCG@5, ρ by validation", replace(settings, rho_ratios=(0.1, 1.0, 10.0)), ranked),
            ("pruned by the loss", settings, loss),
            ("full", replace(settings, structure="full"), ranked),
            ("full, ρ by validation", replace(settings, structure="full", rho_ratios=(0.1, 1.0, 10.0)), ranked),
        ):
            (tree,) = fit_trees(X, y, weights, penalty, [lambda_], changed, problem.validation.X, criterion)
            report(name, problem, test, objective, tree.state, tree.beta, tree.bias)
        start = initialise(Descent(objective), Shape.full(DEPTH + 1))
        right = right_tree(objective)
        for name, kind, state in (
            ("full, as initialised", None, start),
            ("full, zeros of leaves may wake up", Waking, start),
            ("the right tree, as known", None, right),
            ("the right tree, descended", Descent, right),
        ):
            descent = (kind or Descent)(objective, tol=1e-3)
            state = descent.run(state, 20).state if kind else state
            report(name, problem, test, objective, state, *fine_tuned(descent, state))
        for steep in given.steepness:
            steeper = replace(objective, steep=steep)
            descent = Descent(steeper, tol=1e-3)
            begun = initialise(descent, Shape.full(DEPTH + 1))
            pruned = prune(begun, problem.validation.X, ranked)
            for name, state in (("full", begun), ("pruned by NDCG@5", pruned), ("the right tree", right)):
                state = descent.run(state, 20).state
                report(f"{name}, steepness {steep:g}", problem, test, steeper, state, *fine_tuned(descent, state))


if __name__ == "__main__":
    main()
