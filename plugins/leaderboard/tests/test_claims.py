"""Claims: one rule gives the verdicts, shown on numbers small enough to follow by hand."""

from __future__ import annotations

from typing import Any

import pytest
from bench_leaderboard.analysis.cells import Cells
from bench_leaderboard.analysis.claims import WIDE, check_claims
from bench_leaderboard.analysis.records import tabulate
from bench_leaderboard.analysis.selection import select
from bench_leaderboard.analysis.tables import grids
from bench_leaderboard.analysis.verdicts import Checked
from support.told import Values, labelled, record_of, records_of, suite_of, toml

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


def told(**fields: Any) -> dict[str, Any]:
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
    return "\n".join(
        ["[[claims]]", 'text = "t"', 'source = "s"', *(f"{k} = {line(v)}" for k, v in fields.items())]
    )


def check(values: Values = VALUES, **fields: Any) -> Checked:
    suite = suite_of(["X", "Y"], ["A", "B", "C"], more=claim_text(fields))
    records = records_of(values, split="given")  # independent seeds, so that intervals are easy to follow
    return check_claims(suite, records, Cells(select(records, suite)))[0]


COST = {"metric": "cost", "datasets": ["X"]}
ACCURACY = {"metric": "conclusive-accuracy", "datasets": ["X"]}

