"""The site: pages as HTML in which nothing that was text becomes markup."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench_leaderboard.render.links import dead_links
from bench_leaderboard.render.markdown import slug, table, text
from bench_leaderboard.render.site import build_site, page_as_html
from support.bench import ROOT, Bench

from bench_core.contract.errors import RequestError

HOSTILE = "<script>alert(1)</script> | `x` **b** [a](javascript:1) &amp; 🙂"


def test_text_stays_text_in_a_title_and_a_cell() -> None:
    page = page_as_html(f"# {text(HOSTILE)}\n\n{table(['name'], [[text(HOSTILE)]])}\n")
    assert "<script" not in page
    assert "<code" not in page
    assert "<strong" not in page
    assert "<a " not in page
    assert page.count("<td") == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt; | `x` **b** [a](javascript:1) &amp;amp; 🙂" in page


def test_pages_are_linked_as_html_and_figures_are_copied(tmp_path: Path) -> None:
    board = tmp_path / "board"
    (board / "s").mkdir(parents=True)
    (board / "README.md").write_text("# Index\n\n[s](s.md#pima) [out](https://example.org/x.md)\n")
    (board / "s.md").write_text("# S\n\n![curve](s/curve.svg) [index](README.md)\n")
    (board / "s" / "curve.svg").write_text("<svg/>")
    (board / "s" / "records.parquet").write_bytes(b"no page")
    (board / "s" / ".records.parquet.17").write_bytes(b"half")
    site = tmp_path / "site"
    assert [p.relative_to(site).as_posix() for p in build_site(board, site)] == [
        "index.html",
        "s/curve.svg",
        "s/records.parquet",
        "s.html",
    ]
    index = (site / "index.html").read_text()
    assert 'href="s.html#pima"' in index
    assert 'href="https://example.org/x.md"' in index
    assert 'href="index.html"' in (site / "s.html").read_text()


def test_a_site_needs_a_leaderboard_and_a_place_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="no leaderboard"):
        build_site(tmp_path / "none", tmp_path / "site")
    (tmp_path / "board").mkdir()
    with pytest.raises(RequestError, match="within the leaderboard"):
        build_site(tmp_path / "board", tmp_path / "board" / "site")


def test_headings_have_the_anchors_that_github_gives_them() -> None:
    page = page_as_html("# Heart · SVM weights\n\n## a\\_b `c` 3\\*\n\n### Heart · SVM weights\n")
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
    build_site(root, tmp_path / "site")
    assert len(dead_links([tmp_path / "site" / "page.html"], tmp_path / "site")) == bool(dead)


def test_every_link_of_the_repositorys_pages_leads_somewhere() -> None:
    pages = [
        path
        for folder in ("*.md", "leaderboard/**/*.md", "plugins/*/*.md", "docs/**/*.md")
        for path in ROOT.glob(folder)
    ]
    assert len(pages) > 10
    assert dead_links(pages, ROOT) == []


def test_every_link_of_the_built_site_leads_somewhere(tmp_path: Path) -> None:
    written = build_site(ROOT / "leaderboard", tmp_path)
    pages = [path for path in written if path.suffix == ".html"]
    assert pages
    assert dead_links(pages, tmp_path) == []


def test_the_command_fails_when_a_link_is_dead(bench: Bench) -> None:
    board = bench.folder / "board"
    board.mkdir()
    (board / "README.md").write_text("# Index\n\n[gone](gone.md)\n")
    ran = bench("site", "site", "--out", "board", expect=1)
    assert "index.html: gone.html: there is no such file" in ran.stderr
    (board / "gone.md").write_text("# Back\n")
    bench("site", "site", "--out", "board")
