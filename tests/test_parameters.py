"""Parameters: from TOML to a frozen dataclass and back."""

from __future__ import annotations

import datetime
import math
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pytest
from annotated_types import Ge, Gt, Interval, Len, Lt, MinLen
from bench_limits import limit_of
from hypothesis import given
from hypothesis import strategies as st

from bench_core.contract.canonical import canonical_json
from bench_core.contract.errors import ContractError, RequestError
from bench_core.contract.limits import Lambdas
from bench_core.contract.parameters import Parameters, build, describe, hints_of, to_plain
from bench_core.testing import toml_text
from bench_core.testing.checks_declared import round_trip


@dataclass(frozen=True)
class Options:
    """Parameters of every kind."""

    name: str
    C: float = 1.0
    stages: int | None = None
    mutation: Literal["beta-binomial", "uniform"] = "uniform"
    lambdas: tuple[float, ...] = (0.1, 1.0)
    groups: dict[str, list[str]] = field(default_factory=dict)
    fast: bool = False

    def __post_init__(self) -> None:
        if self.C <= 0:
            raise ValueError("C must be above 0")


@dataclass(frozen=True)
class Limited(Parameters):
    """Parameters with limits in their types."""

    version: ClassVar[Unknown] = 1  # type: ignore[name-defined]  # noqa: F821

    rate: Annotated[float, Gt(0)] = 0.1
    depth: Annotated[int, Interval(ge=1, le=12)] = 4
    share: Annotated[float, Ge(0), Lt(1)] = 0.5
    most: Literal[-1] | Annotated[int, Ge(1)] = -1
    least: Annotated[int, Ge(1)] | None = None
    lambdas: Lambdas = (0.1,)
    sides: Annotated[list[Annotated[int, Ge(8)]], Len(1, 3)] = field(default_factory=lambda: [16])
    pair: tuple[float, float] = (0.0, 1.0)
    name: Annotated[str, MinLen(1)] = "a"
    more: dict[str, Any] = field(default_factory=dict)


LIMITS = {
    "rate": (-1, "rate must be a number above 0, not -1"),
    "depth": (13, "depth must be a whole number from 1 to 12, not 13"),
    "share": (1.0, "share must be a number of at least 0 and below 1, not 1.0"),
    "most": (0, "most must be -1 or a whole number of at least 1, not 0"),
    "least": (0, "least must be a whole number of at least 1 or none, not 0"),
    "lambdas": ([], "lambdas must be a list of at least 1 item, each a number of at least 0, distinct, not []"),
    "sides": ([], "sides must be a list of at least 1 and at most 3 items, each a whole number of at least 8, not []"),
    "pair": ([1.0], "pair must be a list of 2 items, each a number, not [1.0]"),
    "name": ("", "name must be a text of at least 1 character, not ''"),
}


@pytest.mark.parametrize("name", LIMITS)
def test_a_value_beyond_its_type_is_refused_in_a_suite_and_in_python(name):
    value, said = LIMITS[name]
    with pytest.raises(RequestError) as in_suite:
        build(Limited, {name: value}, "s.toml: methods[0]")
    with pytest.raises(ValueError, match="Limited: ") as in_python:
        Limited(**{name: value})
    assert [str(in_suite.value), str(in_python.value)] == [f"s.toml: methods[0]: {said}", f"Limited: {said}"]


def test_a_wrong_item_is_named_with_its_place():
    with pytest.raises(ValueError, match=r"^Limited: lambdas\[1\] must be a number of at least 0, not -2.0$"):
        Limited(lambdas=(0.1, -2.0))
    with pytest.raises(ValueError, match=r"^Limited: pair\[0\] must be a number, not 'x'$"):
        Limited(pair=("x", 1.0))


def test_every_wrong_value_is_named_at_once():
    with pytest.raises(ValueError, match=r"rate must be .*, not 0; depth must be .*, not 0"):
        Limited(rate=0, depth=0)


