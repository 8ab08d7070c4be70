"""The notebooks of the book: they run, and their stored outputs are current."""

from __future__ import annotations

from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
NOTEBOOKS = sorted(DOCS.rglob("*.ipynb"))


def shown(notebook):
    """Per cell with code, the kinds of its outputs."""
    return [[sorted(output.get("data", [output.output_type])) for output in cell.outputs] for cell in notebook.cells
            if cell.cell_type == "code"]  # fmt: skip


@pytest.mark.weekly
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_the_book_shows(path, tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    committed = shown(notebook)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert shown(notebook) == committed
    assert any(committed)
