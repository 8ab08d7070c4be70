"""The hypothesis profiles of the core's tests and the plugins' tests."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings
from support.bench import ROOT

FAILING = """
from hypothesis import given, strategies as st

@given(st.integers(0, 10**9))
def test_it(number):
    print("drawn", number)
    assert number % 1000 != 7 and number < 900_000_000
"""


@pytest.mark.parametrize(("profile", "fixed"), [("fixed", True), ("random", False)])
def test_no_profile_has_a_deadline_and_both_print_how_to_repeat_a_failure(profile: str, fixed: bool) -> None:
    kept = settings.get_profile(profile)
    assert (kept.derandomize, kept.deadline, kept.print_blob) == (fixed, None, True)


def test_examples_are_fixed_unless_asked(pytestconfig: pytest.Config) -> None:
    asked = pytestconfig.getoption("--hypothesis-profile")
    assert settings.default is not None
    assert settings.default.derandomize is (asked in (None, "fixed"))


@pytest.mark.slow
def test_a_plugins_property_fails_on_the_same_example_twice_and_says_how_to_repeat_it(tmp_path: Path) -> None:
    shutil.copy(ROOT / "conftest.py", tmp_path)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    folder = tmp_path / "plugins" / "one" / "tests"
    folder.mkdir(parents=True)
    (folder / "test_one.py").write_text(FAILING)
    runs = [
        subprocess.run(
            [sys.executable, "-m", "pytest", "-s", "-p", "no:cacheprovider", "plugins/one"],
            cwd=tmp_path, capture_output=True, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    drawn = [[line for line in run.stdout.splitlines() if line.startswith("drawn")] for run in runs]
    assert runs[0].returncode == 1
    assert len(drawn[0]) > 1
    assert drawn[0] == drawn[1]
    assert "@reproduce_failure(" in runs[0].stdout
