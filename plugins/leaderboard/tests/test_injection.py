"""Text on a page is text: names and errors from anywhere render as themselves, in one cell, and inject nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from bench_analysis.analysed import Analysed
from bench_leaderboard.render.front import render_front
from bench_leaderboard.render.index import describe
from bench_leaderboard.render.markdown import blocks, code, fenced, slug, table, text
from bench_leaderboard.render.page import render_page
from bench_leaderboard.render.timings import render_timings
from bench_records.records import tabulate
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from support.synthetic import labelled, record_of, suite_of, toml

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
EVIL = [
    "a|b",
    "`code` ``` ~~~ fence",
    "<script>alert(1)</script> <b>&amp;",
    "![x](http://evil.example/p.png) [y](javascript:alert(1))",
    "*bold* _em_ ~~gone~~ **x**",
    "line\nbreak\r\n\n# heading\t| - | - |",
    "# no heading",
    "- no list",
    "+ no list",
    "1. no list",
    "2) no list",
    "> no quote",
    "---",
    "===",
    "| a | b |\n|---|---|",
    "    indented",
    "\\| \\\\",
    "$x^2$ {{ liquid }} {% raw %} [^1] ==x==",
    "😀 👩‍👩‍👧 naïve Ünïcode",
    "right-to-left \u202e evil \u0000\u0007\u200b",
    "&lt;b&gt; &#124; &copy;",
    "<!-- comment -->",
    "http://evil.example www.evil.example me@evil.example",
    "[x]: http://evil.example",
    ": definition",
]
LISTS = {"bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"}
ALLOWED = {
    "inline", "text", "softbreak", "heading_open", "heading_close", "paragraph_open", "paragraph_close",
    "table_open", "table_close", "thead_open", "thead_close", "tbody_open", "tbody_close", "tr_open", "tr_close",
    "th_open", "th_close", "td_open", "td_close", "fence", "code_inline", "em_open", "em_close", "strong_open",
    "strong_close", "link_open", "link_close", "image",
}  # fmt: skip


def seen(value: str) -> str:
    """What a reader should see of a text: white space as single spaces, nothing that cannot be seen."""
    line = " ".join(value.split())
    return " ".join("".join(c for c in line if c.isprintable() or c == "\u200d").split())


def shown(tokens: list[Token]) -> str:
    """The plain text of inline tokens; anything but text is an error."""
    assert {child.type for child in tokens} <= {"text", "text_special", "softbreak"}, [t.type for t in tokens]
    return "".join(child.content for child in tokens)


@pytest.mark.parametrize("value", EVIL)
def test_a_text_is_itself_as_a_paragraph(value: str) -> None:
    tokens = MARKDOWN.parse(text(value))
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    assert " ".join(shown(tokens[1].children or []).split()) == seen(value)


@settings(deadline=None, max_examples=300)
@given(st.one_of(st.text(max_size=40), st.text(alphabet="|`<>*_~[]()!#-+=.1:&;\\\n\t ab@/w", max_size=30)))
@example("www.a.b")
@example("a://b")
@example("1.")
def test_any_text_is_one_cell_of_one_row_and_reads_as_itself(value: str) -> None:
    tokens = MARKDOWN.parse(table(["h", "i"], [[text(value), "x"]]))
    body = tokens[[t.type for t in tokens].index("tbody_open") :]
    cells = [body[i + 1] for i, token in enumerate(body) if token.type == "td_open"]
    assert len(cells) == 2
    assert " ".join(shown(cells[0].children or []).split()) == " ".join(seen(value).split())
    assert cells[1].content == "x"


def test_a_description_has_paragraphs_and_after_the_first_lists() -> None:
    value = "- One\n  sentence.\n\n- first\n  item\n- second\n\n# No heading"
    tokens = MARKDOWN.parse(blocks(value))
    kinds = [token.type for token in tokens if token.level == 0 and token.type.endswith("_open")]
    assert kinds == ["paragraph_open", "bullet_list_open", "paragraph_open"]
    texts = [shown(token.children or []) for token in tokens if token.type == "inline"]
    assert texts == ["- One sentence.", "first item", "second", "# No heading"]


@settings(deadline=None, max_examples=200)
@given(st.lists(st.sampled_from(EVIL), min_size=1, max_size=4))
def test_evil_paragraphs_of_a_description_are_text_or_items(values: list[str]) -> None:
    types = {token.type for token in walk(MARKDOWN.parse(blocks("\n\n".join(values))))}
    assert types <= {"inline", "text", "text_special", "softbreak", "paragraph_open", "paragraph_close", *LISTS}


@settings(deadline=None)
@given(st.text(max_size=40))
def test_code_stays_code_in_one_cell(value: str) -> None:
    if not code(value):
        return
    tokens = MARKDOWN.parse(table(["h"], [[code(value)]]))
    cells = [tokens[i + 1] for i, token in enumerate(tokens) if token.type == "td_open"]
    assert len(cells) == 1
    assert [child.type for child in cells[0].children or []] == ["code_inline"]


@pytest.mark.parametrize("value", ["bench run x", "``` evil\n# x", "````"])
def test_a_fence_cannot_be_left(value: str) -> None:
    tokens = MARKDOWN.parse("\n".join([*fenced(value), "", "after"]))
    assert [token.type for token in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]


def walk(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from walk(token.children or [])


def pages_of(value: str) -> tuple[str, str, str]:
    """Return a suite's page, its timings and the front page, with a value wherever others may write."""
    # A suite refuses names that cannot be printed; everything else may hold them.
    name = value if value.isprintable() else "plain"
    method, dataset = f"m {name}", f"d {name}"
    records = [
        record_of(dataset, method, 0, {"coverage": 0.5, "conclusive-accuracy": 0.5, "cost": 1.0, "combined": 1.0}),
        record_of(dataset, "plain", 0, None, error=value),
        record_of("other", "plain", 0, {"coverage": 0.5, "conclusive-accuracy": 0.5, "cost": 1.0, "combined": 1.0}),
    ]
    for record in records:
        record["provenance"]["processor"] = value
        record["provenance"]["plugins"] = {value: {"version": value, "source": value}}
    claim = f'[[claims]]\nkind="extreme"\nmetric="cost"\nwhich="lowest"\nmethod={toml(method)}\n'
    claim += f"among=[{toml(method)}, {toml(value)}]\ntext={toml(value)}\nsource={toml(value)}\nnote={toml(value)}\n"
    claim += 'standing="stand-in"\n'
    suite = suite_of([dataset, "other"], [method, "plain"], 1, more=claim, title=value, description=value)
    table_ = tabulate(labelled(records))
    analysed = Analysed(suite, table_)
    described = [json.loads(describe(analysed, {}))]
    front = render_front(described, suite.registry)  # it lists the suites that have claims
    return render_page(analysed), render_timings(analysed), front


def tokens_of(page: str) -> list[Token]:
    return list(walk(MARKDOWN.parse(page)))


def items(tokens: list[Token]) -> int:
    return [token.type for token in tokens].count("list_item_open")


@pytest.mark.slow
@pytest.mark.parametrize("value", [v for v in EVIL if seen(v)])
def test_a_whole_page_of_evil_names_holds_nothing_but_its_own_structure(value: str) -> None:
    for page, harmless in zip(pages_of(value), pages_of("harmless"), strict=True):
        tokens = tokens_of(page)
        strange = {t.type for t in tokens} - ALLOWED - LISTS - {"text_special"}
        assert not strange
        assert items(tokens) == items(tokens_of(harmless))
        links = [str(t.attrs.get("href")) for t in tokens if t.type == "link_open"]
        assert all(not link.startswith(("http", "javascript", "//")) for link in links)
        assert all(str(t.attrs["src"]).startswith("synthetic/") for t in tokens if t.type == "image")
        assert "{{" not in page
        assert "{%" not in page


def test_a_heading_has_the_anchor_that_the_index_links_to() -> None:
    assert slug("Synthetic, 3 classes") == "synthetic-3-classes"
    assert slug("a|b <c> é") == "ab-c-é"
