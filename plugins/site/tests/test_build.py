"""The built site: pages, links, errors, escaping, and files of others in its directory."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from bench_site.answer import answer_target, first_section, methods_linked
from bench_site.documentation import book, documentation
from bench_site.figures import as_data_script, curve_data
from bench_site.links import dead_links
from bench_site.live import answering
from bench_site.parts import TITLES, anchors_of, parts_of, relinked
from bench_site.place import put
from bench_site.templating import duration, prose
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from support.bench import ROOT, Bench

from bench_core import RequestError
from bench_core.cli.main import main

FRONT = ROOT / "plugins" / "comparison" / "bench_comparison" / "templates" / "front.md.j2"


def html(site: Path, page: str) -> str:
    return (site / page).read_text(encoding="utf-8")


@pytest.mark.slow
def test_there_is_a_page_for_every_suite_method_data_set_and_paper(site: Path) -> None:
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert {"index.html", "results.html", "suites/small/index.html", "suites/small/results.html",
            "methods/cost-ordered.html", "methods/single-stage.html", "datasets/blobs.html",
            "docs/tutorial.html", "docs/papers/paper.html"} <= pages  # fmt: skip


@pytest.mark.slow
def test_a_notebook_of_the_book_is_a_page_with_its_outputs_and_pictures(tmp_path: Path) -> None:
    data = {"image/svg+xml": ["<svg/>"], "text/plain": ["Drawing"]}
    output = {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": data}
    cell = {"cell_type": "code", "execution_count": 1, "metadata": {}, "source": "results.plot()", "outputs": [output]}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    (tmp_path / "look.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    (tmp_path / "nav.yml").write_text("- Look: look.ipynb\n", encoding="utf-8")
    files = documentation(tmp_path, [], lambda paper: "")
    (picture,) = (address for address in files if address.endswith(".svg"))
    assert files[picture] == "<svg/>"
    assert "results.plot()" in str(files["docs/look.md"])
    assert f"({Path(picture).name})" in str(files["docs/look.md"])
    assert files["docs/look.ipynb"] == tmp_path / "look.ipynb"
    assert book(tmp_path) == [{"Look": "docs/look.md"}]


@pytest.mark.slow
def test_each_data_set_of_a_large_suite_has_a_page_with_its_tables(site: Path) -> None:
    home = html(site, "suites/open/index.html")
    pages = json.loads((ROOT / "leaderboard/open/suite.json").read_text())["pages"]
    assert len(pages) > 12
    for file in pages.values():
        name = Path(file).with_suffix(".html").name
        assert f'href="{name}"' in home
        page = html(site, f"suites/open/{name}")
        assert ("<table>" in page) != ("No trial of this data set is done." in page)
    tables = html(site, "suites/open/results.html")
    assert "Over all data sets" in tables
    assert "Trade-off curves" in tables
    assert 'id="liver"' not in tables
    assert not (site / "suites" / "open" / "curves.html").exists()


def test_the_live_picture_is_of_the_suite_that_the_front_page_answers_with() -> None:
    suites = []
    for name in ("afabench", "open"):
        folder = ROOT / "leaderboard" / name
        parts = {part: json.loads((folder / f"{part}.json").read_text()) for part in ("losses", "scale")}
        description = json.loads((folder / "suite.json").read_text()) | parts
        suites.append(SimpleNamespace(description=description, panels=(None,), name=name))
    front = (ROOT / "leaderboard" / "README.md").read_text()
    assert f"({answering(suites).name}/answer.svg)" in front
    assert answering(suites[::-1]) is answering(suites)
    assert answering([]) is None


def test_the_numbers_of_the_answer_are_linked_to_the_page_that_has_them() -> None:
    assert answer_target("open/losses.json", {"open": {}}, None) == "suites/open/losses.json"
    assert answer_target("open/scale.json", {"open": {}}, None) is None


def test_the_guide_for_a_table_of_ones_own_is_linked_from_the_answer_if_the_site_has_it() -> None:
    (guide,) = re.findall(r"\(\[how\]\((.*?)\)\)", FRONT.read_text(encoding="utf-8"))
    assert answer_target(guide, {}, ROOT / "docs") == "docs/how-to/recommend.md"
    assert answer_target(guide, {}, ROOT / "leaderboard") is None
    assert answer_target(guide, {}, None) is None


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (1500, "25 min"),
        (9.4e-4, "0.94 ms"),
        (3.14, "3.1 s"),
        (99.7, "100 s"),
        (7200, "2 h"),
        (2e-6, "2 µs"),
        (0, "0 µs"),
    ],
)
def test_a_time_is_in_a_unit_that_needs_no_exponent(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_literals_in_a_docstring_are_code() -> None:
    shown = prose("The look-ahead of ``aaco`` over `f` * one\n  feature.\n\nMore.")
    assert shown == "The look-ahead of `aaco` over `f` \\* one feature."


def test_of_many_curves_the_best_are_visible_and_the_others_can_be_added() -> None:
    def panel(count: int) -> Any:
        steps = {"cost": np.array([0.05, 0.9]), "margin": np.zeros(2), "seeds": (1,)}
        curves = [
            SimpleNamespace(method=f"m{n}", quality=np.array([0.5, 0.5 + n / 100]), **steps) for n in range(count)
        ]
        quality = SimpleNamespace(percent=True, goal="max", title="Accuracy")
        return SimpleNamespace(curves=tuple(curves), quality=quality, cost="cost", largest=1.0)

    assert curve_data(panel(5), {})["first"] == [f"m{n}" for n in range(5)]
    many = curve_data(panel(30), {"m3": "methods/m3.html"})
    assert "m29" in many["first"]  # the best at the price of all features
    assert 2 <= len(many["first"]) <= 8
    assert [line["name"] for line in many["lines"]] == [f"m{n}" for n in range(30)]
    assert [line["page"] for line in many["lines"] if line["page"]] == ["methods/m3.html"]
    assert many["end"] == 100.0  # the axis reaches the price of all features, which no curve here costs


@pytest.mark.slow
def test_a_method_page_names_its_paper_plugin_parameters_and_rank(site: Path) -> None:
    page = html(site, "methods/cost-ordered.html")
    assert 'href="../docs/papers/paper.html"' in page
    assert "budgetbench-cost-ordered" in page
    assert "max_stages" in page
    assert "BSD-3-Clause" in page
    assert "rank 1 of" in page
    assert 'href="../methods/cost-ordered.html"' in html(site, "docs/papers/paper.html").replace("../../", "../")


@pytest.mark.slow
def test_the_answer_of_the_front_page_is_on_the_site_with_its_tables_and_numbers(site: Path) -> None:
    page = html(site, "answer.html")
    assert 'href="suites/small/answer.html"' in page
    assert "empty policy" in html(site, "suites/small/answer.html")
    assert 'href="losses.json"' in html(site, "suites/small/answer.html")
    assert (site / "suites" / "small" / "losses.json").is_file()
    assert (site / "suites" / "small" / "budgets.csv").is_file()
    assert 'href="answer.html"' in html(site, "index.html")


@pytest.mark.slow
def test_the_home_page_leads_to_the_guides_that_the_documentation_has(site: Path) -> None:
    page = html(site, "index.html")
    assert 'href="docs/how-to/recommend.html"' in page
    assert 'href="docs/tutorial.html"' in page
    assert "install.html" not in page


def test_the_home_page_takes_the_answer_without_its_heading_and_picture() -> None:
    page = (ROOT / "leaderboard" / "README.md").read_text(encoding="utf-8")
    answer = first_section(page)
    assert "| Budget | Recommended |" in answer
    assert "bench fit table.csv" in answer
    assert "answer.svg" not in answer
    assert not re.search(r"(?m)^#", answer)


def test_methods_on_the_front_page_are_links_to_their_pages() -> None:
    page = (ROOT / "leaderboard" / "README.md").read_text(encoding="utf-8")
    (leading, *_) = re.findall(r"\*\*([^*]+)\*\*", page)
    assert f"**[{leading}](methods/x.md)**" in methods_linked(page, {leading: "methods/x.md"})


@pytest.mark.slow
def test_names_that_look_like_markup_stay_text(site: Path) -> None:
    for page in ("suites/small/results.html", "methods/cost-ordered.html"):
        text = html(site, page)
        assert "&lt;b&gt;CO-T&lt;/b&gt; &amp; co" in text
        assert "<b>CO-T" not in text
    assert not any("<" in path.read_text(encoding="utf-8") for path in (site / "assets" / "data").rglob("*.js"))


@pytest.mark.slow
def test_a_curve_has_the_numbers_of_the_records(site: Path) -> None:
    (file,) = (site / "assets" / "data" / "curves" / "small").glob("*.js")
    key = file.relative_to(site / "assets" / "data").with_suffix("").as_posix()
    assert f'data-key="{key}"' in html(site, "suites/small/index.html")
    data = json.loads(file.read_text(encoding="utf-8").partition("]=")[2].removesuffix(";\n"))
    lines = data["lines"]
    names = ["<b>CO-T</b> & co", "CO-T, two stages", "LASSO", "majority", "single-stage"]
    assert [line["name"] for line in lines] == names
    for line in lines:
        assert np.all(np.diff([cost for cost, *_ in line["points"]]) >= 0)
    full = lines[-1]["points"]
    assert (full[0][0], full[-1][0]) == (0.0, 100.0)  # the empty policy, and the method's own
    description = json.loads((site.parent / "leaderboard" / "small" / "suite.json").read_text())
    means = next(row["means"] for row in description["rows"] if row["method"] == "single-stage")
    assert "coverage" not in means  # no answer is refused
    assert full[-1][1] == pytest.approx(100 * means["conclusive-accuracy"][0], abs=1e-6)


@given(st.text(max_size=30))
def test_no_name_in_data_ends_a_script_element_or_its_text(name: str) -> None:
    script = as_data_script(name, {"name": name})
    assert "<" not in script
    assert script.count("\n") == 1
    head, _, data = script.removesuffix(";\n").partition("]=")
    if "]=" not in name:
        assert json.loads(data) == {"name": name}
        assert json.loads(head.partition("[")[2]) == name


def test_no_method_is_called_best_that_is_no_better_than_an_answer_without_features() -> None:
    from bench_site.pages import Pages

    def panel(*qualities: float) -> Any:
        curves = tuple(
            SimpleNamespace(method=f"m{n}", cost=np.array([0.0, 0.05]), quality=np.array([0.5, quality]))
            for n, quality in enumerate(qualities)
        )
        quality = SimpleNamespace(percent=True, goal="max", title="Accuracy")
        return SimpleNamespace(curves=curves, quality=quality, floor=0.0)

    pages = Pages.__new__(Pages)
    assert pages.best(panel(0.5, 0.4), 0.1) is None
    assert pages.best(panel(0.5, 0.7), 0.1) == ("m1", "70.0")


@pytest.mark.slow
def test_the_site_has_no_dead_link(site: Path) -> None:
    assert dead_links(sorted(site.rglob("*.html")), site) == []


@pytest.mark.slow
def test_nothing_is_loaded_from_the_network(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="?(https?:[^" >]*)', html(site, page.name)
                            if page.parent == site else page.read_text(encoding="utf-8"))  # fmt: skip
        assert loaded == [], page


@pytest.mark.slow
def test_a_dead_link_fails_the_build(small: Bench, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "page.md").write_text("# Page\n\n[a](gone.md) [b](other.md#gone)\n")
    (docs / "other.md").write_text("# Other\n")
    ran = small("site", str(tmp_path / "site"), "--docs", str(docs), expect=1)
    assert "gone.md" in ran.stderr
    assert "other.html#gone" in ran.stderr


@pytest.mark.slow
def test_a_site_is_not_written_to_a_directory_of_other_files(small: Bench, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.tex").write_text("years of work")
    assert "holds files that bench site did not write (thesis.tex)" in small("site", str(mine), expect=2).stderr
    assert [path.name for path in mine.iterdir()] == ["thesis.tex"]
    for place in ("leaderboard/site", ".", "docs"):
        assert "another directory" in small("site", place, expect=2).stderr
    assert "there is no leaderboard" in small("site", str(tmp_path / "new"), "--out", "nowhere", expect=2).stderr


@pytest.mark.slow
def test_rebuilding_a_site_keeps_other_files_in_its_directory(small: Bench, tmp_path: Path) -> None:
    pub = tmp_path / "pub"
    small("site", str(pub), "--docs", "docs")
    before = {path.relative_to(pub) for path in pub.rglob("*") if path.is_file()}
    kept = {pub / ".git" / "HEAD": "ref", pub / "CNAME": "example.org", pub / "docs" / "papers" / "mine.txt": "mine"}
    for path, text in kept.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    (pub / "index.html").write_text("old")
    small("site", str(pub), "--docs", "none")
    assert {path: path.read_text() for path in kept} == kept
    assert "budgetbench" in html(pub, "index.html")
    after = {path.relative_to(pub) for path in pub.rglob("*") if path.is_file()}
    assert Path("docs/papers/paper.html") in before - after
    assert {path for path in after if "docs" in path.parts} == {Path("docs/papers/mine.txt")}
    mine = pub / "docs" / "tutorial.html"
    mine.write_text("mine")
    error = small("site", str(pub), "--docs", "docs", expect=2).stderr
    assert "docs/tutorial.html, which bench site did not write" in error
    assert mine.read_text() == "mine"
    assert {path.relative_to(pub) for path in pub.rglob("*") if path.is_file()} == after | {mine.relative_to(pub)}


def test_nothing_outside_of_the_site_is_written_or_removed(tmp_path: Path) -> None:
    def build(*names: str) -> Path:
        for name in names:
            path = tmp_path / "built" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("new")
        return tmp_path / "built"

    site, outside = tmp_path / "site", tmp_path / "outside"
    put(build("a.html", "docs/b.html"), site)
    outside.mkdir()
    for name in ("b.html", "c.html"):
        (outside / name).write_text("mine")
    written = site / ".budgetbench-site"
    written.write_text(written.read_text() + f"../outside/b.html\n{outside / 'c.html'}\nlink/c.html\n")
    (site / "link").symlink_to(outside)
    put(build("a.html"), site)
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"b.html": "mine", "c.html": "mine"}
    assert sorted(path.name for path in site.iterdir()) == [".budgetbench-site", "a.html", "link"]
    with pytest.raises(RequestError, match=r"link/c\.html"):
        put(build("link/c.html"), site)
    assert (outside / "c.html").read_text() == "mine"


HOSTILE = """
[suite]
name = "hostile"
title = '''</title><script>alert("suite")</script> {{ 7*7 }} {% raw %}'''
source = "<img src=x onerror=alert(1)>"
description = '''
</p><script>alert(2)</script>

- <script>alert(10)</script>
- second item
'''

