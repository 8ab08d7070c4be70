"""How many of the splits that a suite asks for have been run, in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["splits_so_far"]


def splits_so_far(rows: Iterable[tuple[str, int, int]]) -> str:
    """``1 of 5 splits of each data set has been run so far.``; empty where all were, or none.

    Data sets with different numbers of splits: ``Of the 3 to 10 splits of each data set, 2 have been run so far.``

    Args:
        rows: data set, splits that are done and splits that the suite asks for, of every method there. Each number
            of a data set is the largest over its methods.
    """
    done: dict[str, int] = {}
    asked: dict[str, int] = {}
    for dataset, ready, expected in rows:
        done[dataset] = max(done.get(dataset, 0), ready)
        asked[dataset] = max(asked.get(dataset, 0), expected)
    begun = [dataset for dataset, count in done.items() if count]
    if all(done[dataset] == asked[dataset] for dataset in begun):
        return ""
    counts, wanted = [done[dataset] for dataset in begun], [asked[dataset] for dataset in begun]
    verb = "has" if max(counts) == 1 else "have"
    if min(wanted) == max(wanted):
        return f"{_span(counts)} of {_span(wanted)} splits of each data set {verb} been run so far."
    return f"Of the {_span(wanted)} splits of each data set, {_span(counts)} {verb} been run so far."


def _span(counts: Sequence[int]) -> str:
    return f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
