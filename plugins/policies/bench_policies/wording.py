"""Format numbers and intervals as text, and escape a table's texts for display."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from tabulate import tabulate

from bench_policies.measures import MEASURES, Measure

FEWEST_SPLITS = 3
"""Least number of splits for which an interval is shown."""
_CONTROL = frozenset({"Cc", "Cs", "Zl", "Zp"})
_BIDIRECTIONAL = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})


def one_line(text: Any) -> str:
    """Return a text on one line, with control, line-breaking and bidirectional characters escaped.

    >>> print(one_line("a\\x1b[2Jb"))
    a\\x1b[2Jb
    """
    return "".join(
        character.encode("unicode_escape").decode()
        if unicodedata.category(character) in _CONTROL or unicodedata.bidirectional(character) in _BIDIRECTIONAL
        else character
        for character in str(text)
    )


def for_terminal(text: str) -> str:
    """Return a text of several lines, each escaped by `one_line`."""
    return "\n".join(one_line(line) for line in text.split("\n"))


def listed(texts: Sequence[str]) -> str:
    """Return texts in one line, separated by commas; those that hold a comma are quoted.

    >>> listed(["no", "yes, daily"])
    'no, "yes, daily"'
    """
    return ", ".join(
        json.dumps(one_line(text), ensure_ascii=False) if "," in text else one_line(text) for text in texts
    )


def table_text(rows: Sequence[Sequence[str]], heads: Sequence[str], form: str = "pipe") -> str:
    """Return a table of texts; in Markdown, a ``|`` in a cell is escaped.

    Args:
        rows: the cells.
        heads: the columns' names.
        form: a format of ``tabulate``; ``pipe`` is Markdown.
    """
    if form == "pipe":
        rows = [[str(cell).replace("|", "\\|") for cell in row] for row in rows]
    return tabulate(rows, headers=heads, tablefmt=form, disable_numparse=True)


def price_text(coefficients: Sequence[float] | Any) -> str:
    """Return a price as text: ``3``, or ``2 + 0.5 · size``.

    Args:
        coefficients: the price's coefficients by power of the item's size.
    """
    terms = []
    for power, coefficient in enumerate(coefficients):
        if coefficient:
            terms.append(f"{coefficient:g}" + ("" if not power else " · size" if power == 1 else f" · size^{power}"))
    return " + ".join(terms) or "0"


def with_half(measured: Mapping[Any, Any], name: str, factor: float, unit: str = "", most: float = math.inf) -> str:
    """Return a mean with its 95 % interval: ``81.2 ± 3.4 %``, or ``81.2 % [60.5, 100]``.

    The second form is for intervals that would reach below 0 or above ``most`` (100 % for a share); they are cut there.

    Args:
        measured: a mapping with the mean under ``name``, the half-width under ``{name}_half`` and, where it is known,
            the number of ``splits``.
        name: the figure's name.
        factor: multiplies the figure, which is not negative afterwards; 100 for a share.
        unit: text after the numbers.
        most: the greatest possible value, in the unit of the figure.

    Returns:
        The text; without an interval where the half-width is missing or there are fewer than three splits, which hardly
        show the uncertainty; and empty where the mean is missing.
    """
    mean, half = measured.get(name, math.nan), measured.get(f"{name}_half", math.nan)
    if mean is None or math.isnan(mean):
        return ""
    value, share = factor * mean, factor == 100
    most = 100.0 if share else most
    shown = f"{value:.1f}" if share else _short(value, 4)
    if half is None or math.isnan(half) or measured.get("splits", FEWEST_SPLITS) < FEWEST_SPLITS:
        return f"{shown}{unit}"
    half = abs(factor) * half
    low, high = value - half, value + half
    if low >= 0 and high <= most:
        return f"{shown} ± {half:.1f}{unit}" if share else f"{shown} ± {_short(half, 2)}{unit}"
    low, high = max(low, 0.0), max(min(high, most), value)
    ends = (f"{low:.1f}", f"{high:.1f}") if share else (_short(low, 2), _short(high, 2))
    return f"{shown}{unit} [{', '.join(end.removesuffix('.0') for end in ends)}]"


def against_trivial(
    measured: Mapping[str, Any], trivial: Mapping[str, Any], total: bool, measure: Measure = MEASURES["accuracy"]
) -> str:
    """Return a sentence on the best answer that needs no feature; it says so if its mean is no worse than the method's.

    Args:
        measured: the method's figures, from `bench_policies.measuring.summary`.
        trivial: those of the answer, with its description under ``answer``.
        total: whether the total cost is compared; otherwise the quality.
        measure: what the quality is.
    """
    shown = measure.words.format(with_half(trivial, "quality", measure.factor, measure.unit))
    no_worse = trivial["quality"] >= measured["quality"]
    if total:
        shown = f"a mean total cost of {with_half(trivial, 'total', 1)}"
        no_worse = trivial["total"] <= measured["total"]
    end = ", which is no worse" if no_worse else ""
    return f'Without buying any feature, the answer "{one_line(trivial["answer"])}" gives {shown}{end}.'


def refused_below(threshold: float, error_costs: bool, refused_cost: float | None) -> str:
    """Return a sentence on the rows that a threshold refuses; with error costs, also on the cost of a refusal."""
    sentence = f"A row whose highest class probability is below {threshold:g} is refused"
    if error_costs:
        cost = "nothing, as no cost is given" if refused_cost is None else f"{refused_cost:g}"
        return f"{sentence}; a refusal costs {cost}."
    return f"{sentence}."


def _short(value: float, digits: int) -> str:
    """Return a number with ``digits`` significant digits, without an exponent below 1e9: ``130``, not ``1.3e+02``."""
    if 10**digits <= abs(value) < 1e9:
        return f"{value:.0f}"
    return f"{value:.{digits}g}"