[protocol]
seeds = 2
threshold = 0.6

[[datasets]]
use = "csv"
name = '''</title><script>alert("data")</script>'''
parameters = { path = "hostile.csv", target = "y" }

[[datasets]]
use = "blobs"
name = '''x" onmouseover="alert(3)'''

[[methods]]
use = "cost-ordered"
name = '''<b onclick=alert(4)>m</b> `|` [x](javascript:alert(5)) ![x](http://evil.example/p.png)'''

[[methods]]
use = "single-stage"
name = "</script><script>alert(6)</script>"

[[figures]]
kind = "feature-usage"

[comparison]
"""


class Injected(HTMLParser):
    """A parser that collects elements and attributes injected by a name."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.code = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.code = tag == "script" and ("type", "application/json") not in attrs
        for key, value in attrs:
            leads = key in ("src", "href") and not (value or "").startswith("#")  # a place on the page loads nothing
            if key.startswith("on") or (leads and re.search("javascript:|evil", value or "")):
                self.found.append(f"<{tag} {key}={value}>")

    def handle_endtag(self, tag: str) -> None:
        self.code = False

    def handle_data(self, data: str) -> None:
        if self.code and "alert(" in data:
            self.found.append(f"<script>{data}")


@pytest.mark.slow
def test_hostile_names_inject_no_element_or_attribute_into_pages_and_figures(bench: Bench) -> None:
    rows = [f"{n % 7},{n * n % 5},{'<script>alert(8)</script>' if n % 2 else 'b|c`'}" for n in range(60)]
    head = '<script>alert(7)</script>,"a|b` onload=alert(9)",y'
    (bench.folder / "hostile.csv").write_text("\n".join([head, *rows, ""]))
    (bench.folder / "suites").mkdir()
    (bench.folder / "suites" / "hostile.toml").write_text(HOSTILE)
    bench("run", "suites/hostile.toml")
    bench("site", "site")
    pages = sorted((bench.folder / "site").rglob("*.html"))
    figures = sorted((bench.folder / "site").rglob("*.svg"))
    assert len(pages) > 12
    assert any("feature-usage" in path.name for path in figures)
    for path in [*pages, *figures]:
        page = Injected()
        page.feed(path.read_text(encoding="utf-8"))
        page.close()
        assert page.found == [], path
        assert not (path.suffix == ".svg" and "<script" in path.read_text(encoding="utf-8"))
    home = html(bench.folder / "site", "suites/hostile/index.html")
    assert home.count("&lt;script&gt;alert(") >= 4
    assert "<li>second item</li>" in home
    data = sorted((bench.folder / "site" / "assets" / "data").rglob("*.js"))
    assert len(data) > 2
    assert not any("<" in path.read_text(encoding="utf-8") for path in data)


