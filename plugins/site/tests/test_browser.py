"""The site in a real browser: pages without errors, tables, curves, search, colour schemes and phones."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

PAGES = ("index.html", "results.html", "suites/small/index.html", "suites/qwyc_paper/results.html",
         "suites/qwyc_paper/curves.html", "suites/qwyc_paper/figures.html", "suites/open/index.html",
         "suites/open/results.html", "suites/open/figures.html", "suites/open/data-liver.html",
         "methods/cost-ordered.html", "datasets/blobs.html", "docs/papers/paper.html")  # fmt: skip
pytestmark = pytest.mark.slow
HIGHEST = {1280: 12_000, 390: 16_000}
"""The largest height of a page, by the window's width, in pixels."""


def wait(until: Callable[[], Any], seconds: float = 20.0, what: str = "it") -> Any:
    end = time.monotonic() + seconds
    while not (found := until()):
        if time.monotonic() > end:
            raise AssertionError(f"timed out: {what}")
        time.sleep(0.05)
    return found


def opened(browser: Any, site: Path, page: str, width: int = 1280) -> Any:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    browser.get_log("browser")
    browser.get(f"file://{site / page}")
    return browser


def faults(browser: Any) -> list[str]:
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "ERROR")]


def column(browser: Any, place: int) -> list[str]:
    return browser.execute_script(
        "return [...document.querySelectorAll('.md-content table')[0].tBodies[0].rows].map(r => r.cells[arguments[0]]"
        ".textContent)",
        place,
    )


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_no_error_and_fits_the_window(browser: Any, site: Path, page: str) -> None:
    for width in (1280, 390):
        opened(browser, site, page, width)
        time.sleep(0.2)
        height, wide = browser.execute_script(
            "return [document.documentElement.scrollHeight, document.documentElement.scrollWidth]"
        )
        assert faults(browser) == []
        assert wide <= width, f"{wide} px wide at {width}"
        assert height <= HIGHEST[width], f"{height} px high at {width}"
    checked = browser.execute_script(
        "return [document.querySelectorAll('img:not([alt])').length,"
        " [...document.querySelectorAll('.md-content :is(h1,h2,h3,h4)')].filter(h => !h.id).length,"
        " document.querySelectorAll('h1').length, document.documentElement.lang]"
    )
    assert checked == [0, 0, 1, "en"]


def test_tables_sort_by_number_search_and_filter(browser: Any, site: Path) -> None:
    opened(browser, site, "results.html")
    wait(lambda: browser.execute_script("return document.querySelector('table.dataTable') !== null"))
    click = "document.querySelectorAll('table.dataTable thead th')[4].click()"
    browser.execute_script(click)
    up = [int(text.split()[0]) for text in column(browser, 4)]
    assert up == sorted(up)
    browser.execute_script(click)
    down = [int(text.split()[0]) for text in column(browser, 4)]
    assert down == sorted(down, reverse=True)
    assert up[0] < down[0]
    everything = browser.execute_script("return document.querySelector('.dt-info').textContent")
    search = "const i = document.querySelector('.dt-search input'); i.value = arguments[0];"
    browser.execute_script(f"{search} i.dispatchEvent(new Event('input', {{bubbles: true}}))", "CO-T, two")
    assert wait(lambda: column(browser, 1) == ["CO-T, two stages"])
    browser.execute_script(f"{search} i.dispatchEvent(new Event('input', {{bubbles: true}}))", "")
    wait(lambda: browser.execute_script("return document.querySelector('.dt-info').textContent") == everything)
    browser.execute_script(
        "const l = [...document.querySelectorAll('.bench-filters label')];"
        "const s = l.find(one => one.textContent.startsWith('Data set'))"
        ".querySelector('select'); s.value = 'blobs'; s.dispatchEvent(new Event('change'))"
    )
    assert set(column(browser, 0)) == {"blobs"}
    assert faults(browser) == []


def test_a_curve_shows_numbers_under_the_pointer_and_can_be_logarithmic(browser: Any, site: Path) -> None:
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.by import By

    opened(browser, site, "suites/small/index.html")
    wait(lambda: browser.find_elements(By.CSS_SELECTOR, ".bench-curve[data-drawn] .points path"))
    point = browser.find_elements(By.CSS_SELECTOR, ".bench-curve .points path")[0]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", point)
    ActionChains(browser).move_to_element(point).perform()
    text = wait(lambda: " ".join(one.text for one in browser.find_elements(By.CSS_SELECTOR, ".hoverlayer .hovertext")))
    assert "cost" in text
    assert "quality" in text
    log = "return document.querySelector('.bench-curve').layout.xaxis.type"
    assert browser.execute_script(log) == "linear"
    button = next(b for b in browser.find_elements(By.CSS_SELECTOR, ".updatemenu-button") if b.text == "Log")
    button.click()
    assert wait(lambda: browser.execute_script(log) == "log")
    bands = "return document.querySelector('.bench-curve').data.filter(t => t.fill === 'tonexty').length"
    assert browser.execute_script(bands) >= 1
    assert faults(browser) == []


