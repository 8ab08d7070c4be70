"""Claims that cannot fail: every claim is checked once more on records that were disturbed, and has to notice.

What is disturbed could have come out so, were the method another one:

- ``names``: on each data set every method stands in another's place (so a rival in the method's), by rotating them; a
  metric beside a constant is only given to methods that are selected by the same rule, since a cap on the cost of one
  row is none on another's;
- ``data``: each data set has the results of another one, under the same constraint;
- ``validation``: within each family the validation values are dealt out anew, and once turned over, so that other
  policies are selected, among them the worst; a cap is kept;
- ``seeds``: on each seed the methods' results are dealt out anew, so that nothing is left between them;
- ``mirror``: a share is its complement, a correlation has the other sign.

What is disturbed could not have come out so, and shows that a number or a sign is read at all:

- ``shift``: all values are doubled, halved, or moved; ``sign``: all are turned over.

A claim is *forced* when none of the first five changes its verdict, or when its quantity is one constant on every
split, whatever is selected. It says nothing of the method then: it is removed, restated, or says why
(``by_construction``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from bench_analysis import Cells
from bench_records import KEY, Records, select
from numpy.typing import NDArray

from bench_claims.claims import checked
from bench_claims.quantities import Missing, Source
from bench_claims.schema import RatioCheck, ShareCheck, ValueCheck, checks_within
from bench_claims.verdicts import Verdict

if TYPE_CHECKING:
    from bench_core.suites import Suite

__all__ = ["POSSIBLE", "Stress", "stress_claims"]

Numbers = NDArray[np.float64]
Place = tuple[str, str]

POSSIBLE = ("names", "data", "validation", "seeds", "mirror")
"""Disturbances whose results could have come out so."""

_ROTATIONS = 6
_DRAWS = 2


@dataclass(frozen=True)
class Stress:
    """What became of a claim under stress.

    Attributes:
        number: its place in the suite, from 0.
        claim: as the suite has it.
        verdict: on the records as they are.
        changed: disturbances that change it.
        constant: its quantity is the same number on every split.
    """

    number: int
    claim: Any
    verdict: Verdict
    changed: frozenset[str]
    constant: bool

    @property
    def forced(self) -> bool:
        """Whether it could not have come out otherwise; what cannot be told is not forced."""
        if self.verdict == "cannot be told":
            return False
        if self.constant:
            return not self.changed & {"validation", "mirror"}
        # That a number is not the paper's is not forced because some other numbers are not it, either.
        number = all(isinstance(check, ValueCheck | ShareCheck) for check in checks_within(self.claim))
        number = number or getattr(self.claim, "relation", "") == "="
        return not (number and self.verdict == "contradicted") and not self.changed & set(POSSIBLE)


@dataclass(frozen=True)
class _Disturbed(Source):
    """Records that were disturbed.

    Attributes:
        instead: on a data set, method → the method whose results it gets.
        dealt: a seed of the random numbers by which results are dealt out anew on each split, or None.
        change: of the values.
        elsewhere: data set → the data set whose results it gets.
    """

    instead: Mapping[Place, Mapping[str, str]] = field(default_factory=dict)
    dealt: int | None = None
    change: Callable[[Numbers], Numbers] | None = None
    elsewhere: Mapping[Place, Place] = field(default_factory=dict)

    def by_seed(self, check: Any, place: Place, method: str) -> tuple[NDArray[np.int64], Numbers]:
        seeds, values = self._swapped(check, place, method)
        if self.dealt is not None:
            values = self._deal(check, place, method, seeds, values)
        return seeds, values if self.change is None else self.change(values)

    def identical(self, check: Any, a: str, b: str) -> bool:
        return self.dealt is None and all(
            self.cells.identical(*place, self.instead.get(place, {}).get(a, a), self.instead.get(place, {}).get(b, b))
            for place in self.places(check)
        )

    def _swapped(self, check: Any, place: Place, method: str) -> tuple[NDArray[np.int64], Numbers]:
        own = super().by_seed(check, place, method)
        try:
            there = self.elsewhere.get(place, place)
            other = super().by_seed(check, there, self.instead.get(place, {}).get(method, method))
        except Missing:  # there is no such number: the method keeps its own
            return own
        return other if np.array_equal(own[0], other[0]) else own

    def _deal(self, check: Any, place: Place, method: str, seeds: NDArray[np.int64], values: Numbers) -> Numbers:
        """The values, each of a method that is drawn for this method and seed."""
        rng = np.random.default_rng([self.dealt or 0, *method.encode(), *place[0].encode()])
        others = []
        for other in self.instead.get(place, {}):
            try:
                its_seeds, its_values = super().by_seed(check, place, other)
            except Missing:
                continue
            if np.array_equal(its_seeds, seeds):
                others.append(its_values)
        if not others:
            return values
        table = np.stack(others)
        return np.asarray(table[rng.integers(len(table), size=len(seeds)), np.arange(len(seeds))])


def stress_claims(suite: Suite, records: Records) -> list[Stress]:
    """Every claim of a suite under every disturbance, in the suite's order.

    What is drawn at random is drawn from fixed seeds.
    """
    cells = Cells(select(records, suite))
    source = Source(suite, records, cells)
    claims = suite.section("claims")
    base = [checked(source, claim).verdict for claim in claims]
    changed: list[set[str]] = [set() for _ in claims]
    for disturbance in _disturbances(suite, records, cells):
        for i, claim in enumerate(claims):
            if disturbance.name not in changed[i] and base[i] != "cannot be told" and disturbance.suits(claim):
                verdict = checked(disturbance.source, claim).verdict
                # What holds or is consistent must be able to be contradicted: that a mixture is too noisy is no answer.
                if verdict == "contradicted" if base[i] in ("holds", "consistent") else verdict != base[i]:
                    changed[i].add(disturbance.name)
    return [
        Stress(i, claim, verdict, frozenset(changes), _is_constant(source, claim))
        for i, (claim, verdict, changes) in enumerate(zip(claims, base, changed, strict=True))
    ]


@dataclass(frozen=True)
class _Disturbance:
    """A way to disturb the records.

    Attributes:
        name: what it is called.
        source: the records, disturbed.
        constants: whether it is for metrics beside a constant, for all other claims, or (None) for all.
    """

    name: str
    source: Source
    constants: bool | None = None

    def suits(self, claim: Any) -> bool:
        return self.constants in (None, isinstance(claim, ValueCheck) and bool(claim.metric))


def _disturbances(suite: Suite, records: Records, cells: Cells) -> Iterator[_Disturbance]:
    there: dict[Place, list[str]] = {}
    ruled: dict[tuple[Place, str], list[str]] = {}
    for dataset, costs, method in records.trials:
        place = dataset, costs
        there.setdefault(place, []).append(method)
        ruled.setdefault((place, cells.rule(*place, method)), []).append(method)
    longest = max(map(len, there.values()), default=1)
    for step in sorted({max(1, round(i * longest / (_ROTATIONS + 1))) for i in range(1, _ROTATIONS + 1)} | {1}):
        every = {place: _rotated(methods, step) for place, methods in there.items()}
        yield _Disturbance("names", _Disturbed(suite, records, cells, every), constants=False)
        alike: dict[Place, dict[str, str]] = {}
        for (place, _), methods in ruled.items():
            alike.setdefault(place, {}).update(_rotated(methods, step))
        yield _Disturbance("names", _Disturbed(suite, records, cells, alike), constants=True)
    backwards = {place: dict(zip(methods, methods[::-1], strict=True)) for place, methods in there.items()}
    yield _Disturbance("names", _Disturbed(suite, records, cells, backwards), constants=False)
    places = list(there)
    for step in (1, len(places) - 1):
        other = {place: places[(i + step) % len(places)] for i, place in enumerate(places)}
        yield _Disturbance("data", _Disturbed(suite, records, cells, elsewhere=other), constants=False)
    same = {place: dict(zip(methods, methods, strict=True)) for place, methods in there.items()}
    for draw in (*range(_DRAWS), None):
        other_records = _other_validation(records, suite, draw)
        yield _Disturbance("validation", _Disturbed(suite, other_records, Cells(select(other_records, suite))))
    for draw in range(_DRAWS):
        yield _Disturbance("seeds", _Disturbed(suite, records, cells, same, dealt=draw), constants=False)
    yield _Disturbance("mirror", _Disturbed(suite, records, cells, change=_mirrored))
    for change in (lambda v: 2 * v, lambda v: v / 2, lambda v: v + 10 * (1 + np.nanmax(np.abs(v)))):
        yield _Disturbance("shift", _Disturbed(suite, records, cells, change=change))
    yield _Disturbance("sign", _Disturbed(suite, records, cells, change=np.negative))


def _mirrored(values: Numbers) -> Numbers:
    """Shares as their complements, correlations with the other sign; other numbers as they are."""
    known = values[np.isfinite(values)]
    if not len(known) or float(np.abs(known).max()) > 1:
        return values
    return -values if float(known.min()) < 0 else 1 - values


def _rotated(methods: list[str], step: int) -> dict[str, str]:
    return {method: methods[(i + step) % len(methods)] for i, method in enumerate(methods)}


def _other_validation(records: Records, suite: Suite, draw: int | None) -> Records:
    """The records with the validation values dealt out anew among the policies of each family and grid.

    Each metric by itself; where it has a cap, among those that keep it and among those that miss it.

    Args:
        draw: seed of the random numbers; None turns the values over, so that the best gets the worst's.
    """
    frame = records.policies
    columns = [column for column in frame.columns if column.startswith("validation.")]
    if frame.empty or not columns:
        return records
    goals = suite.selection_metrics()
    family = frame.groupby(KEY, sort=False).ngroup().to_numpy()
    rng = None if draw is None else np.random.default_rng(draw)
    mixed = {}
    for column in columns:
        values = frame[column].to_numpy(dtype=np.float64)
        metric = goals.get(column.removeprefix("validation."))
        missed = np.zeros(len(frame), dtype=bool)
        if metric is not None and metric.missed is not None:
            missed = np.array([bool(np.isfinite(v) and metric.missed(v)) for v in values])
        places, gets = (values, -values) if rng is None else (np.arange(len(frame)), rng.random(len(frame)))
        dealt = np.empty_like(values)
        dealt[np.lexsort((places, missed, family))] = values[np.lexsort((gets, missed, family))]
        mixed[column] = dealt
    dealt_out = Records(frame.assign(**mixed), records.infos, {}, records.definitions)
    dealt_out.identities, dealt_out.trials = records.identities, records.trials  # neither depends on what was measured
    return dealt_out


def _is_constant(source: Source, claim: Any) -> bool:
    """Whether a number is the same on every split of every data set, so that it is an identity of what was run."""
    checks = [check for check in checks_within(claim) if isinstance(check, ValueCheck | RatioCheck)]
    if not checks or len(checks) != len(list(checks_within(claim))):
        return False
    (check,) = checks
    methods = [check.method, *([check.against] if isinstance(check, RatioCheck) else [])]
    try:
        values = [source.by_seed(check, place, method)[1] for place in source.places(check) for method in methods]
    except Missing:
        return False
    return all(len(numbers) > 1 and float(np.ptp(numbers)) == 0 for numbers in values)
