"""Types in words: pydantic enforces every limit that the words name, and the README's examples hold."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import pytest
from annotated_types import Interval
from bench_limits import words
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError


def test_the_readme_is_right() -> None:
    text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(block, {})


@given(low=st.integers(-50, 50), width=st.integers(0, 50))
@settings(max_examples=20, deadline=None)
def test_the_bounds_in_words_are_those_that_are_enforced(low: int, width: int) -> None:
    hint = Annotated[int, Interval(ge=low, le=low + width)]
    least, most = map(int, re.fullmatch(r"a whole number from (-?\d+) to (-?\d+)", words(hint)).groups())
    adapter = TypeAdapter(hint)
    assert [adapter.validate_python(value) for value in (least, most)] == [least, most]
    for outside in (least - 1, most + 1):
        with pytest.raises(ValidationError):
            adapter.validate_python(outside)
