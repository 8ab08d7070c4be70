"""Numbers as words, and texts of a table as they can be shown."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

_HIDDEN = frozenset({"Cc", "Cs", "Zl", "Zp"})
_TURNING = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})


def one_line(text: Any) -> str:
    """A name or value from a table as it can be shown: what moves a cursor, ends a line or turns text is escaped.

    >>> print(one_line("a\\x1b[2Jb"))
    a\\x1b[2Jb
    """
    return "".join(
        character.encode("unicode_escape").decode()
        if unicodedata.category(character) in _HIDDEN or unicodedata.bidirectional(character) in _TURNING
        else character
        for character in str(text)
    )


def for_terminal(text: str) -> str:
    """Lines of text, each as `one_line`."""
    return "\n".join(one_line(line) for line in text.split("\n"))


def price_text(coefficients: Sequence[float] | Any) -> str:
    """A price: ``3``, or ``2 + 0.5 · size``."""
    terms = []
    for power, coefficient in enumerate(coefficients):
        if coefficient:
            terms.append(f"{coefficient:g}" + ("" if not power else " · size" if power == 1 else f" · size^{power}"))
    return " + ".join(terms) or "0"


def with_half(measured: Mapping[Any, Any], name: str, factor: float, unit: str = "") -> str:
    """``81.2 ± 3.4 %``: a mean with half of its 95 % interval; ``81.2 % [60.5, 100]`` where ± would leave what can be.

    Args:
        measured: the mean under ``name``, the half under ``name_half``.
        name: which; nothing is below 0 once it is multiplied.
        factor: 100 for a share, which is not above 100 then.
        unit: behind the numbers.

    Returns:
        Without an interval where there is none, empty where there is no mean.
    """
    mean, half = measured.get(name, math.nan), measured.get(f"{name}_half", math.nan)
    if mean is None or math.isnan(mean):
        return ""
    value, share = factor * mean, factor == 100
    shown = f"{value:.1f}" if share else _short(value, 4)
    if half is None or math.isnan(half):
        return f"{shown}{unit}"
    half = abs(factor) * half
    low, high = value - half, value + half
    if low >= 0 and (high <= 100 or not share):
        return f"{shown} ± {half:.1f}{unit}" if share else f"{shown} ± {_short(half, 2)}{unit}"
    low, high = max(low, 0.0), min(high, 100.0) if share else high
    ends = (f"{low:.1f}", f"{high:.1f}") if share else (_short(low, 2), _short(high, 2))
    return f"{shown}{unit} [{', '.join(end.removesuffix('.0') for end in ends)}]"


def against_trivial(measured: Mapping[str, Any], trivial: Mapping[str, Any], total: bool) -> str:
    """A sentence on the best answer that needs no feature; whether it is no worse is told by the means.

    Args:
        measured, trivial: from `bench_policies.measuring.summary`, the second with its ``answer``.
        total: whether the total with error costs was to be least, and not the share of right answers greatest.
    """
    shown = f"{with_half(trivial, 'quality', 100, ' %')} of rows right"
    no_worse = trivial["quality"] >= measured["quality"]
    if total:
        shown = f"a mean total of {with_half(trivial, 'total', 1)}"
        no_worse = trivial["total"] <= measured["total"]
    end = ", which is no worse" if no_worse else ""
    return f'Without buying anything, the answer "{one_line(trivial["answer"])}" comes to {shown}{end}.'


def refused_below(threshold: float, error_costs: bool, refused_cost: float | None) -> str:
    """What a threshold refuses, and what that costs; with error costs the answer may not be the most probable class."""
    if error_costs:
        cost = "no cost, as none is given" if refused_cost is None else f"{refused_cost:g}"
        return f"A row whose most probable class has less than {threshold:g} is refused; that counts with {cost}."
    return f"An answer less sure than {threshold:g} is refused."


def _short(value: float, digits: int) -> str:
    """A number of so many digits, as ``130`` and not ``1.3e+02``."""
    if 10**digits <= abs(value) < 1e9:
        return f"{value:.0f}"
    return f"{value:.{digits}g}"
