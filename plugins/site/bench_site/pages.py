"""The site's pages as Markdown: from what is published, by the templates of this package."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml
from bench_leaderboard import Panel, plain_number, slug, text
from jinja2 import Environment, PackageLoader, StrictUndefined

from bench_core import Registry, RequestError
from bench_site.figures import curve_figure, drawn_at_first
from bench_site.parts import TITLES, anchors_of, by_dataset, parts_of, relinked
from bench_site.sources import SHARES, Published, at_share, ranked

__all__ = ["Pages"]

Files = dict[str, str | Path]

MOST_ON_A_PAGE = 12
"""A suite with more data sets has a page for each; so many curves stand on a page, and the others are folded."""


def _shown(value: float | None, percent: bool) -> str:
    return "–" if value is None else f"{100 * value:.1f}" if percent else plain_number(value)


def _addresses(names: Iterable[str]) -> dict[str, str]:
    """Name → a part of an address; they differ."""
    found: dict[str, str] = {}
    for name in names:
        base = slug(name).replace("*", "") or "x"
        address, again = base, 1
        while address in found.values():
            again += 1
            address = f"{base}-{again}"
        found[name] = address
    return found


@dataclasses.dataclass(frozen=True)
class Paper:
    """A page of the documentation about a paper: its ``methods`` and ``suites`` stand in the page's head."""

    path: str
    title: str
    methods: tuple[str, ...]
    suites: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Layout:
    """How a suite's page is divided.

    Attributes:
        parts: part → its Markdown.
        alone: heading of a data set that has a page of its own → part → its section.
        addresses: heading → that page's name.
        anchors: anchor → the part or page that has it.
    """

    parts: dict[str, str]
    alone: dict[str, dict[str, str]]
    addresses: dict[str, str]
    anchors: dict[str, str]


