"""Which trial is run next, and where: the longest first, trials of one split by the same worker, within the memory.

What a trial takes is known from the store, where its method was run on its data before, or guessed by the size of the
data. The results do not depend on any of this: a trial knows nothing of those before it.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from statistics import fmean
from typing import Any

from bench_core.contract.errors import attempt
from bench_core.contract.facts import DataFacts
from bench_core.run.dataset_cache import DatasetCache
from bench_core.run.plan import Planned
from bench_core.run.record_file import seconds_of
from bench_core.run.store import Store
from bench_core.run.trial import fragment

__all__ = ["Schedule", "expected_memory", "expected_seconds"]

_PER_CELL = 1e-5
"""Seconds per value of a data set, where a method was never run: only their order matters."""
_MOST_READ = 400
"""Records that are read for their timings; it takes a fraction of a second."""


class Schedule:
    """Trials that wait to be run.

    Each place where trials are run gets trials of one split one after the other, the longest first, since they share
    the data and its preparation. A place without one begins the split with the longest trial left, of the data it has
    where there is one. A trial that is long enough to delay the end of the run goes first anywhere.

    The first trial of a plugin may have to compile its kernels. Until it has ended, trials of that plugin come after
    all others: a place that was given one would wait, or compile the same.

    Args:
        todo: the trials.
        seconds: name → what each is expected to take.
        memory: name → bytes that each may need, of those that are known.
        first: those of them that go before all others, anywhere: one of each plugin.
        plugin_of: a trial's plugin; without it none is waited for.
    """

    def __init__(
        self,
        todo: Iterable[Planned],
        seconds: Mapping[str, float],
        memory: Mapping[str, float] | None = None,
        first: Iterable[Planned] = (),
        plugin_of: Callable[[Planned], Hashable] | None = None,
    ) -> None:
        self._seconds, self.memory = seconds, memory or {}
        self._first = deque(first)
        self._plugin_of = plugin_of
        self._opening: dict[str, Hashable] = {}
        self._of_plugin: Counter[Hashable] = Counter()
        openers = {planned.name for planned in self._first}
        self._groups: dict[tuple[Hashable, ...], list[tuple[float, int, Planned]]] = defaultdict(list)
        self._order: dict[str, int] = {}
        self._at: dict[Hashable, tuple[Hashable, ...]] = {}
        self._there: Counter[tuple[Hashable, ...]] = Counter()
        self._left, self._count = 0.0, 0
        self._heap: list[tuple[float, int, tuple[Hashable, ...]]] = []
        self._of_data: dict[Hashable, set[tuple[Hashable, ...]]] = defaultdict(set)
        for planned in todo:
            if planned.name not in openers:
                self._add(planned)
        for key, group in self._groups.items():
            group.sort(key=_place_in_line)
            heapq.heappush(self._heap, (-group[-1][0], -group[-1][1], key))

    def __len__(self) -> int:
        return self._count + len(self._first)

    def put(self, planned: Planned) -> None:
        """Let a trial wait, maybe once more."""
        key = self._add(planned)
        group = self._groups[key]
        group.sort(key=_place_in_line)
        heapq.heappush(self._heap, (-group[-1][0], -group[-1][1], key))

    def _add(self, planned: Planned) -> tuple[Hashable, ...]:
        number = -self._order.setdefault(planned.name, len(self._order))  # equals stay in the suite's order
        key, seconds = _shared(planned), self._seconds.get(planned.name, 0.0)
        self._groups[key].append((seconds, number, planned))
        self._of_data[key[0]].add(key)
        self._left += seconds
        self._count += 1
        if self._plugin_of is not None:
            self._of_plugin[self._plugin_of(planned)] += 1
        return key

    def take(
        self, place: Hashable, places: int = 1, fits: Callable[[Planned], bool] = lambda planned: True
    ) -> Planned | None:
        """The next trial for a place; None when none is left that fits.

        Args:
            place: who will run it.
            places: how many run trials.
            fits: whether there is room for a trial now.
        """
        if self._first and fits(self._first[0]):
            planned = self._first.popleft()
            if self._plugin_of is not None:
                self._opening[planned.name] = self._plugin_of(planned)
            return planned
        key = self._chosen(place, places)
        if key is None:
            return None
        ready = self._ready(key, fits)
        if ready is not None:
            return self._taken(place, *ready)
        if not fits(self._groups[key][-1][2]):
            waiting = (
                (*entry[:2], other, at) for other, group in self._groups.items() for at, entry in enumerate(group)
            )
            for _, _, other, at in sorted(waiting, key=lambda entry: (-entry[0], -entry[1])):
                if fits(self._groups[other][at][2]):
                    return self._taken(place, other, at)
            return None
        return self._taken(place, key, -1)

    @property
    def is_opening(self) -> bool:
        """Whether the first trial of some plugin is being run."""
        return bool(self._opening)

    def ended(self, planned: Planned) -> None:
        """A trial that was taken has ended: where it was the first of its plugin, the others need not wait."""
        self._opening.pop(planned.name, None)

    def _ready(
        self, chosen: tuple[Hashable, ...], fits: Callable[[Planned], bool]
    ) -> tuple[tuple[Hashable, ...], int] | None:
        """Group and place of a trial whose plugin is not being opened, the chosen group's first; None for any."""
        opening = set(self._opening.values())
        if self._plugin_of is None or not opening or all(plugin in opening for plugin in self._of_plugin):
            return None
        for key in (chosen, *self._groups):
            for at in reversed(range(len(self._groups[key]))):
                planned = self._groups[key][at][2]
                if self._plugin_of(planned) not in opening and fits(planned):
                    return key, at
        return None

    def _taken(self, place: Hashable, key: tuple[Hashable, ...], at: int) -> Planned:
        seconds, _, planned = self._groups[key].pop(at)
        if self._groups[key]:
            last = self._groups[key][-1]
            heapq.heappush(self._heap, (-last[0], -last[1], key))
        else:
            del self._groups[key]
            self._of_data[key[0]].discard(key)
        self.leave(place)
        self._at[place] = key
        self._there[key] += 1
        self._left -= seconds
        self._count -= 1
        if self._plugin_of is not None:
            plugin = self._plugin_of(planned)
            self._of_plugin[plugin] -= 1
            if not self._of_plugin[plugin]:
                del self._of_plugin[plugin]
        return planned

    def leave(self, place: Hashable) -> None:
        """A place runs nothing more of what it ran."""
        before = self._at.pop(place, None)
        if before is not None:
            self._there[before] -= 1

    def _chosen(self, place: Hashable, places: int) -> tuple[Hashable, ...] | None:
        """The group that a place takes its next trial from."""
        longest = self._longest()
        if longest is None:
            return None
        at = self._at.get(place)
        if self._left > 0 and self._groups[longest][-1][0] * places >= self._left:
            return longest
        if at is not None:
            if at in self._groups:
                return at
            free = [key for key in self._of_data.get(at[0], ()) if not self._there[key]]
            if free:
                return max(free, key=lambda key: self._groups[key][-1][:2])
        return self._longest(free=True) or longest

    def _longest(self, free: bool = False) -> tuple[Hashable, ...] | None:
        """The group with the longest trial, of those that nobody is at if there is one and ``free`` is true."""
        passed, longest = [], None
        while self._heap:
            entry = self._heap[0]
            group = self._groups.get(entry[2])
            if not group or (-group[-1][0], -group[-1][1]) != entry[:2]:
                heapq.heappop(self._heap)
                continue
            if free and self._there[entry[2]]:
                passed.append(heapq.heappop(self._heap))
                continue
            longest = entry[2]
            break
        for entry in passed:
            heapq.heappush(self._heap, entry)
        return longest


