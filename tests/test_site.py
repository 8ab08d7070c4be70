"""The site: pages as HTML in which nothing that was text becomes markup."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench_core.errors import RequestError
from bench_core.render.markdown import table, text
from bench_core.render.site import build_site, page_as_html

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
    site = tmp_path / "site"
    assert [p.relative_to(site).as_posix() for p in build_site(board, site)] == [
        "index.html",
        "s/curve.svg",
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
