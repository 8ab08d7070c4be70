"""The figure kind ``base-models``: histograms of the base models run per test row (QWYC Figs. 5 and 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from bench_leaderboard import (
    INK,
    Figure,
    FigureBuilder,
    FigureEntry,
    FigureKind,
    Style,
    canvas,
    plain_number,
    plain_text,
    shorten,
)
from bench_records import Records
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BaseModels", "Spread", "spread_figure", "spread_of"]


class BaseModels(FigureKind):
    """Histograms of the number of base models that rows run."""

    title = "Base models run per row"
    reads = ("evaluations",)

    def build(self, builder: FigureBuilder, entry: FigureEntry, stem: str) -> list[Figure]:
        return builder.by_method(self, entry, stem, spread_of, partial(spread_figure, styles=builder.styles))


@dataclass(frozen=True, eq=False)
class Spread:
    """A histogram of base models run.

    Attributes:
        width: width of a bar, in base models; bar i counts from ``width * i + 1`` to ``width * (i + 1)``.
        shares: float64 (bars,): share of test rows, averaged over seeds.
        mean: mean number of base models run; None if the record does not have that metric.
        seeds: number of policies averaged.
    """

    width: int
    shares: NDArray[np.float64]
    mean: float | None
    seeds: int


def spread_of(records: Records, chosen: pd.DataFrame) -> Spread | None:
    """The histogram of selected policies; None if the records do not hold it.

    Args:
        records: the records of the suite.
        chosen: selected policies of one method on one data set under one cost scheme.
    """
    spreads: list[tuple[int, NDArray[np.float64]]] = []
    for name, policy in chosen[["name", "policy"]].itertuples(index=False):
        evaluations = records.infos[name].get("evaluations") or {"width": 1, "counts": []}
        counts = evaluations["counts"][int(policy)] if int(policy) < len(evaluations["counts"]) else None
        if counts and sum(counts):
            spreads.append((int(evaluations["width"]), np.asarray(counts, dtype=np.float64) / sum(counts)))
    if not spreads:
        return None
    width = max(own for own, _ in spreads)
    tables = [_merged(shares, width // own) for own, shares in spreads]
    shares = np.zeros(max(len(table) for table in tables))
    for table in tables:
        shares[: len(table)] += table / len(tables)
    column = "test.mean-base-models"
    mean = float(chosen[column].mean()) if column in chosen else None
    return Spread(width, shares, mean, len(spreads))


def _merged(shares: NDArray[np.float64], times: int) -> NDArray[np.float64]:
    """The histogram with bars ``times`` as wide."""
    return np.asarray(np.add.reduceat(shares, np.arange(0, len(shares), times)))


_COLUMNS = 3
_FEW = 20


def spread_figure(panels: Sequence[tuple[str, Spread]], title: str, styles: dict[str, Style]) -> bytes:
    """A panel per method, three in a row, all on the same scales.

    Args:
        panels: pairs of a method and its histogram.
        title: the figure's heading.
        styles: the style of each method.
    """
    columns = min(_COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    end = max(spread.width * len(spread.shares) for _, spread in panels)
    # Rows that run all base models dominate; a square-root scale keeps the small bars visible.
    top = 100 * max(float(spread.shares.max()) for _, spread in panels)
    with canvas(1.0 + 2.6 * columns, 0.7 + 1.9 * rows) as page:
        grid = page.figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
        page.figure.suptitle(plain_text(title), x=0.01, ha="left")
        for place, axes in enumerate(grid):
            if place >= len(panels):
                axes.set_axis_off()
                continue
            method, spread = panels[place]
            _draw(axes, spread, styles[method], end, top)
            mean = "" if spread.mean is None else f": mean {plain_number(spread.mean, 3)}"
            axes.set_title(f"{shorten(method, 26)}{mean}", fontsize=9)
            if place + columns >= len(panels):
                axes.set_xlabel("Base models run")
                axes.tick_params(axis="x", labelbottom=True)
            if place % columns == 0:
                axes.set_ylabel("Test rows, %")
        page.save(title, _words(panels))
        return bytes(page)


def _draw(axes: Any, spread: Spread, style: Style, end: int, top: float) -> None:
    fill = 0.9 if len(spread.shares) <= _FEW else 1.0
    middle = spread.width * (np.arange(len(spread.shares)) + 0.5) + 0.5
    axes.bar(middle, 100 * spread.shares, fill * spread.width, color=style.colour, edgecolor="none", lw=0)
    axes.set_yscale("function", functions=(_root, np.square))
    axes.set_ylim(0, 1.08 * top)
    axes.set_yticks([tick for tick in (0.1, 1.0, 5.0, 10.0, 25.0, 50.0, 100.0) if tick <= 1.08 * top])
    axes.set_yticks([], minor=True)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlim(0.5, end + 0.5)
    axes.locator_params(axis="x", nbins=5, integer=True)
    axes.grid(visible=False, axis="x")
    if spread.mean is not None:
        axes.axvline(spread.mean, color=INK.light, lw=1.1, linestyle=(0, (4, 3)))


def _root(values: Any) -> Any:
    return np.sqrt(np.maximum(values, 0.0))


def _words(panels: Sequence[tuple[str, Spread]]) -> str:
    sentences = []
    for method, spread in panels:
        half = int(np.searchsorted(np.cumsum(spread.shares), 0.5))
        mean = "" if spread.mean is None else f"mean {plain_number(spread.mean, 3)}, "
        sentences.append(
            f"{method}: {mean}half of the rows run at most {spread.width * (half + 1)}, "
            f"{100 * spread.shares[-1]:.1f} % more than {spread.width * (len(spread.shares) - 1)}"
        )
    return "Share of test rows by base models run. " + "; ".join(sentences) + "."
