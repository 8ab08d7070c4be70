"""How a finished run knows, without rendering, that its page is current.

A file in the store holds a hash of the trials, of the suite's text, and of the code of the core, of the analysis and of
the plugins that draw; also size and time of change of the files written. If nothing was computed and none of these has
changed, nothing is rendered. If the file is damaged or cannot be written, the next run renders again.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import bench_analysis

from bench_core import sha256_text
from bench_core.records import seal, unseal
from bench_core.suites import Plugin

if TYPE_CHECKING:
    from bench_core.suites import Plan, SuiteSession

__all__ = ["forget", "is_current", "remember"]

_HOOKS = ("bench_known_trials", "bench_shown_names", "bench_register_figures", "bench_page_parts", "bench_front_parts")
"""A plugin that implements one of these hooks can change a page."""


def _key(session: SuiteSession, plan: Plan) -> str:
    registry = session.registry
    trials = "\n".join(f"{p.name}{p.state}{p.trial.method}{p.trial.dataset}" for p in plan.planned)
    hooks = (getattr(registry.manager.hook, name) for name in _HOOKS)
    drawing = {impl.plugin_name for hook in hooks for impl in hook.get_hookimpls()}
    code = "".join(p.source for p in registry.plugins.values() if p.name in {"bench-core", *drawing})
    analysis = Plugin("analysis", "", "", "bench_analysis", folder=Path(str(bench_analysis.__file__)).parent)
    return sha256_text(f"{sha256_text(trials)}{session.suite.text}{code}{analysis.source}")


def _place(session: SuiteSession) -> Path:
    return session.store.path / f"page-{sha256_text(str(session.out.resolve()) + session.suite.name)[:16]}.json"


def _state(paths: list[Path]) -> dict[str, list[int]]:
    return {str(path): [path.stat().st_size, path.stat().st_mtime_ns] for path in paths}


def is_current(session: SuiteSession, plan: Plan) -> bool:
    """Whether the files written last are those of this plan and have not changed since."""
    place = _place(session)
    if not place.is_file():  # reading a pipe would wait for its writer
        return False
    try:
        state = unseal(place.read_bytes())
        return bool(state["key"] == _key(session, plan) and state["files"] == _state(list(map(Path, state["files"]))))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def remember(session: SuiteSession, plan: Plan, paths: list[Path]) -> None:
    """Remember that the files just written are those of a plan."""
    if not session.store.path.is_dir():
        return
    state = {"key": _key(session, plan), "files": _state([path.resolve() for path in paths])}
    temporary = _place(session).with_suffix(f".{os.getpid()}")
    try:
        temporary.write_bytes(seal(state))
        os.replace(temporary, _place(session))
    except OSError:  # the next run renders again
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def forget(session: SuiteSession) -> None:
    """Make the next run render again."""
    with suppress(OSError):
        _place(session).unlink(missing_ok=True)
