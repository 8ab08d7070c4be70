"""What a suite's TOML file may hold, table by table, and how a fault in it is spelled.

Sections that plugins own (`bench_core.plugins.sections`) join it when a file is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    model_validator,
)

from bench_core.contract.errors import RequestError, did_you_mean
from bench_core.plugins.sections import OWNERS, SuiteSection
from bench_core.protocol.encode import ENCODINGS, Encoding
from bench_core.protocol.split import SplitRule

__all__ = [
    "CostsEntry",
    "DatasetEntry",
    "Header",
    "MethodEntry",
    "Protocol",
    "SplitTable",
    "SuiteFile",
    "file_model",
    "seed_list",
    "spell_faults",
    "validated",
]

M = TypeVar("M", bound=BaseModel)

_MOST_SEEDS = 10_000
_TAKEN = ("readme", "index")
"""Names of files that every leaderboard has: README.md is the index over all suites, index.html its site's."""


def _one_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must be one line of printable characters")
    return text


def _suite_name(name: str) -> str:
    if name.casefold() in _TAKEN or name.casefold().endswith(".md"):
        raise ValueError(f"a suite cannot be called {name!r}: the leaderboard has a file of that name")
    return name


def _seeds(given: Any) -> Any:
    listed = given if isinstance(given, list) else [given]
    if not listed or any(isinstance(seed, bool) or not isinstance(seed, int) for seed in listed):
        raise ValueError("seeds must be a whole number, or a list of whole numbers that is not empty")
    if isinstance(given, int):
        if not 1 <= given <= _MOST_SEEDS:
            raise ValueError(f"seeds must be a count from 1 to {_MOST_SEEDS}, or a list of seeds")
    elif min(given) < 0 or max(given) >= 2**32 or len(set(given)) != len(given) or len(given) > _MOST_SEEDS:
        raise ValueError(f"seeds must be distinct, from 0 to 2**32 - 1, and at most {_MOST_SEEDS}")
    return given


def _differing(values: list[Any]) -> list[Any]:
    if len({repr(value) for value in values}) != len(values):
        raise ValueError("holds the same value twice")
    return values


def _listed(given: Any) -> Any:
    return [given] if isinstance(given, dict | CostsEntry) else given


Label = Annotated[str, Field(max_length=200), AfterValidator(_one_line)]
Name = Annotated[Label, Field(min_length=1)]
Threshold = Annotated[float, Field(gt=0, le=1)]
Seeds = Annotated[int | list[int], BeforeValidator(_seeds)]
Values = Annotated[list[Any], Field(min_length=1), AfterValidator(_differing)]


