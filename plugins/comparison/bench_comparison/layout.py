"""Positions of methods, algorithms and kinds in arrays of units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench_comparison.kinds import EMPTY, FIXED, KINDS, Place
from bench_comparison.units import Unit

__all__ = ["Layout"]


@dataclass(frozen=True)
class Layout:
    """Positions of methods, algorithms and kinds in arrays of units.

    Attributes:
        methods: labels.
        places: method → its kind and algorithm.
        algorithms, kinds: units after the methods, in this order; without the empty policy.
        ways: the units "dynamic" and "fixed" (the two ways to choose features), which come last.
        seconds: method → median seconds of its fits; NaN where unknown.
    """

    methods: tuple[str, ...]
    places: Mapping[str, Place]
    seconds: Mapping[str, float]
    algorithms: tuple[Unit, ...]
    kinds: tuple[Unit, ...]
    ways: tuple[Unit, ...]

    @classmethod
    def of(cls, places: Mapping[str, Place], seconds: Mapping[str, float]) -> Layout:
        """The layout of a suite's methods."""
        methods = tuple(places)

        def unit(name: str, chosen: Sequence[bool]) -> Unit:
            return Unit(name, tuple(i for i, there in enumerate(chosen) if there))

        counted = [m for m in methods if places[m].kind != EMPTY]
        names = dict.fromkeys((places[m].kind, places[m].algorithm) for m in counted)
        algorithms = [unit(n, [(places[m].kind, places[m].algorithm) == (k, n) for m in methods]) for k, n in names]
        kinds = [unit(k.name, [places[m].kind == k.name for m in methods]) for k in KINDS if k.name != EMPTY]
        ways = [
            unit("dynamic", [places[m].dynamic for m in methods]),
            unit("fixed", [places[m].kind == FIXED for m in methods]),
        ]
        return cls(
            methods, places, seconds, tuple(algorithms), tuple(kind for kind in kinds if kind.members), tuple(ways)
        )

    @property
    def units(self) -> tuple[Unit, ...]:
        """All units after the methods."""
        return (*self.algorithms, *self.kinds, *self.ways)

    @property
    def groups(self) -> list[int]:
        """Of each method, the number of its algorithm; −1 for the empty policy."""
        numbers = {member: number for number, unit in enumerate(self.algorithms) for member in unit.members}
        return [numbers.get(i, -1) for i in range(len(self.methods))]
