"""The leaderboard's own hooks: kinds of figures that other plugins bring."""

from __future__ import annotations

from typing import Protocol

import pluggy

__all__ = ["RegisterFigure", "bench_register_figures"]

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
