"""Write generated text into a page of the docs, between two marks."""

from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def write_between(page: str, mark: str, text: str) -> None:
    """Replace what stands between ``<!-- mark -->`` and ``<!-- end of mark -->`` in a page below ``docs``.

    Raises
    ------
    ValueError
        If the page lacks one of the two marks.
    """
    path, begin, end = DOCS / page, f"<!-- {mark} -->\n", f"<!-- end of {mark} -->\n"
    before, found, rest = path.read_text(encoding="utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"{path}: no lines {begin.strip()} and {end.strip()}")
    path.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")
