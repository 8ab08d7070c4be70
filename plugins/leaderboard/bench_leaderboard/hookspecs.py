"""The leaderboard's own hooks: kinds of figures, and parts of pages that other plugins add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import pluggy

if TYPE_CHECKING:
    from bench_analysis import Analysed

    from bench_leaderboard.parts import FrontPart, PagePart

__all__ = ["RegisterFigure", "bench_front_parts", "bench_page_parts", "bench_register_figures"]

hookspec = pluggy.HookspecMarker("budgetbench")


class RegisterFigure(Protocol):
    """``register(kind, place)``: make a kind of figure known; ``place`` is ``"package.module:Class"``."""

    def __call__(self, kind: str, place: str) -> None: ...


@hookspec
def bench_register_figures(register: RegisterFigure) -> None:
    """Register kinds of ``[[figures]]``. Implement it with ``@hookimpl(optionalhook=True)``.

    The class, a `FigureKind`, is imported when a suite that has such a figure is read.

    Example::

        @hookimpl(optionalhook=True)
        def bench_register_figures(register):
            register("stage-by-cost-class", "bench_emsco.figures:StageByCostClass")
    """


@hookspec
def bench_page_parts(analysed: Analysed) -> PagePart | None:
    """Add sections, figures and files to the page of a suite. Called once for each page.

    Implement it with ``@hookimpl(optionalhook=True)``; None adds nothing.

    Example::

        @hookimpl(optionalhook=True)
        def bench_page_parts(analysed):
            count = len(analysed.records.infos)
            return PagePart(order=30, lines=["## Size", "", f"{count} records.", ""])
    """


@hookspec
def bench_front_parts(described: Sequence[Mapping[str, Any]]) -> FrontPart | None:
    """Add sections and links to the front page. Called whenever it is rendered.

    Args:
        described: ``suite.json`` of every published suite, with the data that its parts keep (`PagePart.data`).
    """
