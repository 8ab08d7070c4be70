"""The rule for verdicts, on numbers small enough to check by hand."""

from __future__ import annotations

import re
from typing import Any

import pytest
from bench_analysis.cells import Cells
from bench_analysis.tables import grids
from bench_claims.claims import NO_INTERVAL, NO_QUERIES, QUERIES, WIDE, check_claims
from bench_claims.page import claims_section
from bench_claims.relations import SAME_POLICY
from bench_claims.verdicts import Checked
from bench_records.records import tabulate
from bench_records.selection import select
from support.synthetic import Values, labelled, record_of, records_of, suite_of, toml

from bench_core.contract.errors import RequestError

# Means by seed. X: A is cheaper than B in every seed; C is cheaper than A on the mean only. Y: B is cheaper than A.
VALUES: Values = {
    ("X", "A"): {"coverage": [0.8, 0.8, 0.8], "conclusive-accuracy": [0.7, 0.8, 0.9], "cost": [10, 11, 12]},
    ("X", "B"): {"coverage": [0.8, 0.8, 0.8], "conclusive-accuracy": [0.6, 0.7, 0.8], "cost": [20, 21, 22]},
    ("X", "C"): {"coverage": [0.9, 0.9, 0.9], "conclusive-accuracy": [0.5, 0.7, 0.8], "cost": [8, 16, 8]},
    ("Y", "A"): {"coverage": [1.0, 1.0, 1.0], "conclusive-accuracy": [0.6, 0.6, 0.6], "cost": [4, 4, 4]},
    ("Y", "B"): {"coverage": [1.0, 1.0, 1.0], "conclusive-accuracy": [0.9, 0.9, 0.9], "cost": [2, 2, 2]},
    ("Y", "C"): {"coverage": [1.0, 1.0, 1.0], "conclusive-accuracy": [0.5, 0.5, 0.5], "cost": [9, 9, 9]},
}


def claim(**fields: Any) -> dict[str, Any]:
    """A claim's fields."""
    return fields


