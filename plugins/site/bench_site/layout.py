"""How a suite's page is divided into pages of the site, and the addresses of pages."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from bench_leaderboard import slug
from bench_records import distinct

from bench_site.parts import anchors_of, parts_of
from bench_site.sources import Published

__all__ = ["Layout", "addresses_of", "layout_of", "panel_addresses", "usual_name"]


def addresses_of(names: Iterable[str]) -> dict[str, str]:
    """Return a unique address for each name."""
    return distinct(names, lambda name: slug(name).replace("*", "") or "x")


@dataclasses.dataclass(frozen=True)
class Layout:
    """The division of a suite's page into pages of the site.

    Attributes:
        parts: part → its Markdown.
        alone: data set with a page of its own → the page's Markdown.
        addresses: that data set → name of its page.
        anchors: anchor → the part that has it.
    """

    parts: dict[str, str]
    alone: dict[str, str]
    addresses: dict[str, str]
    anchors: dict[str, str]


def layout_of(suite: Published) -> Layout:
    parts = parts_of(suite.page, set(suite.headings.values()))
    pages: Mapping[str, str] = suite.description.get("pages", {})
    alone = {dataset: (suite.folder / file).read_text(encoding="utf-8") for dataset, file in pages.items()}
    if alone and "curves" in parts:  # only the rules: the curves are on the data sets' pages
        parts["results"] = parts.get("results", "") + "\n" + parts.pop("curves")
    addresses = {dataset: Path(file).stem for dataset, file in pages.items()}
    return Layout(parts, alone, addresses, anchors_of(parts))


def usual_name(use: str, published: Sequence[Published]) -> str:
    """Return the name that most suites give to a method, the shortest of them; its registered name if none does."""
    counts = Counter(label for suite in published for label, its_use in suite.uses.items() if its_use == use)
    return min(counts, key=lambda label: (-counts[label], len(label), label), default=use)


def panel_addresses(suite: Published) -> dict[tuple[str, str], str]:
    """Return a unique address for each panel, by data set and cost scheme."""
    places = {(panel.dataset, panel.costs): f"{panel.dataset} {panel.costs}" for panel in suite.panels}
    addresses = addresses_of(str(place) for place in places)
    return {place: addresses[str(place)] for place in places}
