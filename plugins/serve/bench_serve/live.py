"""The open sessions of a server: found by a secret name, limited in number, expired after a time without use."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bench_core import Costs


class Session(Protocol):
    """The parts of a session of `bench_policies` that are used here."""

    @property
    def wanted(self) -> Mapping[str, float]: ...
    @property
    def known(self) -> Mapping[str, float]: ...
    @property
    def answer(self) -> Any: ...
    def give(self, values: Mapping[str, Any], /) -> Any: ...


class FittedPolicy(Protocol):
    """The parts of a fitted policy of `bench_policies` that are used here."""

    feature_names: tuple[str, ...]
    classes: tuple[str, ...]
    task: str
    costs: Costs
    about: Mapping[str, Any]

    def start(self, size: float | None = None) -> Session: ...
    def number(self, feature: str) -> int: ...
    def shown_categories(self, feature: int) -> list[str]: ...
    def value(self, feature: int, given: Any) -> float: ...


@dataclass(frozen=True)
class Limits:
    """Limits of a server.

    Attributes:
        sessions: the largest number of open sessions.
        seconds: number of seconds without use after which a session expires.
        body: the largest size of a request's body, in bytes.
        body_seconds: the longest time that a body may take to arrive, in seconds.
    """

    sessions: int = 10_000
    seconds: float = 900.0
    body: int = 65_536
    body_seconds: float = 10.0


class FullError(Exception):
    """All sessions are in use. `seconds` is the time until the next one expires."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"all sessions are in use; the next one expires in {seconds:.0f} s")
        self.seconds = seconds


@dataclass
class Opened:
    """A session, the values that were known when it was opened, and the time of its last use.

    A known value is given to the policy, at no charge, when the policy asks for its feature.
    """

    policy: FittedPolicy
    session: Session
    known: dict[str, Any]
    size: float | None
    used: float = 0.0
    free: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        """Check the known values, and give the policy those that it asks for.

        Raises:
            RequestError: a feature does not exist, or a value is invalid.
        """
        self.free = np.zeros((1, len(self.policy.feature_names)), dtype=bool)
        for name, value in self.known.items():
            feature = self.policy.number(name)
            self.policy.value(feature, value)
            self.free[0, feature] = True
        self._give_known()

    def give(self, values: Mapping[str, Any]) -> None:
        """Give values of wanted features.

        Raises:
            RequestError: a feature does not exist or is not wanted, or a value is invalid. Then no value is taken.
        """
        self.session.give(values)
        self._give_known()

    def _give_known(self) -> None:
        while self.known and (given := {name: self.known[name] for name in self.session.wanted if name in self.known}):
            self.session.give(given)

    def state(self) -> tuple[list[tuple[str, float]], float, Any]:
        """Return the wanted features with their prices, what has been paid so far, and the answer or None.

        The price of the first feature of a group includes the group's price, unless a feature of the group is known.
        """
        had = self.free.copy()
        for name in self.session.known:
            had[0, self.policy.number(name)] = True
        wanted, paid = [], self._bill(had)
        cost = paid - self._bill(self.free)
        for name in self.session.wanted:  # the session's own prices do not count the values known at the start
            had[0, self.policy.number(name)] = True
            now = self._bill(had)
            wanted.append((name, now - paid))
            paid = now
        return wanted, cost, None if wanted else self.session.answer

    def _bill(self, had: NDArray[np.bool_]) -> float:
        sizes = np.array([self.size]) if self.size is not None and self.policy.costs.depends_on_size else None
        return float(self.policy.costs.bill(had, sizes)[0])


class Live:
    """The open sessions of one policy. Not safe for use from several threads.

    Args:
        policy: the policy.
        limits: the number of sessions, and the time after which they expire.
        clock: a monotonic clock, in seconds.
    """

    def __init__(self, policy: FittedPolicy, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self.policy, self.limits, self.clock = policy, limits, clock
        self._opened: OrderedDict[str, Opened] = OrderedDict()  # by time of last use

    def __len__(self) -> int:
        self._expire()
        return len(self._opened)

    def open(self, known: Mapping[str, Any], size: float | None) -> tuple[str, Opened]:
        """Open a session and return its secret name with it.

        Raises:
            FullError: all sessions are in use.
            RequestError: a known value is invalid, or the item's size is needed and missing.
        """
        self._expire()
        if len(self._opened) >= self.limits.sessions:
            oldest = next(iter(self._opened.values()))
            raise FullError(max(1.0, oldest.used + self.limits.seconds - self.clock()))
        opened = Opened(self.policy, self.policy.start(size), dict(known), size, self.clock())
        name = secrets.token_urlsafe(16)
        self._opened[name] = opened
        return name, opened

    def get(self, name: str) -> Opened:
        """Return an open session, and renew its time.

        Raises:
            KeyError: there is no such session, or it has expired.
        """
        self._expire()
        opened = self._opened[name]
        opened.used = self.clock()
        self._opened.move_to_end(name)
        return opened

    def close(self, name: str) -> None:
        """Close a session. Raises `KeyError` where there is none of this name."""
        self._expire()
        del self._opened[name]

    def _expire(self) -> None:
        least = self.clock() - self.limits.seconds
        while self._opened and next(iter(self._opened.values())).used < least:
            self._opened.popitem(last=False)
