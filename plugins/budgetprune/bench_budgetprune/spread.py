"""A family spread over the costs: the vertices of the lower hull of (cost, training error)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bench_budgetprune.instance import Instance
from bench_budgetprune.path import Path
from bench_budgetprune.pruning import Kind, Pruning

__all__ = ["lower_hull", "spread_path"]

ROUNDING = 1e-12
"""Costs and errors that differ by less than this share of the largest are equal, since their sums are rounded."""


def lower_hull(points: Sequence[tuple[float, float]]) -> list[int]:
    """The points that minimise error + λ cost for some λ > 0, by ascending cost.

    Points on an edge between two others are included; of equal points only one is. Among points with equal errors, the
    cheapest is best for every λ > 0; among points with equal costs, the one with the fewest errors.

    Args:
        points: at least one (cost, error), both at least 0.

    Returns:
        Indices of points, along which costs rise and errors fall, convexly.
    """
    costs, errors = zip(*points, strict=True)
    near_cost, near_error = ROUNDING * max(costs), ROUNDING * max(errors)
    hull: list[int] = []
    for k in sorted(range(len(points)), key=points.__getitem__):
        if hull and errors[k] >= errors[hull[-1]] - near_error:
            continue
        if hull and costs[k] <= costs[hull[-1]] + near_cost:
            hull.pop()
        while len(hull) > 1:
            a, b = hull[-2:]
            share = (costs[b] - costs[a]) / (costs[k] - costs[a])
            if errors[b] <= errors[a] + share * (errors[k] - errors[a]) + near_error:
                break
            hull.pop()
        hull.append(k)
    return hull


def spread_path(
    instance: Instance,
    unpruned: NDArray[np.bool_],
    count: int,
    gap: float,
    max_iter: int,
    threads: int = 1,
    kind: Kind = "flow",
) -> list[Pruning]:
    """Solve (IP) for λ = 0 and at most `count` others that spread the prunings over the costs.

    Two prunings are equally good at exactly one λ. Either the optimum for this λ lies between them, or no λ has an
    optimum between them and they are neighbours on the lower hull (Eisner, Severance 1976). The two neighbours with the
    largest difference in cost are treated first, beginning with the unpruned forest and the empty pruning.

    The optimum of (IP) is concave in λ. So bounds at two λ bound the optimum for all λ between them. When every pair of
    neighbours is done and every solve ended within `gap`, the family (with the empty pruning) contains for *every* λ a
    pruning within twice `gap` of the optimum, including λ near 0 and those of ties.

    Args:
        instance, unpruned, gap, max_iter, threads, kind: see `Path`.
        count: maximum number of λ above 0.

    Returns:
        One pruning per λ, ascending, each the best found for its λ: for λ = 0 the unpruned forest (or a pruning with
        fewer training errors), then every other pruning that is best for some λ, by descending cost, and last the one
        that costs nothing. A λ whose solution is no better than its neighbours is left out, so there are fewer than
        `count` if the complete hull is found. A solve that `max_iter` ended proves nothing; its λ is kept, with the
        best known pruning and its gap.
    """
    path = Path(instance, unpruned, gap, max_iter, threads, kind)
    free = path.solve(0.0, True)
    opened = [path.none, free.opened]
    points = [(instance.cost(mask), instance.leaf_error(mask)) for mask in opened]
    prunings: dict[int, Pruning] = {}
    bounds = {0.0: free.bound}
    unproven: list[Pruning] = []
    done: set[tuple[int, int]] = set()
    for left in range(count, 0, -1):
        steps = [
            (points[expensive][0] - points[cheap][0], points[cheap][0], cheap, expensive)
            for cheap, expensive in pairwise(lower_hull(points))
            if (cheap, expensive) not in done
        ]
        if not steps:
            break
        _, _, cheap, expensive = max(steps)
        lambda_ = _tie(points[cheap], points[expensive])
        pruning = path.solve(lambda_, left > count // 2)
        done.add((cheap, expensive))
        bounds[lambda_] = max(pruning.bound, bounds.get(lambda_, 0.0))
        point = instance.cost(pruning.opened), instance.leaf_error(pruning.opened)
        if _value(point, lambda_) < _value(points[cheap], lambda_) * (1 - gap):
            prunings[len(points)] = pruning
            points.append(point)
            opened.append(pruning.opened)
            continue
        path.solved = [other for other in path.solved if other is not pruning]
        if pruning.gap > gap:
            unproven.append(pruning)
    hull = lower_hull(points)
    chosen = _lambdas(points, hull, {k: pruning.lambda_ for k, pruning in prunings.items()}, sorted(bounds))
    family = {lambda_: prunings[k] for k, lambda_ in chosen.items()}
    if not family or instance.cost(family[max(family)].opened) > 0:
        last = _free_of_cost(
            path, 2 * max([1.0] if len(hull) < 2 else [_tie(points[hull[0]], points[hull[1]]), *bounds])
        )
        family[last.lambda_] = last
        bounds[last.lambda_] = last.bound
    for pruning in unproven:
        if pruning.lambda_ not in family:
            best = min((_value(points[k], pruning.lambda_), k) for k in hull)[1]
            family[pruning.lambda_] = replace(pruning, opened=opened[best])
    at, low = np.array(sorted(bounds)), np.array([bounds[lambda_] for lambda_ in sorted(bounds)])
    return [
        free,
        *(
            _judged(instance, family[lambda_], lambda_, float(np.interp(lambda_, at, low)))
            for lambda_ in sorted(family)
        ),
    ]


def _free_of_cost(path: Path, lambda_: float) -> Pruning:
    """The pruning that costs nothing, at the first λ at which it is best: the given λ, doubled as often as needed."""
    instance = path.instance
    for _ in range(64):
        last = path.solve(lambda_, False)
        if instance.cost(last.opened) == 0:
            return last
        if instance.objective(path.none, lambda_) <= last.objective * (1 + path.gap):
            break
        lambda_ *= 2
    return replace(last, opened=path.none)


def _value(point: tuple[float, float], lambda_: float) -> float:
    """Training error + λ cost."""
    return point[1] + lambda_ * point[0]


def _tie(cheap: tuple[float, float], expensive: tuple[float, float]) -> float:
    """The λ at which two points are equally good."""
    return (cheap[1] - expensive[1]) / (expensive[0] - cheap[0])


def _lambdas(
    points: Sequence[tuple[float, float]], hull: list[int], own: Mapping[int, float], solved: Sequence[float]
) -> dict[int, float]:
    """Distinct λ, one for every point of the hull that a solve found, at which no other point is better.

    This is the point's own λ if possible. Since solves may end slightly above the optimum, it is otherwise another
    solved λ, or the middle between the two λ at which its neighbours are as good.

    Args:
        points, hull: see `lower_hull`.
        own: the λ at which a point was found; points that no solve found get none.
        solved: every solved λ, ascending.
    """
    ends = [0.0, *reversed([_tie(points[a], points[b]) for a, b in pairwise(hull)]), np.inf]
    from_to = {
        k: (a * (1 - ROUNDING), b * (1 + ROUNDING))
        for k, (a, b) in zip(hull[::-1], pairwise(ends), strict=True)
        if k in own
    }
    chosen = {k: own[k] for k, (a, b) in from_to.items() if a <= own[k] <= b}
    for k, (a, b) in from_to.items():
        if k not in chosen:
            free = [lambda_ for lambda_ in solved if max(a, 0.0) < lambda_ <= b and lambda_ not in chosen.values()]
            middle = (a + b) / 2 if b < np.inf else 2 * a
            chosen[k] = min(free, key=lambda lambda_: abs(lambda_ - own[k])) if free else middle
    return chosen


def _judged(instance: Instance, pruning: Pruning, lambda_: float, bound: float) -> Pruning:
    """A pruning as the solution for a given λ."""
    value = instance.objective(pruning.opened, lambda_)
    return Pruning(lambda_, pruning.opened, value, min(bound, value), pruning.bounds, pruning.objectives)