CONTRAST = """
const [element, behind, colour = "color", ground = "backgroundColor"] = arguments;
const parse = (c) => c.match(/[\\d.]+/g).map(Number);
const over = (top, under) => top.slice(0, 3).map((v, i) => v * (top[3] ?? 1) + under[i] * (1 - (top[3] ?? 1)));
const light = (rgb) => rgb.map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
const level = (rgb) => { const [r, g, b] = light(rgb); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const rgba = (c) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1);
  const d = canvas.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255]; };
const back = rgba(getComputedStyle(behind)[ground]);
const front = over(rgba(getComputedStyle(element)[colour]), back);
const [a, b] = [level(front), level(back.slice(0, 3))].sort((x, y) => y - x);
return (a + 0.05) / (b + 0.05);
"""


def test_text_tables_and_curves_are_legible_in_both_schemes(browser: Any, site: Path) -> None:
    from selenium.webdriver.common.by import By

    opened(browser, site, "suites/small/index.html")
    body = browser.find_element(By.TAG_NAME, "body")
    drawn = "return document.querySelector('.bench-curve').dataset.drawn"
    colour = "return document.querySelector('.bench-curve').data.at(-1).line.color"
    lines = []
    for scheme, word in (("default", "light"), ("slate", "dark")):
        if body.get_attribute("data-md-color-scheme") != scheme:
            browser.execute_script(
                "[...document.querySelectorAll('label[for^=__palette]')].find(l => !l.hidden).click()"
            )
        wait(lambda scheme=scheme: body.get_attribute("data-md-color-scheme") == scheme)
        wait(lambda word=word: browser.execute_script(drawn) == word)
        lines.append(browser.execute_script(colour))
        for selector in (".md-content p", ".md-content p a", ".md-content td", ".md-content td a", ".md-content h2"):
            element = browser.find_element(By.CSS_SELECTOR, selector)
            least = 4.5
            assert wait(lambda e=element, m=least: browser.execute_script(CONTRAST, e, body) >= m, 3), selector
        for button in browser.find_elements(By.CSS_SELECTOR, ".bench-curve .updatemenu-button"):
            parts = [button.find_element(By.CSS_SELECTOR, one) for one in ("text", "rect")]
            legible = partial(browser.execute_script, CONTRAST, *parts, "fill", "fill")
            wait(lambda legible=legible: legible() >= 4.5, what=f"{word}: a button's contrast {legible():.2f};")
        title = browser.find_element(By.CSS_SELECTOR, ".md-content h1")
        assert browser.execute_script(CONTRAST, title, body) >= 3.0  # large text
    assert lines[0] != lines[1]
    assert faults(browser) == []


def test_the_search_finds_a_page_without_a_server(browser: Any, site: Path) -> None:
    from selenium.webdriver.common.by import By

    opened(browser, site, "index.html")
    field = browser.find_element(By.CSS_SELECTOR, "input.md-search__input")
    browser.execute_script("document.querySelector('[data-md-toggle=search]').click()")
    wait(lambda: field.is_displayed())
    field.send_keys("max_stages")
    found = wait(lambda: browser.find_elements(By.CSS_SELECTOR, ".md-search-result__item a"))
    assert any("methods/cost-ordered.html" in link.get_attribute("href") for link in found)


UNNAMED = """
const named = (one) => (one.textContent.trim() || one.getAttribute("aria-label") || one.title
  || one.querySelector("img[alt]:not([alt='']), svg title"));
return [...document.querySelectorAll(".md-content :is(a[href], button)")].filter((one) => !named(one)).length;
"""


