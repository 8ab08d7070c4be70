"""``bench leaderboard``: render pages from records, or check the committed ones."""

from __future__ import annotations

from pathlib import Path

from bench_core.analysis.records import Records, write_export
from bench_core.commands import stamp
from bench_core.commands.session import SuiteSession
from bench_core.plan import Plan
from bench_core.render import differing, write_files
from bench_core.render.page import render_page

__all__ = ["check", "pages", "publish"]


def pages(session: SuiteSession, records: Records) -> dict[Path, bytes]:
    """The suite's page and export as file contents."""
    files = write_export(records, session.folder) if len(records.policies) else {}
    files[session.out / f"{session.suite.name}.md"] = render_page(session.suite, records).encode()
    return files


def publish(session: SuiteSession, plan: Plan | None = None) -> list[Path]:
    """Write the page and the export; the files that changed."""
    plan = plan or session.plan()
    files = pages(session, session.records(plan))
    changed = write_files(files)
    stamp.leave(session, plan, list(files))
    return changed


def check(session: SuiteSession) -> list[Path]:
    """Committed files that are not what the records give."""
    return differing(pages(session, session.records()))
