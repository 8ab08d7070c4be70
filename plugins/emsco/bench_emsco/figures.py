"""The figure kind ``stage-by-cost-class``: mean stage of features by cost class (EMSCO Fig. 13).

Stages come from a detail of a policy, by default its ``chromosome``: a list with the stage of each feature, from 0.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from bench_analysis import Mean, feature_classes, mean_with_margin, overlap
from bench_leaderboard import (
    FADED,
    INK,
    Figure,
    FigureBuilder,
    FigureEntry,
    FigureKind,
    bare,
    canvas,
    plain_text,
    shorten,
    style_of,
)
from bench_records import Records
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

    from bench_core.suites import Suite

__all__ = ["StageByCostClass", "StagesByClass", "stage_figure", "stages_by_class"]


class StageEntry(FigureEntry):
    """``kind = "stage-by-cost-class"``.

    Attributes:
        field: the detail of a policy that holds the stage of each feature, from 0.
    """

    field: str = "chromosome"


class StageByCostClass(FigureKind):
    """Mean stage of each feature, features by cost class."""

    title = "Stages by cost class"
    entry = StageEntry

    def build(self, builder: FigureBuilder, entry: StageEntry, stem: str) -> list[Figure]:
        gather = partial(stages_by_class, field=entry.field or "chromosome", suite=builder.suite)
        return builder.by_method(self, entry, stem, gather, stage_figure)


@dataclass(frozen=True, eq=False)
class StagesByClass:
    """Mean stage of every feature in the selected policies (EMSCO Fig. 13).

    Attributes:
        features: names of the features.
        stages: for each feature, the mean stage over seeds, from 1, with its margin.
        classes: int64 (features,): index in ``labels`` of each feature's cost class; the most frequent class over
            seeds if the cost scheme learns its classes.
        labels: names of the cost classes, cheapest first.
        means: for each class, the mean over seeds of the mean stage of its features, with the classes of each seed.
        seeds: number of policies averaged.
        settled: whether every feature has the same class in all seeds.
    """

    features: tuple[str, ...]
    stages: tuple[Mean, ...]
    classes: NDArray[np.int64]
    labels: tuple[str, ...]
    means: tuple[Mean, ...]
    seeds: int
    settled: bool


def stages_by_class(
    records: Records, chosen: pd.DataFrame, field: str = "chromosome", suite: Suite | None = None
) -> StagesByClass | None:
    """Stages by cost class; None if no policy has such a detail.

    Without cost classes, features of equal price form a class.

    Args:
        records: the records of the suite.
        chosen: selected policies of one method on one data set under one cost scheme.
        field: the detail that holds the stage of each feature, from 0.
        suite: says what the splits are drawn from.
    """
    stages: list[NDArray[np.float64]] = []
    kinds: list[NDArray[np.float64]] = []
    named = False
    names: tuple[str, ...] = ()
    for name, details in chosen[["name", "details"]].itertuples(index=False):
        stage = json.loads(details).get(field)
        info = records.infos[name]
        if not isinstance(stage, list) or len(stage) != len(info["features"]):
            continue
        if stages and len(stage) != len(stages[0]):
            continue
        kind, named = feature_classes(info["costs"])
        names = names or tuple(info["features"])
        stages.append(np.asarray(stage, dtype=np.float64) + 1.0)
        kinds.append(kind)
    if not stages:
        return None
    stage_table, kind_table = np.stack(stages), np.stack(kinds)
    known = np.unique(kind_table)
    shared = overlap(info, suite.drawn_from(str(chosen["dataset"].iloc[0])) if suite else None)
    votes = np.stack([(kind_table == kind).sum(axis=0) for kind in known])
    return StagesByClass(
        features=names,
        stages=tuple(mean_with_margin(column, shared) for column in stage_table.T),
        classes=votes.argmax(axis=0),
        labels=tuple(f"class {kind:g}" if named else f"price {kind:g}" for kind in known),
        means=tuple(_class_mean(stage_table, kind_table == kind, shared) for kind in known),
        seeds=len(stages),
        settled=bool((kind_table == kind_table[0]).all()),
    )


def _class_mean(stages: NDArray[np.float64], inside: NDArray[np.bool_], shared: float) -> Mean:
    count = inside.sum(axis=1)
    some = count > 0
    return mean_with_margin((stages * inside).sum(axis=1)[some] / count[some], shared)


_MOST_NAMES = 60


def stage_figure(panels: Sequence[tuple[str, StagesByClass]], title: str) -> bytes:
    """Draw the mean stage of every feature by cost class, with one panel per method; returns the SVG.

    Args:
        panels: pairs of a method and its stages.
        title: the figure's heading.
    """
    widest = max(len(stages.features) for _, stages in panels)
    with canvas(min(12.0, max(6.0, 1.6 + 0.27 * widest)), 0.5 + 3.3 * len(panels)) as page:
        rows = page.figure.subplots(len(panels), 1, squeeze=False)[:, 0]
        page.figure.suptitle(plain_text(title), x=0.01, ha="left")
        for axes, (method, stages) in zip(rows, panels, strict=True):
            _draw(axes, method, stages)
        page.save(title, "; ".join(f"{method}: {_words(stages)}" for method, stages in panels) + ".")
        return bytes(page)


def _draw(axes: Any, method: str, stages: StagesByClass) -> None:
    order = np.argsort(stages.classes, kind="stable")
    kinds = stages.classes[order]
    values = np.array([stages.stages[f].value for f in order])
    margins = np.nan_to_num([stages.stages[f].margin for f in order])
    top = max(2.0, float((values + margins).max()))
    for kind, label in enumerate(stages.labels):
        places = np.flatnonzero(kinds == kind)
        if not len(places):
            continue
        ink = style_of(kind).colour
        left, right = places[0] - 0.5, places[-1] + 0.5
        if kind % 2 == 0:
            axes.axvspan(left, right, color=FADED.light, lw=0, zorder=0)
        axes.errorbar(
            places, values[places], yerr=margins[places], fmt="o", color=ink, ecolor=ink,
            elinewidth=1.3, capsize=2.5, zorder=3,
        )  # fmt: skip
        axes.hlines(stages.means[kind].value, left + 0.1, right - 0.1, color=ink, lw=1.6, linestyle=(0, (4, 2)))
        narrow = len(places) < 3
        mean = f"mean {stages.means[kind].value:.2f}"
        axes.text(
            (left + right) / 2, 0.97, f"{label}, {mean}" if narrow else f"{label}\n{mean}",
            transform=axes.get_xaxis_transform(), ha="center", va="top", fontsize=8, color=INK.light,
            rotation=90 if narrow else 0,
        )  # fmt: skip
    tight = bool((np.bincount(kinds, minlength=1) < 3).any())
    count = len(order)
    names = [shorten(stages.features[f], 18) for f in order]
    if count <= _MOST_NAMES:
        axes.set_xticks(np.arange(count), names, rotation=60, ha="right", rotation_mode="anchor", fontsize=7.5)
    else:
        axes.set_xticks([])
        axes.set_xlabel(f"{count} features, by cost class")
    axes.set_xlim(-0.6, count - 0.4)
    bottom = min(0.8, float((values - margins).min()) - 0.1)
    axes.set_ylim(bottom, top + (0.95 if tight else 0.32) * (top - bottom))
    axes.set_yticks(np.arange(1, int(top) + 1))
    axes.set_ylabel("Mean stage")
    axes.grid(visible=False, axis="x")
    varying = "" if stages.settled else "; classes vary by seed, the most frequent is shown"
    axes.set_title(f"{shorten(method, 30)}: mean of {stages.seeds} selected policies{varying}")
    bare(axes, "bottom")


def _words(stages: StagesByClass) -> str:
    varying = "" if stages.settled else "classes vary by seed; "
    return varying + ", ".join(
        f"{label} mean stage {mean.value:.2f}" for label, mean in zip(stages.labels, stages.means, strict=True)
    )
