"""The schema of suite files, table by table, and the messages for errors in them.

Sections that plugins own (`bench_core.plugins.hookspecs`) are added when a file is read.
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
from bench_core.plugins.hookspecs import OWNERS, SuiteSection
from bench_core.protocol.encode import ENCODINGS, Encoding
from bench_core.protocol.split import SplitRule

M = TypeVar("M", bound=BaseModel)

_MOST_SEEDS = 10_000
_TAKEN = ("readme", "index")
"""Names that suites cannot have: README.md is the index of all suites, index.html that of the site."""


def _one_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must be one line of printable characters")
    return text


def _suite_name(name: str) -> str:
    if name.casefold() in _TAKEN or name.casefold().endswith(".md"):
        raise ValueError(f"a suite cannot be called {name!r}: the leaderboard has a file of that name")
    return name


def _seeds(seeds: Any) -> Any:
    listed = seeds if isinstance(seeds, list) else [seeds]
    if not listed or any(isinstance(seed, bool) or not isinstance(seed, int) for seed in listed):
        raise ValueError("seeds must be a whole number, or a list of whole numbers that is not empty")
    if isinstance(seeds, int):
        if not 1 <= seeds <= _MOST_SEEDS:
            raise ValueError(f"seeds must be a count from 1 to {_MOST_SEEDS}, or a list of seeds")
    elif min(seeds) < 0 or max(seeds) >= 2**32 or len(set(seeds)) != len(seeds) or len(seeds) > _MOST_SEEDS:
        raise ValueError(f"seeds must be distinct, from 0 to 2**32 - 1, and at most {_MOST_SEEDS}")
    return seeds


def _drawn_from(value: Any) -> Any:
    if value not in (None, "independent") and (isinstance(value, bool) or not isinstance(value, int)):
        raise ValueError("must be a number of rows, or 'independent'")
    return value


def _differing(values: list[Any]) -> list[Any]:
    if len({repr(value) for value in values}) != len(values):
        raise ValueError("holds the same value twice")
    return values


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, dict | CostsEntry) else value


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
    """``[suite]``: name and description of the suite."""

    name: Annotated[str, Field(max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"), AfterValidator(_suite_name)]
    title: str = ""
    source: str = ""
    description: str = ""


class SplitTable(_Table):
    """``[protocol.split]``: see `bench_core.protocol.split.SplitRule`.

    Attributes:
        drawn_from: how many rows the splits of several seeds are drawn from, so that pages can compute how many rows
            two splits share: a number of rows, if the parts are counts and use only some of the table; or
            ``independent``, if every seed has its own data. Only the intervals on pages depend on it; it is not part of
            a trial's name.
    """

    kind: Literal["random", "given"] = "random"
    train: float = 0.5
    validation: float = 0.25
    test: float = 0.25
    stratify: bool = True
    drawn_from: Annotated[int | Literal["independent"] | None, BeforeValidator(_drawn_from)] = None

    @model_validator(mode="after")
    def _makes_a_rule(self) -> SplitTable:
        self.rule()
        sizes = (self.train, self.validation, self.test)
        if isinstance(self.drawn_from, int):
            if self.kind == "given" or max(sizes) <= 1:
                raise ValueError("'drawn_from' is a number of rows only where train, validation and test are counts")
            if self.drawn_from < sum(sizes):
                raise ValueError(f"'drawn_from' is {self.drawn_from}, fewer rows than the parts' {int(sum(sizes))}")
        return self

    def rule(self) -> SplitRule:
        """The split rule with these values."""
        return SplitRule(self.kind, self.train, self.validation, self.test, self.stratify)


def _caps(caps: list[int]) -> list[int]:
    if sorted(set(caps)) != caps:
        raise ValueError("caps must rise, without repetition")
    return caps


Caps = Annotated[list[Annotated[int, Field(ge=1, le=10**9)]], AfterValidator(_caps)]


class Protocol(_Table):
    """``[protocol]``: how methods are compared.

    Attributes:
        split: how rows are divided.
        seeds: how many splits (seeds 0, 1, …), or the seeds themselves.
        encode: see `bench_core.protocol.encode.fit_encoder`.
        threshold: confidence threshold p̂ of the reject option; None refuses nothing.
        select: which policy of a family is shown in the table: ``first``, or a metric's name, for the policy that is
            best on validation. By default the metric ``combined`` with a threshold, else ``error``, ``ndcg@5`` or
            ``mse``.
        least_coverage: the share of validation rows that a policy must answer to be selected by a metric; a policy
            below it is selected only if all are below it.
        audit_rounds: substitutions per policy.
        timeout: seconds that a method may take for a trial; ``--timeout`` overrides it. A trial that takes longer is
            recorded as over the limit. It is not part of a trial's name.
        caps: hard budgets in the unit of the prices. Policies that can be asked step by step are also evaluated with no
            row costing more than the cap; records of classification have the metric ``accuracy-at-cap@k`` per cap k.
    """

    split: SplitTable = SplitTable()
    seeds: Seeds = 1
    encode: Encoding = "ordinal"
    threshold: Threshold | None = None
    select: str | None = None
    least_coverage: Annotated[float, Field(ge=0, le=1)] = 0.0
    audit_rounds: Annotated[int, Field(ge=1, le=100)] = 2
    timeout: Annotated[float, Field(gt=0)] | None = None
    caps: Caps = []


class Entry(_Table):
    """A registered object with its parameters, under a name that the suite chooses."""

    use: Name
    name: Label = ""
    parameters: dict[str, Any] = {}

    @property
    def label(self) -> str:
        """Its name in tables."""
        return self.name or self.use


class CostsEntry(Entry):
    """``costs = { use = …, parameters = … }``: a cost scheme for a data set."""


class DatasetEntry(Entry):
    """``[[datasets]]``: one data set, with its cost schemes and deviations from the protocol.

    Attributes:
        select: overrides the protocol's; a method's own overrides this one.
    """

    costs: Annotated[list[CostsEntry], BeforeValidator(_listed), Field(min_length=1)] = Field(
        default_factory=lambda: [CostsEntry(use="uniform")]
    )
    threshold: Threshold | None = None
    encode: Encoding | None = None
    split: SplitTable | None = None
    seeds: Seeds | None = None
    select: str | None = None
    caps: Caps | None = None


class MethodEntry(Entry):
    """``[[methods]]``: one method, with parameters, a grid, and other parameters for some data sets.

    Attributes:
        grid: parameter → list of values. Every combination is run; the policies of all of them form the family.
        on: data set name → parameters that differ there.
        only: names of the data sets that it runs on; all if empty.
        without: names of data sets that it does not run on.
        reject: whether its answers below the protocol's threshold are refused.
        exit_threshold: the confidence at which a method with early exit stops, if neither data set nor protocol has a
            threshold. It does not refuse answers.
        select: overrides the protocol's and the data set's.
    """

    grid: dict[str, Values] = {}
    on: dict[str, dict[str, Any]] = {}
    only: list[str] = []
    without: list[str] = []
    reject: bool = True
    exit_threshold: Threshold | None = None
    select: str | None = None

    def runs_on(self, dataset: str) -> bool:
        """Whether it runs on a data set."""
        return dataset not in self.without and (not self.only or dataset in self.only)


class SuiteFile(_Table):
    """The sections of a suite file that the core reads.

    Attributes:
        metrics: names of the table's metrics.
        titles: metric → the title that replaces its own in tables, such as a paper's symbol.
    """

    suite: Header
    protocol: Protocol = Protocol()
    datasets: Annotated[list[DatasetEntry], Field(min_length=1)]
    methods: Annotated[list[MethodEntry], Field(min_length=1)]
    metrics: Annotated[list[Name], Field(min_length=1)] = ["coverage", "conclusive-accuracy", "cost", "combined"]
    titles: dict[Name, Label] = {}


def file_model(sections: Iterable[SuiteSection]) -> type[SuiteFile]:
    """The model of suite files with the sections that plugins own; a missing section is None."""
    return create_model(  # type: ignore[call-overload, no-any-return]
        "SuiteFile", __base__=SuiteFile, **{section.key: (section.rules.model | None, None) for section in sections}
    )


def error_line(path: str, errors: Sequence[Mapping[str, Any]], sections: Mapping[str, SuiteSection]) -> str:
    """Format pydantic's errors as one line: the first error, and the number of others."""
    lines: dict[str, str] = {}
    for error in sorted(errors, key=_is_no_misspelling):
        section = sections.get(str(error["loc"][0])) if error["loc"] else None
        place, model = section.rules.place(error["loc"]) if section else (error["loc"], None)
        known = model.model_fields if model else _keys_at(place[:-1], sections)
        text = _fault(error, place, known, section)
        lines.setdefault(_spelled(place), " ".join(f"{path}: {_spelled(place)}{text}".split()))
    more = len(lines) - 1
    return next(iter(lines.values())) + (f" (and {more} more fault{'s' * (more > 1)})" if more else "")


