"""Read the published suites through the leaderboard's public functions, and rank methods at shares of the price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from bench_analysis import Curve, Panel, curves_of
from bench_leaderboard import read_descriptions, slug
from bench_records import Records, read_export
from numpy.typing import NDArray

from bench_core import RequestError
from bench_core.suites import Registry, Suite, load_suite

__all__ = ["SHARES", "Place", "Published", "at_share", "drawn", "published_suites", "ranked"]

SHARES = (0.1, 0.25, 0.5, 1.0)
"""Shares of the price of all features at which methods are compared."""


@dataclass(frozen=True)
class Published:
    """A suite whose records are published.

    Attributes:
        description: content of its ``suite.json``.
        folder: directory of its records and figures.
        page: its Markdown page; empty if there is none.
        definition: its suite file; None if there is none, and then it has no curves.
        records: its records; None if there are none.
        panels: its trade-off curves, a panel per data set and cost scheme.
    """

    description: Mapping[str, Any]
    folder: Path
    page: str
    definition: Suite | None
    records: Records | None
    panels: tuple[Panel, ...] = ()

    @property
    def name(self) -> str:
        """The suite's name, which is part of its address."""
        return str(self.description["name"])

    @property
    def title(self) -> str:
        """The suite's title."""
        return str(self.description["title"])

    @cached_property
    def headings(self) -> dict[tuple[str, str], str]:
        """Headings of the sections by (data set, cost scheme)."""
        return {(row["dataset"], row["costs"]): row["heading"] for row in self.description["rows"]}

    @cached_property
    def uses(self) -> dict[str, str]:
        """Registered names of the methods by their names in this suite; empty without records."""
        if self.records is None:
            return {}
        trials = self.records.trials
        return {label: str(self.records.identities[names[0]]["method"]["use"]) for (*_, label), names in trials.items()}

    def facts(self, dataset: str) -> dict[str, Any]:
        """Return a data set's task, rows of each part, number of features, content hash and confidence threshold.

        Empty if the records hold no trial on it.
        """
        if self.records is None:
            return {}
        for (name, *_), trials in self.records.trials.items():
            if name == dataset:
                info, identity = self.records.infos[trials[0]], self.records.identities[trials[0]]
                return {
                    "task": info["task"],
                    "rows": info["rows"],
                    "features": len(info["features"]),
                    "content": identity["dataset"],
                    "threshold": identity["threshold"],
                }
        return {}


@dataclass(frozen=True)
class Place:
    """A method's quality and rank at a share of the price, on a panel.

    Attributes:
        method: its name in the suite.
        quality: mean test quality.
        rank: 1 for the best; equal qualities share a rank.
        of: number of methods that can afford a policy at that share.
    """

    method: str
    quality: float
    rank: int
    of: int = field(default=0)


def drawn(curve: Curve) -> NDArray[np.int64]:
    """Return the indices of a curve's steps that are drawn, int64: those of less mean cost than every later step.

    At each cost, the quality is that of the largest budget whose mean test cost is not higher, as in the leaderboard's
    figures.
    """
    later = np.minimum.accumulate(curve.cost[::-1])[::-1]
    return np.flatnonzero(np.append(curve.cost[:-1] < later[1:], True))


def at_share(curve: Curve, share: float) -> float | None:
    """Return the mean test quality at a share of the price; None if every step has a larger mean test cost."""
    steps = drawn(curve)
    place = int(np.searchsorted(curve.cost[steps], share + 1e-9, side="right")) - 1
    return float(curve.quality[steps[place]]) if place >= 0 else None


def ranked(panel: Panel, share: float) -> list[Place]:
    """Return the methods that afford a policy at a share of the price, best first."""
    sign = -1.0 if panel.quality.goal == "max" else 1.0
    qualities = [(c.method, q) for c in panel.curves if (q := at_share(c, share)) is not None]
    qualities.sort(key=lambda pair: (sign * pair[1], pair[0]))
    return [
        Place(method, quality, 1 + sum(sign * other < sign * quality for _, other in qualities), len(qualities))
        for method, quality in qualities
    ]


def published_suites(registry: Registry, leaderboard: Path, suites: Path) -> list[Published]:
    """Read every published suite, sorted by name.

    Args:
        registry: the installed plugins.
        leaderboard: directory of the published leaderboard.
        suites: directory of suite files.

    Raises:
        RequestError: there is no leaderboard, an export or a suite file is damaged, or two suites have one address.
    """
    if not leaderboard.is_dir():
        raise RequestError(f"there is no leaderboard at {leaderboard}")
    published = []
    for description in read_descriptions(leaderboard, {}, registry):
        name = str(description["name"])
        folder, page, file = leaderboard / name, leaderboard / f"{name}.md", suites / f"{name}.toml"
        suite = load_suite(file, registry) if file.is_file() else None
        records = read_export(folder)
        panels = tuple(curves_of(suite, records)) if suite is not None and records is not None else ()
        text = page.read_text(encoding="utf-8") if page.is_file() else ""
        published.append(Published(description, folder, text, suite, records, panels))
    if not published:
        raise RequestError(f"there is no leaderboard at {leaderboard}: it has no published suite")
    _check_names(published)
    return published


def _check_names(published: list[Published]) -> None:
    """Check that no two suites have the same address.

    Raises:
        RequestError: two suites have the same address.
    """
    taken: dict[str, str] = {}
    for suite in published:
        other = taken.setdefault(slug(suite.name), suite.name)
        if other != suite.name:
            raise RequestError(f"the suites {other!r} and {suite.name!r} have the same address on the site; rename one")