@pytest.mark.parametrize("page", PAGES)
def test_a_screen_reader_finds_headings_in_order_and_named_links(browser: Any, site: Path, page: str) -> None:
    opened(browser, site, page, 390)
    levels = browser.execute_script(
        "return [...document.querySelectorAll('.md-content :is(h1,h2,h3,h4,h5,h6)')].map(h => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert [(a, b) for a, b in pairwise(levels) if b > a + 1] == [], "a level is left out"
    assert browser.execute_script(UNNAMED) == 0
    heads = "return [...document.querySelectorAll('.md-content table')].filter(t => !t.tHead).length"
    assert browser.execute_script(heads) == 0


def test_on_a_phone_links_lead_from_the_best_method_at_a_tenth_of_the_price_to_its_curve_and_paper(
    browser: Any, site: Path
) -> None:
    from selenium.webdriver.common.by import By

    opened(browser, site, "index.html", 390)
    head = browser.execute_script(
        "return [...document.querySelectorAll('.md-content th')].map(h => h.textContent.trim())"
    )
    links = browser.execute_script(
        "return [...document.querySelectorAll('.md-content table')[0].tBodies[0].rows]"
        ".map(r => r.cells[arguments[0]].querySelector('a')).filter(Boolean)",
        head.index("At 10 %"),
    )
    assert links
    for link in links:  # within reach after scrolling the page down and the table sideways
        browser.execute_script("arguments[0].scrollIntoView({block: 'center', inline: 'center'})", link)
        box = link.rect
        left = browser.execute_script("return arguments[0].getBoundingClientRect().left", link)
        assert link.is_displayed()
        assert 0 <= left < 390 - 10
        assert box["height"] >= 12
    best = [(link.text, link.get_attribute("href")) for link in links]
    links[0].click()
    content = browser.find_element(By.CSS_SELECTOR, ".md-content")
    assert browser.current_url.partition("#")[0] == best[0][1].partition("#")[0]
    shown = content.text
    for word in ("Plugin:", "Paper:", "In a suite file:", "budgetbench-"):
        assert word in shown
    curve = wait(lambda: browser.find_elements(By.CSS_SELECTOR, ".bench-curve[data-drawn]"))[0]
    assert curve.rect["y"] < 4 * 900, "the first curve is not within four screens"
    assert curve.rect["width"] <= 390
    opened(browser, site, "methods/cost-ordered.html", 390)
    (paper,) = browser.find_elements(By.CSS_SELECTOR, ".md-content li a[href*='papers/']")
    paper.click()
    assert wait(lambda: browser.find_element(By.TAG_NAME, "h1").text.startswith("A paper"))
    assert faults(browser) == []


def test_on_a_phone_two_taps_lead_from_the_front_page_to_the_leader_at_a_tenth_of_the_price(
    browser: Any, site: Path
) -> None:
    from selenium.webdriver.common.by import By

    opened(browser, site, "index.html", 390)
    browser.find_element(By.PARTIAL_LINK_TEXT, "Which method").click()
    items = wait(lambda: [li for li in browser.find_elements(By.CSS_SELECTOR, "li") if li.text.startswith("At 10 %")])
    leader = items[0].find_element(By.CSS_SELECTOR, "a[href*='methods/']")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", leader)
    leader.click()
    curve = wait(lambda: browser.find_elements(By.CSS_SELECTOR, ".bench-curve"))[0]
    assert "Plugin: budgetbench-" in browser.find_element(By.CSS_SELECTOR, ".md-content").text
    assert curve.rect["y"] < 2 * 900, "the curve is not within two screens"
    assert faults(browser) == []


def test_on_a_phone_a_long_name_leaves_the_second_column_visible(browser: Any, site: Path) -> None:
    opened(browser, site, "results.html", 390)
    wait(lambda: browser.execute_script("return document.querySelector('table.dataTable') !== null"))
    left = browser.execute_script(
        "const [name, best] = document.querySelector('table.dataTable tbody tr').cells;"
        "name.textContent = 'A data set with a name of some (length)'; return best.getBoundingClientRect().left"
    )
    assert left < 0.5 * 390


def test_a_long_cell_shows_its_beginning_and_opens(browser: Any, site: Path) -> None:
    # The published results determine which page has such a cell.
    pages = sorted((site / "suites").glob("*/*.html"))
    page = next(page for page in pages if re.search(r"<td[^>]*>[^<]{300,}</td>", page.read_text(encoding="utf-8")))
    opened(browser, site, page.relative_to(site).as_posix(), 390)
    find = "const d = document.querySelector('details.bench-folded');"
    before, shown, full = browser.execute_script(
        f"{find} return [d.offsetHeight, d.querySelector('summary').textContent, d.lastChild.textContent]"
    )
    assert before < 60
    assert full.startswith(shown.removesuffix(" …"))
    assert browser.execute_script(f"{find} d.querySelector('summary').click(); return d.offsetHeight") > before


BEHIND = """
const seen = (one) => { const c = getComputedStyle(one).backgroundColor; return c && !c.endsWith(", 0)"); };
let one = arguments[0];
while (one.parentElement && !seen(one)) one = one.parentElement;
return one;
"""


@pytest.mark.parametrize("scheme", ["default", "slate"])
def test_on_a_phone_text_links_and_tables_are_legible_in_either_scheme(browser: Any, site: Path, scheme: str) -> None:
    from selenium.webdriver.common.by import By

    opened(browser, site, "index.html", 390)
    body = browser.find_element(By.TAG_NAME, "body")
    if body.get_attribute("data-md-color-scheme") != scheme:
        browser.execute_script("[...document.querySelectorAll('label[for^=__palette]')].find(l => !l.hidden).click()")
    wait(lambda: body.get_attribute("data-md-color-scheme") == scheme)
    for selector in (".md-content p", ".md-content td a", ".md-content th", ".md-content h2", ".md-content .md-button"):
        for element in browser.find_elements(By.CSS_SELECTOR, selector)[:3]:
            behind = browser.execute_script(BEHIND, element)
            least = 3.0 if selector.endswith(("h2", "button")) else 4.5  # large text
            legible = partial(browser.execute_script, CONTRAST, element, behind)
            wait(lambda legible=legible, least=least: legible() >= least, 20, f"{selector}: contrast {legible():.2f};")
