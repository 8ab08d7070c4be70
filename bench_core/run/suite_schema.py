"""The schema of suite files, table by table. `bench_core.run.suite_faults` has the messages for errors in them.

Sections that plugins own (`bench_core.plugins.hookspecs`) are added when a file is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator

from bench_core.plugins.hookspecs import SuiteSection
from bench_core.protocol.encode import Encoding
from bench_core.protocol.split import SplitRule

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
Metrics = Annotated[list[Name], Field(min_length=1), AfterValidator(_differing)]
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
    """``[protocol.split]``: how rows are divided.

    Attributes:
        kind: ``random`` (seeded) or ``given`` (the data set's own split; if that has no validation part, the fraction
            ``validation`` of its training part is used).
        train: fraction of the rows, or their number if one of the three is above 1.
        validation: likewise. The three fractions may sum to less than 1.
        test: likewise.
        stratify: whether the parts keep the proportions of the classes (classification only).
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
        threshold: confidence threshold p̂ of the reject option; without it, no answer is refused.
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
    timeout: Annotated[float, Field(gt=0, le=1e9)] | None = None
    caps: Caps = []


class Entry(_Table):
    """A registered object with its parameters, under a name that the suite chooses.

    Attributes:
        use: the name under which a plugin registers it.
        name: the name in tables; ``use`` if empty.
        parameters: its parameters; defaults where not given.
    """

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
        costs: a cost scheme or several.
        threshold: overrides the protocol's.
        encode: overrides the protocol's.
        split: overrides the protocol's.
        seeds: overrides the protocol's.
        select: overrides the protocol's; a method's own overrides this one.
        caps: overrides the protocol's.
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
    metrics: Metrics = ["coverage", "conclusive-accuracy", "cost", "combined"]
    titles: dict[Name, Label] = {}


def file_model(sections: Iterable[SuiteSection]) -> type[SuiteFile]:
    """The model of suite files with the sections that plugins own; a missing section is None."""
    return create_model(  # type: ignore[call-overload, no-any-return]
        "SuiteFile", __base__=SuiteFile, **{section.key: (section.rules.model | None, None) for section in sections}
    )