def _place_in_line(waiting: tuple[float, int, Planned]) -> tuple[float, int]:
    return waiting[:2]


def _shared(planned: Planned) -> tuple[Hashable, ...]:
    """What trials with the same prepared data have in common; the data's hash first."""
    trial = planned.trial
    scheme = fragment(trial.costs_use, trial.scheme)
    return planned.content, scheme, trial.split, trial.encode, trial.seed, trial.audit_rounds


def expected_seconds(
    todo: Iterable[Planned], done: Iterable[Planned], store: Store, cache: DatasetCache | None
) -> dict[str, float]:
    """Name → seconds that a trial is expected to take.

    Known from trials of the same method and parameters on the same data, else of the same method there, else of the
    method elsewhere by the size of the data, else of any by that.

    Args:
        todo: trials to run.
        done: trials of the same plan that the store holds; a few hundred of them are read, spread over methods.
        store: where their records are.
        cache: knows sizes of data sets; without it all are as large.
    """
    todo = list(todo)
    sizes: dict[str, float] = {}

    def size(planned: Planned) -> float:
        if planned.content not in sizes:
            trial, cells = planned.trial, 1.0
            if cache is not None:
                facts = attempt(partial(cache.facts, trial.dataset_use, trial.source, planned.content))
                if not isinstance(facts, BaseException):
                    cells = float(max(1, facts.n_rows) * facts.n_features)
            sizes[planned.content] = cells
        return sizes[planned.content]

    methods = {planned.trial.method_use for planned in todo}
    measured: dict[tuple[Any, ...], list[float]] = defaultdict(list)
    for planned in _spread(planned for planned in done if planned.trial.method_use in methods):
        seconds = _seconds(store, planned.name)
        if seconds is not None:
            exact, method, anywhere = _keys(planned)
            measured[exact].append(seconds)
            measured[method].append(seconds)
            measured[anywhere].append(seconds / size(planned))
    expected = {}
    for planned in todo:
        exact, method, anywhere = _keys(planned)
        known = measured.get(exact) or measured.get(method)
        if known:
            expected[planned.name] = fmean(known)
        else:
            expected[planned.name] = size(planned) * fmean(measured.get(anywhere) or [_PER_CELL])
    return expected


