"""``bench submit``: write the folder of a pull request from a plugin and its records, and check such a folder.

Code, contract, data, isolation and checksums are checked when the folder is written, and again when it is received. The
numbers are checked by recomputing records: ``bench verify``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench_core import RequestError, sha256_text
from bench_core.suites import Planned, SuiteSession
from bench_core.testing import check_plugin
from bench_records.committed import published, records_of
from bench_records.exports import RECORDS, read_export, write_export
from bench_records.files import write_files
from bench_records.hints import command_for
from bench_records.losses import find_losses
from bench_records.published_form import published_form, shown_names
from bench_records.records import Records
from bench_records.submission_folder import SUBMISSION, read_folder, refuse_other_files, summary_files
from bench_records.submitted_code import Code, code_of, requirement_installs, wheel_holds

__all__ = ["Submitted", "check_submission", "submit"]


@dataclass(frozen=True)
class Submitted:
    """The contents of a submission for one suite.

    Attributes:
        folder: the plugin's folder.
        records: number of the suite's records in it.
        methods: labels of the methods, sorted.
        is_published: whether the suite is published, so that its data and protocol could be compared.
    """

    folder: Path
    records: int
    methods: tuple[str, ...]
    is_published: bool


def submit(
    session: SuiteSession,
    plugin: str,
    parent: Path,
    wheel: Path | None = None,
    requirement: str = "",
    progress: Callable[[str], None] = lambda name: None,
) -> Submitted:
    """Check a plugin and its records of a suite, and write them below ``parent``.

    If the plugin's folder exists, the suite is added to it, or the suite's records there are replaced.

    Args:
        session: the suite with its entry for the plugin. Its store holds the plugin's records, its ``out`` the
            published ones.
        plugin: the plugin's name.
        parent: the folder in which the plugin's folder is written.
        wheel: the plugin as a wheel.
        requirement: a requirement by which pip installs the plugin; give this or a wheel.
        progress: called with the name of each object that the contract kit checks.

    Raises:
        RequestError: a check failed; nothing was written.
    """
    code = code_of(session.registry, plugin)
    if (wheel is None) == (not requirement):
        raise RequestError("say where the plugin is installed from, by one of --wheel FILE or --requirement TEXT")
    if wheel is not None:
        wheel_holds(wheel, code)
    else:
        requirement_installs(requirement, code)
    own, whole = _own_trials(session, code), records_of(session)
    if session.store.unreadable:
        raise RequestError(f"{len(session.store.unreadable)} record(s) are damaged; run: {command_for(session)}")
    if missing := sum(planned.state == "missing" for planned in own):
        raise RequestError(
            f"{missing} of {len(own)} trials of plugin {plugin!r} are not done; run: {command_for(session)}"
        )
    records = _only(whole, {planned.name for planned in own})
    is_published = _agree(session, records, code)
    _passes_the_kit(plugin, progress)
    folder, name = parent / plugin, session.suite.name
    submission = read_folder(folder) if (folder / SUBMISSION).exists() else {}
    if folder.exists() and not submission and any(folder.iterdir()):
        raise RequestError(f"{folder} exists and is not a submission: it has no {SUBMISSION}")
    others = {suite: about for suite, about in submission.get("suites", {}).items() if suite != name}
    if others and submission["source"] != code.source:
        raise RequestError(
            f"{folder} holds records of {', '.join(sorted(others))} from other code of plugin {plugin!r}; remove it, "
            "and submit every suite again"
        )
    methods = _methods(records)
    suites = {
        **others,
        name: {"records": len(records.infos), "methods": methods, "suite": sha256_text(session.suite.text)},
    }
    now = {
        "plugin": plugin,
        "distribution": code.distribution,
        "version": code.version,
        "licence": code.licence,
        "source": code.source,
        "install": wheel.name if wheel is not None else requirement,
        "suites": dict(sorted(suites.items())),
    }
    shown = published_form(records, shown_names(session.suite))
    files = write_export(shown, folder / name, session.suite.needed_metrics())
    files[folder / f"{name}.toml"] = session.suite.text.encode()
    if wheel is not None:
        files[folder / wheel.name] = wheel.read_bytes()
    files |= summary_files(folder, now)
    write_files(files)
    return Submitted(folder, len(records.infos), tuple(methods), is_published)


def check_submission(session: SuiteSession, progress: Callable[[str], None] = lambda name: None) -> Submitted:
    """Check the folder of a submitted suite's file: everything but the numbers in its records.

    The plugin must be installed from the wheel or requirement that the folder names.

    Args:
        session: the submitted suite. Its ``out`` holds the published records.
        progress: as for `submit`.

    Raises:
        RequestError: the folder differs from what `submit` would have written.
    """
    folder, name = Path(session.suite.path).parent, session.suite.name
    submission = read_folder(folder)
    code = code_of(session.registry, submission["plugin"])
    if folder.name != submission["plugin"]:
        raise RequestError(f"{folder} must have its plugin's name, {submission['plugin']!r}")
    if (code.version, code.source) != (submission["version"], submission["source"]):
        raise RequestError(
            f"{folder}: the installed plugin {submission['plugin']!r} (version {code.version}) is not the submitted "
            f"one (version {submission['version']}); install {submission['install']}"
        )
    if submission["install"].endswith(".whl"):
        wheel_holds(folder / Path(submission["install"]).name, code)
    if Path(session.suite.path).name != f"{name}.toml" or name not in submission["suites"]:
        raise RequestError(f"{session.suite.path}: {folder / SUBMISSION} does not name this suite {name!r}")
    if submission["suites"][name]["suite"] != sha256_text(session.suite.text):
        raise RequestError(f"{session.suite.path} is not the file that was submitted")
    refuse_other_files(folder, submission)
    records = read_export(folder / name)
    if records is None:
        raise RequestError(f"{folder / name / RECORDS} is missing")
    own = _own_trials(session, code)
    wanted = {planned.name for planned in own}
    if lacking := wanted - set(records.infos):
        raise RequestError(f"{folder / name}: {len(lacking)} of {len(wanted)} records of the plugin are missing")
    if foreign := set(records.infos) - wanted:
        raise RequestError(f"{folder / name}: {len(foreign)} record(s) are not of the plugin's trials in this suite")
    frame = records.policies
    spared = set(frame.loc[frame["status"] == "not applicable", "name"])
    spared -= {planned.name for planned in own if planned.state == "not applicable"}
    if spared:
        raise RequestError(
            f"{folder / name}: {len(spared)} record(s) are marked as not applicable, but their trials are applicable"
        )
    is_published = _agree(session, records, code)
    _passes_the_kit(submission["plugin"], progress)
    return Submitted(folder, len(records.infos), tuple(_methods(records)), is_published)


def _own_trials(session: SuiteSession, code: Code) -> list[Planned]:
    """The suite's trials whose method, data set or prices are the plugin's.

    Raises:
        RequestError: there are none, or a data set of the suite is unavailable.
    """
    registry, plan = session.registry, session.plan()

    def is_own(planned: Planned) -> bool:
        return any(registry.plugin_of(kind, use).name == code.plugin for kind, use in planned.trial.uses.items())

    for label, message in plan.unavailable.items():
        raise RequestError(f"data set {label!r} {message}")
    own = [planned for planned in plan.planned if is_own(planned)]
    if not own:
        offered = sorted(name for name, origin in registry.methods.origins.items() if origin == code.plugin)
        hint = f'; add [[methods]] with use = "{offered[0]}"' if offered else ""
        raise RequestError(f"{session.suite.path} uses nothing of plugin {code.plugin!r}{hint}")
    return own


def _only(records: Records, names: set[str]) -> Records:
    frame = records.policies[records.policies["name"].isin(names)].reset_index(drop=True)
    frame = frame.drop(columns=[c for c in frame.columns if "." in c and frame[c].isna().all()])
    return Records(
        frame,
        {name: info for name, info in records.infos.items() if name in names},
        {name: run for name, run in records.runs.items() if name in names},
        {dataset: text for dataset, text in records.definitions.items() if dataset in set(frame["dataset"])},
    )


def _methods(records: Records) -> list[str]:
    return sorted(set(records.policies["method"]))


def _agree(session: SuiteSession, records: Records, code: Code) -> bool:
    """Check a suite's records, and return whether the suite is published.

    Raises:
        RequestError: a trial failed, a record was made without strict isolation or by other code, or the suite is
            published with other data or another protocol.
    """
    frame = records.policies
    failed = frame[frame["status"] == "failed"]
    for name, method, dataset, seed in failed[["name", "method", "dataset", "seed"]].itertuples(index=False):
        error = records.infos[str(name)]["error"]
        raise RequestError(
            f"{len(failed)} trial(s) failed, such as {method} on {dataset}, seed {seed}: "
            f"{error['type']}: {error['message']}"
        )
    done = records.done
    loose = [name for name in done if records.runs.get(name, {}).get("provenance", {}).get("isolation") != "strict"]
    if loose:
        raise RequestError(
            f"{len(loose)} of {len(done)} records were not made with --isolation strict; run the suite with it, into "
            "another --store and --out"
        )
    plugin = code.registry.plugins[code.plugin]
    if other := [name for name in done if not plugin.made(records.runs[name]["provenance"])]:
        raise RequestError(
            f"{len(other)} of {len(done)} records were made by other code of plugin {code.plugin!r} than is installed; "
            "run the suite into another --store and --out; if results change, raise the method's (data set's, "
            "scheme's) version"
        )
    committed = published(session).whole
    if committed is None:
        return False
    _same_data(session, committed, records)
    plan = session.plan()
    for loss in find_losses(session.suite, plan, committed, records_of(session, plan)):
        raise RequestError(
            f"{session.suite.path} is not the published suite with your entry added: {loss}; change nothing else in it"
        )
    return True


def _same_data(session: SuiteSession, committed: Records, records: Records) -> None:
    """Refuse records of data that differs from the published data.

    Raises:
        RequestError: a data set has another hash; the message names both.
    """
    known = {
        dataset: committed.identities[name]["dataset"]
        for dataset, name in committed.policies[["dataset", "name"]].drop_duplicates("dataset").itertuples(index=False)
    }
    own = records.policies[["dataset", "name"]].drop_duplicates("dataset")
    for dataset, name in own.itertuples(index=False):
        content = records.identities[name]["dataset"]
        if known.get(dataset, content) != content:
            raise RequestError(
                f"data set {dataset!r} is not the published one: its hash is {content[:16]}…, that of the published "
                f"one {known[dataset][:16]}…; see: bench data verify"
            )


def _passes_the_kit(plugin: str, progress: Callable[[str], None]) -> None:
    rows = check_plugin(plugin, progress)
    for thing, check, task, outcome, message in rows:
        if outcome == "failed":
            count = sum(row[3] == "failed" for row in rows)
            where = f"{check} ({task})" if task != "-" else check
            raise RequestError(f"the contract kit fails {count} check(s), such as {thing}: {where}: {message}")
