"""Parameters: from TOML to a frozen dataclass and back."""

from __future__ import annotations

import datetime
import math
import tomllib
from dataclasses import dataclass, field
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_core.contract.canonical import canonical_json
from bench_core.contract.errors import RequestError
from bench_core.contract.parameters import build, describe, to_plain
from bench_core.testing import toml_text


@dataclass(frozen=True)
class Options:
    """All the kinds of parameters there are."""

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
        ({"name": "a", "C": "high"}, "C: .*valid number"),
        ({"name": "a", "C": 0.0}, "parameters: C must be above 0"),
        ({"name": "a", "stages": 2.5}, "stages"),
        ({"name": "a", "mutation": "normal"}, "mutation: .*'beta-binomial' or 'uniform'"),
        ({"name": "a", "lambdas": [1.0, "x"]}, "lambdas.1"),
        ({"name": 3}, "name: .*string"),
        ({"name": "a", "C": "2.5"}, "C: .*valid number"),
        ({"name": "a", "C": True}, "C: .*valid number"),
        ({"name": "a", "C": math.nan}, "C: must be a finite number, not nan"),
        ({"name": "a", "lambdas": [0.1, math.inf]}, r"lambdas\[1\]: must be a finite number, not inf"),
        ({"name": "a", "C": "inf"}, "C: .*valid number"),
        ({"name": "a", "stages": "2"}, "stages: .*valid integer"),
        ({"name": "a", "stages": True}, "stages: .*valid integer"),
        ({"name": "a", "stages": 2.0}, "stages: .*valid integer"),
        ({"name": "a", "stages": 10**400}, "stages: a whole number must fit into 64 bits"),
        ({"name": "a", "fast": 1}, "fast: .*valid boolean"),
        ({"name": "a", "fast": "yes"}, "fast: .*valid boolean"),
        ({"name": "a", "lambdas": 0.1}, "lambdas: .*array"),
        ({"name": "a", "groups": {"g": "x"}}, "groups.g: .*array"),
        ({"name": "a", "groups": [1]}, "groups: .*object"),
        ({"name": datetime.date(2026, 1, 1)}, "name: a date or time is no parameter"),
        ({}, "name: Field required"),
    ],
)
def test_a_wrong_parameter_is_refused_with_place_key_and_reason(parameters, said):
    with pytest.raises(RequestError, match=rf"s.toml: methods\[0\]: .*{said}"):
        build(Options, parameters, "s.toml: methods[0]")


def test_a_thing_without_parameters_says_so():
    assert build(Bare, {}, "s.toml") == Bare()
    with pytest.raises(RequestError, match="no parameter 'x'; it takes no parameters"):
        build(Bare, {"x": 1}, "s.toml")


@dataclass(frozen=True)
class Odd:
    """Refuses values in a way of its own."""

    how: str = "raise"

    def __post_init__(self) -> None:
        if self.how == "raise":
            raise ZeroDivisionError("no\nreason")
        if self.how == "exit":
            raise SystemExit("over")


@pytest.mark.parametrize(("how", "said"), [("raise", "ZeroDivisionError: no reason"), ("exit", "SystemExit: over")])
def test_whatever_a_class_raises_is_a_refusal_in_one_line(how, said):
    with pytest.raises(RequestError, match=f"^s.toml: parameters: {said}$"):
        build(Odd, {"how": how}, "s.toml")


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


def test_infinity_has_a_word_of_its_own():
    assert to_plain(Options("a", C=math.inf))["C"] == "inf"
    assert to_plain(Options("a", lambdas=(-math.inf, math.nan)))["lambdas"] == ["-inf", "nan"]


def test_parameters_are_described_with_type_and_default():
    said = describe(Options)
    assert said["name"] == "str (required)"
    assert said["C"] == "float = 1.0"
    assert said["groups"] == "dict[str, list[str]] = {}"
    assert describe(Bare) == {}


def test_a_parameter_that_joined_later_is_left_out_while_it_has_its_default():
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