# A's cost on X: 11 ± 4.303·1/√3 = 11 ± 2.48. A's accuracy: 0.8 ± 0.248.
NUMBERS = {
    "inside the interval": (told(kind="value", method="A", value=13.4, tolerance=1.3, **COST), "reproduced"),
    "inside the tolerance": (told(kind="value", method="A", value=14.7, tolerance=1.3, **COST), "reproduced"),
    "outside both": (told(kind="value", method="A", value=14.9, tolerance=1.3, **COST), "not reproduced"),
    "with no tolerance": (told(kind="value", method="A", value=13.6, tolerance=0, **COST), "not reproduced"),
    "outside, on the baseline's side": (
        told(kind="value", method="A", value=50, baseline=10, **COST),
        "same direction",
    ),
    "outside, beyond the baseline": (
        told(kind="value", method="A", value=50, baseline=11.5, **COST),
        "not reproduced",
    ),
    "5 % of other numbers": (
        told(kind="value", method="A", value=4.2, metric="cost", datasets=["Y"]),
        "reproduced",
    ),
    "6 % of other numbers": (
        told(kind="value", method="A", value=4.25, metric="cost", datasets=["Y"]),
        "not reproduced",
    ),
    "two points for shares": (
        told(kind="value", method="A", value=0.981, metric="coverage", datasets=["Y"]),
        "reproduced",
    ),
    "three points for shares": (
        told(kind="value", method="A", value=0.97, metric="coverage", datasets=["Y"]),
        "not reproduced",
    ),
    "one minus": (
        told(kind="value", method="A", value=0.2, form="one-minus", metric="coverage", datasets=["X"]),
        "reproduced",
    ),
    "above p̂ on the mean only": (
        told(kind="value", method="A", value="threshold", relation=">=", **ACCURACY),
        "same direction",
    ),
    "below p̂ for certain": (
        told(
            kind="value",
            method="A",
            value="threshold",
            relation="<",
            metric="conclusive-accuracy",
            datasets=["Y"],
        ),
        "reproduced",
    ),
    "above for certain, thanks to the tolerance": (  # the interval is 8.52 to 13.48
        told(kind="value", method="A", value=9, relation=">", tolerance=1, **COST),
        "reproduced",
    ),
    "above for certain without it": (
        told(kind="value", method="A", value=8, relation=">", **COST),
        "reproduced",
    ),
    "above on the mean, thanks to the tolerance": (
        told(kind="value", method="A", value=12, relation=">", tolerance=1.5, **COST),
        "same direction",
    ),
    "below for certain, thanks to the tolerance": (
        told(kind="value", method="A", value=13, relation="<", tolerance=1, **COST),
        "reproduced",
    ),
    "below on the mean, thanks to the tolerance": (
        told(kind="value", method="A", value=10, relation="<", tolerance=1.5, **COST),
        "same direction",
    ),
    "at the limit, which is allowed": (
        told(kind="value", method="A", value=4, relation=">=", metric="cost", datasets=["Y"]),
        "reproduced",
    ),
    "at the limit, which is not allowed": (
        told(kind="value", method="A", value=4, relation="<", metric="cost", datasets=["Y"]),
        "not reproduced",
    ),
    "not above": (told(kind="value", method="A", value=11.5, relation=">", **COST), "not reproduced"),
    "a ratio": (told(kind="ratio", method="A", against="B", value=0.5, **COST), "reproduced"),
    "so much below": (
        told(kind="ratio", method="A", against="B", value=0.5, form="one-minus", **COST),
        "reproduced",
    ),
    "much more below": (
        told(kind="ratio", method="A", against="B", value=0.8, form="one-minus", **COST),
        "same direction",
    ),
    "above instead of below": (
        told(kind="ratio", method="B", against="A", value=0.8, form="one-minus", **COST),
        "not reproduced",
    ),
    "so much above": (
        told(kind="ratio", method="B", against="A", value=0.909, form="minus-one", **COST),
        "reproduced",
    ),
    "a paired difference has no spread": (
        told(kind="difference", method="A", against="B", value=0.12, **ACCURACY),
        "reproduced",
    ),
    "another difference of the same sign": (
        told(kind="difference", method="A", against="B", value=0.13, **ACCURACY),
        "same direction",
    ),
    "a difference of the other sign": (
        told(kind="difference", method="A", against="B", value=-0.1, **ACCURACY),
        "not reproduced",
    ),
    "a difference where the paper has none": (
        told(kind="difference", method="A", against="B", value=0, tolerance=0, **ACCURACY),
        "not reproduced",
    ),
    "no difference where the paper has one": (
        told(kind="difference", method="A", against="B", value=0.1, metric="coverage", datasets=["X"]),
        "not reproduced",
    ),
    "a ratio of exactly 1": (
        told(kind="ratio", method="A", against="B", value=2, metric="coverage", datasets=["X"]),
        "not reproduced",
    ),
    "a value on the baseline": (
        told(kind="value", method="A", value=9, baseline=4, metric="cost", datasets=["Y"]),
        "not reproduced",
    ),
    "a difference that is small enough": (
        told(kind="difference", method="A", against="B", value=0.15, relation="<", **ACCURACY),
        "reproduced",
    ),
    "a difference that is too great": (
        told(kind="difference", method="A", against="B", value=0.05, relation="<", **ACCURACY),
        "not reproduced",
    ),
    "the mean over data sets": (
        told(kind="value", method="A", metric="coverage", value=0.9, tolerance=0),
        "reproduced",
    ),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_by_the_rule(name: str) -> None:
    fields, verdict = NUMBERS[name]
    assert check(**fields).verdict == verdict


RELATIONS = {
    "an order that holds in every seed": (told(kind="order", methods=["B", "A"], **COST), "reproduced"),
    "an order that holds on the means": (told(kind="order", methods=["A", "C"], **COST), "same direction"),
    "an order the other way": (told(kind="order", methods=["A", "B"], **COST), "not reproduced"),
    "lowest first": (told(kind="order", methods=["A", "B"], first="lowest", **COST), "reproduced"),
    "a tie is no order": (
        told(kind="order", methods=["A", "B"], metric="coverage", datasets=["X"]),
        "not reproduced",
    ),
    "highest of two": (
        told(kind="extreme", method="B", among=["A", "B"], which="highest", **COST),
        "reproduced",
    ),
    "lowest on the means": (
        told(kind="extreme", method="C", among=["A", "B", "C"], which="lowest", **COST),
        "same direction",
    ),
    "not the lowest": (
        told(kind="extreme", method="B", among=["A", "B", "C"], which="lowest", **COST),
        "not reproduced",
    ),
    "not the highest alone": (
        told(
            kind="extreme", method="A", among=["A", "B"], which="highest", metric="coverage", datasets=["X"]
        ),
        "not reproduced",
    ),
    "second lowest on the means": (
        told(kind="extreme", method="A", among=["A", "B", "C"], which="lowest", place=2, **COST),
        "same direction",
    ),
    "second highest for certain": (
        told(
            kind="extreme",
            method="A",
            among=["A", "B", "C"],
            which="highest",
            place=2,
            metric="cost",
            datasets=["Y"],
        ),
        "reproduced",
    ),
    "dominates in every seed": (
        told(kind="dominance", method="A", against=["B"], datasets=["X"]),
        "reproduced",
    ),
    "does not dominate": (
        told(kind="dominance", method="A", against=["C"], datasets=["X"]),
        "not reproduced",
    ),
    "is dominated": (
        told(kind="dominance", method="B", against=["A"], relation="non-dominated", datasets=["X"]),
        "not reproduced",
    ),
    "is not dominated": (
        told(kind="dominance", method="A", against=["B"], relation="non-dominated", datasets=["X"]),
        "reproduced",
    ),
    "is not dominated, on the means": (
        told(kind="dominance", method="A", against=["B", "C"], relation="non-dominated", datasets=["X"]),
        "same direction",
    ),
    "on one of two": (
        told(kind="share", count=1, of=told(kind="order", methods=["B", "A"], metric="cost")),
        "reproduced",
    ),
    "on one of two, there on the means only": (
        told(kind="share", count=1, of=told(kind="order", methods=["A", "C"], metric="cost")),
        "same direction",
    ),
    "on more than it says": (
        told(kind="share", count=0, of=told(kind="order", methods=["B", "A"], metric="cost")),
        "same direction",
    ),
    "on fewer than it says": (
        told(kind="share", count=2, of=told(kind="order", methods=["B", "A"], metric="cost")),
        "not reproduced",
    ),
}


def test_a_ratio_is_of_means_and_not_a_mean_of_ratios() -> None:
    # 4 over 8 is a half; the mean of 1/2, 3/2 and 2/5 is 0.8.
    values: Values = {("X", "A"): {"cost": [1, 3, 8]}, ("X", "B"): {"cost": [2, 2, 20]}}
    suite = suite_of(
        ["X"], ["A", "B"], metrics=["cost"],
        more=claim_text(told(kind="ratio", method="A", against="B", value=0.6, relation="<", metric="cost")),
    )  # fmt: skip
    records = records_of(values, split="given")
    assert check_claims(suite, records, Cells(select(records, suite)))[0].verdict == "same direction"


@pytest.mark.parametrize("name", RELATIONS)
def test_relations_by_the_rule(name: str) -> None:
    fields, verdict = RELATIONS[name]
    assert check(**fields).verdict == verdict


def test_a_method_without_records_cannot_be_checked_and_is_named() -> None:
    found = check(kind="value", method="GM*", value=1, **COST)
    assert (found.verdict, found.why) == ("cannot be checked", "no records of GM*")


def test_what_is_there_can_refute_what_is_missing_cannot_confirm() -> None:
    beaten = check(kind="extreme", method="B", among=["A", "B", "GM*"], which="lowest", **COST)
    assert beaten.verdict == "not reproduced"
    ahead = check(kind="extreme", method="A", among=["A", "B", "GM*"], which="lowest", **COST)
    assert (ahead.verdict, ahead.why) == ("cannot be checked", "no records of GM*")
    ordered = check(kind="order", methods=["A", "GM*", "B"], **COST)
    assert ordered.verdict == "not reproduced"
    open_ = check(kind="share", count=2, of=told(kind="order", methods=["B", "GM*"], metric="cost"))
    assert (open_.verdict, open_.why) == ("cannot be checked", "no records of GM*")
    dominated = check(
        kind="dominance", method="B", against=["A", "GM*"], relation="non-dominated", datasets=["X"]
    )
    assert dominated.verdict == "not reproduced"


def test_a_page_is_told_what_contradicts_and_what_is_unsure() -> None:
    against = check(kind="order", methods=["A", "B"], **COST)
    assert (against.verdict, against.why) == ("not reproduced", "A is not above B")
    unsure = check(kind="order", methods=["B", "A", "C"], **COST)  # A and C differ on the mean only
    assert (unsure.verdict, unsure.why) == ("same direction", "interval includes the opposite: A and C")
    sure = check(kind="order", methods=["B", "A"], **COST)
    assert (sure.verdict, sure.why) == ("reproduced", "")
    both = check(kind="order", methods=["A", "B", "GM*"], **COST)
    assert both.why == "A is not above B"


def test_a_relation_over_one_seed_is_at_most_the_same_direction() -> None:
    one = {place: {m: told[m][:1] for m in told} for place, told in VALUES.items()}
    assert check(one, kind="order", methods=["B", "A"], **COST).verdict == "same direction"
    assert check(one, kind="value", method="A", value=10, **COST).verdict == "reproduced"


def test_pairs_are_formed_by_seed_not_by_place() -> None:
    values = {("X", "A"): {"cost": [1.0, 5.0, 9.0]}, ("X", "B"): {"cost": [2.0, 6.0, 10.0]}}
    records = [
        record_of("X", "A", s, {"cost": v}, split="given") for s, v in enumerate(values["X", "A"]["cost"])
    ]
    records += [
        record_of("X", "B", s, {"cost": v}, split="given")
        for s, v in enumerate(values["X", "B"]["cost"])
        if s > 0
    ]
    suite = suite_of(
        ["X"], ["A", "B"], metrics=["cost"],
        more=claim_text(told(kind="difference", method="B", against="A", value=1, tolerance=0, metric="cost")),
    )  # fmt: skip
    table = tabulate(labelled(records))
    found = check_claims(suite, table, Cells(select(table, suite)))[0]
    assert found.verdict == "reproduced"
    assert (found.ours[0][1].low, found.ours[0][1].high, found.ours[0][1].seeds) == (1.0, 1.0, 2)


def test_a_number_that_fits_only_because_the_interval_is_wide_cannot_be_checked() -> None:
    far = check(kind="value", method="A", value=0.6, **ACCURACY)  # ours is 0.8 ± 0.25
    assert (far.verdict, far.why) == ("cannot be checked", WIDE)
    near = check(kind="value", method="A", value=0.81, **ACCURACY)
    assert (near.verdict, near.why) == ("reproduced", "")


@pytest.mark.parametrize(
    ("count", "ranks"),
    # The tightest pair of order statistics that covers the median with 95 % (all values where none does).
    [
        (2, (1, 2)),
        (5, (1, 5)),
        (6, (1, 6)),
        (8, (1, 8)),
        (9, (2, 8)),
        (12, (3, 10)),
        (20, (6, 15)),
        (25, (8, 18)),
    ],
)
def test_the_medians_interval_is_of_order_statistics(count: int, ranks: tuple[int, int]) -> None:
    costs = [float(cost) for cost in range(count, 0, -1)]
    suite = suite_of(
        ["X"], ["A"], count, metrics=["cost"],
        more=claim_text(told(kind="value", method="A", statistic="median", value=1, **COST)),
    )  # fmt: skip
    records = records_of({("X", "A"): {"cost": costs}})
    ours = check_claims(suite, records, Cells(select(records, suite)))[0].ours[0][1]
    assert (ours.value, ours.low, ours.high) == ((count + 1) / 2, *ranks)
    assert (ours.least, ours.most) == (1.0, count)


def test_the_median_of_one_seed_has_no_interval() -> None:
    one = {("X", "A"): {"cost": [3.0]}}
    found = check(one, kind="value", method="A", statistic="median", value=3, **COST)
    assert (found.verdict, found.ours[0][1].has_interval) == ("reproduced", False)


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
    suite = suite_of(
        ["X"], ["A"], metrics=["cost"], more=claim_text({"method": "A", "datasets": ["X"], **fields})
    )
    table = tabulate(labelled(records))
    return check_claims(suite, table, Cells(select(table, suite)))[0]


def test_diagnostics_and_series_are_quantities_too() -> None:
    median = by_the_fit(kind="value", diagnostic="size", statistic="median", value=12)
    assert (median.verdict, median.ours[0][1].value) == ("reproduced", 12.0)
    assert (median.ours[0][1].least, median.ours[0][1].most) == (10.0, 5000.0)
    late = by_the_fit(kind="value", series="share", at=500, percent=True, value=0.2, relation=">")
    assert (late.verdict, late.unit) == ("reproduced", "percent")
    missing = by_the_fit(kind="value", series="shares", at=1, value=0.2)
    assert (missing.verdict, missing.why) == (
        "cannot be checked",
        "no series shares in the records of A on X",
    )
    tenth = by_the_fit(kind="value", series="share", over="tenth", at=1, value=0.1)
    assert (tenth.verdict, tenth.ours[0][1].value) == ("reproduced", pytest.approx(0.1))
    for place, second in ((0, "tenth"), (1, "tenths")):  # over 0, and over what is not there
        none = by_the_fit(kind="value", series="share", over=second, at=place, value=0.1)
        assert none.why == f"no series share over {second} in the records of A on X"


WRONG = {
    "an unknown metric": (told(kind="value", method="A", metric="csot", value=1), "did you mean 'cost'"),
    "an unknown data set": (
        told(kind="value", method="A", metric="cost", value=1, datasets=["Z"]),
        "no data set 'Z'",
    ),
    "an unknown kind": (told(kind="vlue", method="A"), "did you mean 'value'"),
    "an unknown key": (told(kind="value", method="A", metric="cost", valu=1), "did you mean 'value'"),
    "two quantities": (
        told(kind="value", method="A", metric="cost", diagnostic="d", value=1),
        "exactly one of",
    ),
    "over without a series": (
        told(kind="value", method="A", metric="cost", over="b", value=1),
        "needs a 'series'",
    ),
    "code": (told(kind="value", method="A", metric="cost", value="__import__('os')"), "claims[0].value"),
    "a share of more than all": (
        told(kind="share", count=3, of=told(kind="order", methods=["A", "B"], metric="cost")),
        "there are 2 data sets",
    ),
    "a wrong key in a share": (
        told(kind="share", count=1, of=told(kind="order", method=["A", "B"], metric="cost")),
        "claims[0].of",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_claims_are_refused_with_place_and_hint(name: str) -> None:
    fields, said = WRONG[name]
    with pytest.raises(RequestError) as caught:
        check(**fields)
    assert "claims[0]" in str(caught.value)
    assert said in str(caught.value)


def test_a_claim_needs_its_sentence_and_its_source() -> None:
    bare = '[[claims]]\nkind = "value"\nmethod = "A"\nmetric = "cost"\nvalue = 1\n'
    with pytest.raises(RequestError, match="needs a text and a source"):
        suite_of(["X"], ["A"], more=bare)


def test_the_intervals_of_random_splits_are_those_of_the_tables() -> None:
    suite = suite_of(
        ["X", "Y"], ["A", "B", "C"], more=claim_text(told(kind="value", method="A", value=11, **COST))
    )
    records = records_of(VALUES)
    cells = Cells(select(records, suite))
    [found] = check_claims(suite, records, cells)
    mean = grids(records, suite, cells)[0].rows[0].means["cost"]
    low, high = mean.value - mean.margin, mean.value + mean.margin
    assert (found.ours[0][1].low, found.ours[0][1].high) == pytest.approx((low, high))
    assert mean.margin == pytest.approx(4.303 * (1 / 3 + 25 / 75) ** 0.5, rel=1e-3)
