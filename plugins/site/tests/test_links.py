"""Pages as HTML, in which nothing that was text becomes markup, and their links."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench_leaderboard.render.markdown import slug, table, text
from bench_site.links import as_html, dead_links
from support.bench import ROOT

HOSTILE = "<script>alert(1)</script> | `x` **b** [a](javascript:1) &amp; 🙂"


def test_text_stays_text_in_a_title_and_a_cell() -> None:
    page = as_html(f"# {text(HOSTILE)}\n\n{table(['name'], [[text(HOSTILE)]])}\n")
    assert "<script" not in page
    assert "<code" not in page
    assert "<strong" not in page
    assert "<a " not in page
    assert page.count("<td") == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt; | `x` **b** [a](javascript:1) &amp;amp; 🙂" in page


def test_headings_have_the_anchors_that_github_gives_them() -> None:
    page = as_html("# Heart · SVM weights\n\n## a\\_b `c` 3\\*\n\n### Heart · SVM weights\n")
    for anchor in ("heart--svm-weights", "a_b-c-3", "heart--svm-weights-1"):
        assert f'id="{anchor}"' in page
    assert slug("Heart · SVM weights") == "heart--svm-weights"


@pytest.mark.parametrize(
    ("link", "dead"),
    [
        ("#here-it-is", ""),
        ("other.md#there", ""),
        ("folder/figure.svg", ""),
        ("folder/a%20b.txt", ""),
        ("https://example.org/gone#x", ""),
        ("#nowhere", "no such heading"),
        ("other.md#gone", "no such heading"),
        ("gone.md", "no such file"),
        ("../outside.md", "no such file"),
    ],
)
def test_a_link_that_leads_nowhere_is_named(tmp_path: Path, link: str, dead: str) -> None:
    root = tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    for name in ("folder/figure.svg", "folder/a b.txt", "../outside.md"):
        (root / name).write_text("x")
    (root / "other.md").write_text("# There\n")
    page = root / "page.md"
    page.write_text(f"# Here it is\n\n[a link]({link}) ![a picture](folder/figure.svg)\n")
    found = dead_links([page], root)
    assert [line for line in found if dead and dead in line and link in line] == found
    assert len(found) == bool(dead)


@pytest.mark.weekly
def test_every_link_of_the_repositorys_pages_leads_somewhere() -> None:
    pages = [
        path
        for folder in ("*.md", "leaderboard/**/*.md", "plugins/*/*.md", "docs/**/*.md")
        for path in ROOT.glob(folder)
    ]
    assert len(pages) > 10
    assert dead_links(pages, ROOT) == []
