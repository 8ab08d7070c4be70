"""Scaling functions of a cost class: small arithmetic formulas of T, which are parsed and never run as code."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["scaled"]

_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_LONGEST = 100
"""Most characters of a formula. It is parsed recursively, and a long one could overflow the interpreter's stack."""


def scaled(formula: str, classes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the formula's value at each class, float64 (m,).

    Args:
        formula: numbers, the letter T, ``+ - * / **`` and parentheses: ``10**T``, ``100*T``, ``5*(T+1)``.
        classes: int64 (m,).

    Raises:
        ValueError: the formula holds anything else, or gives a price that is negative or not finite.
    """
    if len(formula) > _LONGEST:
        raise ValueError(f"scale may have {_LONGEST} characters, not {len(formula)}")
    try:
        tree = ast.parse(formula.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise ValueError(f"scale {formula!r} is not a formula of T, such as '10**T' or '100*T'") from None
    try:
        values = np.array([_value(tree, float(level), formula) for level in classes], dtype=np.float64)
    except (OverflowError, ZeroDivisionError, TypeError) as error:
        raise ValueError(f"scale {formula!r} cannot be computed for these classes: {error}") from None
    if not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError(f"scale {formula!r} gives a price that is negative or not finite: {values.tolist()}")
    return values


def _value(node: ast.expr, level: float, formula: str) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return float(node.value)
    if isinstance(node, ast.Name) and node.id == "T":
        return level
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_value(node.left, level, formula), _value(node.right, level, formula))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, level, formula)
    raise ValueError(f"scale {formula!r} may hold numbers, T, + - * / ** and parentheses only")
