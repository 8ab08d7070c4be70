"""The guides name places that exist."""

from __future__ import annotations

import re

import pytest
from support.bench import ROOT


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_the_files_and_folders_that_a_guide_names_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    places = {place for place in re.findall(r"`(\.?[\w.]+/[\w./-]*)`", text) if "NAME" not in place}
    assert len(places) >= (1 if name.startswith("docs") else 10)
    assert sorted(place for place in places if not (ROOT / place).exists()) == []
