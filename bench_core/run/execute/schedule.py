"""The order of trials: the longest first, trials of one split on one worker, within the available memory.

The expected time of a trial comes from the store, if its method was run on its data before; otherwise it is estimated
from the size of the data. Results do not depend on the order: a trial gets no information from earlier ones.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from statistics import fmean
from typing import TypeAlias

from bench_core.contract.errors import StoreError, attempt
from bench_core.contract.facts import DataFacts
from bench_core.run.dataset_cache import DatasetCache
from bench_core.run.plan import Planned
from bench_core.run.record_file import seconds_of
from bench_core.run.store import Store
from bench_core.run.trial import fragment

__all__ = ["Schedule", "expected_memory", "expected_seconds"]

_PER_CELL = 1e-5
"""Estimated seconds per value of a data set for a method that was never run. Only the resulting order matters."""
_MOST_READ = 400
"""The most records that are read for their timings, which takes a fraction of a second."""

_Entry: TypeAlias = tuple[float, int, int, Planned]
"""Expected seconds, a unique number, the number of the split, the trial. In a sorted list, the next trial is last."""


class Schedule:
    """Trials that wait to be run.

    A worker gets the trials of one split one after another, the longest first, because they share the prepared data.
    Then it begins the next split that no other worker has begun: of the data set with the longest trial, the split with
    the longest trial. When all splits are begun, it takes the longest remaining trial. A trial that would delay the end
    of the run by waiting is started first, on any worker.

    Args:
        todo: the trials.
        seconds: name → expected seconds; a missing one counts as 0.
        memory: name → bytes that the trial may need, if known.
    """

    def __init__(
        self, todo: Iterable[Planned], seconds: Mapping[str, float], memory: Mapping[str, float] | None = None
    ) -> None:
        self.memory = memory or {}
        numbers: dict[Hashable, int] = {}
        self._entries: list[_Entry] = sorted(  # may include trials that were already taken
            (seconds.get(planned.name, 0.0), -place, numbers.setdefault(planned.preparation, len(numbers)), planned)
            for place, planned in enumerate(todo)
        )
        self._waiting = {entry[3].name for entry in self._entries}
        self._left = math.fsum(entry[0] for entry in self._entries)
        self._splits: dict[int, list[_Entry]] = {}
        for entry in self._entries:
            self._splits.setdefault(entry[2], []).append(entry)
        longest = {entry[3].content: entry for entry in self._entries}
        ends = {split: (longest[entries[-1][3].content], entries[-1]) for split, entries in self._splits.items()}
        self._free = sorted(ends, key=lambda split: ends[split])  # may include splits that were begun
        self._at: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def take(self, place: Hashable, places: int = 1, room: float = math.inf) -> Planned | None:
        """Remove and return the next trial for a worker; None if no remaining trial fits.

        Args:
            place: identifies the worker.
            places: the number of workers.
            room: the most bytes that the trial may need; a trial with unknown needs always fits.
        """
        for entry in self._candidates(place, places):
            if self.memory.get(entry[3].name, -math.inf) <= room:
                self._remove(place, entry)
                return entry[3]
        return None

    def _candidates(self, place: Hashable, places: int) -> Iterator[_Entry]:
        """The trials that a worker may run, in order of preference; some occur twice."""
        while self._entries and self._entries[-1][3].name not in self._waiting:
            self._entries.pop()
        if not self._entries:
            return
        longest = self._entries[-1]
        if longest[0] * places >= self._left > 0:
            yield longest
        yield from reversed(self._splits.get(self._at.get(place, -1), []))
        while self._free and (self._free[-1] not in self._splits or self._free[-1] in self._at.values()):
            self._free.pop()
        if self._free:
            yield from reversed(self._splits[self._free[-1]])
        yield from (entry for entry in reversed(self._entries) if entry[3].name in self._waiting)

    def _remove(self, place: Hashable, entry: _Entry) -> None:
        seconds, _, split, planned = entry
        if self._at.get(place, -1) not in self._splits:  # its last split is finished
            self._at[place] = split
        waiting = self._splits[split]
        del waiting[bisect_left(waiting, entry)]
        if not waiting:
            del self._splits[split]
        self._waiting.remove(planned.name)
        self._left -= seconds


def expected_seconds(
    todo: Iterable[Planned], done: Iterable[Planned], store: Store, cache: DatasetCache
) -> dict[str, float]:
    """Name → the expected seconds of a trial.

    This is the mean over trials of the same method on the same data; or else over its trials on other data, scaled by
    the size of the data; or else an estimate from this size.

    Args:
        todo: trials to run.
        done: trials of the same plan that are in the store; a few hundred of them, spread over methods, are read.
        store: the store of their records.
        cache: knows the sizes of data sets.
    """
    todo = list(todo)
    wanted = {planned.trial.method_use for planned in todo}
    finished: dict[tuple[str, str], list[Planned]] = defaultdict(list)
    for planned in done:
        if planned.trial.method_use in wanted:
            finished[planned.trial.method_use, planned.content].append(planned)
    facts = _facts([*todo, *(trials[0] for trials in finished.values())], cache)
    cells = defaultdict(
        lambda: 1.0, {key: float(max(1, known.n_rows) * known.n_features) for key, known in facts.items()}
    )
    measured: dict[Hashable, list[float]] = defaultdict(list)
    for (use, content), trials in list(finished.items())[:_MOST_READ]:
        for planned in trials[:: math.ceil(len(trials) * len(finished) / _MOST_READ)]:
            with suppress(StoreError):  # the record cannot be read
                if (record := store.read(planned.name, attachment=False)) is not None:
                    measured[use, content].append(seconds_of(record))
                    measured[use].append(seconds_of(record) / cells[content])
    means = {key: fmean(values) for key, values in measured.items()}
    return {
        planned.name: means.get((use, content), means.get(use, _PER_CELL) * cells[content])
        for planned in todo
        for use, content in [(planned.trial.method_use, planned.content)]
    }


def expected_memory(todo: Iterable[Planned], cache: DatasetCache) -> dict[str, float]:
    """Name → bytes that a trial's method may need on its data. Trials are left out if their method does not say."""
    todo = list(todo)
    facts = _facts(todo, cache)
    keys = {p.name: (p.content, fragment(p.trial.method_use, p.trial.estimator)) for p in todo if p.content in facts}
    asked = {keys[p.name]: (p.trial.estimator, facts[p.content]) for p in todo if p.name in keys}
    answers = dict(zip(asked, cache.registry.ask_methods("memory_needed", list(asked.values())), strict=True))
    needed = {name: answers[key] for name, key in keys.items()}
    return {name: float(bytes_) for name, bytes_ in needed.items() if isinstance(bytes_, int | float) and bytes_ > 0}


def _facts(trials: Iterable[Planned], cache: DatasetCache) -> dict[str, DataFacts]:
    """Content → facts, for every available data set."""
    one_of_each = {planned.content: planned.trial for planned in trials}
    found = {
        content: attempt(partial(cache.facts, trial.dataset_use, trial.source, content))
        for content, trial in one_of_each.items()
    }
    return {content: facts for content, facts in found.items() if not isinstance(facts, BaseException)}
