"""``bench leaderboard``: render pages from records, or check the committed ones."""

from __future__ import annotations

import gc
import shlex
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click
from bench_analysis import Analysed
from bench_records import (
    RECORDS,
    VERIFIED,
    Records,
    command_for,
    differing,
    find_losses,
    published,
    published_form,
    read_verified,
    records_of,
    sealed,
    shown_names,
    write_export,
    write_files,
)

from bench_core import RequestError, canonical_json, did_you_mean
from bench_core.records import DamagedRecordsError, definition_of
from bench_core.suites import FinishedRun, Plan, SuiteSession
from bench_leaderboard import current
from bench_leaderboard.parts import page_parts
from bench_leaderboard.render.dataset_pages import dataset_pages, is_divided, render_dataset_page
from bench_leaderboard.render.figure_inputs import files_with_hashes
from bench_leaderboard.render.front import render_front
from bench_leaderboard.render.index import (
    DESCRIPTION,
    RESULTS,
    describe,
    read_descriptions,
    render_results,
    written_before,
)
from bench_leaderboard.render.page import render_page
from bench_leaderboard.render.page_figures import figures_of
from bench_leaderboard.render.replaced import refuse_foreign
from bench_leaderboard.render.timings import render_timings

__all__ = ["WouldLoseError", "check", "pages", "publish", "publish_again", "publish_run"]

_SHOWN = 20
MANY = 3000
"""From this number of trials on, writing pages takes long enough to be announced."""


def pages(session: SuiteSession, records: Records, *, compress: bool = True, draw: bool = True) -> dict[Path, bytes]:
    """All published files of a suite, as file contents: export, pages, and the front page over all suites.

    Args:
        session: the suite and its places.
        records: what the pages show.
        compress: make the export small; an export that is only compared need not be.
        draw: draw every figure, not only those whose inputs changed.
    """
    records = published_form(records, shown_names(session.suite))
    verified = read_verified(session.folder)
    analysed = Analysed(session.suite, records, verified)
    files: dict[Path, bytes] = {}
    if len(records.policies):
        files |= write_export(records, session.folder, session.suite.needed_metrics(), compress=compress)
        for part in page_parts(analysed):
            files |= {session.folder / name: text.encode() for name, text in part.files.items()}
            files |= {session.folder / f"{k}.json": f"{canonical_json(v)}\n".encode() for k, v in part.data.items()}
        files[session.folder / "timings.md"] = render_timings(analysed, by_dataset=not is_divided(analysed)).encode()
        files |= files_with_hashes(figures_of(analysed), session.folder, draw=draw)
        for page in dataset_pages(analysed):
            files[session.folder / page.file] = render_dataset_page(analysed, page).encode()
        if verified:
            files[session.folder / VERIFIED] = sealed(verified)
        beside = {path.relative_to(session.folder).as_posix(): data for path, data in files.items()}
        files[session.folder / DESCRIPTION] = describe(analysed, beside)
    files[session.out / f"{session.suite.name}.md"] = render_page(analysed).encode()
    described = read_descriptions(session.out, files, session.registry)
    files[session.out / "README.md"] = render_front(described, session.registry).encode()
    files[session.out / RESULTS] = render_results(described).encode()
    return files


