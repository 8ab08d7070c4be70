"""A policy drawn as a tree of text: what it asks for, by which values it goes on, what it answers.

Nothing is read from inside a policy: it is asked on typical rows, which are told apart by what it does next. Where the
values of a feature asked for last tell them apart, the values at which that changes are found by asking in between.
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

_ROWS, _MOST_LINES = 400, 60
_BETWEEN, _ROUNDS = 257, 2
"""Values tried between two rows to find where a policy changes its mind, and how often that is narrowed."""

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]


def draw(fitted: FittedPolicy) -> str:
    """The tree of a policy, a line per step: the share of the typical rows there, under which values, what then.

    Rows are drawn feature by feature around the training part's mean, so shares are no shares of real rows.
    """
    lines: list[str] = []
    _walk(fitted, lines, _Place(_typical(fitted), np.zeros(len(fitted.feature_names), dtype=bool), ()), "")
    return "\n".join([*lines[:_MOST_LINES], *(["…"] if len(lines) > _MOST_LINES else [])])


@dataclass(frozen=True)
class _Place:
    """A place in the tree.

    Attributes:
        raw: float64 (rows, features), as the encoder takes them; the rows that come there.
        known: bool (features,), alike for all of them.
        asked: the features asked for last.
    """

    raw: Numbers
    known: Flags
    asked: tuple[int, ...]


def _walk(fitted: FittedPolicy, lines: list[str], place: _Place, indent: str) -> None:
    steps = _next(fitted, place.raw, place.known)
    whole = len(place.raw)
    for step in sorted(set(steps), key=lambda step: (-steps.count(step), str(step))):
        if len(lines) > _MOST_LINES:
            return
        here = np.array([row_step == step for row_step in steps])
        under = _conditions(fitted, place, steps, here)
        prefix = f"{indent}{100 * here.sum() / whole:.0f} %{', ' if under else ''}{' and '.join(under)}: "
        if isinstance(step, str):
            lines.append(prefix + step)
            continue
        known = place.known.copy()
        known[list(step)] = True
        names = ", ".join(one_line(fitted.feature_names[f]) for f in step)
        lines.append(f"{prefix}ask for {names} ({_bill(fitted, known) - _bill(fitted, place.known):.4g})")
        _walk(fitted, lines, _Place(place.raw[here], known, step), indent + "  ")


def _next(fitted: FittedPolicy, raw: Numbers, known: Flags) -> list[tuple[int, ...] | str]:
    """What a policy does next on every row: the features it asks for, or its answer in words."""
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


def _conditions(fitted: FittedPolicy, place: _Place, steps: list[tuple[int, ...] | str], here: Flags) -> list[str]:
    """Which values of the features asked for last tell some rows from all others, feature by feature."""
    if here.all():
        return []
    conditions = []
    for f in place.asked:
        name = one_line(fitted.feature_names[f])
        inside, outside = place.raw[here, f], place.raw[~here, f]
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
            least = _turn(fitted, place, steps, here, f, float(low), float(outside[outside < low].max()))
        if (outside > high).any():
            most = _turn(fitted, place, steps, here, f, float(high), float(outside[outside > high].min()))
        if least is not None or most is not None:
            start = "" if least is None else f"{least:.4g} < "
            conditions.append(f"{start}{name}" + ("" if most is None else f" ≤ {most:.4g}"))
    return [_turned(condition) for condition in conditions]


def _turned(condition: str) -> str:
    """``3 < x`` as ``x > 3``."""
    left, sign, right = condition.partition(" < ")
    return f"{right} > {left}" if sign and " ≤ " not in right else condition


def _turn(
    fitted: FittedPolicy,
    place: _Place,
    steps: list[tuple[int, ...] | str],
    here: Flags,
    f: int,
    inside: float,
    outside: float,
) -> float | None:
    """The value of a feature at which a row inside begins to be treated as one outside; None if that does not hold."""
    at = int(np.flatnonzero(here & (place.raw[:, f] == inside))[0])
    for _ in range(_ROUNDS):
        raw = np.repeat(place.raw[at : at + 1], _BETWEEN, axis=0)
        raw[:, f] = np.linspace(inside, outside, _BETWEEN)
        same = np.array([step == steps[at] for step in _next(fitted, raw, place.known)])
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


def _typical(fitted: FittedPolicy) -> Numbers:
    """Rows to draw by: float64 (rows, features), values around the training part's mean, or any category."""
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
