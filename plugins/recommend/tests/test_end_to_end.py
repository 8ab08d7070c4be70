"""A new user's steps: run every file and code block of the README and of the how-to page, in order."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterable
from importlib.metadata import requires
from pathlib import Path

import pytest
from support.pages import invoke, run_blocks

README = Path(__file__).parents[1] / "README.md"


@pytest.mark.weekly
def test_every_block_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (recommended,) = run_blocks(README, {})
    page = (tmp_path / "recommendation" / "recommendation.md").read_text(encoding="utf-8")
    command = next(line for line in page.splitlines() if line.startswith("bench fit"))
    assert command in recommended
    assert "Use " in page
    assert " ± " in page
    assert (tmp_path / "recommendation" / "tradeoff.svg").is_file()
    # The recommended command itself works.
    assert "right answers" in invoke(f"{command} --splits 2")


ROOT = Path(__file__).parents[3]
METHODS = ("budgetbench-baselines", "budgetbench-cost-ordered", "budgetbench-cost-trees")
INSTALLED = ("budgetbench", "budgetbench-recommend", "budgetbench-public-data", *METHODS)
"""What a new user installs: the core, the commands, the file readers, the page's methods."""


def parts(distributions: Iterable[str]) -> set[str]:
    """Return the folders of our distributions among these and all that they require."""
    folders: set[str] = set()
    for name in distributions:
        folder = name.replace("budgetbench-", "plugins/").replace("-", "_") if name != "budgetbench" else "."
        required = [re.split(r"[^\w-]", line)[0] for line in requires(name) or () if "extra ==" not in line]
        folders |= {folder} | parts(line for line in required if line.startswith("budgetbench"))
    return folders


@pytest.mark.weekly
def test_the_how_to_page_works_in_an_empty_environment(tmp_path: Path) -> None:
    """The wheels are built and installed without the checkout; libraries come from the running environment."""
    environment, wheels, place = tmp_path / "environment", tmp_path / "wheels", tmp_path / "work"
    tree = tmp_path / "tree"
    place.mkdir()
    venv.create(environment, with_pip=False)
    scripts = environment / "bin"
    # Copy the tree, so that building leaves no files in the checkout.
    skipped = shutil.ignore_patterns("*.egg-info", "build", ".*", "tests", "leaderboard", "docs", "__pycache__")
    shutil.copytree(ROOT, tree, ignore=skipped, symlinks=True)
    for part in sorted(parts(INSTALLED)):
        run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
             "--wheel-dir", str(wheels), str(tree / part)], tmp_path)  # fmt: skip
    site = next((environment / "lib").glob("python*/site-packages"))
    run([sys.executable, "-m", "pip", "--python", str(scripts / "python"), "install", "--quiet", "--no-deps",
         "--no-index", *map(str, sorted(wheels.glob("*.whl")))], tmp_path)  # fmt: skip
    # This adds libraries only: packages installed in editable mode need .pth files of their own, which are not read.
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    imported = run([str(scripts / "python"), "-c", "import bench_core, bench_recommend as b; print(b.__file__)"], place)
    assert str(environment) in imported
    text = (ROOT / "docs" / "how-to" / "recommend.md").read_text(encoding="utf-8").replace("\\\n", " ")
    output = ""
    for block in re.finditer(r'^```(?P<kind>[a-z]+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$', text, _PAGE):
        if block["title"]:
            (place / block["title"]).write_text(block["text"], encoding="utf-8")
        elif block["kind"] == "python":
            output += run([str(scripts / "python"), "-c", block["text"]], place)
        elif block["kind"] == "bash":
            for line in block["text"].strip().splitlines():
                command, _, code = line.partition("  # exit code ")
                words = shlex.split(command)
                output += run([str(scripts / words[0]), *words[1:]], place, int(code or 0))
    shown = [block["text"] for block in re.finditer(r"^```(?P<kind>text)\n(?P<text>.*?)^```$", text, _PAGE)]
    assert shown
    assert [block for block in shown if block not in output] == [], "the page shows another output"
    assert "Use affordable-subset" in output
    assert "buy {'age': 0.0, 'ward': 0.0}" in output
    assert "Answer: sick" in output
    assert (place / "policy" / "card.md").is_file()
    assert (place / "recommendation" / "recommendation.md").is_file()


_PAGE = re.MULTILINE | re.DOTALL


def run(command: list[str], folder: Path, code: int = 0) -> str:
    """Run a command without this process's environment variables, and return what it printed."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    done = subprocess.run(
        command, cwd=folder, env={**kept, "BUDGETBENCH_CACHE": str(folder / "cache")},
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == code, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr
