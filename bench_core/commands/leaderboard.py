"""``bench leaderboard``: render pages from records, or check the committed ones."""

from __future__ import annotations

from pathlib import Path

from bench_core.analysis.export import read_export, write_export
from bench_core.analysis.records import Records
from bench_core.commands import stamp
from bench_core.commands.session import SuiteSession
from bench_core.plan import Plan
from bench_core.render import differing, write_files
from bench_core.render.curves import figure_files
from bench_core.render.index import DESCRIPTION, describe, read_descriptions, render_index
from bench_core.render.page import Analysed, render_page
from bench_core.render.timings import render_timings

__all__ = ["check", "pages", "publish"]


def pages(session: SuiteSession, records: Records) -> dict[Path, bytes]:
    """Everything that is published of a suite, as file contents: export, pages, and the index over all suites."""
    analysed = Analysed(session.suite, records)
    files: dict[Path, bytes] = {}
    if len(records.policies):
        files |= write_export(records, session.folder)
        files[session.folder / DESCRIPTION] = describe(session.suite, analysed.tables)
        files[session.folder / "timings.md"] = render_timings(session.suite, records).encode()
        files |= figure_files(session.suite, records, session.folder, analysed.rankings)
    files[session.out / f"{session.suite.name}.md"] = render_page(analysed).encode()
    files[session.out / "README.md"] = render_index(read_descriptions(session.out, files)).encode()
    return files


def publish(session: SuiteSession, plan: Plan | None = None) -> list[Path]:
    """Write the export and the pages; the files that changed."""
    plan = plan or session.plan()
    files = pages(session, session.records(plan))
    changed = write_files(files)
    stamp.leave(session, plan, list(files))
    return changed


def check(session: SuiteSession) -> list[str]:
    """What is wrong with the committed files; empty when nothing is.

    They must be what the committed export gives, byte for byte, and the export must be what the store gives
    together with it: the store may lack records, but not hold others.
    """
    committed = read_export(session.folder)
    if committed is None:
        return [
            f"{session.folder}: there is no committed export; run: bench leaderboard {session.suite.path}"
        ]
    wrong = [f"{path} is not what the records give" for path in differing(pages(session, committed))]
    now = write_export(session.records(), session.folder)
    # runs.parquet is of when and where: a record that was computed again may differ in it.
    return wrong + [
        f"{path} is not what the suite and the store give"
        for path in differing(now)
        if path.name == "records.parquet"
    ]