def test_splitting_a_committed_page_loses_no_line() -> None:
    for page in sorted((ROOT / "leaderboard").glob("*_*.md")):
        text = page.read_text(encoding="utf-8")
        description = json.loads((page.with_suffix("") / "suite.json").read_text(encoding="utf-8"))
        parts = parts_of(text, {row["heading"] for row in description["rows"]})
        assert list(parts) == [part for part in TITLES if part in parts]
        heads = [line for line in text.splitlines() if line.startswith("## ")]
        assert sorted(
            line for part in parts.values() for line in part.splitlines() if line.startswith("## ")
        ) == sorted(heads)
        body = [line for line in text.partition("\n## ")[2].splitlines()[1:] if line]
        kept = {line for part in parts.values() for line in part.splitlines()}
        assert [line for line in body if line not in kept] == []
        assert "claims" in parts


def test_relative_links_are_rewritten_and_others_kept() -> None:
    text = r"[a \[b\]](x.md#y) ![p](s/f.svg) [out](https://e.org/x) \[no\](z.md)"
    assert relinked(text, lambda link: None if link.endswith("y") else f"up/{link}") == (
        r"a \[b\] ![p](up/s/f.svg) [out](https://e.org/x) \[no\](z.md)"
    )
    assert relinked("[![p](s/f.svg)](s/x.md)", lambda link: f"up/{link}") == "[![p](up/s/f.svg)](up/s/x.md)"
    assert "(up/x.md#y)" in relinked(text, lambda link: f"up/{link}")
    assert "(https://e.org/x)" in relinked(text, lambda link: f"up/{link}")


