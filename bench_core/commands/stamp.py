"""Stamps: how a finished run knows, at once, that its page is what it would render.

A stamp in the store names the trials, the suite's text, the core's code and the written files (size and time of
change). When nothing was computed and the stamp still holds, nothing is rendered. A damaged stamp does not hold; where
none can be written, the next run renders again.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from bench_core.contract.canonical import sha256_text
from bench_core.run.sealed import seal, unseal

if TYPE_CHECKING:
    from bench_core.run.plan import Plan
    from bench_core.run.session import SuiteSession

__all__ = ["holds", "leave"]


def _key(session: SuiteSession, plan: Plan) -> str:
    trials = "\n".join(f"{p.name}{p.state}{p.trial.method}{p.trial.dataset}" for p in plan.planned)
    code = session.registry.plugins["bench-core"].source
    return sha256_text(f"{sha256_text(trials)}{session.suite.text}{code}")


def _place(session: SuiteSession) -> Path:
    return (
        session.store.path / f"page-{sha256_text(str(session.out.resolve()) + session.suite.name)[:16]}.json"
    )


def _state(paths: list[Path]) -> dict[str, list[int]]:
    return {str(path): [path.stat().st_size, path.stat().st_mtime_ns] for path in paths}


def holds(session: SuiteSession, plan: Plan) -> bool:
    """Whether the files written last are those of this plan and have not been touched."""
    try:
        stamp = unseal(_place(session).read_bytes())
        return bool(
            stamp["key"] == _key(session, plan) and stamp["files"] == _state(list(map(Path, stamp["files"])))
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


def leave(session: SuiteSession, plan: Plan, paths: list[Path]) -> None:
    """Leave a stamp for the files just written."""
    if not session.store.path.is_dir():
        return
    stamp = {"key": _key(session, plan), "files": _state([path.resolve() for path in paths])}
    temporary = _place(session).with_suffix(f".{os.getpid()}")
    try:
        temporary.write_bytes(seal(stamp))
        os.replace(temporary, _place(session))
    except OSError:  # the next run renders again
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