def line(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {line(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(line, value)) + "]"
    return toml(value) if isinstance(value, str) else str(value).lower()


def claim_text(fields: dict[str, Any]) -> str:
    fields = {"text": "t", "source": "s", "standing": "same data", **fields}
    return "\n".join(["[[claims]]", *(f"{k} = {line(v)}" for k, v in fields.items())])


def check(values: Values = VALUES, **fields: Any) -> Checked:
    suite = suite_of(["X", "Y"], ["A", "B", "C"], more=claim_text(fields))
    records = records_of(values, split="given")  # independent seeds, so that intervals are easy to follow
    return check_claims(suite, records, Cells(select(records, suite)))[0]


COST = {"metric": "cost", "datasets": ["X"]}
ACCURACY = {"metric": "conclusive-accuracy", "datasets": ["X"]}

ABOUT = {"reason": "as the test says"}

# A's cost on X: 10, 11, 12. Mean 11 ± 4.303·1/√3 = [8.52, 13.48]; of one further split, on the scale of logarithms,
# e^(2.3947 ± 4.303·0.09126·√(4/3)) = [6.97, 17.26]. A's accuracy there: 0.8 ± 0.248, of one split [0.30, 1].
NUMBERS = {
    "in the interval of one split, which is narrow enough": (
        claim(kind="value", method="A", value=14, tolerance=3, **ABOUT, **COST),
        "holds",
    ),
    "in the interval of one split, which is too wide": (  # it is 5.1 to each side; two tenths of 14 are 2.8
        claim(kind="value", method="A", value=14, **COST),
        "consistent",
    ),
    "our own number, and still too wide an interval": (claim(kind="value", method="A", value=11, **COST), "consistent"),
    "just inside an interval that is too wide": (  # 6.97 − a tenth of 6.34 is 6.34
        claim(kind="value", method="A", value=6.34, **COST),
        "consistent",
    ),
    "just outside it": (claim(kind="value", method="A", value=6.33, **COST), "contradicted"),
    "outside, but within the margin": (
        claim(kind="value", method="A", value=20, tolerance=2.8, **ABOUT, **COST),
        "holds",
    ),
    "outside by more than the margin": (
        claim(kind="value", method="A", value=20, tolerance=2.6, **ABOUT, **COST),
        "contradicted",
    ),
    "outside by more than a tenth": (claim(kind="value", method="A", value=20, **COST), "contradicted"),
    "within a tenth": (claim(kind="value", method="A", value=4.4, metric="cost", datasets=["Y"]), "holds"),
    "more than a tenth off": (
        claim(kind="value", method="A", value=4.5, metric="cost", datasets=["Y"]),
        "contradicted",
    ),
    "the mean of more splits": (  # of 300: 11 ± 4.303·√(1/3 + 1/300) = [8.50, 13.50]
        claim(kind="value", method="A", value=14.9, splits=300, **COST),
        "holds",
    ),
    "the mean of more splits, outside": (
        claim(kind="value", method="A", value=15.1, splits=300, **COST),
        "contradicted",
    ),
    "a tenth of a share's complement": (
        claim(kind="value", method="A", value=0.92, metric="coverage", datasets=["Y"], tolerance=0.08, **ABOUT),
        "holds",
    ),
    "more than a tenth of a share's complement": (
        claim(kind="value", method="A", value=0.99, metric="coverage", datasets=["Y"]),
        "contradicted",
    ),
    "one minus": (
        claim(kind="value", method="A", value=0.21, form="one-minus", metric="coverage", datasets=["X"]),
        "holds",
    ),
    "above p̂ on the mean only": (
        claim(kind="value", method="A", value="threshold", relation=">=", **ACCURACY),
        "cannot be told",
    ),
    "below p̂ for certain": (
        claim(kind="value", method="A", value="threshold", relation="<", metric="conclusive-accuracy", datasets=["Y"]),
        "holds",
    ),
    "above for certain": (claim(kind="value", method="A", value=8.5, relation=">", **COST), "holds"),
    "above on the mean": (claim(kind="value", method="A", value=8.6, relation=">", **COST), "cannot be told"),
    "not above on the mean": (claim(kind="value", method="A", value=13.4, relation=">", **COST), "cannot be told"),
    "not above for certain": (claim(kind="value", method="A", value=13.5, relation=">", **COST), "contradicted"),
    "below for certain": (claim(kind="value", method="A", value=13.5, relation="<", **COST), "holds"),
    "at the limit, which is allowed": (
        claim(kind="value", method="A", value=4, relation=">=", metric="cost", datasets=["Y"]),
        "holds",
    ),
    "at the limit, which is not allowed": (
        claim(kind="value", method="A", value=4, relation="<", metric="cost", datasets=["Y"]),
        "contradicted",
    ),
    # A/B on X: 0.5, 11/21, 12/22; the mean ratio is 0.5238, of one split [0.43, 0.63].
    "a ratio": (claim(kind="ratio", method="A", against="B", value=0.55, tolerance=0.06, **ABOUT, **COST), "holds"),
    "a ratio that is off": (claim(kind="ratio", method="A", against="B", value=0.8, **COST), "contradicted"),
    "so much below": (
        claim(kind="ratio", method="A", against="B", value=0.46, form="one-minus", tolerance=0.06, **ABOUT, **COST),
        "holds",
    ),
    "much more below": (
        claim(kind="ratio", method="A", against="B", value=0.8, form="one-minus", **COST),
        "contradicted",
    ),
    "above instead of below": (
        claim(kind="ratio", method="B", against="A", value=0.8, form="one-minus", **COST),
        "contradicted",
    ),
    "so much above": (
        claim(kind="ratio", method="B", against="A", value=0.91, form="minus-one", tolerance=0.3, **ABOUT, **COST),
        "holds",
    ),
    "a paired difference has no spread": (
        claim(kind="difference", method="A", against="B", value=0.11, **ACCURACY),
        "holds",
    ),
    "another difference of the same sign": (
        claim(kind="difference", method="A", against="B", value=0.12, **ACCURACY),
        "contradicted",
    ),
    "a difference of the other sign": (
        claim(kind="difference", method="A", against="B", value=-0.1, **ACCURACY),
        "contradicted",
    ),
    "no difference where the paper has one": (
        claim(kind="difference", method="A", against="B", value=0.1, metric="coverage", datasets=["X"]),
        "contradicted",
    ),
    "a difference that is small enough": (
        claim(kind="difference", method="A", against="B", value=0.15, relation="<", **ACCURACY),
        "holds",
    ),
    "a difference that is too great": (
        claim(kind="difference", method="A", against="B", value=0.05, relation="<", **ACCURACY),
        "contradicted",
    ),
    "the mean over data sets": (claim(kind="value", method="A", metric="coverage", value=0.91), "contradicted"),
    "the mean over data sets, within a tenth of the complement": (
        claim(kind="value", method="A", metric="coverage", value=0.892),
        "holds",
    ),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_by_the_rule(name: str) -> None:
    fields, verdict = NUMBERS[name]
    assert check(**fields).verdict == verdict


RELATIONS = {
    "an order that holds in every seed": (claim(kind="order", methods=["B", "A"], **COST), "holds"),
    "an order on the means only": (claim(kind="order", methods=["A", "C"], **COST), "cannot be told"),
    "the other order on the means only": (claim(kind="order", methods=["C", "A"], **COST), "cannot be told"),
    "an order the other way": (claim(kind="order", methods=["A", "B"], **COST), "contradicted"),
    "a contradicted part weighs more than an open one": (
        claim(kind="order", methods=["C", "A", "B"], **COST),
        "contradicted",
    ),
    "lowest first": (claim(kind="order", methods=["A", "B"], first="lowest", **COST), "holds"),
    "a tie is no order": (claim(kind="order", methods=["A", "B"], metric="coverage", datasets=["X"]), "contradicted"),
    "highest of two": (claim(kind="extreme", method="B", among=["A", "B"], which="highest", **COST), "holds"),
    "lowest on the means": (
        claim(kind="extreme", method="C", among=["A", "B", "C"], which="lowest", **COST),
        "cannot be told",
    ),
    "not the lowest": (
        claim(kind="extreme", method="B", among=["A", "B", "C"], which="lowest", **COST),
        "contradicted",
    ),
    "not the highest alone": (
        claim(kind="extreme", method="A", among=["A", "B"], which="highest", metric="coverage", datasets=["X"]),
        "contradicted",
    ),
    "second lowest on the means": (
        claim(kind="extreme", method="A", among=["A", "B", "C"], which="lowest", place=2, **COST),
        "cannot be told",
    ),
    "second highest for certain": (
        claim(
            kind="extreme", method="A", among=["A", "B", "C"], which="highest", place=2, metric="cost", datasets=["Y"]
        ),
        "holds",
    ),
    "first, where the claim says second": (
        claim(
            kind="extreme", method="C", among=["A", "B", "C"], which="highest", place=2, metric="cost", datasets=["Y"]
        ),
        "contradicted",
    ),
    "dominates in every seed": (claim(kind="dominance", method="A", against=["B"], datasets=["X"]), "holds"),
    "does not dominate": (claim(kind="dominance", method="A", against=["C"], datasets=["X"]), "contradicted"),
    "is dominated": (
        claim(kind="dominance", method="B", against=["A"], relation="non-dominated", datasets=["X"]),
        "contradicted",
    ),
    "is not dominated": (
        claim(kind="dominance", method="A", against=["B"], relation="non-dominated", datasets=["X"]),
        "holds",
    ),
    "is worse in one objective, and so does not dominate": (
        claim(kind="dominance", method="C", against=["A", "B"], relation="non-dominated", datasets=["X"]),
        "holds",
    ),
    "on one of two": (claim(kind="share", count=1, of=claim(kind="order", methods=["B", "A"], metric="cost")), "holds"),
    "on one of two, there on the means only": (
        claim(kind="share", count=1, of=claim(kind="order", methods=["A", "C"], metric="cost")),
        "cannot be told",
    ),
    "on none, where a number is only consistent on one and not so on the other": (
        claim(kind="share", count=0, of=claim(kind="value", method="A", value=14, metric="cost")),
        "cannot be told",
    ),
    "on more than it says": (
        claim(kind="share", count=0, of=claim(kind="order", methods=["B", "A"], metric="cost")),
        "contradicted",
    ),
    "on fewer than it says": (
        claim(kind="share", count=2, of=claim(kind="order", methods=["B", "A"], metric="cost")),
        "contradicted",
    ),
}


def test_a_ratio_is_of_means_and_not_a_mean_of_ratios() -> None:
    # 4 over 8 is a half; the mean of 1/2, 3/2 and 2/5 is 0.8.
    values: Values = {("X", "A"): {"cost": [1, 3, 8]}, ("X", "B"): {"cost": [2, 2, 20]}}
    suite = suite_of(
        ["X"], ["A", "B"], metrics=["cost"],
        more=claim_text(claim(kind="ratio", method="A", against="B", value=0.6, relation="<", metric="cost")),
    )  # fmt: skip
    records = records_of(values, split="given")
    [(_, ours)] = check_claims(suite, records, Cells(select(records, suite)))[0].ours
    assert ours.value == 0.5


@pytest.mark.parametrize("name", RELATIONS)
def test_relations_by_the_rule(name: str) -> None:
    fields, verdict = RELATIONS[name]
    assert check(**fields).verdict == verdict


def test_a_method_without_records_cannot_be_told_and_is_named() -> None:
    found = check(kind="value", method="GM*", value=1, **COST)
    assert (found.verdict, found.why) == ("cannot be told", "no records of GM*")


def test_a_misspelt_method_is_told_with_the_nearest_name() -> None:
    values: Values = {("X", "EMSCO"): {"cost": [1, 3, 8]}}
    text = claim_text(claim(kind="value", method="EMCSO", value=1, **COST))
    suite, records = suite_of(["X"], ["EMSCO"], more=text), records_of(values)
    found = check_claims(suite, records, Cells(select(records, suite)))[0]
    assert found.why == "no records of EMCSO; did you mean 'EMSCO'?"


def test_with_missing_records_a_claim_can_be_contradicted_but_not_hold() -> None:
    beaten = check(kind="extreme", method="B", among=["A", "B", "GM*"], which="lowest", **COST)
    assert beaten.verdict == "contradicted"
    ahead = check(kind="extreme", method="A", among=["A", "B", "GM*"], which="lowest", **COST)
    assert (ahead.verdict, ahead.why) == ("cannot be told", "no records of GM*")
    ordered = check(kind="order", methods=["B", "A", "GM*"], **COST)
    assert (ordered.verdict, ordered.why) == ("cannot be told", "no records of GM*")
    assert check(kind="order", methods=["A", "GM*", "B"], **COST).verdict == "contradicted"
    open_ = check(kind="share", count=2, of=claim(kind="order", methods=["B", "GM*"], metric="cost"))
    assert open_.verdict == "cannot be told"
    assert "no records of GM*" in open_.why
    dominated = check(kind="dominance", method="B", against=["A", "GM*"], relation="non-dominated", datasets=["X"])
    assert dominated.verdict == "contradicted"


def test_a_result_names_what_contradicts_what_is_open_and_which_pair_decides() -> None:
    against = check(kind="order", methods=["A", "B"], **COST)
    assert (against.verdict, against.why) == ("contradicted", "not so: A above B")
    unsure = check(kind="order", methods=["B", "A", "C"], **COST)  # A and C differ on the mean only
    assert (unsure.verdict, unsure.why) == ("cannot be told", "open: A above C")
    assert unsure.deciding is not None
    assert unsure.deciding.statement == "A above C"
    sure = check(kind="order", methods=["B", "A"], **COST)
    assert (sure.verdict, sure.why) == ("holds", "")


def test_the_least_difference_exceeds_the_margin() -> None:
    found = check(kind="order", methods=["A", "C"], **COST)  # differences 2, −5, 4
    gap = found.deciding.gap if found.deciding else None
    assert gap is not None
    margin = (gap.high - gap.low) / 2
    assert found.least == pytest.approx(margin * (1 + 1.0607 / 4.3027), rel=1e-3)  # t(0.8) and t(0.975) of 2 degrees
    assert check(kind="order", methods=["B", "A"], **COST).least == 0.0  # they differ by 10 in every seed


def test_a_claim_on_one_seed_cannot_be_told() -> None:
    one = {place: {m: values[m][:1] for m in values} for place, values in VALUES.items()}
    assert check(one, kind="order", methods=["B", "A"], **COST).verdict == "cannot be told"
    found = check(one, kind="value", method="A", value=10, **COST)
    assert (found.verdict, found.why) == ("cannot be told", NO_INTERVAL)


def test_two_rows_that_are_one_policy_are_not_compared() -> None:
    same = {place: VALUES[place[0], "A"] for place in VALUES}
    for fields in (
        claim(kind="dominance", method="A", against=["B"], relation="non-dominated", datasets=["X"]),
        claim(kind="order", methods=["A", "B"], **COST),
        claim(kind="extreme", method="A", among=["A", "B"], which="lowest", **COST),
    ):
        found = check(same, **fields)
        assert found.verdict == "cannot be told"
        assert SAME_POLICY in found.why


def test_the_accuracy_of_no_answers_is_undefined_and_counted() -> None:
    silent: Values = {
        ("X", "A"): {"coverage": [0.0, 0.5, 0.5, 0.5], "conclusive-accuracy": [0.0, 0.8, 0.8, 0.8], "cost": [1] * 4},
        ("X", "B"): {"coverage": [0.5] * 4, "conclusive-accuracy": [0.9, 0.7, 0.7, 0.7], "cost": [1] * 4},
    }
    value = check(silent, kind="value", method="A", value=0.8, **ACCURACY)
    assert (value.verdict, value.ours[0][1].value, value.ours[0][1].undefined) == ("holds", 0.8, 1)
    order = check(silent, kind="order", methods=["A", "B"], **ACCURACY)
    assert (order.verdict, order.deciding.gap.undefined if order.deciding and order.deciding.gap else 0) == ("holds", 1)


def test_a_quantity_undefined_on_half_of_the_seeds_cannot_be_told() -> None:
    silent: Values = {
        ("X", "A"): {"coverage": [0.0, 0.0, 0.5, 0.5], "conclusive-accuracy": [0.0, 0.0, 0.8, 0.8], "cost": [1] * 4}
    }
    found = check(silent, kind="value", method="A", value=0.8, **ACCURACY)
    assert found.verdict == "cannot be told"
    assert "undefined on 2 of 4 seeds" in found.why


def test_a_number_that_means_undefined_is_not_averaged() -> None:
    found = by_the_fit(kind="value", series="share", at=0, undefined=0.1, value=1.0)
    assert "undefined on 3 of 3 seeds" in found.why


def test_data_declared_absent_that_has_records_is_the_same_data() -> None:
    assert check(kind="order", methods=["B", "A"], standing="absent", **COST).standing == "same data"
    nothing = {("Y", "A"): VALUES["Y", "A"]}
    assert check(nothing, kind="order", methods=["B", "A"], standing="absent", **COST).standing == "absent"
    assert check(kind="order", methods=["B", "A"], standing="stand-in", **COST).standing == "stand-in"


def test_pairs_are_formed_by_seed_and_not_by_position() -> None:
    values = {("X", "A"): {"cost": [1.0, 5.0, 9.0]}, ("X", "B"): {"cost": [2.0, 6.0, 10.0]}}
    records = [record_of("X", "A", s, {"cost": v}, split="given") for s, v in enumerate(values["X", "A"]["cost"])]
    records += [
        record_of("X", "B", s, {"cost": v}, split="given") for s, v in enumerate(values["X", "B"]["cost"]) if s > 0
    ]
    suite = suite_of(
        ["X"], ["A", "B"], metrics=["cost"],
        more=claim_text(claim(kind="difference", method="B", against="A", value=1, metric="cost")),
    )  # fmt: skip
    table = tabulate(labelled(records))
    found = check_claims(suite, table, Cells(select(table, suite)))[0]
    assert found.verdict == "holds"
    assert (found.ours[0][1].low, found.ours[0][1].high, found.ours[0][1].seeds) == (1.0, 1.0, 2)


def test_a_number_in_a_wide_interval_is_consistent_and_not_confirmed() -> None:
    for value in (0.6, 0.8):  # ours is 0.8, of one split 0.3 to 1
        found = check(kind="value", method="A", value=value, **ACCURACY)
        assert (found.verdict, found.why) == ("consistent", WIDE)
        shown = "\n".join(claims_section([found]))
        assert re.search(r"\|\s+1 \|\s+0 \|\s+0 \|\s+1 \|\s+0 \|\s+0 \|", shown), "the fourth column: consistent"


def test_a_median_is_shown_with_the_interval_of_one_split() -> None:
    found = by_the_fit(kind="value", diagnostic="size", statistic="median", value=12)
    ours = found.ours[0][1]
    assert (found.verdict, ours.value, ours.least, ours.most) == ("consistent", 12.0, 10.0, 5000.0)
    assert 0 < ours.low < 12 < ours.high
    assert "| median 12.00; seeds 10.00 to 5000 |" in "\n".join(claims_section([found]))
    mean = by_the_fit(kind="value", diagnostic="size", value=12)
    assert "median" not in "\n".join(claims_section([mean]))


def test_a_claim_about_dominance_shows_the_means_in_its_objectives() -> None:
    objectives = ["coverage", "cost"]
    found = check(kind="dominance", method="A", against=["B", "GM*"], objectives=objectives, datasets=["X"])
    assert [profile.method for profile in found.profiles] == ["A", "B"]  # there are no records of GM*
    means = [[(mean.value, unit) for _, mean, unit in profile.means] for profile in found.profiles]
    assert means == [[(pytest.approx(0.8), "percent"), (11, "plain")], [(pytest.approx(0.8), "percent"), (21, "plain")]]
    shown = "\n".join(claims_section([found]))
    titles = [title for title, _, _ in found.profiles[0].means]
    assert f"A {titles[0]} 80.0 %, {titles[1]} 11.00; B {titles[0]} 80.0 %, {titles[1]} 21.00" in shown.replace(
        "\\", ""
    )


def by_the_fit(**fields: Any) -> Checked:
    records = [
        record_of(
            "X",
            "A",
            seed,
            {"cost": 1.0},
            diagnostics={"size": size},
            history={"share": [0.1, share], "tenth": [0.0, 3.0]},
        )
        for seed, (size, share) in enumerate([(10, 0.3), (12, 0.3), (5000, 0.3)])
    ]
    suite = suite_of(["X"], ["A"], metrics=["cost"], more=claim_text({"method": "A", "datasets": ["X"], **fields}))
    table = tabulate(labelled(records))
    return check_claims(suite, table, Cells(select(table, suite)))[0]


def test_diagnostics_and_series_are_quantities_too() -> None:
    late = by_the_fit(kind="value", series="share", at=500, percent=True, value=0.2, relation=">")
    assert (late.verdict, late.unit) == ("holds", "percent")
    missing = by_the_fit(kind="value", series="shares", at=1, value=0.2)
    assert (missing.verdict, missing.why) == ("cannot be told", "no series shares in the records of A on X")
    tenth = by_the_fit(kind="value", series="share", over="tenth", at=1, value=0.1)
    assert (tenth.verdict, tenth.ours[0][1].value) == ("holds", pytest.approx(0.1))
    none = by_the_fit(kind="value", series="share", over="tenths", at=1, value=0.1)
    assert none.why == "no series share over tenths in the records of A on X"
    by_zero = by_the_fit(kind="value", series="share", over="tenth", at=0, value=0.1)
    assert "undefined on 3 of 3 seeds" in by_zero.why


WRONG = {
    "an unknown metric": (claim(kind="value", method="A", metric="csot", value=1), "did you mean 'cost'"),
    "an unknown data set": (claim(kind="value", method="A", metric="cost", value=1, datasets=["Z"]), "no data set 'Z'"),
    "an unknown kind": (claim(kind="vlue", method="A"), "did you mean 'value'"),
    "an unknown key": (claim(kind="value", method="A", metric="cost", valu=1), "did you mean 'value'"),
    "two quantities": (claim(kind="value", method="A", metric="cost", diagnostic="d", value=1), "exactly one of"),
    "over without a series": (claim(kind="value", method="A", metric="cost", over="b", value=1), "needs a 'series'"),
    "no standing": (claim(kind="value", method="A", metric="cost", value=1, standing=""), "it is needed"),
    "an unknown standing": (
        claim(kind="value", method="A", metric="cost", value=1, standing="same-data"),
        "did you mean 'same data'",
    ),
    "a tolerance without a reason": (
        claim(kind="value", method="A", metric="cost", value=1, tolerance=0.5),
        "go together",
    ),
    "a number about 0": (claim(kind="value", method="A", metric="cost", value=0), "no tenth of 0"),
    "an unknown kind of cause": (
        claim(kind="value", method="A", metric="cost", value=1, cause=claim(kind="bad luck", text="it rained")),
        "claims[0].cause.kind",
    ),
    "code": (claim(kind="value", method="A", metric="cost", value="__import__('os')"), "claims[0].value"),
    "a share of more than all": (
        claim(kind="share", count=3, of=claim(kind="order", methods=["A", "B"], metric="cost")),
        "there are 2 data sets",
    ),
    "a wrong key in a share": (
        claim(kind="share", count=1, of=claim(kind="order", method=["A", "B"], metric="cost")),
        "claims[0].of",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_invalid_claims_are_refused_with_location_and_hint(name: str) -> None:
    fields, said = WRONG[name]
    with pytest.raises(RequestError) as caught:
        check(**fields)
    assert "claims[0]" in str(caught.value)
    assert said in str(caught.value)


def test_a_claim_needs_its_sentence_and_its_source() -> None:
    bare = '[[claims]]\nkind = "value"\nmethod = "A"\nmetric = "cost"\nvalue = 1\n'
    for more, missing in [("", "text"), ('text = "it costs 1"\n', "source")]:
        with pytest.raises(RequestError, match=f"needs a {missing}"):
            suite_of(["X"], ["A"], more=bare + more)


def test_the_intervals_of_random_splits_are_those_of_the_tables() -> None:
    text = claim_text(claim(kind="value", method="A", value=11, relation="<", **COST))
    suite = suite_of(["X", "Y"], ["A", "B", "C"], more=text)
    records = records_of(VALUES)
    cells = Cells(select(records, suite))
    [found] = check_claims(suite, records, cells)
    mean = grids(records, suite, cells)[0].rows[0].means["cost"]
    low, high = mean.value - mean.margin, mean.value + mean.margin
    assert (found.ours[0][1].low, found.ours[0][1].high) == pytest.approx((low, high))
    assert mean.margin == pytest.approx(4.303 * (1 / 3 + 25 / 75) ** 0.5, rel=1e-3)


RANKED: Values = {("X", "A"): {"precision@5": [0.50, 0.51, 0.52]}, ("X", "B"): {"precision@5": [0.40, 0.41, 0.42]}}
P5 = {"metric": "precision@5", "datasets": ["X"]}


def test_the_interval_for_a_fixed_test_part_allows_for_other_queries() -> None:
    value = claim(kind="value", method="A", value=0.51, **P5)
    unsaid = check(RANKED, **value)
    assert (unsaid.verdict, unsaid.why, unsaid.remarks) == ("cannot be told", NO_QUERIES, [QUERIES])
    # Between splits ±4.303·0.01·√(4/3) = 0.0497; of 50 queries another 1.96·√(2·0.51·0.49/50) = 0.196.
    few = check(RANKED, queries=50, **value)
    assert (few.verdict, few.why, few.remarks) == ("consistent", WIDE, [])
    assert "of one split and other queries [" in "\n".join(claims_section([few]))
    [(_, made)] = few.ours
    assert (made.low, made.high) == pytest.approx((0.308, 0.712), abs=1e-3)
    assert check(RANKED, queries=5000, **value).verdict == "holds"
    difference = claim(kind="difference", method="A", against="B", value=0.5, **P5)
    assert check(RANKED, queries=5000, **difference).verdict == "contradicted"
    assert check(RANKED, queries=50, **difference).verdict == "consistent", "by ±0.39"


def test_a_relation_on_a_fixed_test_part_is_marked_as_about_its_queries() -> None:
    order = check(RANKED, kind="order", methods=["A", "B"], **P5)
    assert (order.verdict, order.remarks) == ("holds", [QUERIES])


def test_a_mean_of_several_metrics_takes_each_from_its_own_row() -> None:
    # On X by seed: A's cost and B's features, halved: (10 + 2, 12 + 6, 17 + 7) / 2 = 6, 9, 12. C's own: 20, 24, 22.
    values: Values = {
        ("X", "A"): {"cost": [10, 12, 17], "features": [90, 90, 90]},
        ("X", "B"): {"cost": [90, 90, 90], "features": [2, 6, 7]},
        ("X", "C"): {"cost": [30, 40, 35], "features": [10, 8, 9]},
    }
    mean = {"averaged": ["cost", "features"], "rows": {"AB": ["A", "B"]}, "datasets": ["X"]}
    found = check(values, kind="extreme", method="AB", among=["AB", "C"], which="lowest", **mean)
    assert found.verdict == "holds"
    assert [estimate.value for _, estimate in found.ours] == pytest.approx([9.0, 22.0])
    gap = found.deciding.gap if found.deciding else None
    assert gap is not None
    assert gap.value == pytest.approx(13.0)  # 14, 15, 10
    assert gap.high - gap.value == pytest.approx(4.303 * (7 / 3) ** 0.5, rel=1e-3)
    missing = check(values, kind="extreme", method="AB", among=["AB", "D"], which="lowest", **mean)
    assert (missing.verdict, missing.why) == ("cannot be told", "no records of D")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"averaged": ["cost"], "metric": "cost"}, "exactly one"),
        ({"averaged": ["cost", "features"], "rows": {"AB": ["A"]}}, "for each metric"),
        ({"averaged": ["cost", "featurs"]}, "did you mean 'features'"),
    ],
)
def test_an_invalid_mean_of_metrics_is_refused(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(RequestError, match=said):
        check(kind="order", methods=["A", "B"], **fields)


@pytest.mark.parametrize("stopping", ["A", "B"])
def test_methods_dominate_by_accuracy_and_cost_where_a_threshold_refuses_no_row(stopping: str) -> None:
    numbers = {"A": {"accuracy": 0.9, "cost": 1.0}, "B": {"accuracy": 0.8, "cost": 2.0}}
    records = tabulate(
        labelled(
            record_of(
                "X", m, seed, {k: v + seed / 1000 for k, v in numbers[m].items()}, split="given",
                threshold=0.9 if m == stopping else None, reject=m != stopping,
            )
            for m in numbers
            for seed in range(3)
        )
    )  # fmt: skip
    text = claim_text({"kind": "dominance", "method": "A", "against": ["B"], "datasets": ["X"]})
    suite = suite_of(["X"], ["A", "B"], metrics=["accuracy", "cost"], threshold=None, more=text)
    (checked,) = check_claims(suite, records, Cells(select(records, suite)))
    assert checked.verdict == "holds"