def _is_no_misspelling(error: Mapping[str, Any]) -> bool:
    # A sort key that puts misspelt keys first: they are often the reason why another key is missing.
    return bool(error["type"] != "extra_forbidden")


def validated(model: type[M], value: Any, where: str) -> M:
    """Validate one table of a section that a plugin owns.

    Args:
        model: a pydantic model.
        value: the table; an instance of the model is returned unchanged.
        where: the place for messages, such as ``suites/a.toml: figures[0]``.

    Raises:
        RequestError: an unknown key (the nearest is named), or an invalid value.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = min(error.errors(include_url=False), key=_is_no_misspelling)
    place = tuple(first["loc"])
    text = _fault(first, place, model.model_fields, None)
    raise RequestError(f"{where}.{_spelled(place)}{text}" if place else f"{where}{text}")


def _fault(error: Mapping[str, Any], place: tuple[Any, ...], known: Iterable[str], section: SuiteSection | None) -> str:
    """The message after the place of an error; ``known`` are the allowed keys."""
    if error["type"] == "extra_forbidden":
        return f": unknown key {_shortened(str(place[-1]))}; {did_you_mean(str(place[-1]), known)}"
    value = error.get("input")
    if error["type"].startswith("union_tag") and section is not None:
        tag = error.get("ctx", {}).get("tag", "")
        kinds = section.rules.kinds
        hint = did_you_mean(tag, kinds) if tag else f"known: {', '.join(kinds)}"
        return f".kind: {tag!r} is not a kind of {section.key}; {hint}"
    if place and place[-1] == "encode" and error["type"] == "literal_error":
        return f": {_shortened(str(value))} is unknown; {did_you_mean(str(value), ENCODINGS)}"
    shown = f" (given: {_shortened(value)})" if isinstance(value, str | int | float | bool) else ""
    return f": {str(error['msg']).removeprefix('Value error, ')}{shown}"


def _shortened(value: Any) -> str:
    # Python refuses to format a number of thousands of digits.
    text = "a huge number" if isinstance(value, int) and value.bit_length() > 200 else repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _spelled(loc: tuple[Any, ...]) -> str:
    text = ""
    for part in loc:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part not in _BRANCHES:
            key = str(part) if str(part).isprintable() and len(str(part)) <= 60 else _shortened(str(part))
            text += f".{key}" if text else key
    return text or "the file"


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
    """The allowed keys of the table at a place."""
    names = [part for part in place if isinstance(part, str) and part not in _BRANCHES]
    if not names:
        return [*SuiteFile.model_fields, *sections, *OWNERS]
    owned = sections[names[0]].rules.tables if names[0] in sections else {}
    model = owned.get(names[-1]) or _TABLES.get(names[-1], SuiteFile)
    return list(model.model_fields)
