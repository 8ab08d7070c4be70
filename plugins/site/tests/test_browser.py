"""The site in a real browser: pages without errors, tables, curves, search, colour schemes and phones."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from support.bench import Bench
from support.cases import cases

PAGES = (
    "index.html",
    "answer.html",
    "results.html",
    "suites/index.html",
    "suites/small/index.html",
    "suites/small/provenance.html",
    "suites/qwyc_paper/results.html",
    "suites/qwyc_paper/claims.html",
    "suites/qwyc_paper/curves.html",
    "suites/qwyc_paper/figures.html",
    "suites/open/index.html",
    "suites/open/results.html",
    "suites/open/answer.html",
    "suites/open/timings.html",
    "suites/open/liver.html",
    "methods/index.html",
    "methods/cost-ordered.html",
    "datasets/index.html",
    "datasets/blobs.html",
    "docs/papers/paper.html",
)
EACH_PAGE = pytest.mark.parametrize("page", cases(PAGES, weekly=set(PAGES) - {"index.html", "suites/open/index.html"}))
pytestmark = pytest.mark.slow
HIGHEST = {1280: 12_000, 390: 12_000}
"""The largest height of a page, by the window's width, in pixels."""
SLOWEST = 5_000
"""Milliseconds until a page is loaded; a second on an idle machine."""


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
        "return [...document.querySelectorAll('.md-content table')[0].tBodies[0].rows]"
        ".map(r => [...r.cells].at(arguments[0]).textContent)",
        place,
    )


@EACH_PAGE
def test_a_page_has_no_error_and_fits_the_window(browser: Any, site: Path, page: str) -> None:
    for width in (1280, 390):
        opened(browser, site, page, width)
        time.sleep(0.2)
        loaded = browser.execute_script("return performance.getEntriesByType('navigation')[0].loadEventEnd")
        assert loaded < SLOWEST, f"loaded after {loaded:.0f} ms at {width}"
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


def choose(browser: Any, label: str, value: str) -> None:
    browser.execute_script(
        "const l = [...document.querySelectorAll('.bench-filters label')]"
        ".find(one => one.textContent.startsWith(arguments[0]));"
        "const s = l.querySelector('select, input'); s.value = arguments[1];"
        "for (const event of ['input', 'change']) s.dispatchEvent(new Event(event, {bubbles: true}))",
        label,
        value,
    )


def test_tables_sort_by_number_search_and_filter(browser: Any, site: Path) -> None:
    opened(browser, site, "results.html")
    wait(lambda: browser.execute_script("return document.querySelector('table.bench-table') !== null"))
    choose(browser, "Suite", "small")
    assert set(column(browser, -1)) == {"small"}
    note = browser.execute_script("return document.querySelector('.bench-below .bench-note').textContent")
    assert note == f"{len(column(browser, 0))} of {len(column(browser, 0))} rows"
    heads = browser.execute_script(
        "return [...document.querySelectorAll('th')].filter(h => !h.hidden).map(h => h.textContent.trim())"
    )
    assert "Cost" in heads
    assert not any(head.startswith("NDCG") for head in heads), "a column without a value is shown"
    place = browser.execute_script(
        "return [...document.querySelectorAll('th')].findIndex(h => h.textContent.trim() === 'Cost')"
    )
    click = f"document.querySelectorAll('th')[{place}].querySelector('button').click()"
    browser.execute_script(click)
    up = [float(text.split()[0]) for text in column(browser, place)]
    assert up == sorted(up)
    browser.execute_script(click)
    down = [float(text.split()[0]) for text in column(browser, place)]
    assert down == sorted(down, reverse=True)
    assert up[0] < down[0]
    search = "const i = document.querySelector('.bench-filters input'); i.value = arguments[0];"
    browser.execute_script(f"{search} i.dispatchEvent(new Event('input', {{bubbles: true}}))", "CO-T, two")
    assert column(browser, 1) == ["CO-T, two stages"]
    browser.execute_script(f"{search} i.dispatchEvent(new Event('input', {{bubbles: true}}))", "")
    choose(browser, "Suite", "")
    shown = len(column(browser, 0))
    browser.execute_script("document.querySelector('.bench-below button').click()")
    assert len(column(browser, 0)) > shown
    assert faults(browser) == []


def test_a_curve_shows_numbers_under_the_pointer_and_can_be_logarithmic(browser: Any, site: Path) -> None:
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.by import By

    opened(browser, site, "suites/small/index.html")
    curve = browser.find_element(By.CSS_SELECTOR, ".bench-curve")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", curve)
    point = wait(lambda: browser.find_elements(By.CSS_SELECTOR, ".bench-curve .bench-dot"))[-1]
    ActionChains(browser).move_to_element(point).perform()
    text = wait(lambda: browser.find_element(By.CSS_SELECTOR, ".bench-tip").text)
    assert "cost" in text
    assert "quality" in text
    assert browser.find_elements(By.CSS_SELECTOR, "g.bench-on")
    assert browser.find_elements(By.CSS_SELECTOR, ".bench-band")
    before = curve.screenshot_as_png
    button = next(b for b in browser.find_elements(By.CSS_SELECTOR, ".bench-curve .bench-button") if b.text == "Log")
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert curve.screenshot_as_png != before
    assert faults(browser) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_the_controls_of_the_live_picture_change_it(browser: Any, site: Path, width: int) -> None:
    from selenium.webdriver.common.by import By

    opened(browser, site, "index.html", width)
    wait(lambda: browser.find_elements(By.CSS_SELECTOR, ".bench-live svg"))
    lines = "return [...document.querySelectorAll('.bench-live g[data-line]')].map(g => g.dataset.line)"
    drawn = "return document.querySelector('.bench-live svg').outerHTML"
    first = browser.execute_script(lines)
    assert first == ["kind: fixed subset", "kind: cascades"]
    picture = browser.execute_script(drawn)
    choose(browser, "Budget", "1")
    moved = browser.execute_script(drawn)
    assert moved != picture
    assert "10 %" in browser.find_element(By.CSS_SELECTOR, ".bench-best-title").text
    box = (
        "const boxes = [...document.querySelectorAll('.bench-best li li input')];"
        "boxes.find(i => i.dataset.line === arguments[0]).click()"
    )
    browser.execute_script(box, "<b>CO-T</b> & co")
    assert browser.execute_script(lines) == [*first, "<b>CO-T</b> & co"]
    browser.execute_script(box, "<b>CO-T</b> & co")
    assert browser.execute_script(lines) == first
    browser.execute_script("document.querySelector('.bench-item button').click()")
    assert browser.execute_script(lines) == first[1:]
    browser.execute_script(
        "const s = document.querySelector('.bench-legend select'); s.value = arguments[0];"
        "s.dispatchEvent(new Event('change'))",
        first[0],
    )
    assert sorted(browser.execute_script(lines)) == sorted(first)
    choose(browser, "Data", "more than 20 features")
    assert browser.find_element(By.CSS_SELECTOR, ".bench-best-title").text == "No data set is of this kind"
    disabled = "return [...document.querySelectorAll('.bench-live option:disabled')].map(o => o.value)"
    assert browser.execute_script(disabled) == ["more than 20 features", "more than 1,000 rows"]
    choose(browser, "Data", "any size")
    assert "nothing is recommended" in browser.find_element(By.CSS_SELECTOR, ".bench-best-title").text
    assert len(browser.find_elements(By.CSS_SELECTOR, ".bench-best > li")) == 4
    assert len(browser.find_elements(By.CSS_SELECTOR, ".bench-best li li")) == 4
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert faults(browser) == []


def test_the_live_picture_shows_the_numbers_of_the_comparison(browser: Any, small: Bench, site: Path) -> None:
    from selenium.webdriver.common.by import By

    losses = json.loads((small.folder / "leaderboard" / "small" / "losses.json").read_text(encoding="utf-8"))
    opened(browser, site, "index.html")
    wait(lambda: browser.find_elements(By.CSS_SELECTOR, ".bench-live svg"))
    shown = (
        "return Object.fromEntries([...document.querySelectorAll('.bench-best input')]"
        ".map(i => [i.dataset.line, i.closest('li').querySelector('.bench-value').textContent.trim()]))"
    )
    view = losses["views"][0]
    for place, step in enumerate(view["steps"]):
        choose(browser, "Budget", str(place))
        rows = {row["name"]: row["quality"][0] for row in step["methods"] if row["name"] != "majority"}
        rows |= {f"kind: {row['name']}": row["quality"][0] for row in step["kinds"]}
        for size in ("any size", "up to 20 features"):  # the latter is averaged by the script
            choose(browser, "Data", size)
            found = {name: float(value) for name, value in browser.execute_script(shown).items() if name != "majority"}
            assert found == pytest.approx({name: 100 * value for name, value in rows.items()}, abs=0.06), (step, size)
    choose(browser, "Data", "any size")
    assert view["steps"][-1]["kinds"][0]["quality"][1] is not None
    assert browser.find_elements(By.CSS_SELECTOR, ".bench-live .bench-band")


def test_pointing_at_a_line_between_its_dots_says_its_name(browser: Any, site: Path) -> None:
    from selenium.webdriver.common.by import By

    opened(browser, site, "index.html")
    wait(lambda: browser.find_elements(By.CSS_SELECTOR, ".bench-live svg"))
    said = browser.execute_script(
        "const root = document.querySelector('.bench-live svg'), frame = root.getBoundingClientRect();"
        "const [a, b] = root.querySelector('g[data-line] polyline').getAttribute('points').split(' ').slice(-2)"
        ".map(p => p.split(',').map(Number));"
        "root.dispatchEvent(new PointerEvent('pointermove',"
        " {clientX: frame.left + (a[0] + b[0]) / 2, clientY: frame.top + (a[1] + b[1]) / 2}));"
        "return document.querySelector('.bench-live .bench-tip b').textContent"
    )
    assert said in ("fixed subset", "cascades")


def test_a_link_to_a_heading_of_a_closed_section_opens_it(browser: Any, site: Path) -> None:
    opened(browser, site, "suites/open/results.html")
    closed = "return [...document.querySelectorAll('details.bench-section:not([open]) > summary > *')].map(h => h.id)"
    names = browser.execute_script(closed)
    if not names:
        pytest.skip("the published page is short enough to be open")
    browser.execute_script("location.hash = arguments[0]", names[-1])
    assert wait(lambda: names[-1] not in browser.execute_script(closed))


def test_the_verdict_of_a_claim_is_visible_without_scrolling(browser: Any, site: Path) -> None:
    opened(browser, site, "suites/qwyc_paper/claims.html")
    right = browser.execute_script(
        "return [...document.querySelectorAll('th')].find(h => h.textContent.trim() === 'Verdict')"
        ".getBoundingClientRect().right"
    )
    assert right < 1280


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
    wait(lambda: browser.find_elements(By.CSS_SELECTOR, ".bench-curve .bench-line"))
    colour = "return getComputedStyle(document.querySelector('.bench-curve .bench-line')).stroke"
    lines = []
    for scheme in ("default", "slate"):
        if body.get_attribute("data-md-color-scheme") != scheme:
            browser.execute_script(
                "[...document.querySelectorAll('label[for^=__palette]')].find(l => !l.hidden).click()"
            )
        wait(lambda scheme=scheme: body.get_attribute("data-md-color-scheme") == scheme)
        lines.append(browser.execute_script(colour))
        for selector in (".md-content p", ".md-content p a", ".md-content td", ".md-content td a", ".md-content h2"):
            element = browser.find_element(By.CSS_SELECTOR, selector)
            least = 4.5
            assert wait(lambda e=element, m=least: browser.execute_script(CONTRAST, e, body) >= m, 3), selector
        for line in browser.find_elements(By.CSS_SELECTOR, ".bench-curve .bench-line"):
            assert browser.execute_script(CONTRAST, line, body, "stroke") >= 3.0
        for text in browser.find_elements(By.CSS_SELECTOR, ".bench-curve text")[:3]:
            assert browser.execute_script(CONTRAST, text, body, "fill") >= 4.5
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


def test_on_a_server_the_search_finds_a_page_and_the_colours_can_be_switched(browser: Any, site: Path) -> None:
    from selenium.webdriver.common.by import By

    handler = partial(SimpleHTTPRequestHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        browser.get_log("browser")
        browser.get(f"http://127.0.0.1:{server.server_port}/index.html")
        scheme = "return document.body.dataset.mdColorScheme"
        before = browser.execute_script(scheme)
        browser.execute_script("document.querySelector('[data-md-component=palette] label:not([hidden])').click()")
        assert wait(lambda: browser.execute_script(scheme) != before)
        browser.execute_script("document.querySelector('[data-md-toggle=search]').click()")
        field = browser.find_element(By.CSS_SELECTOR, "input.md-search__input")
        wait(lambda: field.is_displayed())
        field.send_keys("max_stages")
        assert wait(lambda: browser.find_elements(By.CSS_SELECTOR, ".md-search-result__item a"))
        assert faults(browser) == []
        server.shutdown()


def test_lines_keep_their_colours_when_another_is_removed(browser: Any, site: Path) -> None:
    from selenium.webdriver.common.by import By

    colours = (
        "return Object.fromEntries([...document.querySelectorAll('.bench-live g[data-line]')]"
        ".map(g => [g.dataset.line, g.style.color]))"
    )
    opened(browser, site, "index.html")
    wait(lambda: browser.find_elements(By.CSS_SELECTOR, ".bench-live svg"))
    first = browser.execute_script(colours)
    browser.execute_script("document.querySelector('.bench-item button').click()")
    left = browser.execute_script(colours)
    assert len(left) == len(first) - 1
    assert left.items() <= first.items()
    opened(browser, site, "methods/cost-ordered.html")
    wait(lambda: browser.find_elements(By.CSS_SELECTOR, ".bench-live svg"))
    assert first.items() <= browser.execute_script(colours).items()


UNNAMED = """
const named = (one) => (one.textContent.trim() || one.getAttribute("aria-label") || one.title
  || one.querySelector("img[alt]:not([alt='']), svg title"));
return [...document.querySelectorAll(".md-content :is(a[href], button)")].filter((one) => !named(one)).length;
"""


@EACH_PAGE
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


def test_on_a_phone_links_lead_from_the_best_method_to_its_curve_and_paper(browser: Any, site: Path) -> None:
    from selenium.webdriver.common.by import By

    opened(browser, site, "index.html", 390)
    wait(lambda: browser.find_elements(By.CSS_SELECTOR, ".bench-best summary"))
    browser.execute_script("document.querySelector('.bench-best details:has(a[href*=cost-ordered])').open = true")
    links = [
        a
        for a in browser.find_elements(By.CSS_SELECTOR, ".bench-best li a")
        if "cost-ordered" in a.get_attribute("href")
    ]
    address = links[0].get_attribute("href")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", links[0])
    links[0].click()
    assert browser.current_url.partition("#")[0] == address
    shown = browser.find_element(By.CSS_SELECTOR, ".md-content").text
    for word in ("Plugin:", "Paper:", "In a suite file:", "Speed:", "budgetbench-"):
        assert word in shown
    picture = wait(lambda: browser.find_elements(By.CSS_SELECTOR, ".bench-live"))[0]
    assert picture.rect["y"] < 2 * 900, "the picture is not within two screens"
    assert picture.rect["width"] <= 390
    opened(browser, site, "methods/cost-ordered.html", 390)
    (paper,) = browser.find_elements(By.CSS_SELECTOR, ".md-content li a[href*='papers/']")
    paper.click()
    assert wait(lambda: browser.find_element(By.TAG_NAME, "h1").text.startswith("A paper"))
    assert faults(browser) == []


def test_on_a_phone_a_long_name_leaves_the_second_column_visible(browser: Any, site: Path) -> None:
    opened(browser, site, "results.html", 390)
    wait(lambda: browser.execute_script("return document.querySelector('table.bench-table tbody tr') !== null"))
    left = browser.execute_script(
        "const [name, best] = document.querySelector('table.bench-table tbody tr').cells;"
        "name.textContent = 'A data set with a name of some (length)'; return best.getBoundingClientRect().left"
    )
    assert left < 0.5 * 390


def test_a_long_cell_shows_its_beginning_and_opens(browser: Any, site: Path) -> None:
    # The published results determine which page has such a cell.
    pages = sorted((site / "suites").glob("*/*.html"))
    page = next(page for page in pages if re.search(r"<td[^>]*>[^<|]{300,}</td>", page.read_text(encoding="utf-8")))
    opened(browser, site, page.relative_to(site).as_posix(), 390)
    find = "const d = document.querySelector('details.bench-folded');"
    before, shown, full = browser.execute_script(
        f"{find} return [d.offsetHeight, d.querySelector('summary').textContent, d.lastChild.textContent]"
    )
    assert len(shown) < len(full)
    assert full.startswith(shown.removesuffix(" …"))
    assert browser.execute_script(f"{find} d.querySelector('summary').click(); return d.offsetHeight") > before


def test_claims_that_differ_before_their_notes_can_be_told_apart_while_they_are_folded(
    browser: Any, site: Path
) -> None:
    opened(browser, site, "suites/qwyc_paper/claims.html")
    claims = browser.execute_script(
        "return [...document.querySelectorAll('td:first-child details.bench-folded')]"
        ".map(d => [d.querySelector('summary').textContent, d.lastChild.textContent.split(' (')[0]])"
    )
    assert len(claims) > 5
    assert len({shown for shown, _ in claims}) == len({claim for _, claim in claims})
    assert faults(browser) == []


def test_names_of_dominating_methods_stay_on_one_line(browser: Any, site: Path) -> None:
    opened(browser, site, "suites/open/liver.html")
    styles = "return [...document.querySelectorAll('td:last-child')].map(d => getComputedStyle(d).whiteSpace)"
    assert set(browser.execute_script(styles)) == {"nowrap"}


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
