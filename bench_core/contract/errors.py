"""The errors that users see, and suggestions for misspelt names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


class BenchError(Exception):
    """Base class of errors whose message is meant for users."""


class RequestError(BenchError):
    """The request is invalid (a suite, an option, a name): exit code 2, nothing was run."""


class StoreError(BenchError):
    """The store cannot be read or written (full disk, missing rights): exit code 2, finished trials are kept."""


class DataError(BenchError):
    """A data set or a price list is malformed; the message names the set and the column."""


class DataUnavailable(BenchError):
    """A data set is not available here; ``hint`` says how to get it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __reduce__(self) -> tuple[type[DataUnavailable], tuple[str, str]]:
        return type(self), (str(self), self.hint)


class ContractError(BenchError):
    """A plugin broke the contract: no policy, wrong shapes, NaN probabilities, a bad registration."""


class ProbeError(BenchError):
    """A plugin cannot be imported in its own process, or gives invalid answers."""


class DataWritten(ContractError):
    """A plugin wrote into a data set that other trials use, so the data set must be loaded again."""


class TrialFailed(BenchError):
    """A trial failed, and the run stops at the first failure: exit code 1."""


class AuditError(BenchError):
    """A policy's decisions depend on features that it did not acquire."""


def attempt(step: Callable[[], T]) -> T | BaseException:
    """Call a plugin's code and return its result, or the error that it raised; only `KeyboardInterrupt` is raised."""
    try:
        return step()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return error


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """Suggest the nearest known name, or list the known names; empty when there are none.

    >>> did_you_mean("laso", ["forest", "lasso"])
    "did you mean 'lasso'?"
    """
    import difflib  # here, since importing takes a millisecond and is rarely needed

    names = sorted(set(known))
    folded = {name.casefold().replace("_", "-"): name for name in names}
    same = folded.get(wrong.casefold().replace("_", "-"))
    if close := difflib.get_close_matches(wrong, names, n=1, cutoff=0.6) or ([same] if same else []):
        return f"did you mean {close[0]!r}?"
    if not names:
        return ""
    shown = [name if name.isprintable() and len(name) <= 60 else repr(name[:60]) for name in names[:20]]
    return f"known: {', '.join(shown)}" + (", …" if len(names) > 20 else "")


def refused_name(name: object) -> str:
    """Say why a name of a plugin or registered object is invalid; empty if valid. Names become parts of file names."""
    if isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,99}", name):
        return ""
    return f"{repr(name)[:60]} is no name: up to 100 letters, digits and . _ - @, beginning with a letter or digit"


def with_hint(error: BaseException) -> str:
    """Format an error as one line, with the hint of `DataUnavailable`."""
    message = " ".join(str(error).split())
    if isinstance(error, DataUnavailable) and error.hint:
        return f"{message}; {error.hint}"
    return message if isinstance(error, BenchError) else f"{type(error).__name__}: {message}"