def _keys(planned: Planned) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]:
    trial = planned.trial
    use = trial.method_use
    return (planned.content, fragment(use, trial.estimator)), (planned.content, use), (use,)


def _spread(done: Iterable[Planned]) -> list[Planned]:
    """One trial of each method, parameters and data, up to a number; the first of each method and data go first."""
    first: dict[tuple[Any, ...], Planned] = {}
    more: dict[tuple[Any, ...], Planned] = {}
    for planned in done:
        exact, method, _ = _keys(planned)
        if method not in first:
            first[method] = planned
        else:
            more.setdefault(exact, planned)
    return [*first.values(), *more.values()][:_MOST_READ]


def _seconds(store: Store, name: str) -> float | None:
    """What a stored trial took; None where it cannot be read."""
    with suppress(Exception):
        record = store.read(name, decisions=False)
        if record is not None:
            return seconds_of(record)
    return None


def expected_memory(todo: Iterable[Planned], cache: DatasetCache | None) -> dict[str, float]:
    """Name → bytes that a trial's method says it may need on its data; left out where it does not say."""
    if cache is None:
        return {}
    trials = list(todo)
    facts: dict[str, Any] = {}
    asked: dict[tuple[str, int], tuple[Any, DataFacts]] = {}
    for planned in trials:
        trial, content = planned.trial, planned.content
        if content not in facts:
            facts[content] = attempt(partial(cache.facts, trial.dataset_use, trial.source, content))
        if not isinstance(facts[content], BaseException):
            asked.setdefault((content, id(trial.estimator)), (trial.estimator, facts[content]))
    answers = cache.registry.ask_methods("memory_needed", list(asked.values()))
    needed = dict(zip(asked, answers, strict=True))
    memory = ((planned.name, needed.get((planned.content, id(planned.trial.estimator)))) for planned in trials)
    return {name: float(bytes_) for name, bytes_ in memory if isinstance(bytes_, int | float) and bytes_ > 0}
