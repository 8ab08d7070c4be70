"""Where a page's numbers come from: suite, data, plugins, libraries, processor, date, command."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bench_records import Records, strict_records

from bench_core import sha256_text
from bench_core.suites import Suite
from bench_leaderboard.render.markdown import code, text

__all__ = ["imported_by_judge", "levels_of", "plugins_in_judge", "processors", "provenance"]

_CORE = "budgetbench"
"""The distribution of the core."""


def provenance(suite: Suite, records: Records, verified: Mapping[str, str]) -> dict[str, Any]:
    """The contents of a page's last section: a command, facts, plugins, and contents of data sets.

    Args:
        suite, records: those of the page.
        verified: see `bench_records.verified.read_verified`.
    """
    typed = Path(suite.path)  # the path from the folder where the command runs, or the name of a suite of the core
    path = "/".join((typed.resolve() if typed.is_file() else typed).parts[-2:])  # in the repository
    facts = [("Suite", f"{code(path)}, SHA-256 {code(sha256_text(suite.text)[:16])}")]
    origins = [run["provenance"] for run in records.runs.values()]
    if origins:
        facts += [
            ("Records", f"{len(records.infos)}, the newest of {text(max(o.get('date', '') for o in origins))}"),
            ("Processor", processors(records)),
            ("Platform", _distinct(o.get("platform", "unknown") for o in origins)),
            ("Python", _distinct(o.get("python", "unknown") for o in origins)),
            ("Plugins that the judge needs", _in_judge(suite)),
        ]
        strictly, again = strict_records(records, verified)
        facts.append(("Isolation", f"{strictly} records computed strictly, {again} others verified strictly"))
        facts += _versions(origins, "libraries")
    return {
        "command": f"bench run {shlex.quote(path)} --out results",
        "verify": f"bench verify {shlex.quote(path)}",
        "facts": facts,
        "plugins": _versions(origins, "plugins"),
        "contents": _contents(suite, records),
    }


def plugins_in_judge(suite: Suite) -> dict[str, list[str]]:
    """The plugins that are trusted with labels and records, by name → what the suite uses of them.

    That is ``data sets``, ``cost schemes`` and ``metrics``; the core itself is left out.
    """
    entries = suite.file.datasets
    used = {
        "data sets": [("datasets", entry.use) for entry in entries],
        "cost schemes": [("cost_schemes", costs.use) for entry in entries for costs in entry.costs],
        "metrics": [("metrics", name) for name in suite.needed_metrics()],
    }
    plugins: dict[str, list[str]] = {}
    for what, uses in used.items():
        found = [suite.registry.plugin_of(*use) for use in uses]
        for name in {plugin.name for plugin in found if plugin.distribution != _CORE}:
            plugins.setdefault(name, []).append(what)
    return dict(sorted(plugins.items()))


def _in_judge(suite: Suite) -> str:
    plugins = [f"{text(name)} ({', '.join(brought)})" for name, brought in plugins_in_judge(suite).items()]
    return "; ".join(plugins) or "none"


def imported_by_judge(records: Records) -> str:
    """The distributions that plugins brought into the judge's process, by the number of records."""
    counts = Counter(name for origin in _of_done(records) for name in origin.get("judge", ["not recorded"]))
    by_count: dict[int, list[str]] = {}
    for name, count in sorted(counts.items()):
        by_count.setdefault(count, []).append(name.removeprefix("budgetbench-"))
    return "; ".join(f"{text(', '.join(names))} ({count} records)" for count, names in sorted(by_count.items())[::-1])


def levels_of(records: Records) -> str:
    """The number of records at each level of isolation."""
    levels = Counter(origin.get("isolation", "not recorded") for origin in _of_done(records))
    return ", ".join(f"{text(level)} ({count} records)" for level, count in sorted(levels.items()))


def _of_done(records: Records) -> list[Mapping[str, Any]]:
    """Where the records of finished trials come from."""
    names = {name for trials in records.trials.values() for name in trials}
    return [records.runs[name]["provenance"] for name in sorted(names & records.runs.keys())]


def processors(records: Records) -> str:
    """The processors that records were made on."""
    return _distinct(run["provenance"].get("processor", "unknown") for run in records.runs.values())


def _distinct(values: Iterable[str]) -> str:
    """The values that occur; with counts when there are several."""
    counts = Counter(values)
    if len(counts) < 2:
        return text(next(iter(counts), "not recorded"))
    return "; ".join(f"{text(value)} ({counts[value]} records)" for value in sorted(counts))


def _versions(origins: Iterable[dict[str, Any]], kind: str) -> list[tuple[str, str]]:
    """Name → the versions that records were made with."""
    versions: dict[str, list[str]] = {}
    for origin in origins:
        for name, version in origin.get(kind, {}).items():
            if isinstance(version, dict):
                version = f"{version.get('version', '')} {version.get('source', '')}".strip()
            versions.setdefault(name, []).append(str(version))
    return [(text(name), _distinct(versions[name])) for name in sorted(versions)]


def _contents(suite: Suite, records: Records) -> list[list[str]]:
    """Data set and content hash; several when records were made from different contents."""
    contents: dict[str, set[str]] = {}
    for (dataset, _, _), names in records.trials.items():
        contents.setdefault(dataset, set()).update(records.identities[name]["dataset"] for name in names)
    return [
        [text(dataset), ", ".join(code(content[:16]) for content in sorted(contents[dataset]))]
        for dataset in suite.dataset_names()
        if dataset in contents
    ]
