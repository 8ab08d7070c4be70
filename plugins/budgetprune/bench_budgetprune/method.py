"""The method ``budgetprune``: grows a forest and prunes it for every λ."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Interval
from bench_models.forest.acquisition import price_units
from bench_models.forest.flat import FlatForest
from bench_models.forest.method import ForestMethod

from bench_core import Family, Problem

__all__ = ["BudgetPrune"]


@dataclass(frozen=True)
class BudgetPrune(ForestMethod):
    """A random forest, pruned so that rows share the features that they pay for.

    The family has one policy per λ, in ascending order. Parameters of the forest are those of `ForestMethod`. The
    diagnostics hold Table 1 on the validation rows: the forest (``unpruned_…``), and the cheapest pruning whose error
    is at most 0.1 points above the forest's (``pruned_…``; ``cost_kept`` is its share of the forest's cost).

    Attributes:
        lambdas: values of λ, with 0 for the unpruned forest; if empty, 0 and `count` others, chosen by `spacing`.
        spacing: ``even``: λ are chosen one after the other; at each, the two neighbouring policies with the largest
            difference in cost are equally good. So the family is spread over the costs. There are fewer than `count` if
            no λ has an optimum between two neighbours. The pruning that costs nothing is included.
            ``geometric``: λ in equal ratios between `low` and `high`.
        count: number of λ above 0.
        low, high: multiples of the λ at which the unpruned forest and the empty pruning are equally good.
        solver: ``flow`` (entropic dual ascent, then a preflow, and the nesting of optima along λ), or ``subgradient``,
            the paper's Algorithm 1; both end within `gap` of the same optimum.
        gap: relative duality gap to stop at.
        max_iter: maximum number of iterations for one λ; the policy's details contain the gap reached.
        price_of_a_test: price of one test in a tree, for the computation cost of (IP); 0 leaves it out, as the paper's
            experiments do.

    Source: Nan, Wang, Saligrama, Pruning random forests for prediction on a budget, NIPS 2016, §3–4.
    """

    version = 3
    lambdas: list[Annotated[float, Ge(0)]] = field(default_factory=list)
    spacing: Literal["even", "geometric"] = "even"
    count: Annotated[int, Ge(1)] = 12
    low: Annotated[float, Gt(0)] = 0.1
    high: Annotated[float, Gt(0)] = 1.5
    solver: Literal["flow", "subgradient"] = "flow"
    gap: Annotated[float, Interval(gt=0, lt=1)] = 1e-4
    max_iter: Annotated[int, Ge(1)] = 300
    price_of_a_test: Annotated[float, Ge(0)] = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low > self.high:
            raise ValueError(f"low must not be above high, {self.high}, not {self.low}")

    def fit(self, problem: Problem) -> Family:
        from bench_budgetprune.instance import build
        from bench_budgetprune.path import lambda_grid, solve_path
        from bench_budgetprune.spread import spread_path
        from bench_budgetprune.usage import Point, as_good, judge

        forest = self.grow(problem)
        X = problem.validation.X
        units = price_units(problem.costs, problem.validation.sizes)
        instance = build(forest, forest.route(X, problem.threads), units, self.price_of_a_test)
        how = (self.gap, self.max_iter, problem.threads, self.solver)
        if self.lambdas:
            path = solve_path(instance, forest.inner, self.lambdas, *how)
        elif self.spacing == "geometric":
            grid = lambda_grid(instance, forest.inner, self.count, self.low, self.high)
            path = solve_path(instance, forest.inner, [0.0, *grid], *how)
        else:
            path = spread_path(instance, forest.inner, self.count, *how)
        y, _ = self.labels(problem, problem.validation.y)

        def judged(candidate: FlatForest) -> Point:
            return judge(candidate, X, y, problem.costs, problem.validation.sizes, problem.threads)

        policies, points = [], []
        for pruning in path:
            points.append(judged(forest.pruned(pruning.opened)))
            details = {
                "lambda": pruning.lambda_,
                "objective": pruning.objective,
                "gap": pruning.gap,
                "iterations": pruning.iterations,
                **points[-1].usage,
            }
            policies.append(self.policy(problem, forest, pruning.opened, f"lambda={pruning.lambda_:.4g}", details))
        unpruned = judged(forest)
        good = as_good(unpruned, points)
        return Family(
            policies,
            diagnostics={
                "nodes": forest.nodes,
                "pairs": instance.pairs,
                "entries": instance.entries,
                "largest_gap": max(pruning.gap for pruning in path),
                "iterations": sum(pruning.iterations for pruning in path),
                **unpruned.named("unpruned"),
                **good.named("pruned"),
                "cost_kept": good.cost / unpruned.cost if unpruned.cost > 0 else 1.0,
            },
        )
