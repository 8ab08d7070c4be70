"""Render the site's pages as Markdown, from the published suites and this package's templates."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import metadata
from pathlib import Path
from typing import Any

from bench_leaderboard import Panel, code, plain_number, slug, text

from bench_core.suites import Registry
from bench_site.answer import answer_target, methods_linked
from bench_site.documentation import Files, Paper, book, documentation, papers_of
from bench_site.figures import curve_figure, drawn_at_first
from bench_site.parts import TITLES, anchors_of, by_dataset, parts_of, relinked
from bench_site.sources import SHARES, Published, at_share, ranked
from bench_site.templating import environment

__all__ = ["Pages"]

MOST_ON_A_PAGE = 12
"""A suite with more data sets than this has a page for each; a page with more curves folds the others."""


def _shown(value: float | None, percent: bool) -> str:
    return "–" if value is None else f"{100 * value:.1f}" if percent else plain_number(value)


def _addresses(names: Iterable[str]) -> dict[str, str]:
    """Return a unique address for each name."""
    addresses: dict[str, str] = {}
    for name in names:
        start = slug(name).replace("*", "") or "x"
        address, number = start, 1
        while address in addresses.values():
            number += 1
            address = f"{start}-{number}"
        addresses[name] = address
    return addresses


@dataclasses.dataclass(frozen=True)
class Layout:
    """The division of a suite's page into pages of the site.

    Attributes:
        parts: part → its Markdown.
        alone: heading of a data set with a page of its own → part → its section.
        addresses: that heading → name of the data set's page.
        anchors: anchor → the part or page that has it.
    """

    parts: dict[str, str]
    alone: dict[str, dict[str, str]]
    addresses: dict[str, str]
    anchors: dict[str, str]


def _layout(suite: Published) -> Layout:
    headings = list(suite.headings.values())
    parts = parts_of(suite.page, set(headings))
    alone: dict[str, dict[str, str]] = {}
    if len(headings) > MOST_ON_A_PAGE:
        parts, alone = by_dataset(parts, headings)
    addresses = {heading: f"data-{address}" for heading, address in _addresses(alone).items()}
    anchors = anchors_of(parts)
    for heading, sections in alone.items():
        for anchor in (slug(heading), *anchors_of(sections)):
            anchors.setdefault(anchor, addresses[heading])
    return Layout(parts, alone, addresses, anchors)


class Pages:
    """All pages of the site.

    Args:
        registry: the installed plugins.
        published: the published suites.
        docs: the documentation's directory; None for a site without it.
    """

    def __init__(self, registry: Registry, published: Sequence[Published], docs: Path | None) -> None:
        self.registry, self.published, self.docs = registry, published, docs
        self.uses = sorted({use for suite in published for use in suite.uses.values()})
        self.datasets = sorted(
            {row["dataset"] for suite in published for row in suite.description["rows"]}, key=str.casefold
        )
        self.method_at = _addresses(self.uses)
        self.dataset_at = _addresses(self.datasets)
        self.papers = papers_of(docs)
        self.layouts = {suite.name: _layout(suite) for suite in published}
        self.templates = environment()
        self.templates.filters.update(text=text, code=code, percent=lambda share: f"{100 * share:g} %")
        self.templates.globals.update(site=self, shares=SHARES, titles=TITLES, most=MOST_ON_A_PAGE)

    def files(self) -> Files:
        """Return all files of the site's source: address → text of the file, or path of a file to copy."""
        files: Files = {}
        for suite in self.published:
            files |= self._suite(suite)
        for use in self.uses:
            files[f"methods/{self.method_at[use]}.md"] = self._method(use)
        for dataset in self.datasets:
            files[f"datasets/{self.dataset_at[dataset]}.md"] = self._dataset(dataset)
        files["index.md"] = self._render("index", up="")
        for name in ("suites", "methods", "datasets"):
            files[f"{name}/index.md"] = self._render(name, up="../")
        files["results.md"] = self._render("results", up="")
        if self.has_answer:
            files["answer.md"] = self._answer()
        return files | documentation(self.docs, self.papers, self._paper)

    def nav(self) -> list[Any]:
        """Return MkDocs' navigation, with escaped names, as the theme shows titles as HTML."""
        suites: list[Any] = ["suites/index.md"]
        for suite in self.published:
            parts = [{TITLES[part]: f"suites/{suite.name}/{part}.md"} for part in self.layouts[suite.name].parts]
            suites.append({escape(suite.title): [f"suites/{suite.name}/index.md", *parts]})
        methods = ["methods/index.md", *({escape(use): f"methods/{self.method_at[use]}.md"} for use in self.uses)]
        datasets = ["datasets/index.md", *({escape(d): f"datasets/{self.dataset_at[d]}.md"} for d in self.datasets)]
        nav: list[Any] = [
            {"Home": "index.md"},
            *([{"Which method": "answer.md"}] if self.has_answer else []),
            {"Suites": suites},
            {"Methods": methods},
            {"Data sets": datasets},
            {"All results": "results.md"},
        ]
        return nav + ([{"Book": book(self.docs)}] if self.docs else [])

    # Called by the templates.

    @property
    def has_tutorial(self) -> bool:
        """Whether the documentation has a tutorial."""
        return self.docs is not None and (self.docs / "tutorial.md").is_file()

    @property
    def has_answer(self) -> bool:
        """Whether a published suite has a comparison, so that the leaderboard's front page names methods by budget."""
        return any("comparison" in suite.description for suite in self.published)

    def front_heading(self, suite: Published, panel: Panel) -> str:
        """Return a data set's heading, with the suite's name if several suites have the same heading."""
        heading = suite.headings[(panel.dataset, panel.costs)]
        count = sum(heading in other.headings.values() for other in self.published)
        return f"{heading} ({suite.name})" if count > 1 else heading

    def best(self, panel: Panel, share: float) -> tuple[str, str] | None:
        """Return the best method at a share of the price, and its quality as text; None if no method affords it."""
        places = ranked(panel, share)
        return (places[0].method, self.quality(panel, places[0].quality)) if places else None

    def quality(self, panel: Panel, value: float | None) -> str:
        """Return a quality of a panel as text, in percent for a share; a dash for None."""
        return _shown(value, panel.quality.percent)

    def unit(self, panel: Panel) -> str:
        """Return the name of a panel's quality, with its unit."""
        return f"{panel.quality.title} %" if panel.quality.percent else panel.quality.title

    def method_link(self, suite: Published, label: str, up: str) -> str:
        """Return a method's name as a link to its page."""
        use = suite.uses.get(label)
        return f"[{text(label)}]({up}methods/{self.method_at[use]}.md)" if use in self.method_at else text(label)

    def dataset_link(self, dataset: str, up: str, heading: str = "") -> str:
        """Return a data set's name as a link to its page."""
        return f"[{text(heading or dataset)}]({up}datasets/{self.dataset_at[dataset]}.md)"

    def suite_link(self, suite: Published, up: str, name: str = "") -> str:
        """Return a suite's title as a link to its page."""
        return f"[{text(name or suite.title)}]({up}suites/{suite.name}/index.md)"

    def rows(self, suite: Published, row: Mapping[str, Any], panel: Panel) -> list[str]:
        """Return a method's quality at every share of the price, as texts."""
        curve = next((c for c in panel.curves if c.method == row["method"]), None)
        return [self.quality(panel, at_share(curve, share)) if curve else "–" for share in SHARES]

    def result(self, suite: Published, row: Mapping[str, Any]) -> str:
        """Return a row's means with half-widths, by metric, as one text."""
        cells = []
        for name in suite.description.get("columns", []):
            value, margin = row["means"].get(name) or (None, None)
            if value is not None:
                metric = suite.description["metrics"][name]
                half = "" if margin is None else f" ± {_shown(margin, metric['percent'])}"
                unit = " %" if metric["percent"] else ""
                cells.append(f"{text(metric['title'])} {_shown(value, metric['percent'])}{half}{unit}")
        return "; ".join(cells) or "–"

    # Pages.

    def _render(self, template: str, **values: Any) -> str:
        return self.templates.get_template(f"{template}.md.j2").render(**values)

    def _figure(self, suite: Published, panel: Panel, shown: Sequence[str] | None = None) -> str:
        order = {name: place for place, name in enumerate(suite.definition.method_names())} if suite.definition else {}
        heading = suite.headings.get((panel.dataset, panel.costs), panel.dataset)
        methods = list(shown or [curve.method for curve in panel.curves])
        some = ", ".join(methods[:4]) + (f" and {len(methods) - 4} more" if len(methods) > 4 else "")
        label = f"Curves on {heading}: {panel.quality.title} by cost, of {some}"
        hidden = len(panel.curves) - len(drawn_at_first(panel)) if shown is None else 0
        return self._render("curve", json=curve_figure(panel, order, shown), label=label, hidden=hidden)

    def _suite(self, suite: Published) -> Files:
        layout = self.layouts[suite.name]
        base = f"suites/{suite.name}"
        files: Files = {
            f"{base}/{path.name}": path
            for path in (suite.folder / name for name in suite.description["files"])
            if path.suffix in (".svg", ".parquet", ".csv") and path.is_file()
        }
        timings, budgets = suite.folder / "timings.md", suite.folder / "budgets.md"

        def home(link: str) -> str | None:
            """Return the address for a link of the pages on timings and budgets."""
            return "index.md" if Path(link).name.partition("#")[0] == f"{suite.name}.md" else target(link)

        def target(link: str, here: str = "") -> str | None:
            path, _, anchor = link.partition("#")
            if not path:
                there = layout.anchors.get(anchor, here)
                if there in layout.addresses.values() and there == f"data-{anchor}":
                    return f"{there}.md"  # the page itself, not a heading on it
                return f"#{anchor}" if there == here else f"{there}.md#{anchor}"
            name = Path(path).name
            if name == "README.md":
                return "../../index.md"
            if name in ("timings.md", "budgets.md") or f"{base}/{name}" in files:
                return name
            return next((f"../{o.name}/index.md" for o in self.published if name == f"{o.name}.md"), None)

        def body(part: str, markdown: str) -> str:
            return relinked(markdown, lambda link: target(link, part))

        split = [
            part for part in ("results", "curves", "figures") if any(part in held for held in layout.alone.values())
        ]
        for part, markdown in layout.parts.items():
            files[f"{base}/{part}.md"] = f"# {TITLES[part]}: {text(suite.title)}\n\n{body(part, markdown)}" + (
                "\nThose of single data sets are on [their pages](index.md#data-sets).\n" if part in split else ""
            )
        if timings.is_file():
            files[f"{base}/timings.md"] = relinked(timings.read_text(encoding="utf-8"), home)
        if budgets.is_file():
            files[f"{base}/budgets.md"] = relinked(budgets.read_text(encoding="utf-8"), home)
        curves = [(panel, self._figure(suite, panel)) for panel in suite.panels]
        by_heading = {suite.headings.get((panel.dataset, panel.costs)): (panel, figure) for panel, figure in curves}
        for heading, sections in layout.alone.items():
            here = layout.addresses[heading]
            files[f"{base}/{here}.md"] = self._render(
                "panel",
                up="../../",
                suite=suite,
                heading=heading,
                dataset=next(dataset for (dataset, _), text in suite.headings.items() if text == heading),
                curve=by_heading.get(heading),
                sections={part: body(here, markdown) for part, markdown in sections.items()},
            )
        files[f"{base}/index.md"] = self._render(
            "suite",
            up="../../",
            suite=suite,
            parts=layout.parts,
            alone={h: (layout.addresses[h], by_heading.get(h, (None, ""))[0]) for h in layout.alone},
            curves=[] if layout.alone else curves,
            timings=timings.is_file(),
            budgets=budgets.is_file(),
            files=files,
            base=base,
        )
        return files

    def _answer(self) -> str:
        """Return the leaderboard's front page with the site's links."""
        markdown = (self.published[0].folder.parent / "README.md").read_text(encoding="utf-8")
        anchors = {name: layout.anchors for name, layout in self.layouts.items()}
        pages = {
            text(label): f"methods/{self.method_at[use]}.md"
            for suite in self.published
            if "comparison" in suite.description
            for label, use in suite.uses.items()
        }
        return methods_linked(relinked(markdown, lambda link: answer_target(link, anchors)), pages)

    def _method(self, use: str) -> str:
        places = [
            (suite, panel, labels)
            for suite in self.published
            for panel in suite.panels
            if (labels := [curve.method for curve in panel.curves if suite.uses.get(curve.method) == use])
        ]
        curves = [(suite, panel, self._figure(suite, panel, labels)) for suite, panel, labels in places]
        standing = [
            (suite, panel, label, [next((p for p in ranked(panel, s) if p.method == label), None) for s in SHARES])
            for suite, panel, labels in places
            for label in labels
        ]
        rows = [
            (suite, row)
            for suite in self.published
            for row in suite.description["rows"]
            if suite.uses.get(row["method"]) == use
        ]
        methods = self.registry.methods
        about = methods.described(use) if use in methods else None
        plugin = self.registry.plugin_of("methods", use) if about else None
        return self._render(
            "method",
            up="../",
            use=use,
            version=methods[use].version if about else None,
            doc=about["doc"] if about else "",
            plugin=plugin,
            licence=_licence(plugin.distribution) if plugin else "",
            parameters=about["parameters"] if about else [],
            papers=[paper for paper in self.papers if use in paper.methods],
            curves=curves,
            standing=standing,
            rows=rows,
        )

    def _paper(self, paper: Paper) -> str:
        suites = [suite for suite in self.published if suite.name in paper.suites]
        return self._render("paper", up="../../", paper=paper, suites=suites)

    def _dataset(self, dataset: str) -> str:
        places = [(suite, panel) for suite in self.published for panel in suite.panels if panel.dataset == dataset]
        facts = [(suite, suite.facts(dataset)) for suite in self.published]
        return self._render(
            "dataset",
            up="../",
            dataset=dataset,
            facts=[(suite, info) for suite, info in facts if info],
            curves=[(suite, panel, self._figure(suite, panel)) for suite, panel in places],
            rows=[(suite, r) for suite in self.published for r in suite.description["rows"] if r["dataset"] == dataset],
        )


def _licence(distribution: str) -> str:
    """Return the licence that a distribution declares; empty if it declares none or is not installed."""
    try:
        fields = metadata.metadata(distribution)
    except (metadata.PackageNotFoundError, ValueError):
        return ""
    return next((fields[key] for key in ("License-Expression", "License") if key in fields), "")
