"""Fixtures: a small published leaderboard, its site, and a browser."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bench_records import export_files

sys.path.insert(0, str(Path(__file__).parents[3] / "tests"))

from support.bench import ROOT, Bench, install
from support.fixtures import bench

__all__ = ["bench"]

SUITE = """
[suite]
name = "small"
title = "A small suite"
source = "Nobody, Nothing, 2026"

[protocol]
seeds = 5

[[datasets]]
use = "blobs"
costs = { use = "table", parameters = { prices = [1.0, 2.0, 3.0, 4.0, 5.0] } }

[[methods]]
use = "cost-ordered"
name = "<b>CO-T</b> & co"

[[methods]]
use = "cost-ordered"
name = "CO-T, two stages"
parameters = { max_stages = 2 }

[[methods]]
use = "cact-lasso"
name = "LASSO"
parameters = { step = 10.0 }

[[methods]]
use = "majority"

[[methods]]
use = "single-stage"

[comparison]
fallback = "majority"
"""


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A folder with a small published suite, its file and a documentation of two pages."""
    work = tmp_path_factory.mktemp("small")
    plugins = tmp_path_factory.mktemp("plugins")
    install(plugins, "tiny_plugin", ROOT / "tests" / "support" / "tiny_plugin.py", "tiny")
    bench = Bench(work, plugins)
    (work / "suites").mkdir()
    (work / "suites" / "small.toml").write_text(SUITE, encoding="utf-8")
    bench("run", "suites/small.toml")
    papers = work / "docs" / "papers"
    papers.mkdir(parents=True)
    head = "---\ntitle: A paper\nmethods: [cost-ordered]\nsuites: [small]\n---\n"
    (papers / "paper.md").write_text(f"{head}# A paper\n\nEquation 1 is a function.\n", encoding="utf-8")
    (work / "docs" / "how-to").mkdir()
    (work / "docs" / "how-to" / "recommend.md").write_text("# Your own table\n")
    (work / "docs" / "tutorial.md").write_text("# Tutorial\n\nSee [the paper](papers/paper.md#a-paper).\n")
    return bench


@pytest.fixture(scope="session")
def site(small: Bench) -> Path:
    """The small suite's site, with the tables of two committed suites, one of which has many data sets."""
    shown = small.folder / "shown"
    shutil.copytree(small.folder / "leaderboard", shown)
    for name in ("qwyc_paper", "open"):
        shutil.copytree(ROOT / "leaderboard" / name, shown / name)
        shutil.copy(ROOT / "leaderboard" / f"{name}.md", shown)
    for path in export_files(shown / "open"):
        path.unlink()  # the tables are enough
    small("site", "site", "--out", "shown")
    return small.folder / "site"


def _tools() -> tuple[str, str] | None:
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Headless Chromium, driven by Selenium; the test is skipped if it is not installed."""
    tools = _tools()
    if tools is None:
        pytest.skip("no browser: chromium and chromedriver are not installed (Debian: chromium, chromium-driver)")
    webdriver = pytest.importorskip("selenium.webdriver")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = tools[0]
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(tools[1]))
    driver.set_page_load_timeout(60)
    yield driver
    driver.quit()
