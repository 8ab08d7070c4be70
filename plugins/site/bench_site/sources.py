"""What the site is made of: the published suites, read through the leaderboard's public functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from bench_leaderboard import Curve, Panel, curves_of, read_descriptions, slug
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
        description: its ``suite.json``.
        folder: where its records and figures are.
        page: its Markdown page.
        definition: its suite file; None where that is not there, and then it has no curves.
        records: its records; None where they are not there.
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
        """The suite's name: part of every link to it."""
        return str(self.description["name"])

    @property
    def title(self) -> str:
        """The suite's title."""
        return str(self.description["title"])

    @cached_property
    def headings(self) -> dict[tuple[str, str], str]:
        """(data set, cost scheme) → heading of its section."""
        return {(row["dataset"], row["costs"]): row["heading"] for row in self.description["rows"]}

    @cached_property
    def uses(self) -> dict[str, str]:
        """A method's name in this suite → the name that it is registered under."""
        if self.records is None:
            return {}
        trials = self.records.trials
        return {label: str(self.records.identities[names[0]]["method"]["use"]) for (*_, label), names in trials.items()}

    def facts(self, dataset: str) -> dict[str, Any]:
        """What the records say of a data set: task, rows of each part, number of features, content hash."""
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
    """A method at one share of the price on one panel: its quality, and how many methods are better.

    Attributes:
        method: its name in the suite.
        quality: mean test quality there.
        rank: 1 for the best; equal qualities share a rank.
        of: how many methods can afford a policy there.
    """

    method: str
    quality: float
    rank: int
    of: int = field(default=0)


def drawn(curve: Curve) -> NDArray[np.int64]:
    """The steps of a curve that stand over test costs: of those with a lesser mean cost later on, none.

    Over each cost stands the quality of the largest budget whose mean test cost is not above it, as in the
    leaderboard's own figures.
    """
    later = np.minimum.accumulate(curve.cost[::-1])[::-1]
    return np.flatnonzero(np.append(curve.cost[:-1] < later[1:], True))


def at_share(curve: Curve, share: float) -> float | None:
    """Mean test quality at a share of the price; None where not every seed affords a policy for it."""
    steps = drawn(curve)
    place = int(np.searchsorted(curve.cost[steps], share + 1e-9, side="right")) - 1
    return float(curve.quality[steps[place]]) if place >= 0 else None


def ranked(panel: Panel, share: float) -> list[Place]:
    """The methods that afford a policy at a share of the price, the best first."""
    sign = -1.0 if panel.quality.goal == "max" else 1.0
    qualities = [(c.method, q) for c in panel.curves if (q := at_share(c, share)) is not None]
    qualities.sort(key=lambda pair: (sign * pair[1], pair[0]))
    return [
        Place(method, quality, 1 + sum(sign * other < sign * quality for _, other in qualities), len(qualities))
        for method, quality in qualities
    ]


def published_suites(registry: Registry, leaderboard: Path, suites: Path) -> list[Published]:
    """Every published suite, by name.

    Raises:
        RequestError: there is no leaderboard, or an export or a suite file is damaged.
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
    _check_names(published)
    return published


def _check_names(published: list[Published]) -> None:
    """Suites must have addresses that differ.

    Raises:
        RequestError: two have one.
    """
    taken: dict[str, str] = {}
    for suite in published:
        other = taken.setdefault(slug(suite.name), suite.name)
        if other != suite.name:
            raise RequestError(f"the suites {other!r} and {suite.name!r} would have one address on the site")
