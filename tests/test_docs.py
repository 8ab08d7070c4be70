"""Every command and every block of code in the book runs: the blocks of a page in order, in a new folder.

A fenced block in a page is one of:

- ``bash``: each command is run and must succeed, or exit with N if its line ends with `# exit code N`.
- ``python``: run; with ``title="FILE"`` it is written to that file instead.
- ``toml``, ``json``, ``csv``, ``yaml`` with ``title="FILE"``: written to that file.
- ``text``: the output of a command, or a drawing; not run.

A block that cannot run here follows ``<!-- not run: why -->``. There are few, and the test counts them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from support.bench import ROOT, Bench
from support.cases import cases
from support.pages import FENCE, blocks, commands, run_command

DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
MOST_NOT_RUN = 8
_WRITTEN = {"toml", "json", "csv", "yaml", "python"}


WEEKLY = {"tutorial.md", "how-to/another-machine.md", "how-to/own-prices.md", "how-to/publish.md", "how-to/dask.md",
          "how-to/slurm.md", "reference/figures.md", "reference/files.md"}  # fmt: skip
TESTED_SEPARATELY = {"how-to/submit.md"}
"""Pages that tests/test_distributions.py runs, in a separate environment."""
RUNNING = [
    page
    for page in PAGES
    if page not in TESTED_SEPARATELY and any(block.kind not in ("", "text") for block in blocks(DOCS / page))
]


@pytest.mark.slow
@pytest.mark.parametrize("page", cases(RUNNING, WEEKLY))
def test_the_code_of_a_page_runs(page: str, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bench.folder)
    monkeypatch.syspath_prepend(str(bench.folder))
    names: dict[str, object] = {"__name__": "page"}
    modules = set(sys.modules)
    for block in blocks(DOCS / page):
        where = f"docs/{page}:{block.line}"
        if block.why or block.kind == "text":
            continue
        if block.title:
            assert block.kind in _WRITTEN, where
            target = bench.folder / block.title
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
        elif block.kind == "bash":
            for command, code in commands(block.text):
                run_command(bench, command, code, where)
        elif block.kind == "python":
            exec(compile(block.text, where, "exec", dont_inherit=True), names)
        else:
            pytest.fail(f"{where}: a block of {block.kind or 'no kind'!r} needs a title, or is text")
    for module in set(sys.modules) - modules:
        if str(bench.folder) in str(getattr(sys.modules[module], "__file__", "")):
            del sys.modules[module]


def test_few_blocks_are_not_run_and_each_says_why() -> None:
    skipped = [(page, block.why) for page in PAGES for block in blocks(DOCS / page) if block.why]
    assert all(len(why.split()) > 3 for _, why in skipped)
    assert len(skipped) <= MOST_NOT_RUN


def test_no_fence_is_missed() -> None:
    for page in PAGES:
        text = (DOCS / page).read_text(encoding="utf-8")
        fences = len(re.findall(r"^\s*```", text, re.MULTILINE))
        assert fences == 2 * len(blocks(DOCS / page)), f"docs/{page}: a block is indented, or its fence is not closed"


def test_the_navigation_names_every_page_once() -> None:
    import yaml

    def pages_of(nav: object) -> list[str]:
        if isinstance(nav, str):
            return [nav]
        parts = nav.values() if isinstance(nav, dict) else nav
        return [page for part in parts for page in pages_of(part)]  # type: ignore[union-attr]

    named = pages_of(yaml.safe_load((DOCS / "nav.yml").read_text(encoding="utf-8")))
    notebooks = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.ipynb")]
    assert sorted(named) == sorted([*PAGES, *notebooks])


def test_a_handwritten_page_is_short() -> None:
    for page in PAGES:
        text = (DOCS / page).read_text(encoding="utf-8")
        if "Made by `python -m" not in text:
            assert len(text.splitlines()) < 300, page
            heads = re.findall(r"^# ", FENCE.sub("", text), re.MULTILINE)
            assert len(heads) == 1, f"{page} needs one heading of the first level"


def test_the_metrics_page_has_every_metric_of_this_repository() -> None:
    from bench_core.suites import load_registry

    text = (DOCS / "reference" / "metrics.md").read_text(encoding="utf-8")
    missing = [name for name in load_registry().metrics if f"`{name}`" not in text]
    assert missing == []


def test_the_glossary_is_in_order_and_has_the_words_of_a_trial() -> None:
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    main, others = (re.findall(r"^\| (.*?) \| [A-Z`]", part, re.MULTILINE) for part in text.split("\n## ")[1:])
    assert others == sorted(others, key=str.casefold)
    words = [word.strip() for term in [*main, *others] for word in term.split(",")]
    assert len(words) == len(set(words))
    trial = {
        "method",
        "policy",
        "problem",
        "decisions",
        "bill",
        "audit",
        "trial",
        "record",
        "split",
        "selection",
        "metric",
    }
    assert trial | {"suite", "claim", "standing", "verdict", "isolation", "witness", "submission"} <= set(words)


def test_the_hooks_page_has_every_hook() -> None:
    from bench_core.suites import load_registry

    text = (DOCS / "reference" / "hooks.md").read_text(encoding="utf-8")
    hooks = [name for name in dir(load_registry().manager.hook) if name.startswith("bench_")]
    assert len(hooks) > 8
    assert [name for name in hooks if f"`{name}`" not in text] == []


def test_every_method_here_is_named_on_the_page_of_a_paper() -> None:
    import yaml

    from bench_core.suites import load_registry

    named: list[str] = []
    for page in (DOCS / "papers").glob("*.md"):
        head = yaml.safe_load(page.read_text(encoding="utf-8").split("---\n")[1])
        named += head["methods"]
        assert {"title", "methods", "suites"} <= set(head)
        assert all((ROOT / "suites" / f"{suite}.toml").is_file() for suite in head["suites"]), page
    registry = load_registry()
    here = {name for name in registry.methods if (ROOT / "plugins").exists()
            and str(registry.plugin_of("methods", name).folder).startswith(str(ROOT))}  # fmt: skip
    assert here - set(named) == set()
    assert set(named) - set(registry.methods) == set()


_NUMBERED = {  # the numbered items of papers: equations, algorithms, theorems
    "emsco": "Eq 1 2 3 4 5 6 7 8 9 10 Algorithm 1 2 3 Property 1 2 3 Theorem 1",
    "cstc": "Eq 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 Algorithm 1 Lemma 1",
    "qwyc": "Eq 1 2 Algorithm 1 2 Theorem 1",
    "budgetprune": "Eq 1 Algorithm 1 Lemma 3.1 Theorem 3.2",
    "polydom": "Axiom 2.1 3.10 Definition 3.1 Theorem 3.2 3.5 3.8 3.13 Property 3.3 3.4 3.6 3.7 3.9 3.11 Lemma 3.12 "
    "Algorithm 1 2 3",
}


def _numbered(text: str) -> set[tuple[str, str]]:
    """(word, number) of everything like "Eq. 9 to 12" or "Properties 3.6 and 3.7" in a text."""
    found: set[tuple[str, str]] = set()
    for word, numbers in re.findall(
        r"(Eq|Algorithm|Propert|Theorem|Lemma|Axiom|Definition)\w*\.? ([\d., toand]+)", text
    ):
        word = "Property" if word == "Propert" else word
        for first, last in re.findall(r"(\d+(?:\.\d+)?)(?: to (\d+))?", numbers):
            found |= {(word, str(n)) for n in range(int(first), int(last) + 1)} if last else {(word, first)}
    return found


@pytest.mark.parametrize("paper", _NUMBERED)
def test_the_page_of_a_paper_has_everything_that_the_paper_numbers(paper: str) -> None:
    wanted: set[tuple[str, str]] = set()
    for word in _NUMBERED[paper].split():
        if word.isalpha():
            kind = word
        else:
            wanted.add((kind, word))
    assert wanted - _numbered((DOCS / "papers" / f"{paper}.md").read_text(encoding="utf-8")) == set()


def test_the_functions_that_a_paper_page_names_exist() -> None:
    from importlib import import_module

    for page in sorted((DOCS / "papers").glob("*.md")):
        named = re.findall(r"`(bench_\w+(?:\.\w+)+)`", page.read_text(encoding="utf-8"))
        assert len(named) > 2, page
        for name in named:
            assert _exists(name, import_module), f"{page.name}: {name}"


def _exists(name: str, load: object) -> bool:
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            thing = load(".".join(parts[:cut]))  # type: ignore[operator]
        except ModuleNotFoundError:
            continue
        for attribute in parts[cut:]:
            if not hasattr(thing, attribute):
                return attribute in getattr(thing, "__dataclass_fields__", {})
            thing = getattr(thing, attribute)
        return True
    return False


def test_generated_pages_are_up_to_date() -> None:
    from bench_site.reference import pages

    from bench_core.suites import load_registry

    for address, text in pages(load_registry()).items():
        assert (DOCS / address).read_text(encoding="utf-8") == text, "run: python -m bench_site.reference docs"


def test_every_name_of_the_api_is_folded() -> None:
    for page in (DOCS / "reference" / "api").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        names = re.findall(r"^::: (\S+)$", text, re.MULTILINE)
        folded = re.findall(r"<details markdown=\"1\">\n<summary>.+</summary>\n\n::: (\S+)\n\n</details>", text)
        assert names == folded, page


def test_a_path_that_the_book_names_exists() -> None:
    assert Path(DOCS).is_dir()
    for page in PAGES:
        text = (DOCS / page).read_text(encoding="utf-8")
        for place in re.findall(r"`((?:suites|plugins|docs|bench_core|\.ci)/[\w./-]+)`", text):
            assert (ROOT / place).exists(), f"docs/{page}: {place}"