class Pages:
    """All pages of the site.

    Args:
        registry: the installed plugins.
        published: the published suites.
        docs: the documentation's directory; None for a site without it.
    """

    def __init__(self, registry: Registry, published: Sequence[Published], docs: Path | None) -> None:
        self.registry, self.published, self.docs = registry, published, docs
        self.uses = sorted({use for one in published for use in one.uses.values()})
        self.datasets = sorted({row["dataset"] for one in published for row in one.said["rows"]}, key=str.casefold)
        self.method_at = _addresses(self.uses)
        self.dataset_at = _addresses(self.datasets)
        self.papers = self._papers()
        self.templates = Environment(
            loader=PackageLoader("bench_site"),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,
            keep_trailing_newline=True,
        )
        self.templates.filters.update(text=text, percent=lambda share: f"{100 * share:g} %")
        self.templates.globals.update(site=self, shares=SHARES, titles=TITLES, most=MOST_ON_A_PAGE)

    def files(self) -> Files:
        """Address below the site's source → its text, or the file that is copied."""
        made: Files = {}
        for one in self.published:
            made |= self._suite(one)
        for use in self.uses:
            made[f"methods/{self.method_at[use]}.md"] = self._method(use)
        for dataset in self.datasets:
            made[f"datasets/{self.dataset_at[dataset]}.md"] = self._dataset(dataset)
        made["index.md"] = self._render("index", up="")
        for name in ("suites", "methods", "datasets"):
            made[f"{name}/index.md"] = self._render(name, up="../")
        made["results.md"] = self._render("results", up="")
        if self.has_answer:
            made["answer.md"] = self._answer()
        return made | self._documentation()

    def nav(self) -> list[Any]:
        """MkDocs' navigation."""
        suites: list[Any] = ["suites/index.md"]
        for one in self.published:
            parts = [{TITLES[part]: f"suites/{one.name}/{part}.md"} for part in self._layout(one).parts]
            suites.append({one.title: [f"suites/{one.name}/index.md", *parts]})
        methods = ["methods/index.md", *({use: f"methods/{self.method_at[use]}.md"} for use in self.uses)]
        datasets = ["datasets/index.md", *({d: f"datasets/{self.dataset_at[d]}.md"} for d in self.datasets)]
        made: list[Any] = [
            {"Home": "index.md"},
            *([{"Which method": "answer.md"}] if self.has_answer else []),
            {"Suites": suites},
            {"Methods": methods},
            {"Data sets": datasets},
            {"All results": "results.md"},
        ]
        return made + ([{"Book": self._book()}] if self.docs else [])

    # What templates ask for.

    @property
    def has_tutorial(self) -> bool:
        """Whether the documentation begins with a tutorial."""
        return self.docs is not None and (self.docs / "tutorial.md").is_file()

    @property
    def has_answer(self) -> bool:
        """Whether a published suite compares methods at budgets, so that the leaderboard's front page has an answer."""
        return any("comparison" in one.said for one in self.published)

    def front_heading(self, one: Published, panel: Panel) -> str:
        """A data set's heading, with the suite where several suites have it."""
        heading = one.headings[(panel.dataset, panel.costs)]
        again = sum(heading in other.headings.values() for other in self.published)
        return f"{heading} ({one.name})" if again > 1 else heading

    def best(self, panel: Panel, share: float) -> tuple[str, str] | None:
        """(method, quality) that is best at a share of the price."""
        places = ranked(panel, share)
        return (places[0].method, self.quality(panel, places[0].quality)) if places else None

    def quality(self, panel: Panel, value: float | None) -> str:
        """A panel's quality as text."""
        return _shown(value, panel.quality.percent)

    def unit(self, panel: Panel) -> str:
        """What a panel's quality is called in a table."""
        return f"{panel.quality.title} %" if panel.quality.percent else panel.quality.title

    def method_link(self, one: Published, label: str, up: str) -> str:
        """A method's name as a link to its page."""
        use = one.uses.get(label)
        return f"[{text(label)}]({up}methods/{self.method_at[use]}.md)" if use in self.method_at else text(label)

    def dataset_link(self, dataset: str, up: str, heading: str = "") -> str:
        """A data set's name as a link to its page."""
        return f"[{text(heading or dataset)}]({up}datasets/{self.dataset_at[dataset]}.md)"

    def suite_link(self, one: Published, up: str, name: str = "") -> str:
        """A suite's title as a link to its page."""
        return f"[{text(name or one.title)}]({up}suites/{one.name}/index.md)"

    def rows(self, one: Published, row: Mapping[str, Any], panel: Panel) -> list[str]:
        """A method's quality at every share of the price."""
        curve = next((c for c in panel.curves if c.method == row["method"]), None)
        return [self.quality(panel, at_share(curve, share)) if curve else "–" for share in SHARES]

    def result(self, one: Published, row: Mapping[str, Any]) -> str:
        """A row's means, a metric after the other."""
        cells = []
        for name in one.said.get("columns", []):
            value, margin = row["means"].get(name) or (None, None)
            if value is not None:
                metric = one.said["metrics"][name]
                half = "" if margin is None else f" ± {_shown(margin, metric['percent'])}"
                unit = " %" if metric["percent"] else ""
                cells.append(f"{text(metric['title'])} {_shown(value, metric['percent'])}{half}{unit}")
        return "; ".join(cells) or "–"

    # Pages.

    def _render(self, template: str, **values: Any) -> str:
        return self.templates.get_template(f"{template}.md.j2").render(**values)

    def _figure(self, one: Published, panel: Panel, shown: Sequence[str] | None = None) -> str:
        order = {name: place for place, name in enumerate(one.suite.method_names())} if one.suite else {}
        heading = one.headings.get((panel.dataset, panel.costs), panel.dataset)
        methods = list(shown or [curve.method for curve in panel.curves])
        some = ", ".join(methods[:4]) + (f" and {len(methods) - 4} more" if len(methods) > 4 else "")
        said = f"Curves on {heading}: {panel.quality.title} by cost, of {some}"
        hidden = len(panel.curves) - len(drawn_at_first(panel)) if shown is None else 0
        return self._render("curve", json=curve_figure(panel, order, shown), said=said, hidden=hidden)

    def _layout(self, one: Published) -> Layout:
        headings = list(one.headings.values())
        parts = parts_of(one.page, set(headings))
        alone: dict[str, dict[str, str]] = {}
        if len(headings) > MOST_ON_A_PAGE:
            parts, alone = by_dataset(parts, headings)
        addresses = {heading: f"data-{address}" for heading, address in _addresses(alone).items()}
        anchors = anchors_of(parts)
        for heading, sections in alone.items():
            for anchor in (slug(heading), *anchors_of(sections)):
                anchors.setdefault(anchor, addresses[heading])
        return Layout(parts, alone, addresses, anchors)

    def _suite(self, one: Published) -> Files:
        layout = self._layout(one)
        base = f"suites/{one.name}"
        files: Files = {
            f"{base}/{path.name}": path
            for path in sorted(one.folder.iterdir())
            if path.suffix in (".svg", ".parquet", ".csv") and not path.name.startswith(".")
        }
        timings, budgets = one.folder / "timings.md", one.folder / "budgets.md"

        def home(link: str) -> str | None:
            """Of the pages beside the results."""
            return "index.md" if Path(link).name.partition("#")[0] == f"{one.name}.md" else target(link)

        def target(link: str, here: str = "") -> str | None:
            path, _, anchor = link.partition("#")
            if not path:
                there = layout.anchors.get(anchor, here)
                if there in layout.addresses.values() and there == f"data-{anchor}":
                    return f"{there}.md"  # the whole page
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
            files[f"{base}/{part}.md"] = f"# {TITLES[part]}: {text(one.title)}\n\n{body(part, markdown)}" + (
                "\nThe data sets' own are on [their pages](index.md#data-sets).\n" if part in split else ""
            )
        if timings.is_file():
            files[f"{base}/timings.md"] = relinked(timings.read_text(encoding="utf-8"), home)
        if budgets.is_file():
            files[f"{base}/budgets.md"] = relinked(budgets.read_text(encoding="utf-8"), home)
        curves = [(panel, self._figure(one, panel)) for panel in one.panels]
        by_heading = {one.headings.get((panel.dataset, panel.costs)): (panel, figure) for panel, figure in curves}
        for heading, sections in layout.alone.items():
            here = layout.addresses[heading]
            files[f"{base}/{here}.md"] = self._render(
                "panel",
                up="../../",
                one=one,
                heading=heading,
                dataset=next(dataset for (dataset, _), text in one.headings.items() if text == heading),
                curve=by_heading.get(heading),
                sections={part: body(here, markdown) for part, markdown in sections.items()},
            )
        files[f"{base}/index.md"] = self._render(
            "suite",
            up="../../",
            one=one,
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
        """The leaderboard's front page, with the links of the site."""
        names = {one.name: one for one in self.published}

        def target(link: str) -> str | None:
            path, _, anchor = link.partition("#")
            folder, _, file = path.rpartition("/")
            if path == "results.csv":
                return "results.md"
            if folder in names:
                return f"suites/{folder}/{file}"
            one = names.get(path.removesuffix(".md"))
            if one is None:
                return None
            part = self._layout(one).anchors.get(anchor) if anchor else None
            if part == f"data-{anchor}":
                return f"suites/{one.name}/{part}.md"
            return f"suites/{one.name}/{part}.md#{anchor}" if part else f"suites/{one.name}/index.md"

        markdown = relinked((self.published[0].folder.parent / "README.md").read_text(encoding="utf-8"), target)
        return self._methods_linked(markdown)

    def _methods_linked(self, markdown: str) -> str:
        """The answer with every method that stands in bold, or first in a table's row, as a link to its page."""
        pages = {
            text(label): f"methods/{self.method_at[use]}.md"
            for one in self.published
            if "comparison" in one.said
            for label, use in one.uses.items()
        }

        def put(found: re.Match[str]) -> str:
            name = found["name"]
            return f"{found['before']}[{name}]({pages[name]}){found['after']}" if name in pages else found[0]

        for pattern in (
            r"(?P<before>\*\*)(?P<name>[^*\n]+?)(?P<after>\*\*)",
            r"(?m)(?P<before>^\| )(?P<name>.+?)(?P<after> *\|)",
        ):
            markdown = re.sub(pattern, put, markdown)
        return markdown

    def _method(self, use: str) -> str:
        places = [
            (one, panel, labels)
            for one in self.published
            for panel in one.panels
            if (labels := [curve.method for curve in panel.curves if one.uses.get(curve.method) == use])
        ]
        curves = [(one, panel, self._figure(one, panel, labels)) for one, panel, labels in places]
        standing = [
            (one, panel, label, [next((p for p in ranked(panel, s) if p.method == label), None) for s in SHARES])
            for one, panel, labels in places
            for label in labels
        ]
        rows = [(one, row) for one in self.published for row in one.said["rows"] if one.uses.get(row["method"]) == use]
        cls = self.registry.methods.get(use)
        return self._render(
            "method",
            up="../",
            use=use,
            cls=cls,
            doc=inspect.getdoc(cls) if cls else "",
            plugin=self.registry.plugin_of("methods", use) if cls else None,
            licence=_licence(self.registry.plugin_of("methods", use).distribution) if cls else "",
            parameters=_parameters(cls) if cls else [],
            papers=[paper for paper in self.papers if use in paper.methods],
            curves=curves,
            standing=standing,
            rows=rows,
        )

    def _dataset(self, dataset: str) -> str:
        places = [(one, panel) for one in self.published for panel in one.panels if panel.dataset == dataset]
        facts = [(one, one.facts(dataset)) for one in self.published]
        return self._render(
            "dataset",
            up="../",
            dataset=dataset,
            facts=[(one, said) for one, said in facts if said],
            curves=[(one, panel, self._figure(one, panel)) for one, panel in places],
            rows=[(one, r) for one in self.published for r in one.said["rows"] if r["dataset"] == dataset],
        )

    # The documentation.

    def _papers(self) -> list[Paper]:
        if self.docs is None:
            return []
        found = []
        for path in sorted(self.docs.glob("papers/*.md")):
            head = _front_matter(path)
            if head:
                lists = [tuple(str(name) for name in head.get(key) or ()) for key in ("methods", "suites")]
                found.append(Paper(f"docs/papers/{path.name}", str(head.get("title", path.stem)), *lists))
        return found

    def _documentation(self) -> Files:
        made: Files = {}
        if self.docs is None:
            return made
        for path in sorted(self.docs.rglob("*")):
            if path.is_file() and path.name != "nav.yml" and not path.name.startswith("."):
                made[f"docs/{path.relative_to(self.docs).as_posix()}"] = path
        for paper in self.papers:
            source = self.docs / paper.path.removeprefix("docs/")
            suites = [one for one in self.published if one.name in paper.suites]
            made[paper.path] = source.read_text(encoding="utf-8") + self._render(
                "paper", up="../../", paper=paper, suites=suites
            )
        return made

    def _book(self) -> list[Any]:
        if self.docs is None:
            return []
        file = self.docs / "nav.yml"
        if not file.is_file():
            return [f"docs/{path.relative_to(self.docs).as_posix()}" for path in sorted(self.docs.rglob("*.md"))]
        try:
            return list(_below_docs(yaml.safe_load(file.read_text(encoding="utf-8"))))
        except (yaml.YAMLError, TypeError, AttributeError) as error:
            raise RequestError(f"{file} is not a navigation as MkDocs has it: {error}") from None


def _below_docs(nav: Any) -> Any:
    if isinstance(nav, str):
        return f"docs/{nav}"
    if isinstance(nav, Mapping):
        return {key: _below_docs(value) for key, value in nav.items()}
    return [_below_docs(one) for one in nav]


def _front_matter(path: Path) -> dict[str, Any]:
    from mkdocs.utils.meta import get_data

    return dict(get_data(path.read_text(encoding="utf-8"))[1])


def _licence(distribution: str) -> str:
    """The licence that a distribution declares; empty where it declares none."""
    try:
        said = metadata.metadata(distribution)
    except (metadata.PackageNotFoundError, ValueError):
        return ""
    return next((said[key] for key in ("License-Expression", "License") if key in said), "")


def _parameters(cls: type[Any]) -> list[tuple[str, str, str]]:
    """(name, type, default) of a method's parameters."""
    rows = []
    for field in dataclasses.fields(cls):
        if field.init:
            kind = field.type if isinstance(field.type, str) else getattr(field.type, "__name__", str(field.type))
            default = "required" if field.default is dataclasses.MISSING else repr(field.default)
            if field.default_factory is not dataclasses.MISSING:
                default = repr(field.default_factory())
            rows.append((field.name, kind, default))
    return rows
