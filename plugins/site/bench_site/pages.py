"""Render the site's pages as Markdown, from the published suites and this package's templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib import metadata
from pathlib import Path
from typing import Any

from bench_analysis import Panel
from bench_leaderboard import blocks, code, text, trials_text

from bench_core.suites import Registry
from bench_site.answer import answer_target, first_section, methods_linked
from bench_site.documentation import Files, Paper, book, documentation, papers_of
from bench_site.figures import as_data_script, curve_data, drawn_at_first
from bench_site.layout import addresses_of, layout_of, panel_addresses, usual_name
from bench_site.live import answering, live_data
from bench_site.methods import facts_of, strengths
from bench_site.parts import TITLES, relinked
from bench_site.results import results_data, shown_value
from bench_site.sources import SHARES, Published, at_share, ranked
from bench_site.suite_pages import suite_files
from bench_site.templating import duration, environment, prose

__all__ = ["Pages"]

MOST_ON_A_PAGE = 12
"""A page with more curves folds the others."""
CURVE_NOTE = "Where the validation rows of a split prefer the empty policy, it stands for the method on that split."
_BESIDE = 3
_WIDE = "---\nhide:\n  - navigation\n  - toc\n---\n"
"""A page without columns at its sides, so that its tables fit."""


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
        self.method_at = addresses_of(self.uses)
        self.dataset_at = addresses_of(self.datasets)
        self.papers = papers_of(docs)
        self.layouts = {suite.name: layout_of(suite) for suite in published}
        self.compared = answering(published)
        self.live = live_data(self.compared, self._pages_of(self.compared)) if self.compared else {"sets": []}
        self.panel_at = {suite.name: panel_addresses(suite) for suite in published}
        self.names = {use: usual_name(use, published) for use in self.uses}
        self.facts = {use: facts_of(use, published) for use in self.uses}
        self.templates = environment()
        self.templates.filters.update(text=text, blocks=blocks, code=code, prose=prose, duration=duration)
        self.templates.filters["percent"] = lambda share: f"{100 * share:g} %"
        self.templates.globals.update(
            site=self, shares=SHARES, titles=TITLES, most=MOST_ON_A_PAGE, curve_note=CURVE_NOTE, trials_text=trials_text
        )

    def files(self) -> Files:
        """Return all files of the site's source: address → text of the file, or path of a file to copy."""
        files: Files = {}
        for suite in self.published:
            files |= suite_files(self, suite)
        for use in self.uses:
            files[f"methods/{self.method_at[use]}.md"] = self._method(use)
        for dataset in self.datasets:
            files[f"datasets/{self.dataset_at[dataset]}.md"] = self._dataset(dataset)
        files["index.md"] = self.render("index", up="", answer=first_section(self._answer()) if self.has_answer else "")
        for name in ("suites", "methods", "datasets"):
            files[f"{name}/index.md"] = self.render(name, up="../")
        files["results.md"] = self.render("results", up="")
        first = self.published.index(self.compared) if self.compared else 0
        results = results_data(self.published, self.dataset_at, self._pages_of, first)
        files["assets/data/results.js"] = as_data_script("results", results)
        if self.live["sets"]:
            files["assets/data/live.js"] = as_data_script("live", self.live)
        for suite in self.published:
            pages = self._pages_of(suite)
            for panel in suite.panels:
                key = self.curve_key(suite, panel)
                files[f"assets/data/{key}.js"] = as_data_script(key, curve_data(panel, pages))
        if self.has_answer:
            files["answer.md"] = self._answer()
        return files | documentation(self.docs, self.papers, self._paper)

    def nav(self) -> list[Any]:
        """Return MkDocs' navigation, with escaped names, as the theme shows titles as HTML."""
        suites: list[Any] = ["suites/index.md"]
        for suite in self.published:
            parts = [{TITLES[part]: f"suites/{suite.name}/{part}.md"} for part in self.layouts[suite.name].parts]
            suites.append({escape(suite.title): [f"suites/{suite.name}/index.md", *parts]})
        methods = [
            "methods/index.md",
            *({escape(self.names[use]): f"methods/{self.method_at[use]}.md"} for use in self.uses_by_name),
        ]
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

    def has_doc(self, page: str) -> bool:
        """Whether the documentation has a page."""
        return self.docs is not None and (self.docs / page).is_file()

    @property
    def has_answer(self) -> bool:
        """Whether a published suite has a comparison, so that the leaderboard's front page names methods by budget."""
        return any("losses" in suite.description for suite in self.published)

    @property
    def uses_by_name(self) -> list[str]:
        """The registered names of all methods, in the order of the names that they are shown by."""
        return sorted(self.uses, key=lambda use: self.names[use].casefold())

    def best(self, panel: Panel, share: float) -> tuple[str, str] | None:
        """Return the best method at a share of the price, and its quality as text; None where none beats a guess.

        A guess is the best that any method does without a feature.
        """
        places, free = ranked(panel, share), ranked(panel, 0.0)
        if not places:
            return None
        sign = 1.0 if panel.quality.goal == "max" else -1.0
        guess = free[0].quality if free else panel.floor
        if sign * (places[0].quality - guess) <= 0:
            return None
        return places[0].method, self.quality(panel, places[0].quality)

    def next(self, suite: Published, panel: Panel, share: float, up: str) -> str:
        """Return the second and third best methods at a share of the price with their qualities, as Markdown."""
        places = ranked(panel, share)[1:3]
        return ", ".join(f"{self.method_link(suite, p.method, up)} {self.quality(panel, p.quality)}" for p in places)

    def about(self, use: str) -> dict[str, str]:
        """Return a method's summary, plugin, median time to fit and suites, as Markdown."""
        known = use in self.registry.methods
        doc = self.registry.methods.described(use)["doc"] if known else ""
        facts = self.facts[use]
        suites = [suite for suite in self.published if use in suite.uses.values()]
        return {
            "summary": prose(doc),
            "plugin": self.registry.plugin_of("methods", use).name if known else "not installed",
            "fit": f"{float(f'{facts.fit:.2g}'):g}" if facts else "–",
            "suites": ", ".join(self.suite_link(suite, "../", suite.name) for suite in suites),
        }

    def quality(self, panel: Panel, value: float | None) -> str:
        """Return a quality of a panel as text, in percent for a share; a dash for None."""
        return shown_value(value, panel.quality.percent)

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

    # Pages.

    def render(self, template: str, **values: Any) -> str:
        return self.templates.get_template(f"{template}.md.j2").render(**values)

    def curve_key(self, suite: Published, panel: Panel) -> str:
        """Return the key of a panel's data, which is also the place of its file."""
        return f"curves/{suite.name}/{self.panel_at[suite.name][panel.dataset, panel.costs]}"

    def figure(self, suite: Published, panel: Panel, up: str, shown: Sequence[str] = ()) -> str:
        """Return the HTML of a panel's curves; ``shown`` are drawn at first, by default `drawn_at_first(panel)`."""
        heading = suite.headings.get((panel.dataset, panel.costs), panel.dataset)
        methods = list(shown or drawn_at_first(panel))
        if shown:
            methods += [name for name in drawn_at_first(panel) if name not in shown][:_BESIDE]
        some = ", ".join(methods[:4]) + (f" and {len(methods) - 4} more" if len(methods) > 4 else "")
        label = f"Curves on {heading}: {panel.quality.title} by cost, of {some}"
        values = {"key": self.curve_key(suite, panel), "label": label, "shown": methods if shown else []}
        return self.render("curve", up=up, **values)

    def _pages_of(self, suite: Published) -> dict[str, str]:
        return {
            label: f"methods/{self.method_at[use]}.html" for label, use in suite.uses.items() if use in self.method_at
        }

    def _answer(self) -> str:
        """Return the leaderboard's front page with the site's links."""
        markdown = (self.published[0].folder.parent / "README.md").read_text(encoding="utf-8")
        anchors = {name: layout.anchors for name, layout in self.layouts.items()}
        pages = {
            text(label): f"methods/{self.method_at[use]}.md"
            for suite in self.published
            if "losses" in suite.description
            for label, use in suite.uses.items()
        }
        return _WIDE + methods_linked(relinked(markdown, lambda link: answer_target(link, anchors, self.docs)), pages)

    def _method(self, use: str) -> str:
        places = [
            (suite, panel, labels)
            for suite in self.published
            for panel in suite.panels
            if (labels := [curve.method for curve in panel.curves if suite.uses.get(curve.method) == use])
        ]
        standing = [
            (suite, panel, label, [next((p for p in ranked(panel, s) if p.method == label), None) for s in SHARES])
            for suite, panel, labels in places
            for label in labels
        ]
        methods = self.registry.methods
        about = methods.described(use) if use in methods else None
        plugin = self.registry.plugin_of("methods", use) if about else None
        compared = self.compared.uses if self.compared else {}
        labels = [one["name"] for one in self.live.get("methods", ()) if compared.get(one["name"]) == use]
        return self.render(
            "method",
            up="../",
            use=use,
            name=self.names[use],
            version=methods[use].version if about else None,
            doc=about["doc"] if about else "",
            plugin=plugin,
            licence=_licence(plugin.distribution) if plugin else "",
            parameters=about["parameters"] if about else [],
            papers=[paper for paper in self.papers if use in paper.methods],
            labels=labels,
            strengths=[(label, strengths(self.live, label)) for label in labels],
            facts=self.facts[use],
            curves=places,
            standing=standing,
        )

    def _paper(self, paper: Paper) -> str:
        suites = [suite for suite in self.published if suite.name in paper.suites]
        return self.render("paper", up="../../", paper=paper, suites=suites)

    def _dataset(self, dataset: str) -> str:
        places = [(suite, panel) for suite in self.published for panel in suite.panels if panel.dataset == dataset]
        facts = [(suite, suite.facts(dataset)) for suite in self.published]
        pages = [
            (suite, f"suites/{suite.name}/{self.layouts[suite.name].addresses.get(dataset, 'results')}.md")
            for suite in self.published
            if any(row["dataset"] == dataset for row in suite.description["rows"])
            and (dataset in self.layouts[suite.name].addresses or "results" in self.layouts[suite.name].parts)
        ]
        return self.render(
            "dataset",
            up="../",
            dataset=dataset,
            facts=[(suite, info) for suite, info in facts if info],
            curves=places,
            pages=pages,
        )


def _licence(distribution: str) -> str:
    """Return the licence that a distribution declares; empty if it declares none or is not installed."""
    try:
        fields = metadata.metadata(distribution)
    except (metadata.PackageNotFoundError, ValueError):
        return ""
    return next((fields[key] for key in ("License-Expression", "License") if key in fields), "")
