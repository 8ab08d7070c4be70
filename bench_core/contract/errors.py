"""The errors people meet, and the nearest right name for a wrong one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


class BenchError(Exception):
    """Base of every error that carries a message meant for a person."""


class RequestError(BenchError):
    """The request itself is wrong (a suite, an option, a name): exit code 2, nothing was run."""


class StoreError(BenchError):
    """The store cannot be read or written (a full disk, no right to): exit code 2, what was done before is kept."""


class DataError(BenchError):
    """A data set or a price list is malformed; the message names the set and the column."""


class DataUnavailable(BenchError):
    """A data set cannot be had here; ``hint`` is what would bring it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __reduce__(self) -> tuple[type[DataUnavailable], tuple[str, str]]:
        return type(self), (str(self), self.hint)


class ContractError(BenchError):
    """A plugin broke the contract: no policy, wrong shapes, NaN probabilities, a bad registration."""


class ProbeError(BenchError):
    """A plugin cannot be imported in a process of its own, or does not answer as it must."""


class DataWritten(ContractError):
    """A plugin wrote into a data set that others use: it has to be loaded again."""


class TrialFailed(BenchError):
    """A trial failed in a run that was to stop at the first failure: exit code 1."""


class AuditError(BenchError):
    """A policy read what it had not acquired."""


def attempt(step: Callable[[], T]) -> T | BaseException:
    """What a plugin's code returns, or what it raises: `SystemExit` too, but not the user's Ctrl-C."""
    try:
        return step()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return error


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """A sentence that offers the nearest known name, or lists what there is; empty when nothing is known.

    >>> did_you_mean("laso", ["forest", "lasso"])
    "did you mean 'lasso'?"
    """
    import difflib  # takes a millisecond, and few commands go wrong

    names = sorted(set(known))
    close = difflib.get_close_matches(wrong, names, n=1, cutoff=0.6)
    if not close:
        folded = {name.casefold().replace("_", "-"): name for name in names}
        key = wrong.casefold().replace("_", "-")
        close = [folded[key]] if key in folded else []
    if close:
        return f"did you mean {close[0]!r}?"
    if not names:
        return ""
    shown = [name if name.isprintable() and len(name) <= 60 else repr(name[:60]) for name in names[:20]]
    return f"known: {', '.join(shown)}" + (", …" if len(names) > 20 else "")


def refused_name(name: object) -> str:
    """Why a name is invalid for a plugin or a registered thing (it becomes part of file names); empty if valid."""
    if isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,99}", name):
        return ""
    return f"{repr(name)[:60]} is no name: up to 100 letters, digits and . _ - @, beginning with a letter or digit"


def with_hint(error: BaseException) -> str:
    """An error as one line for people, with what would bring data that cannot be had."""
    message = " ".join(str(error).split())
    if isinstance(error, DataUnavailable) and error.hint:
        return f"{message}; {error.hint}"
    return message if isinstance(error, BenchError) else f"{type(error).__name__}: {message}"
