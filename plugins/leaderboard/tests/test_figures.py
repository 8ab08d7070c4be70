"""Figures: the same bytes everywhere, legible in both schemes, inert, and linked where they are drawn."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from bench_analysis.analysed import Analysed
from bench_analysis.assignments import usage_of
from bench_analysis.leading import leading
from bench_analysis.series import mean_series
from bench_comparison.render.ranks import cliques_of, critical_difference_figure
from bench_emsco.figures import stages_by_class
from bench_leaderboard.render import figure_kinds
from bench_leaderboard.render.curves import curve_section, figure_section
from bench_leaderboard.render.figure_builder import file_slug
from bench_leaderboard.render.figures.palette import CARD, HUES, INK, MUTED, style_of, themed
from bench_leaderboard.render.page_figures import check_figures, figure_files, figures_of
from bench_qwyc.figures import spread_of
from bench_records.records import Records
from bench_records.selection import select
from support.families import METHODS, synthetic_records, synthetic_suite

from bench_core.contract.errors import RequestError
from bench_core.contract.metric import Metric
from bench_core.run.suite import Suite

SVG = "{http://www.w3.org/2000/svg}"
NASTY = ("A<b>&|\"'`x", "_under $x^2$ _s", "emoji \U0001f389", "--]]>", "EMSCO")
NASTY_DATA = "<script>alert(1)</script>|&"
EXTRA = (
    {"kind": "stage-by-cost-class"},
    {"kind": "history", "series": "front_members", "axis": "generation", "reference": "front_chromosomes"},
    {"kind": "feature-usage"},
    {
        "kind": "scatter", "x": ["validation.cost", "validation.cost"], "y": ["test.cost", "test.cost"],
        "panels": ["<all>", "$again"], "axes": ["a_$1^2", "<b>"], "scale": "log",
    },
    {"kind": "tree"},
    {"kind": "depth-by-price"},
    {"kind": "base-models"},
)  # fmt: skip


def ranked(title: str, names: Sequence[str], ranks: Sequence[float]) -> dict[Path, bytes]:
    """A critical difference diagram, which one data set does not give."""
    drawing = critical_difference_figure(names, ranks, 2.1, f"Average ranks: {title}", "4 data sets")
    return {Path("f") / f"critical-difference-{file_slug(title)}.svg": drawing}


PLACES = [str(Path(__file__).parent), str(Path(__file__).parents[3] / "tests")]
"""Where a subprocess finds this module and the core's `support`."""


def with_figures(suite: Suite, *entries: dict[str, object]) -> Suite:
    """The suite as if its file had those ``[[figures]]``."""
    suite.file.__dict__["figures"] = list(entries)
    return suite


def all_figures(seeds: int = 2) -> dict[Path, bytes]:
    suite = with_figures(synthetic_suite(["Heart"], seeds=seeds), *EXTRA)
    files = figure_files(figures_of(Analysed(suite, synthetic_records(["Heart"], seeds=seeds))), Path("f"))
    return files | ranked("combined", METHODS, (1.5, 2.4, 3.1, 3.6, 4.9, 5.5))


@pytest.fixture(scope="module")
def drawn() -> dict[str, bytes]:
    """Every kind of figure of one data set, by file name."""
    return {path.name: data for path, data in all_figures().items()}


@pytest.fixture(scope="module")
def nasty() -> tuple[Suite, Records, dict[Path, bytes]]:
    """A suite whose names would inject something, and its figures."""
    suite = with_figures(synthetic_suite([NASTY_DATA], NASTY, seeds=2), *EXTRA)
    records = synthetic_records([NASTY_DATA], NASTY, seeds=2)
    for info in records.infos.values():
        info["features"] = [f"<f{i}>&|" for i in range(len(info["features"]))]
    files = figure_files(figures_of(Analysed(suite, records)), Path("f"))
    return suite, records, files | ranked("<i>ranks", NASTY, range(1, 6))


def digest(files: dict[Path, bytes]) -> str:
    return hashlib.sha256(b"".join(data for _, data in sorted(files.items()))).hexdigest()


@pytest.mark.slow
def test_every_kind_is_drawn(drawn: dict[str, bytes]) -> None:
    assert sorted(drawn) == [
        "bars-heart.svg",
        "base-models-heart.svg",
        "critical-difference-combined.svg",
        "curve-heart.svg",
        "depth-by-price-heart.svg",
        "feature-usage-heart.svg",
        "history-front-members.svg",
        "scatter-heart.svg",
        "stage-by-cost-class-heart.svg",
        "tree-heart.svg",
    ]


@pytest.mark.slow
def test_coverage_is_neither_drawn_nor_tabulated_where_no_answer_is_refused() -> None:
    suite, records = synthetic_suite(["Heart"], seeds=2), synthetic_records(["Heart"], seeds=2)
    assert "coverage" in Analysed(suite, records).tables[0].columns
    for part in ("test", "validation"):
        records.policies[f"{part}.coverage"] = 1.0
    analysed = Analysed(suite, records)
    assert [figure.kind for figure in figures_of(analysed)] == ["curve"]
    assert "coverage" not in analysed.tables[0].columns


@pytest.mark.slow
def test_a_picture_of_many_methods_shows_those_that_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    suite, records = synthetic_suite(["Heart"], seeds=2), synthetic_records(["Heart"], seeds=2)
    monkeypatch.setattr(figure_kinds, "MANY_LINES", 3)
    monkeypatch.setattr(figure_kinds, "MOST_LINES", 2)
    (figure,) = [one for one in figures_of(Analysed(suite, records)) if one.kind == "curve"]
    assert figure.panel is not None
    svg = figure.draw().decode()
    drawn = {curve.method for curve in leading(figure.panel, 2).curves}
    assert {curve.method for curve in figure.panel.curves if f">{curve.method}</text>" in svg} == drawn


@pytest.mark.weekly
def test_the_bytes_do_not_depend_on_the_process_or_on_what_the_processor_can_do() -> None:
    code = "import sys; sys.path[:0] = sys.argv[1:]; import test_figures as t; print(t.digest(t.all_figures()))"
    told = []
    machines = [
        {"PYTHONHASHSEED": "1", "TZ": "UTC+1", "OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "1"},
        {"PYTHONHASHSEED": "2", "TZ": "UTC+2", "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"},
    ]
    for machine in machines:
        environment = {**os.environ, "MPLBACKEND": "svg", **machine}
        done = subprocess.run(
            [sys.executable, "-c", code, *PLACES],
            env=environment, capture_output=True, text=True, check=True, timeout=600,
        )  # fmt: skip
        told.append(done.stdout.strip())
    assert told == [digest(all_figures())] * 2


@pytest.mark.slow
def test_the_bytes_do_not_depend_on_the_style_of_the_process(drawn: dict[str, bytes]) -> None:
    import matplotlib as mpl

    with mpl.rc_context({"font.size": 20, "axes.grid": False, "svg.fonttype": "path"}):
        assert {path.name: data for path, data in all_figures().items()} == drawn
        assert mpl.rcParams["font.size"] == 20


@pytest.mark.slow
def test_drawing_leaves_no_figure_behind() -> None:
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]; import test_figures as t; t.all_figures();"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, *PLACES],
        capture_output=True, text=True, check=True, timeout=600,
    )  # fmt: skip
    assert told.stdout.strip() == "False"


@pytest.mark.slow
def test_listing_the_figures_needs_no_matplotlib() -> None:
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]; import test_figures as t;"
        "s, r = t.synthetic_suite(['Heart'], seeds=2), t.synthetic_records(['Heart'], seeds=2);"
        "assert len(t.figures_of(t.Analysed(s, r))) == 2; "
        "t.curve_section(s, t.figures_of(t.Analysed(s, r))); print('matplotlib' in sys.modules)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, *PLACES],
        capture_output=True, text=True, check=True, timeout=600,
    )  # fmt: skip
    assert told.stdout.strip() == "False"


def test_figures_are_shapes_and_texts_only(drawn: dict[str, bytes]) -> None:
    allowed = {"svg", "title", "desc", "style", "rect", "g", "path", "defs", "use", "text", "clipPath", "tspan"}
    for data in drawn.values():
        tree = ElementTree.fromstring(data)
        assert {element.tag.removeprefix(SVG) for element in tree.iter()} <= allowed
        links = [v for e in tree.iter() for k, v in e.attrib.items() if k.endswith("href")]
        assert all(link.startswith("#") for link in links)
        assert not re.search(rb"<!DOCTYPE|<!ENTITY|@import|url\((?!#)", data)


def test_figures_say_what_they_show(drawn: dict[str, bytes]) -> None:
    for data in drawn.values():
        tree = ElementTree.fromstring(data)
        title, description = tree[0], tree[1]
        assert (title.tag, description.tag) == (f"{SVG}title", f"{SVG}desc")
        assert title.text
        assert description.text
        assert tree.get("role") == "img"
        assert tree.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
        ids = [element.get("id") for element in tree.iter() if element.get("id")]
        assert len(ids) == len(set(ids))
    curve = ElementTree.fromstring(drawn["curve-heart.svg"])
    assert all(method in str(curve[1].text) for method in METHODS)


def test_every_colour_class_has_a_dark_value_and_nothing_is_left_black(drawn: dict[str, bytes]) -> None:
    for name, data in drawn.items():
        text = data.decode()
        style = text[text.index("<style>") : text.index("</style>")]
        light, dark = style.split("@media (prefers-color-scheme:dark)")
        body = text[text.index("</style>") :]
        used = {one for found in re.findall(r'class="([^"]*)"', body) for one in found.split()}
        colours = set(re.findall(r"\.([fs]c\d+)\{", light))
        assert colours == set(re.findall(r"\.([fs]c\d+)\{", dark))
        assert used == colours | set(re.findall(r"\.(a\d+)\{", light))
        assert "#000000" not in light + body, name
        for element in ElementTree.fromstring(data).iter(f"{SVG}text"):
            assert "class" in element.attrib, name


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours by WCAG 2.1."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

    bright, dim = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_stand_out_from_their_card(scheme: str) -> None:
    card = getattr(CARD, scheme)
    for hue in HUES:
        assert contrast(getattr(hue, scheme), card) >= 3.0
    for ink in (INK, MUTED):
        assert contrast(getattr(ink, scheme), card) >= 4.5


def test_methods_differ_by_more_than_their_colour() -> None:
    styles = [style_of(i) for i in range(40)]
    assert len({(style.marker, str(style.dash)) for style in styles}) == 40
    assert len({(style.colour, style.marker) for style in styles}) == 40


def oklab(colour: str) -> np.ndarray[Any, Any]:
    """A colour in a space where distances are perceptual (Ottosson 2020)."""
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    cones = np.cbrt(
        linear @ np.array([[0.41222, 0.21190, 0.08830], [0.53633, 0.68070, 0.28172], [0.05145, 0.10740, 0.62998]])
    )
    return np.asarray(
        cones @ np.array([[0.21045, 1.97800, 0.02590], [0.79362, -2.42859, 0.78277], [-0.00407, 0.45059, -0.80868]])
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_thirty_methods_have_thirty_colours_that_can_be_distinguished(scheme: str) -> None:
    drawn = [themed()[style_of(i).colour] for i in range(30)]
    places = [oklab(getattr(ink, scheme)) for ink in drawn]
    apart = [float(np.linalg.norm(a - b)) for a, b in combinations(places, 2)]
    assert min(apart) > 0.05
    first = [float(np.linalg.norm(a - b)) for a, b in combinations(places[:8], 2)]
    assert min(first) > 0.08


def test_no_two_methods_have_one_colour_however_many_there_are() -> None:
    assert len({style_of(i).colour for i in range(256)}) == 256


def lines_of(data: bytes) -> list[list[tuple[float, float]]]:
    """The corners of every open path of a figure that is clipped to its axes: what is drawn as a line."""
    tree = ElementTree.fromstring(data)
    paths = [e.get("d", "") for e in tree.iter(f"{SVG}path") if e.get("clip-path")]
    return [
        [(float(x), float(y)) for x, y in re.findall(r"[ML] ([-\d.]+) ([-\d.]+)", path)]
        for path in paths
        if "z" not in path
    ]


def stepped(seeds: int, hull: bool = False) -> tuple[str, bytes]:
    """The section and the figure of one family's trade-off."""
    suite = with_figures(synthetic_suite(["Heart"], ["GM*"], seeds=seeds), {"kind": "curve", "hull": hull})
    records = synthetic_records(["Heart"], ["GM*"], seeds=seeds)
    (data,) = [
        d for path, d in figure_files(figures_of(Analysed(suite, records)), Path("f")).items() if "curve" in path.name
    ]
    return curve_section(suite, figures_of(Analysed(suite, records))), data


def test_a_familys_curve_is_drawn_in_steps() -> None:
    longest = max(lines_of(stepped(2)[1]), key=len)
    assert len(longest) > 10
    for (x, y), (there, then) in pairwise(longest):
        assert x == there or y == then
        assert there >= x


def test_the_hull_is_drawn_only_when_it_is_asked_for() -> None:
    slanted = [
        any(x != there and y != then for (x, y), (there, then) in pairwise(line))
        for line in lines_of(stepped(2, hull=True)[1])
        if len(line) > 2
    ]
    assert any(slanted)
    assert not all(slanted)


@pytest.mark.slow
def test_a_band_is_drawn_with_enough_seeds_and_its_absence_is_said() -> None:
    said, few = stepped(4)
    assert "No band for any method: fewer than 5 seeds" in said
    assert b"95 % bands" not in few
    said, enough = stepped(5)
    assert "No band" not in said
    assert b"95 % bands" in enough
    assert enough.count(b"fill-opacity") == few.count(b"fill-opacity") + 1


@pytest.mark.slow
def test_names_are_text_whatever_they_hold(nasty: tuple[Suite, Records, dict[Path, bytes]]) -> None:
    suite, records, files = nasty
    said = ""
    for path, data in files.items():
        assert re.fullmatch(r"[a-z0-9-]+\.svg", path.name)
        tree = ElementTree.fromstring(data)
        assert not list(tree.iter(f"{SVG}script"))
        assert not list(tree.iter(f"{SVG}b"))
        said += "\n".join(element.text or "" for element in tree.iter(f"{SVG}text"))
    for name in (*NASTY, NASTY_DATA, "<f0>&|"):
        assert name in said
    figures = figures_of(Analysed(suite, records))
    page = curve_section(suite, figures) + figure_section(suite, figures)
    assert "<script" not in page
    assert "<b>" not in page


def test_data_sets_whose_file_names_would_be_the_same_get_their_own() -> None:
    names = ["Heart", "heart", "HEART!", "心", "臓"]
    suite = synthetic_suite(names, ["GM*"], seeds=1)
    files = [one.file for one in figures_of(Analysed(suite, synthetic_records(names, ["GM*"], seeds=1)))]
    assert len(set(files)) == len(files) == 10


def test_pages_link_exactly_the_files_that_are_drawn() -> None:
    suite, records = with_figures(synthetic_suite(seeds=2), *EXTRA), synthetic_records(seeds=2)
    figures = figures_of(Analysed(suite, records))
    sections = curve_section(suite, figures) + figure_section(suite, figures)
    linked = re.findall(r"^!\[.+\]\((.+)\)$", sections, flags=re.MULTILINE)
    names = [one.file for one in figures]
    assert sorted(linked) == sorted(f"synthetic/{name}" for name in names)


def test_the_section_says_its_rules_and_its_numbers() -> None:
    suite = with_figures(synthetic_suite(["Heart"], seeds=3), {"kind": "curve", "reference": "Single-Stage"})
    page = curve_section(suite, figures_of(Analysed(suite, synthetic_records(["Heart"], seeds=2))))
    assert "reference point (0, 0, 0)" in page
    assert "Nothing is interpolated" in page
    assert "Full model's quality: that of Single-Stage" in page
    _, _, *rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert len(rows) == len(METHODS)
    assert all(row.rstrip("| ").endswith("2 of 3") for row in rows)
    assert "never" in page


def test_a_suite_without_records_has_no_figures() -> None:
    suite = with_figures(synthetic_suite(["Heart"]), *EXTRA)
    empty = Records(pd.DataFrame(), {})
    figures = figures_of(Analysed(suite, empty))
    assert figure_files(figures, Path("f")) == {}
    assert curve_section(suite, figures) == figure_section(suite, figures) == ""


def test_failed_trials_do_not_stop_the_figures() -> None:
    suite, records = synthetic_suite(["Heart"], seeds=2), synthetic_records(["Heart"], seeds=2)
    gone = records.policies["method"] == "GM*"
    records.policies.loc[gone, "status"] = "failed"
    (curve,) = [one for one in figures_of(Analysed(suite, records)) if one.panel is not None]
    assert curve.panel is not None
    assert "GM*" not in [one.method for one in curve.panel.curves]
    assert len(figure_files(figures_of(Analysed(suite, records)), Path("f"))) == 2


def test_an_entry_replaces_the_default_of_its_kind_and_chooses() -> None:
    entry = {"kind": "curve", "methods": ["GM*"], "datasets": ["Pima"], "quality": "combined", "title": "Mine"}
    suite = with_figures(synthetic_suite(seeds=2), entry)
    found = [one for one in figures_of(Analysed(suite, synthetic_records(seeds=2))) if one.panel is not None]
    assert [one.file for one in found] == ["curve-pima.svg"]
    assert found[0].panel is not None
    assert [curve.method for curve in found[0].panel.curves] == ["GM*"]
    assert found[0].panel.quality.name == "combined"


def test_faults_in_a_suites_figures_are_said_with_the_nearest_name() -> None:
    suite = synthetic_suite(["Heart"], ["EMSCO", "GM*"])

    def check(**entry: object) -> dict[str, Metric]:
        return check_figures(suite, [entry])

    with pytest.raises(RequestError, match=r"synthetic\.toml: figures\[0\]\.methods.*EMSKO.*EMSCO"):
        check(kind="bars", methods=["EMSKO"])
    with pytest.raises(RequestError, match=r"figures\[0\]\.datasets.*Hart.*Heart"):
        check(kind="bars", datasets=["Hart"])
    with pytest.raises(RequestError, match=r"figures\[0\]\.quality.*acuracy.*accuracy"):
        check(kind="curve", quality="acuracy")
    with pytest.raises(RequestError, match=r"figures\[0\]\.reference"):
        check(kind="curve", reference="nobody")
    needed = check(kind="curve", quality="ndcg@7")
    assert set(needed) == {"cost", "ndcg@7"}
    with pytest.raises(RequestError, match="needs the name of a series"):
        check(kind="history")
    assert set(check(kind="scatter", x=["validation.error"], y=["history.loss"])) == {"error"}
    for wrong, said in (("test.eror", "error"), ("eror", r"must be validation\.<metric>"), ("history.", "must be")):
        with pytest.raises(RequestError, match=rf"synthetic\.toml: figures\[0\]: .*{said}"):
            check(kind="scatter", x=[wrong], y=["test.error"])
    with pytest.raises(RequestError, match="as many quantities in x as in y"):
        check(kind="scatter", x=["test.error"])
    with pytest.raises(RequestError, match="axes names the two axes"):
        check(kind="scatter", x=["test.error"], y=["test.cost"], axes=["a"])
    with pytest.raises(RequestError, match="panels names every pair"):
        check(kind="scatter", x=["test.error"], y=["test.cost"], panels=["a", "b"])
    with pytest.raises(RequestError, match=r"figures\[0\]\.kind: 'curv'.*'curve'"):
        check(kind="curv")
    with pytest.raises(RequestError, match=r"figures\[0\]\.metods: unknown key.*methods"):
        check(kind="curve", metods=["EMSCO"])
    with pytest.raises(RequestError, match=r"figures\[0\]\.series: unknown key"):
        check(kind="curve", series="loss")


def chosen_of(records: Records, method: str) -> pd.DataFrame:
    chosen = select(records, synthetic_suite(["Heart"], [method]))
    return chosen[chosen["method"] == method]


def test_stages_are_averaged_feature_by_feature_within_the_classes_of_each_seed() -> None:
    records = synthetic_records(["Heart"], ["EMSCO"], seeds=2)
    for seed, (stages, kinds) in enumerate([([0, 1, 2], [1, 1, 2]), ([2, 1, 0], [1, 2, 2])]):
        name = f"00000{seed:04}"
        info = records.infos[name]
        info["features"] = ["a", "b", "c"]
        info["costs"] = {"classes": kinds, "prices": [[1.0]] * 3}
        records.policies.loc[records.policies["name"] == name, "details"] = f'{{"chromosome":{stages}}}'
    found = stages_by_class(records, chosen_of(records, "EMSCO"))
    assert found is not None
    assert [mean.value for mean in found.stages] == [2.0, 2.0, 2.0]
    assert found.labels == ("class 1", "class 2")
    assert found.classes.tolist() == [0, 0, 1]
    assert [mean.value for mean in found.means] == [pytest.approx((1.5 + 3) / 2), pytest.approx((3 + 1.5) / 2)]
    assert not found.settled
    assert stages_by_class(records, chosen_of(records, "EMSCO"), "nothing") is None


def test_features_of_one_price_are_a_class_where_there_are_none() -> None:
    records = synthetic_records(["Heart"], ["EMSCO"], seeds=1, classes=False)
    found = stages_by_class(records, chosen_of(records, "EMSCO"))
    assert found is not None
    assert found.labels == ("price 5",)


def test_usage_is_averaged_and_stages_are_kept_apart() -> None:
    records = synthetic_records(["Heart"], ["CO-T"], seeds=2)
    for info, usage in zip(records.infos.values(), [[[0.5, 0.5], [0.0, 0.25]], [0.5, 1.0]], strict=True):
        info["features"], info["usage"] = ["a", "b"], [usage]
    found = usage_of(records, chosen_of(records, "CO-T"))
    assert found is not None
    assert found.shares.tolist() == [[0.5, 0.75], [0.0, 0.125]]
    assert found.total.tolist() == [0.5, 0.875]
    for info in records.infos.values():
        del info["usage"]
    assert usage_of(records, chosen_of(records, "CO-T")) is None


def test_histograms_are_rebinned_to_the_widest_bars_and_averaged() -> None:
    records = synthetic_records(["Heart"], ["CO-T"], seeds=3)
    told = [
        {"width": 2, "counts": [[6, 2, 1, 1]]},  # 1–2, 3–4, 5–6, 7–8
        {"width": 4, "counts": [[1, 0, 3]]},  # 1–4, 5–8, 9–12
        {"width": 1, "counts": [None]},
    ]
    for info, one in zip(records.infos.values(), told, strict=True):
        info["evaluations"] = one
    found = spread_of(records, chosen_of(records, "CO-T"))
    assert found is not None
    assert (found.width, found.seeds, found.mean) == (4, 2, None)
    np.testing.assert_allclose(found.shares, [(0.8 + 0.25) / 2, 0.1, 0.375])
    for info in records.infos.values():
        del info["evaluations"]
    assert spread_of(records, chosen_of(records, "CO-T")) is None


def info_with(**history: Any) -> dict[str, Any]:
    trial = '{"split":{"kind":"random","train":0.5,"validation":0.25,"test":0.25}}'
    rows = {"train": 2, "validation": 2, "test": 2}
    return {"history": history, "diagnostics": {"front": 4}, "trial": trial, "rows": rows}


def test_a_series_that_stops_early_counts_with_its_last_value() -> None:
    found = mean_series([info_with(s=[0.0, 2.0]), info_with(s=[0.0, 4.0, 6.0])], "s", "front")
    assert found is not None
    assert found.mean.tolist() == [0.0, 3.0, 4.0]
    assert found.reference == 4.0
    # t(0.975, 1) = 12.706; 2 and 4 have the variance 2, times 1/2 for two splits and 1/2 for their overlap.
    assert found.margin[1] == pytest.approx(12.706 * 2**0.5, abs=1e-3)


def test_margins_that_the_fits_report_make_the_band() -> None:
    infos = [info_with(s=[1.0], s_margin=[3.0]), info_with(s=[2.0], s_margin=[4.0])]
    found = mean_series(infos, "s")
    assert found is not None
    assert found.own_margins
    assert found.margin.tolist() == [2.5]
    assert mean_series(infos, "t") is None


def test_long_series_keep_their_ends() -> None:
    found = mean_series([info_with(s=list(range(1001)))], "s", most=50)
    assert found is not None
    assert len(found.at) == 50
    assert found.at[[0, -1]].tolist() == found.mean[[0, -1]].tolist() == [0, 1000]


def test_cliques_are_the_widest_groups_within_the_critical_difference() -> None:
    assert cliques_of([1.0, 2.0, 3.0, 5.0], 2.0) == [(0, 2), (2, 3)]
    assert cliques_of([1.0, 3.0], 1.0) == []
    assert cliques_of([1.0, 1.5, 2.0], 5.0) == [(0, 2)]


def test_the_diagram_names_the_methods_that_it_does_not_distinguish() -> None:
    data = critical_difference_figure(["worst", "best", "next"], [3.0, 1.0, 1.5], 1.0, "T")
    description = ElementTree.fromstring(data)[1].text
    assert (
        description
        == "Average ranks: best 1.00, next 1.50, worst 3.00. Critical difference 1. Not told apart: best, next."
    )