@pytest.mark.parametrize(("name", "value"), [("lambdas", (1.0, 1.0)), ("rate", math.inf), ("depth", True), ("pair", 1)])
def test_equal_trade_offs_infinity_and_wrong_types_are_refused_in_python(name, value):
    with pytest.raises(ValueError, match=f"^Limited: {name}.* must be"):
        Limited(**{name: value})


def test_python_values_become_what_a_suite_would_give():
    exact = Limited(1.0, lambdas=(1.0, 2.0), sides=[8, 9], pair=(1.0, 2.0))
    made = Limited(rate=1, lambdas=[np.float64(1), 2], sides=(8, 9), pair=np.array([1, 2]))
    assert made == build(Limited, {"rate": 1, "lambdas": [1, 2], "sides": [8, 9], "pair": [1, 2]}, "here")
    assert canonical_json(to_plain(made)) == canonical_json(to_plain(exact))


def test_an_object_that_only_code_can_give_is_kept():
    thing = object()
    assert Limited(more={"thing": thing}).more["thing"] is thing


def test_the_contract_kit_refuses_a_default_beyond_its_type():
    @dataclass(frozen=True)
    class Careless(Parameters):
        rate: Annotated[float, Gt(0)] = 0.0

    with pytest.raises(ContractError, match=r"Careless: rate must be a number above 0, not 0.0"):
        round_trip(Careless())


def test_defaults_are_made_without_loading_pydantic():
    code = (
        "import sys; from bench_core.builtin.cost_schemes import RandomPrices; RandomPrices(choices=[]); "
        "sys.exit('pydantic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_limits_are_described_in_words():
    said = {name: limit_of(hint) for name, hint in hints_of(Limited).items()}
    assert said["rate"] == "a number above 0"
    assert said["depth"] == "a whole number from 1 to 12"
    assert said["more"] == said["pair"] == ""
    assert describe(Limited)["rate"] == "float = 0.1"
    assert describe(Limited)["most"] == "int = -1"


def test_a_type_that_cannot_be_read_is_named():
    @dataclass(frozen=True)
    class Unreadable(Parameters):
        rate: Unknown = 0.1  # type: ignore[name-defined]  # noqa: F821

    assert describe(Unreadable) == {"rate": "Unknown = 0.1"}
    with pytest.raises(ContractError, match="the type of rate, Unknown, cannot be read"):
        Unreadable(0.5)


@dataclass(frozen=True)
class Bare:
    """Has no parameters."""


def test_values_are_taken_as_declared():
    made = build(Options, {"name": "a", "C": 2, "lambdas": [1, 2.5], "groups": {"g": ["x"]}}, "s.toml")
    assert made == Options("a", 2.0, lambdas=(1.0, 2.5), groups={"g": ["x"]})
    assert type(made.C) is float


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"name": "a", "c": 1.0}, "no parameter 'c'; did you mean 'C'"),
        ({"name": "a", "lambda": 1.0}, "no parameter 'lambda'; did you mean 'lambdas'"),
        ({"name": "a", "C": "high"}, "C must be a number, not 'high'"),
        ({"name": "a", "C": 0.0}, "parameters: C must be above 0"),
        ({"name": "a", "stages": 2.5}, "stages must be a whole number or none, not 2.5"),
        ({"name": "a", "mutation": "normal"}, "mutation must be one of 'beta-binomial', 'uniform', not 'normal'"),
        ({"name": "a", "lambdas": [1.0, "x"]}, r"lambdas\[1\] must be a number, not 'x'"),
        ({"name": 3}, "name must be a text, not 3"),
        ({"name": "a", "C": "2.5"}, "C must be a number, not '2.5'"),
        ({"name": "a", "C": True}, "C must be a number, not True"),
        ({"name": "a", "C": math.nan}, "C: must be a finite number, not nan"),
        ({"name": "a", "lambdas": [0.1, math.inf]}, r"lambdas\[1\]: must be a finite number, not inf"),
        ({"name": "a", "C": "inf"}, "C must be a number, not 'inf'"),
        ({"name": "a", "stages": "2"}, "stages must be a whole number or none, not '2'"),
        ({"name": "a", "stages": True}, "stages must be a whole number or none, not True"),
        ({"name": "a", "stages": 2.0}, "stages must be a whole number or none, not 2.0"),
        ({"name": "a", "stages": 10**400}, "stages: a whole number must fit into 64 bits"),
        ({"name": "a", "fast": 1}, "fast must be true or false, not 1"),
        ({"name": "a", "fast": "yes"}, "fast must be true or false, not 'yes'"),
        ({"name": "a", "lambdas": 0.1}, "lambdas must be a list, each a number, not 0.1"),
        ({"name": "a", "groups": {"g": "x"}}, r"groups\['g'\] must be a list, each a text, not 'x'"),
        ({"name": "a", "groups": [1]}, r"groups must be a table, each \(a list, each a text\), not \[1\]"),
        ({"name": datetime.date(2026, 1, 1)}, "name: a date or time is no parameter"),
        ({}, "name is required: a text"),
    ],
)
def test_a_wrong_parameter_is_refused_with_place_key_and_reason(parameters, said):
    with pytest.raises(RequestError, match=rf"s.toml: methods\[0\]: .*{said}"):
        build(Options, parameters, "s.toml: methods[0]")


