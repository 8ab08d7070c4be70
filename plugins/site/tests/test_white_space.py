"""White space of built pages: removed between elements, kept where it counts."""

from __future__ import annotations

from bench_site.hooks import on_post_page


def test_indentation_and_blank_lines_go_except_in_elements_where_white_space_counts() -> None:
    kept = ["<pre>\n\n  a\n    b\n</pre>", "<script>\n  `x\n\n  y`\n</script>", "<textarea>\n\n c</textarea>"]
    page = f"<div>\n\n    <p>one\n      two</p>\n  {kept[0]}\n\n  {kept[1]}   \n{kept[2]}\n</div>"
    assert on_post_page(page, None, None) == f"<div>\n<p>one\ntwo</p>\n{kept[0]}\n{kept[1]}\n{kept[2]}\n</div>"
