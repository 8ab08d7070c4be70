"""Finds claims that cannot fail: checks every claim again on perturbed records, which should change the verdict.

Perturbations that another method's results could have caused:

- ``names``: on each data set the methods' results are rotated, so that a rival takes the place of the method. If the
  claim compares with a constant, results only move between methods that are selected by the same rule;
- ``data``: each data set gets the results of another one, under the same constraint;
- ``validation``: within each family the validation values are permuted, and once reversed, so that other policies are
  selected, including the worst; caps are still met;
- ``seeds``: on each seed every method gets the result of a method drawn at random, so that no systematic difference
  remains;
- ``mirror``: shares are replaced by their complements, correlations by their negatives.

Impossible perturbations, which show that the check reads a number or a sign at all:

- ``shift``: all values are doubled, halved, or moved; ``sign``: all are negated.

A claim is *forced* if none of the first five changes its verdict, or if its quantity is the same constant on every
split, whichever policy is selected. Such a claim says nothing about the method: remove it, restate it, or declare why
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
"""Perturbations that another method's results could have caused."""

_ROTATIONS = 6
_DRAWS = 2


@dataclass(frozen=True)
class Stress:
    """The result of the stress test of a claim.

    Attributes:
        number: its index in the suite, from 0.
        claim: the claim of the suite.
        verdict: on the original records.
        changed: perturbations that change the verdict.
        constant: whether its quantity is the same number on every split.
    """

    number: int
    claim: Any
    verdict: Verdict
    changed: frozenset[str]
    constant: bool

    @property
    def forced(self) -> bool:
        """Whether no possible perturbation changes the verdict; ``cannot be told`` is never forced."""
        if self.verdict == "cannot be told":
            return False
        if self.constant:
            return not self.changed & {"validation", "mirror"}
        # A contradicted number is not forced just because the perturbed numbers differ from the paper's, too.
        number = all(isinstance(check, ValueCheck | ShareCheck) for check in checks_within(self.claim))
        number = number or getattr(self.claim, "relation", "") == "="
        return not (number and self.verdict == "contradicted") and not self.changed & set(POSSIBLE)


@dataclass(frozen=True)
class _Disturbed(Source):
    """Perturbed records.

    Attributes:
        instead: on a data set, method → the method whose results it gets.
        dealt: seed for drawing, on each split, the method whose result a method gets; None: its own result.
        change: function of the values.
        others: data set → the data set whose results it gets.
    """

    instead: Mapping[Place, Mapping[str, str]] = field(default_factory=dict)
    dealt: int | None = None
    change: Callable[[Numbers], Numbers] | None = None
    others: Mapping[Place, Place] = field(default_factory=dict)

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
            there = self.others.get(place, place)
            other = super().by_seed(check, there, self.instead.get(place, {}).get(method, method))
        except Missing:  # the other method lacks the number: keep the method's own
            return own
        return other if np.array_equal(own[0], other[0]) else own

    def _deal(self, check: Any, place: Place, method: str, seeds: NDArray[np.int64], values: Numbers) -> Numbers:
        """The values of methods drawn at random, one for each seed."""
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
    """Check every claim of a suite under every perturbation, in the suite's order.

    Random perturbations use fixed seeds.
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
                # A claim that holds or is consistent must become contradicted. If it only becomes undecided, the cause
                # may be noise.
                if verdict == "contradicted" if base[i] in ("holds", "consistent") else verdict != base[i]:
                    changed[i].add(disturbance.name)
    return [
        Stress(i, claim, verdict, frozenset(changes), _is_constant(source, claim))
        for i, (claim, verdict, changes) in enumerate(zip(claims, base, changed, strict=True))
    ]


@dataclass(frozen=True)
class _Disturbance:
    """One perturbation of the records.

    Attributes:
        name: its name.
        source: the perturbed records.
        constants: whether it applies to metrics compared with a constant (True), to all other claims (False), or to all
            (None).
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
        yield _Disturbance("data", _Disturbed(suite, records, cells, others=other), constants=False)
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
    """Replace shares by their complements and correlations by their negatives; leave other numbers unchanged."""
    known = values[np.isfinite(values)]
    if not len(known) or float(np.abs(known).max()) > 1:
        return values
    return -values if float(known.min()) < 0 else 1 - values


def _rotated(methods: list[str], step: int) -> dict[str, str]:
    return {method: methods[(i + step) % len(methods)] for i, method in enumerate(methods)}


def _other_validation(records: Records, suite: Suite, draw: int | None) -> Records:
    """Permute the validation values among the policies of each family and grid.

    Each metric is permuted on its own; if it has a cap, separately among policies within and above it.

    Args:
        draw: seed of the permutation; None reverses the order, so that the best policy gets the worst value.
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
    """Whether a number is the same on every split of every data set, so that the setup determines it."""
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
