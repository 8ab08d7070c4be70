"""Draw a policy as a tree of text: the features it asks for, the values it branches on, and its answers.

The policy is treated as a black box: it decides on sampled rows, which are grouped by its next step. Where the last
acquired features separate the groups, the threshold between two groups is located by trying values in between.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bench_core import Rows
from bench_policies.wording import one_line

if TYPE_CHECKING:
    from bench_policies.fitted import FittedPolicy

__all__ = ["draw"]

_ROWS, _MOST_LINES = 400, 20
_BETWEEN, _ROUNDS = 257, 2
"""Values tried between two rows to locate a threshold, and how many times that interval is refined."""

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]


def draw(fitted: FittedPolicy) -> str:
    """Return the tree of a policy, a line per step: share of the sampled rows, their condition, and the next step.

    Rows are sampled feature by feature around the mean of the training part, so the shares are not shares of real rows.
    """
    lines: list[str] = []
    _walk(fitted, lines, _Node(_sample(fitted), np.zeros(len(fitted.feature_names), dtype=bool), ()), "")
    return "\n".join([*lines[:_MOST_LINES], *(["…"] if len(lines) > _MOST_LINES else [])])


@dataclass(frozen=True)
class _Node:
    """A node of the tree.

    Attributes:
        raw: float64 (rows, features), the sampled rows that reach the node, before encoding.
        known: bool (features,), the features acquired so far, the same for all these rows.
        asked: the features acquired in the last step.
    """

    raw: Numbers
    known: Flags
    asked: tuple[int, ...]


def _walk(fitted: FittedPolicy, lines: list[str], node: _Node, indent: str) -> None:
    steps = _next(fitted, node.raw, node.known)
    total = len(node.raw)
    for step in sorted(set(steps), key=lambda step: (-steps.count(step), str(step))):
        if len(lines) > _MOST_LINES:
            return
        here = np.array([row_step == step for row_step in steps])
        under = _conditions(fitted, node, steps, here)
        prefix = f"{indent}{100 * here.sum() / total:.0f} %{', ' if under else ''}{' and '.join(under)}: "
        if isinstance(step, str):
            lines.append(prefix + step)
            continue
        known = node.known.copy()
        known[list(step)] = True
        names = ", ".join(one_line(fitted.feature_names[f]) for f in step)
        lines.append(f"{prefix}ask for {names} ({_bill(fitted, known) - _bill(fitted, node.known):.4g})")
        _walk(fitted, lines, _Node(node.raw[here], known, step), indent + "  ")


def _next(fitted: FittedPolicy, raw: Numbers, known: Flags) -> list[tuple[int, ...] | str]:
    """Return a policy's next step on every row: the features it asks for, or its answer as text."""
    columns = fitted.encoder.feature_of_column
    X = fitted.encoder.transform(raw)
    X[:, ~known[columns]] = 0.0
    rows = Rows(X, _sizes(fitted, len(raw)))
    wanted = fitted.policy.next_features(rows, np.tile(known, (len(raw), 1)))
    steps: list[tuple[int, ...] | str] = [tuple(np.flatnonzero(flags).tolist()) for flags in wanted]
    ended = [i for i, step in enumerate(steps) if not step]
    if ended:
        rows = Rows(X[ended], _sizes(fitted, len(ended)))
        for i, answer in zip(ended, _answers(fitted, rows), strict=True):
            steps[i] = answer
    return steps


def _answers(fitted: FittedPolicy, rows: Rows) -> list[str]:
    decided = fitted.policy.decide(rows).checked(len(rows), len(fitted.feature_names), len(fitted.classes))
    if decided.probabilities is None or not fitted.classes:
        return ["answer"] * len(rows)
    best, refused = fitted.answering.answers(decided.probabilities)
    texts = [f"answer {one_line(name)}" for name in fitted.classes]
    return ["refuse" if no else texts[code] for code, no in zip(best, refused, strict=True)]


def _conditions(fitted: FittedPolicy, node: _Node, steps: list[tuple[int, ...] | str], here: Flags) -> list[str]:
    """Return the conditions on the last acquired features that hold for the rows ``here`` and no others."""
    if here.all():
        return []
    conditions = []
    for f in node.asked:
        name = one_line(fitted.feature_names[f])
        inside, outside = node.raw[here, f], node.raw[~here, f]
        if f in fitted.categories or f in fitted.numeric_categories:
            codes = np.unique(inside)
            if not np.isin(outside, codes).any():
                conditions.append(f"{name} is {' or '.join(_category(fitted, f, code) for code in codes)}")
            continue
        low, high = inside.min(), inside.max()
        if ((outside >= low) & (outside <= high)).any():
            continue
        least, most = None, None
        if (outside < low).any():
            least = _cut(fitted, node, steps, here, f, float(low), float(outside[outside < low].max()))
        if (outside > high).any():
            most = _cut(fitted, node, steps, here, f, float(high), float(outside[outside > high].min()))
        if least is not None or most is not None:
            start = "" if least is None else f"{least:.4g} < "
            conditions.append(f"{start}{name}" + ("" if most is None else f" ≤ {most:.4g}"))
    return [_feature_first(condition) for condition in conditions]


def _feature_first(condition: str) -> str:
    """Rewrite ``3 < x`` as ``x > 3``."""
    left, sign, right = condition.partition(" < ")
    return f"{right} > {left}" if sign and " ≤ " not in right else condition


def _cut(
    fitted: FittedPolicy,
    node: _Node,
    steps: list[tuple[int, ...] | str],
    here: Flags,
    f: int,
    inside: float,
    outside: float,
) -> float | None:
    """Return the value of a feature, between two others, at which the next step changes; None if it does not change."""
    at = int(np.flatnonzero(here & (node.raw[:, f] == inside))[0])
    for _ in range(_ROUNDS):
        raw = np.repeat(node.raw[at : at + 1], _BETWEEN, axis=0)
        raw[:, f] = np.linspace(inside, outside, _BETWEEN)
        same = np.array([step == steps[at] for step in _next(fitted, raw, node.known)])
        if not same[0] or same[-1]:
            return None
        last = int(np.flatnonzero(~same)[0])
        inside, outside = float(raw[last - 1, f]), float(raw[last, f])
    return (inside + outside) / 2


def _category(fitted: FittedPolicy, f: int, code: float) -> str:
    return one_line(fitted.categories[f][int(code)]) if f in fitted.categories else f"{code:g}"


def _bill(fitted: FittedPolicy, known: Flags) -> float:
    return float(fitted.costs.bill(known[None, :], _sizes(fitted, 1))[0])


def _sizes(fitted: FittedPolicy, count: int) -> Numbers | None:
    return np.ones(count) if fitted.costs.depends_on_size else None


def _sample(fitted: FittedPolicy) -> Numbers:
    """Return sampled rows, float64 (rows, features): values around the training mean, and uniform categories."""
    rng, encoder = np.random.default_rng(0), fitted.encoder
    raw = np.empty((_ROWS, len(fitted.feature_names)))
    for f in range(raw.shape[1]):
        if f in fitted.categories:
            raw[:, f] = rng.integers(0, len(fitted.categories[f]), _ROWS)
        elif f in fitted.numeric_categories:
            raw[:, f] = rng.choice(fitted.numeric_categories[f], _ROWS)
        else:
            raw[:, f] = encoder.shift[f] + encoder.scale[f] * rng.normal(size=_ROWS)
    return raw