def test_an_anchor_leads_to_the_part_that_has_the_heading() -> None:
    parts = parts_of("# T\n\n## Heart\n\n```\n## no heading\n```\n\n## Claims of the paper\n\n### x\n", {"Heart"})
    assert anchors_of(parts) == {"heart": "results", "claims-of-the-paper": "claims", "x": "claims"}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.data())
def test_the_quality_at_a_cost_is_that_of_the_largest_budget_within_it(costs: list[float], data: st.DataObject) -> None:
    from bench_site.sources import at_share

    cost = np.array(costs)
    quality = np.arange(len(cost), dtype=float)  # the budget's place
    curve = SimpleNamespace(cost=cost, quality=quality)
    share = data.draw(st.floats(0, 1))
    within = [place for place, one in enumerate(costs) if one <= share + 1e-9]
    assert at_share(curve, share) == (float(max(within)) if within else None)  # type: ignore[arg-type]


@pytest.mark.weekly
def test_the_site_of_the_committed_leaderboard_and_documentation_has_no_dead_link(bench: Bench) -> None:
    folders = [str(ROOT / name) for name in ("leaderboard", "suites", "docs")]
    bench("site", "site", "--out", folders[0], "--suites", folders[1], "--docs", folders[2])
    pages = list((bench.folder / "site").rglob("*.html"))
    assert len(pages) > 60
    assert max(path.stat().st_size for path in pages) < 1_000_000
    everything = sum(path.stat().st_size for path in (bench.folder / "site").rglob("*") if path.is_file())
    assert everything < 40_000_000


@pytest.mark.slow
def test_a_folder_without_a_leaderboard_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    for folder in ("nope", "empty"):
        done = CliRunner().invoke(main, ["site", "site", "--out", folder])
        assert (done.exit_code, f"there is no leaderboard at {folder}" in done.stderr) == (2, True), done.stderr
    assert not Path("site").exists()


@pytest.mark.slow
def test_a_site_that_cannot_be_written_is_refused_in_one_line(small: Bench) -> None:
    if not Path("/proc").is_dir():
        pytest.skip("no /proc on this system")
    said = small("site", "/proc/x", expect=2).stderr
    assert said.startswith("bench: /proc/x cannot be written: ")
    assert said.count("\n") == 1
