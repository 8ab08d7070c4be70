"""What other plugins add to pages, by the hooks of `bench_leaderboard.hookspecs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench_analysis import Analysed

    from bench_core.suites import Registry

__all__ = ["FrontPart", "PagePart", "front_parts", "page_parts"]


@dataclass(frozen=True)
class PagePart:
    """What a plugin adds to the published files of one suite.

    Attributes:
        order: parts stand on the page in this order, before the tables of single data sets.
        lines: a section of the page, in Markdown.
        figures: `bench_leaderboard.FigureEntry`: figures that the page has unless the suite has some of that kind.
        lead: kind of the figure at the top of the page; where no part names one, it is the page's first.
        description: further keys of ``suite.json``.
        data: name → plain data, written as ``<name>.json`` beside the page. The front page's hook finds it again
            under this name in the suite's description.
        files: name → contents of further files beside the page.
    """

    order: int
    lines: Sequence[str] = ()
    figures: Sequence[Any] = ()
    lead: str = ""
    description: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FrontPart:
    """What a plugin adds to the front page.

    Attributes:
        order: parts stand in this order, before the table of suites.
        lines: a section, in Markdown.
        links: suite → a link for its row of the table.
    """

    order: int
    lines: Sequence[str] = ()
    links: Mapping[str, str] = field(default_factory=dict)


def page_parts(analysed: Analysed) -> list[PagePart]:
    """What plugins add to a suite's page, in order."""

    def ask(analysed: Analysed) -> list[PagePart]:
        parts: list[PagePart] = analysed.suite.registry.manager.hook.bench_page_parts(analysed=analysed)
        return sorted(parts, key=lambda part: part.order)

    return analysed.once("parts", ask)


def front_parts(registry: Registry, described: Sequence[Mapping[str, Any]]) -> list[FrontPart]:
    """What plugins add to the front page, in order."""
    parts: list[FrontPart] = registry.manager.hook.bench_front_parts(described=described)
    return sorted(parts, key=lambda part: part.order)
