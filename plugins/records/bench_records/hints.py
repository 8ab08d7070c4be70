"""Commands in messages."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench_core.suites import SuiteSession

__all__ = ["command_for"]

_USUAL = {"--store": Path(".bench-store"), "--out": Path("leaderboard")}


def command_for(session: SuiteSession, command: str = "bench run") -> str:
    """Return a command for a session's suite, with the options for its folders unless these are the usual ones."""
    folders = {"--store": session.store.path, "--out": session.out}
    words = [word for option, path in folders.items() if path != _USUAL[option] for word in (option, str(path))]
    return f"{command} {shlex.join([str(session.suite.path), *words])}"
