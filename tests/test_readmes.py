"""Every block of code of every README and guide is run, or loaded as a suite, or marked as text.

``bash`` and ``python`` are run, ``toml`` is part of a suite that must load; ``text`` is output or a drawing. A block
without a kind, or one that another test runs, follows ``<!-- name -->`` or is listed in `TESTED_SEPARATELY`.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from support.bench import ROOT, Bench
from support.pages import FENCE, blocks, commands, run_command

from bench_core.run.suite_file import parse_suite
from bench_core.suites import Registry, load_registry
from bench_core.testing import toml_text

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "tests" / "README.md", *ROOT.glob("plugins/*/README.md")]
PAGES = sorted(page for page in PAGES if FENCE.search(page.read_text(encoding="utf-8")))
IDS = [page.relative_to(ROOT).as_posix() for page in PAGES]
TESTED_SEPARATELY = {
    "README.md": {"run command", "test command", "plugin pyproject", "plugin"},  # tests/test_readme.py, .ci/run
    "plugins/policies/README.md": "plugins/policies/tests/test_end_to_end.py",
    "plugins/polydom/README.md": "plugins/polydom/tests/test_library.py",
    "plugins/recommend/README.md": "plugins/recommend/tests/test_end_to_end.py",
}
MOST_NOT_RUN = 6


def is_tested_separately(page: Path, before: str, kind: str) -> bool:
    """Whether another test runs a block, by the comment before it."""
    place = TESTED_SEPARATELY.get(page.relative_to(ROOT).as_posix(), set())
    if isinstance(place, str):
        assert (ROOT / place).is_file()
        return kind != "toml" or "end_to_end" in place
    named = re.search(r"<!-- ([\w ]+) -->\s*$", before)
    return named is not None and named[1] in place


@pytest.fixture(scope="module")
def registry() -> Registry:
    """The registry of installed plugins."""
    return load_registry()


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_a_block_has_a_kind(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert len(re.findall(r"^\s*```", text, re.MULTILINE)) == 2 * len(blocks(page))
    for match in FENCE.finditer(text):
        if not is_tested_separately(page, text[: match.start()], match["kind"]):
            assert match["kind"] in ("bash", "python", "toml", "text"), match[0]


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_the_suites_of_a_readme_load(page: Path, registry: Registry) -> None:
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        if match["kind"] == "toml" and not is_tested_separately(page, text[: match.start()], "toml"):
            said = tomllib.loads(match["text"])
            said.setdefault("suite", {"name": "example"})
            said.setdefault("datasets", [{"use": "sized-items", "costs": {"use": "from-data"}}])
            said.setdefault("methods", [{"use": "cstc", "name": "CSTC"}])
            said["methods"] = [one for one in said["methods"] if one["use"] != "cheapest-feature"]  # the README's own
            suite = parse_suite(toml_text(said), f"{page.name}", registry)
            assert list(suite.trials(seeds=1))


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_the_code_of_a_readme_runs(page: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bench.folder)
    monkeypatch.syspath_prepend(str(bench.folder))
    text = page.read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "page"}
    fences = {match.start(): match for match in FENCE.finditer(text)}
    for block, (start, match) in zip(blocks(page), fences.items(), strict=True):
        if text[:start].rstrip().endswith("<!-- plugin -->"):  # the module that a later block imports
            (bench.folder / "cheapest_feature.py").write_text(block.text, encoding="utf-8")
        where = f"{page.relative_to(ROOT)}:{block.line}"
        if block.why or is_tested_separately(page, text[:start], match["kind"]):
            continue
        if block.kind == "python":
            exec(compile(block.text, where, "exec", dont_inherit=True), names)
        elif block.kind == "bash":
            for command, code in commands(block.text):
                run_command(bench, command, code, where)


def test_few_blocks_are_not_run_and_each_says_why() -> None:
    skipped = [block.why for page in PAGES for block in blocks(page) if block.why]
    assert all(len(why.split()) > 3 for why in skipped)
    assert len(skipped) <= MOST_NOT_RUN
