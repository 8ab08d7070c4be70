"""Read and write generated text in a page of the docs, between two marks."""

from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def parts(page: str, mark: str) -> tuple[str, str, str]:
    """The text before, between and after ``<!-- mark -->`` and ``<!-- end of mark -->`` in a page below ``docs``.

    Both marks are lines. They belong to the first and the third part.

    Raises
    ------
    ValueError
        If the page lacks one of the two marks.
    """
    path, begin, end = DOCS / page, f"<!-- {mark} -->\n", f"<!-- end of {mark} -->\n"
    before, found, rest = path.read_text(encoding="utf-8").partition(begin)
    between, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"{path}: no lines {begin.strip()} and {end.strip()}")
    return before + begin, between, end + after


def write_between(page: str, mark: str, text: str) -> None:
    """Replace the text between the marks (see `parts`), with an empty line before and after it."""
    before, _, after = parts(page, mark)
    (DOCS / page).write_text(f"{before}\n{text.strip()}\n\n{after}", encoding="utf-8")