def seed_list(seeds: int | list[int]) -> list[int]:
    """Seeds 0, 1, … for a count; the list itself otherwise."""
    return list(range(seeds)) if isinstance(seeds, int) else list(seeds)


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Header(_Table):
    """``[suite]``: what the suite is."""

    name: Annotated[
        str,
        Field(max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"),
        AfterValidator(_suite_name),
    ]
    title: str = ""
    source: str = ""
    description: str = ""


class SplitTable(_Table):
    """``[protocol.split]``: see `bench_core.protocol.split.SplitRule`."""

    kind: Literal["random", "given"] = "random"
    train: float = 0.5
    validation: float = 0.25
    test: float = 0.25
    stratify: bool = True

    @model_validator(mode="after")
    def _makes_a_rule(self) -> SplitTable:
        self.rule()
        return self

    def rule(self) -> SplitRule:
        """The rule these values mean."""
        return SplitRule(self.kind, self.train, self.validation, self.test, self.stratify)


class Protocol(_Table):
    """``[protocol]``: how every method is tried.

    Attributes:
        split: how rows are divided.
        seeds: how many splits (seeds 0, 1, …), or the seeds themselves.
        encode: see `bench_core.protocol.encode.fit_encoder`.
        threshold: confidence threshold p̂ of the reject option; None refuses nothing.
        select: which policy of a family makes the table's row: ``first``, or the name of a metric that is best
            on validation. When None: ``combined`` with a threshold, else ``error``, ``ndcg@5`` or ``mse``.
        audit_rounds: substitutions per policy.
    """

    split: SplitTable = SplitTable()
    seeds: Seeds = 1
    encode: Encoding = "ordinal"
    threshold: Threshold | None = None
    select: str | None = None
    audit_rounds: Annotated[int, Field(ge=1, le=100)] = 2


class CostsEntry(_Table):
    """``costs = { use = …, parameters = … }``: a cost scheme for a data set."""

    use: Name
    name: Label = ""
    parameters: dict[str, Any] = {}


class DatasetEntry(_Table):
    """``[[datasets]]``: one data set, with its cost schemes and what it changes of the protocol."""

    use: Name
    name: Label = ""
    parameters: dict[str, Any] = {}
    costs: Annotated[list[CostsEntry], BeforeValidator(_listed), Field(min_length=1)] = Field(
        default_factory=lambda: [CostsEntry(use="uniform")]
    )
    threshold: Threshold | None = None
    encode: Encoding | None = None
    split: SplitTable | None = None
    seeds: Seeds | None = None


class MethodEntry(_Table):
    """``[[methods]]``: one method, with parameters, a grid, and what it does differently on some data sets.

    Attributes:
        grid: parameter → list of values; every combination is tried, and all together are the family.
        on: data set name → parameters that differ there.
        only: names of the data sets it runs on; all when empty.
        reject: whether the protocol's threshold refuses its unsure answers.
        select: overrides the protocol's.
    """

    use: Name
    name: Label = ""
    parameters: dict[str, Any] = {}
    grid: dict[str, Values] = {}
    on: dict[str, dict[str, Any]] = {}
    only: list[str] = []
    reject: bool = True
    select: str | None = None


class SuiteFile(_Table):
    """What the core reads of a suite's file.

    Attributes:
        metrics: names of the table's metrics.
        titles: metric → what tables call it instead of its own title, such as a paper's symbol.
    """

    suite: Header
    protocol: Protocol = Protocol()
    datasets: Annotated[list[DatasetEntry], Field(min_length=1)]
    methods: Annotated[list[MethodEntry], Field(min_length=1)]
    metrics: Annotated[list[Name], Field(min_length=1)] = [
        "coverage",
        "conclusive-accuracy",
        "cost",
        "combined",
    ]
    titles: dict[Name, Label] = {}


def file_model(sections: Iterable[SuiteSection]) -> type[SuiteFile]:
    """The model of a suite's file with the sections that plugins own; each is None where the file lacks it."""
    return create_model(  # type: ignore[call-overload, no-any-return]
        "SuiteFile",
        __base__=SuiteFile,
        **{section.key: (section.rules.model | None, None) for section in sections},
    )


def spell_faults(path: str, faults: Sequence[Mapping[str, Any]], sections: Mapping[str, SuiteSection]) -> str:
    """Pydantic's errors as one line: the first place that is wrong, and how many more there are.

    Args:
        path: what messages call the file.
        faults: pydantic's errors.
        sections: those that plugins own, by key.
    """
    lines: dict[str, str] = {}
    # A misspelt key first: where a key is missing as well, it is why.
    for fault in sorted(faults, key=lambda fault: fault["type"] != "extra_forbidden"):
        section = sections.get(str(fault["loc"][0])) if fault["loc"] else None
        place, model = section.rules.place(fault["loc"]) if section else (fault["loc"], None)
        if fault["type"] == "extra_forbidden":
            known = list(model.model_fields) if model else _keys_at(place[:-1], sections)
            said = f": unknown key {_shortened(str(place[-1]))}; {did_you_mean(str(place[-1]), known)}"
        else:
            said = _said(fault, place, section)
        lines.setdefault(_spelled(place), " ".join(f"{path}: {_spelled(place)}{said}".split()))
    more = len(lines) - 1
    return next(iter(lines.values())) + (f" (and {more} more fault{'s' * (more > 1)})" if more else "")


def validated(model: type[M], value: Any, where: str) -> M:
    """One table of a section that a plugin owns, as its model.

    Args:
        model: a pydantic model.
        value: what the file holds; an instance of the model is returned as it is.
        where: what messages call the place: ``suites/a.toml: figures[0]``.

    Raises:
        RequestError: an unknown key (the nearest is named), or a wrong value.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        # A misspelt key first, as in `spell_faults`.
        fault = min(error.errors(include_url=False), key=lambda fault: fault["type"] != "extra_forbidden")
    place = tuple(fault["loc"])
    spelled = f"{where}.{_spelled(place)}" if place else where
    if fault["type"] == "extra_forbidden":
        hint = did_you_mean(str(place[-1]), model.model_fields)
        raise RequestError(f"{spelled}: unknown key {_shortened(str(place[-1]))}; {hint}")
    raise RequestError(f"{spelled}{_said(fault, place, None)}")


def _said(fault: Mapping[str, Any], place: tuple[Any, ...], section: SuiteSection | None) -> str:
    """What follows the place of a fault that is no unknown key."""
    if fault["type"].startswith("union_tag") and section is not None:
        tag = fault.get("ctx", {}).get("tag", "")
        kinds = section.rules.kinds
        hint = did_you_mean(tag, kinds) if tag else f"known: {', '.join(kinds)}"
        return f".kind: {tag!r} is not a kind of {section.key}; {hint}"
    if place and place[-1] == "encode" and fault["type"] == "literal_error":
        wrong = str(fault["input"])
        return f": {_shortened(wrong)} is unknown; {did_you_mean(wrong, ENCODINGS)}"
    given = fault.get("input")
    shown = f" (given: {_shortened(given)})" if isinstance(given, str | int | float | bool) else ""
    return f": {str(fault['msg']).removeprefix('Value error, ')}{shown}"


def _shortened(given: Any) -> str:
    # A number of thousands of digits cannot even be written.
    said = "a huge number" if isinstance(given, int) and given.bit_length() > 200 else repr(given)
    return said if len(said) <= 60 else f"{said[:60]}…"


def _spelled(loc: tuple[Any, ...]) -> str:
    said = ""
    for part in loc:
        if isinstance(part, int):
            said += f"[{part}]"
        elif part not in _BRANCHES:
            key = str(part) if str(part).isprintable() and len(str(part)) <= 60 else _shortened(str(part))
            said += f".{key}" if said else key
    return said or "the file"


_TABLES: dict[str, type[BaseModel]] = {
    "suite": Header,
    "protocol": Protocol,
    "split": SplitTable,
    "datasets": DatasetEntry,
    "costs": CostsEntry,
    "methods": MethodEntry,
}
_BRANCHES = {"float", "literal['threshold']"}


def _keys_at(place: tuple[Any, ...], sections: Mapping[str, SuiteSection]) -> list[str]:
    """The keys that the table at a place may have."""
    names = [part for part in place if isinstance(part, str) and part not in _BRANCHES]
    if not names:
        return [*SuiteFile.model_fields, *sections, *OWNERS]
    owned = sections[names[0]].rules.tables if names[0] in sections else {}
    model = owned.get(names[-1]) or _TABLES.get(names[-1], SuiteFile)
    return list(model.model_fields)