def test_an_object_without_parameters_refuses_any():
    assert build(Bare, {}, "s.toml") == Bare()
    with pytest.raises(RequestError, match="no parameter 'x'; it takes no parameters"):
        build(Bare, {"x": 1}, "s.toml")


@dataclass(frozen=True)
class Raising:
    """Raises an exception of any kind."""

    how: str = "raise"

    def __post_init__(self) -> None:
        if self.how == "raise":
            raise ZeroDivisionError("no\nreason")
        if self.how == "exit":
            raise SystemExit("over")


@pytest.mark.parametrize(("how", "said"), [("raise", "ZeroDivisionError: no reason"), ("exit", "SystemExit: over")])
def test_any_exception_of_a_class_is_a_refusal_in_one_line(how, said):
    with pytest.raises(RequestError, match=f"^s.toml: parameters: {said}$"):
        build(Raising, {"how": how}, "s.toml")


numbers = st.floats(min_value=1e-300, max_value=1e300)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)


@given(
    st.builds(
        Options,
        name=texts,
        C=numbers,
        stages=st.none() | st.integers(-(2**62), 2**62),
        mutation=st.sampled_from(["beta-binomial", "uniform"]),
        lambdas=st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=4).map(tuple),
        groups=st.dictionaries(texts, st.lists(texts, max_size=3), max_size=3),
        fast=st.booleans(),
    )
)
def test_every_instance_survives_plain_values_json_and_toml(options):
    plain = to_plain(options)
    assert build(Options, plain, "here") == options
    again = build(Options, tomllib.loads(toml_text(plain)), "here")
    assert again == options
    assert canonical_json(to_plain(again)) == canonical_json(plain)


def test_infinity_becomes_a_text():
    assert to_plain(Options("a", C=math.inf))["C"] == "inf"
    assert to_plain(Options("a", lambdas=(-math.inf, math.nan)))["lambdas"] == ["-inf", "nan"]


def test_parameters_are_described_with_type_and_default():
    said = describe(Options)
    assert said["name"] == "str (required)"
    assert said["C"] == "float = 1.0"
    assert said["groups"] == "dict[str, list[str]] = {}"
    assert said["stages"] == "int | None = None"
    assert said["mutation"] == "str = 'uniform'"
    assert describe(Bare) == {}


def test_a_parameter_added_later_is_left_out_while_it_has_its_default():
    @dataclass(frozen=True)
    class Before:
        C: float = 1.0

    @dataclass(frozen=True)
    class After:
        C: float = 1.0
        ratios: tuple[float, ...] = field(default=(), metadata={"omit_default": True})

    assert to_plain(After()) == to_plain(Before()) == {"C": 1.0}
    assert to_plain(build(After, {"ratios": [0.5]}, "here")) == {"C": 1.0, "ratios": [0.5]}
    assert to_plain(build(After, {"ratios": []}, "here")) == {"C": 1.0}
    assert "ratios" in describe(After)