@contextmanager
def _few_collections() -> Iterator[None]:
    """Collect garbage rarely: a suite's records are millions of objects that stay, and little else is left over."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@_few_collections()
def publish_again(session: SuiteSession) -> list[Path]:
    """Render the published records again, also those of trials that the suite has changed; return the changed files.

    The page lists the records of changed trials at its top. The store is not read.

    Raises:
        RequestError: nothing is published, the definition of a data set has changed, the export is damaged, or a file
            cannot be written.
    """
    committed = published(session).whole
    if committed is None:
        raise RequestError(f"{session.folder}: nothing is published there; run: {command_for(session)}")
    now = {trial.dataset: definition_of(trial) for trial in session.suite.trials(seeds=1)}
    for dataset, before in committed.definitions.items():
        if now.get(dataset, before) != before:
            raise RequestError(
                f"the definition of data set {dataset!r} has changed, so its published records are of other data; "
                f"run: {command_for(session)}"
            )
    return _write(session, pages(session, committed))


def publish_run(run: FinishedRun) -> Path:
    """Publish a suite when its run is done, unless its files are current; return the path of its page.

    Raises:
        DamagedRecordsError: records of the store are damaged; nothing is written.
        WouldLoseError: published records would be lost; nothing is written.
        RequestError: as `publish`.
    """
    session = run.session
    drop = run.options.get("drop", ())
    _check_drop(session, drop)  # also where the page is current
    if run.computed or not current.is_current(session, run.plan):
        if len(run.plan.planned) >= MANY:
            click.echo(f"writing the pages of {session.suite.name}", err=True)
        publish(session, run.plan, drop, bool(run.options.get("private")))
    return session.out / f"{session.suite.name}.md"


class WouldLoseError(RequestError):
    """A page would be rendered with fewer records than are published."""


@_few_collections()
def publish(
    session: SuiteSession, plan: Plan | None = None, drop: Collection[str] = (), private: bool = False
) -> list[Path]:
    """Write the export and the pages; return the files that changed.

    Args:
        session: the suite and its places.
        plan: the plan of all trials of the suite.
        drop: labels of data sets, costs and methods whose published records may be lost.
        private: include records that were made without isolation.

    Raises:
        DamagedRecordsError: records of the store are damaged; nothing is written, and the next run renders again.
        WouldLoseError: published records would be lost; nothing is written.
        RequestError: the published export is damaged, ``drop`` has an unknown name, or a file cannot be written or
            was not written by ``bench``.
    """
    plan = plan or session.plan()
    records = records_of(session, plan)
    if session.store.unreadable:
        current.forget(session)
        raise DamagedRecordsError(
            f"{len(session.store.unreadable)} record(s) are damaged, so nothing was written; "
            f"run: {command_for(session)}"
        )
    _check_losses(session, plan, records, drop)
    if not len(records.policies):
        missing = "".join(f"; data set {label!r} {why}" for label, why in plan.unavailable.items())
        raise RequestError(f"{session.suite.path}: there is no record to render{missing}")
    if not private and (message := _not_isolated(records)):
        raise RequestError(f"{message}, so nothing was written; run into another --store, or give --private")
    files = pages(session, records)
    changed = _write(session, files)
    current.remember(session, plan, list(files))
    return changed


def _write(session: SuiteSession, files: Mapping[Path, bytes]) -> list[Path]:
    """Write the files and remove earlier ones that are not among them; return the files that changed.

    Raises:
        RequestError: a file cannot be written, or was not written by ``bench``.
    """
    before = written_before(session.folder)
    refuse_foreign(differing(files), session.folder)
    changed = write_files(files)
    for path in before:
        if path not in files:
            path.unlink(missing_ok=True)
    return changed


def _not_isolated(records: Records) -> str:
    """A message about records made without isolation, whose methods could reach the judge; empty without any."""
    count = sum(run["provenance"].get("isolation") == "none" for run in records.runs.values())
    return f"{count} record(s) were made with --isolation none, which a published page must not show" if count else ""


def _check_drop(session: SuiteSession, drop: Collection[str]) -> None:
    """Check the names whose published records may be lost.

    Raises:
        RequestError: a name is neither in the suite nor in its published records.
    """
    if not drop:
        return
    committed = published(session).whole
    known = {*session.suite.dataset_names(), *session.suite.method_names(), *(c for _, c in session.suite.grids)}
    if committed is not None and len(committed.policies):
        known.update(*(committed.policies[key].unique().tolist() for key in ("dataset", "costs", "method")))
    for name in drop:
        if name not in known:
            raise RequestError(f"--drop {name}: unknown name; {did_you_mean(name, known)}")


def _check_losses(session: SuiteSession, plan: Plan, records: Records, drop: Collection[str]) -> None:
    _check_drop(session, drop)
    committed = published(session).whole
    losses = find_losses(session.suite, plan, committed, records, drop)
    if not losses or committed is None:
        return
    count = sum(loss.count for loss in losses)
    names = list(dict.fromkeys(loss.dataset for loss in losses))
    lines = [
        f"{count} of {len(committed.infos)} published record(s) in {session.folder} would be lost, so nothing there "
        "was written:",
        *(f"  {loss}" for loss in losses[:_SHOWN]),
        *([f"  … and {len(losses) - _SHOWN} more groups"] if len(losses) > _SHOWN else []),
        f"compute them anew: {command_for(session)}; or let them go: "
        + " ".join(f"--drop {shlex.quote(name)}" for name in names),
    ]
    raise WouldLoseError("\n".join(lines))


@_few_collections()
def check(session: SuiteSession, private: bool = False, draw: bool = False) -> list[str]:
    """What is wrong with the committed files; empty when nothing is.

    The pages must be, byte for byte, what the committed export gives, and no other file may be in the suite's folder.
    The export must agree with the store, which may lack records but not hold different ones. Figures are compared by
    their inputs, see `bench_leaderboard.render.figure_inputs`.

    Args:
        session: the suite and its places.
        private: allow records that were made without isolation.
        draw: draw every figure and compare the SVGs.

    Raises:
        RequestError: a record of the export does not match its checksum.
    """
    committed = published(session).whole
    if committed is None:
        return [f"{session.folder}: there is no committed export; run: {command_for(session, 'bench leaderboard')}"]
    wrong = [message for message in [_not_isolated(committed)] if message and not private]
    files = pages(session, committed, compress=False, draw=draw)
    wrong += [f"{path} is not what the records give" for path in differing(files)]
    others = sorted(path for path in session.folder.rglob("*") if path not in files and not path.is_dir())
    wrong += [f"{path} is no file of the suite's page: remove it" for path in others]
    plan = session.plan()
    records = records_of(session, plan)
    wrong += [
        f"published, but not what the suite asks for: {loss}"
        for loss in find_losses(session.suite, plan, committed, records)
    ]
    if records.same_results(committed):
        return wrong  # they give the committed export, which was compared
    # A record that was computed again may differ in when and where it was made.
    records = published_form(records, shown_names(session.suite))
    return wrong + [
        f"{path} is not what the suite and the store give"
        for path in differing(write_export(records, session.folder, session.suite.needed_metrics(), compress=False))
        if path.parent.name == RECORDS
    ]
