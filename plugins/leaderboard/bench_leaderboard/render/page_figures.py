"""The figures of a suite's page.

Listing the figures is cheap and needs no matplotlib, so a page links exactly the files that are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_analysis import Analysed

from bench_core import Metric, RequestError, did_you_mean
from bench_core.suites import Registry, Suite, validated
from bench_leaderboard.parts import page_parts
from bench_leaderboard.render.figure import Figure, FigureEntry
from bench_leaderboard.texts import texts_in

if TYPE_CHECKING:
    from bench_leaderboard.render.figure_builder import FigureKind

__all__ = ["check_figures", "figure_entry", "figure_files", "figures_of", "kinds_of", "shown_by_figures"]


def kinds_of(registry: Registry) -> dict[str, str]:
    """Every kind of figure that installed plugins have → its class, as ``package.module:Class``."""
    kinds: dict[str, str] = {}
    registry.manager.hook.bench_register_figures(register=lambda kind, place: kinds.update({kind: place}))
    return kinds


def _kind(name: Any, registry: Registry, where: str) -> FigureKind:
    kinds = kinds_of(registry)
    if not isinstance(name, str) or name not in kinds:
        hint = did_you_mean(str(name), kinds)
        raise RequestError(f"{where}.kind: {name!r} is not a kind of figures; {hint}")
    module, _, cls = kinds[name].partition(":")
    kind: FigureKind = getattr(import_module(module), cls)()
    return kind


def figure_entry(registry: Registry, given: Mapping[str, Any] | FigureEntry, where: str) -> FigureEntry:
    """An entry of ``[[figures]]`` as its kind's own type.

    Raises:
        RequestError: an unknown kind or key, or a wrong value; the message has ``where`` and the nearest name.
    """
    if isinstance(given, FigureEntry):
        return given
    return validated(_kind(given.get("kind"), registry, where).entry, given, where)


def check_figures(suite: Suite, entries: Sequence[Mapping[str, Any] | FigureEntry]) -> dict[str, Metric]:
    """Check every name in the entries of figures, and return the metrics that they need.

    Raises:
        RequestError: an unknown kind, key, data set, method or metric; the message has file, key and nearest name.
    """
    needed: dict[str, Metric] = {}
    for i, given in enumerate(entries):
        where = f"{suite.path}: figures[{i}]"
        entry = figure_entry(suite.registry, given, where)
        for key, what, names, known in (
            ("methods", "method", entry.methods, suite.method_names()),
            ("datasets", "data set", entry.datasets, suite.dataset_names()),
        ):
            for name in names:
                if name not in known:
                    hint = did_you_mean(name, known)
                    raise RequestError(f"{where}.{key}: there is no {what} {name!r}; {hint}")
        needed |= _kind(entry.kind, suite.registry, where).check(suite, entry, where)
    return needed


def shown_by_figures(suite: Suite) -> Iterator[str]:
    """Every name in the entries of a suite's figures, and the keys of records that they show."""
    for given in suite.section("figures"):
        entry = figure_entry(suite.registry, given, suite.path)
        yield from texts_in(entry)
        yield from _kind(entry.kind, suite.registry, suite.path).reads


def figures_of(analysed: Analysed) -> list[Figure]:
    """Every figure of a suite's page, in order; not yet drawn."""
    return analysed.once("figures", _figures)


def figure_files(figures: Sequence[Figure], folder: Path) -> dict[Path, bytes]:
    """Figures, drawn now, as contents of files in a folder."""
    return {folder / figure.file: figure.draw() for figure in figures}


def _figures(analysed: Analysed) -> list[Figure]:
    from bench_leaderboard.render.figure_builder import FigureBuilder

    suite, builder = analysed.suite, FigureBuilder(analysed)
    entries = _entries(suite, [entry for part in page_parts(analysed) for entry in part.figures])
    figures: list[Figure] = []
    for number, entry in enumerate(entries):
        same = [other for other in entries[:number] if other.kind == entry.kind]
        stem = f"{entry.kind}{len(same) + 1}" if same else entry.kind
        figures += _kind(entry.kind, suite.registry, suite.path).build(builder, entry, stem)
    return _apart(figures)


def _apart(figures: list[Figure]) -> list[Figure]:
    """The figures, renamed where needed so that file names are distinct."""
    taken: set[str] = set()
    renamed = []
    for figure in figures:
        file, again = figure.file, 1
        while file in taken:
            again += 1
            file = f"{figure.file.removesuffix('.svg')}-{again}.svg"
        taken.add(file)
        renamed.append(replace(figure, file=file))
    return renamed


def _entries(suite: Suite, added: Sequence[FigureEntry]) -> list[FigureEntry]:
    """The suite's figures, and those that every page has unless the suite asks for that kind itself."""
    from bench_leaderboard.render.figure_kinds import BARS, CurveEntry, MetricsEntry

    entries = [figure_entry(suite.registry, given, suite.path) for given in suite.section("figures")]
    kinds = {entry.kind for entry in entries}
    if "bars" not in kinds and all(name in suite.metrics for name in BARS):
        entries.insert(0, MetricsEntry(kind="bars", metrics=list(BARS)))
    if "curve" not in kinds:
        entries.insert(0, CurveEntry(kind="curve"))
    return entries + [entry for entry in added if entry.kind not in kinds]
