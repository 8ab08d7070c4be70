"""Convert trials to plain JSON values and back, and check that a machine has the plugins and data to run them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bench_core import CONTRACT_VERSION, RequestError, SplitRule, build
from bench_core.execution import Worker, WorkerSettings, parameters_of, with_hint
from bench_core.suites import Planned, Registry, Trial

__all__ = ["needs_of", "planned_from_plain", "planned_to_plain", "request_of", "unmet"]

_SAME = ("dataset", "costs", "method", "point", "encode", "threshold", "reject", "seed", "audit_rounds")
_OF_THE_CORE = "error"
"""A metric of the core, which makes the core itself one of the plugins that a machine must have."""


def planned_to_plain(planned: Planned) -> dict[str, Any]:
    """Return a trial, its data's content hash and its name as plain JSON values; see `planned_from_plain`."""
    trial = planned.trial
    used = {
        "source": [trial.dataset_use, parameters_of(trial.source)],
        "scheme": [trial.costs_use, parameters_of(trial.scheme)],
        "estimator": [trial.method_use, parameters_of(trial.estimator)],
    }
    same = {key: getattr(trial, key) for key in _SAME}
    return {**same, **used, "split": parameters_of(trial.split), "content": planned.content, "name": planned.name}


def planned_from_plain(plain: Mapping[str, Any], registry: Registry) -> Planned:
    """Build a trial with the plugins of this machine; the inverse of `planned_to_plain`.

    Raises:
        RequestError: a plugin is missing or refuses the parameters, or the trial built from them has another name.
    """
    name = plain["name"]
    where = f"trial {name[:16]}"
    (dataset_use, source), (costs_use, scheme), (method_use, method) = (
        plain["source"],
        plain["scheme"],
        plain["estimator"],
    )
    trial = Trial(
        **{key: plain[key] for key in _SAME},
        dataset_use=dataset_use,
        source=build(registry.dataset(dataset_use, where), source, f"{where}: {dataset_use}"),
        costs_use=costs_use,
        scheme=build(registry.cost_scheme(costs_use, where), scheme, f"{where}: {costs_use}"),
        method_use=method_use,
        estimator=registry.build_method(method_use, method, f"{where}: {method_use}"),
        split=build(SplitRule, plain["split"], f"{where}: split"),
    )
    if trial.name(plain["content"]) != name:
        raise RequestError(f"{where}: this machine's plugins build another trial: {trial.identity(plain['content'])}")
    return Planned(trial, plain["content"], name, "missing")


def needs_of(todo: Iterable[Planned], metrics: Iterable[str], registry: Registry) -> dict[str, Any]:
    """Return the plugins and data that a machine needs to run trials as this one does, as plain JSON values."""
    datasets = {planned.content: planned for planned in todo}
    uses = {(kind, name) for planned in todo for kind, name in planned.trial.uses.items()}
    uses |= {("metrics", name) for name in [*metrics, _OF_THE_CORE]}
    plugins = [registry.plugin_of(kind, name) for kind, name in sorted(uses)]
    return {
        "contract": CONTRACT_VERSION,
        "plugins": {plugin.name: [plugin.version, plugin.source[:16]] for plugin in plugins},
        "datasets": [planned_to_plain(planned) for planned in datasets.values()],
    }


def unmet(needs: Mapping[str, Any], registry: Registry, worker: Worker) -> list[str]:
    """Return the reasons why this machine cannot run trials with the given needs; empty if it can.

    Args:
        needs: from `needs_of`, on the run's machine.
        registry: the plugins of this machine.
        worker: loads the data sets.
    """
    if needs["contract"] != CONTRACT_VERSION:
        return [f"it has contract {CONTRACT_VERSION}, the run has contract {needs['contract']}"]
    reasons = []
    for name, (version, source) in needs["plugins"].items():
        plugin = registry.plugins.get(name)
        if plugin is None:
            reasons.append(f"it has no plugin {name!r} (version {version})")
        elif plugin.error:
            reasons.append(f"its plugin {name!r} could not be loaded: {plugin.error}")
        elif (plugin.version, plugin.source[:16]) != (version, source):
            theirs = f"version {plugin.version or '-'}, source {plugin.source[:16] or '-'}"
            reasons.append(f"its plugin {name!r} differs ({theirs}; the run's: version {version}, source {source})")
    return reasons or [reason for plain in needs["datasets"] for reason in _unmet_data(plain, registry, worker)]


def _unmet_data(plain: Mapping[str, Any], registry: Registry, worker: Worker) -> list[str]:
    """Return the reasons why a trial's data set cannot be used on this machine."""
    try:
        planned = planned_from_plain(plain, registry)
    except Exception as error:
        return [with_hint(error)]
    trial = planned.trial
    try:
        content = worker.cache.content(trial.dataset_use, trial.source)
    except Exception as error:
        return [f"its data set {trial.dataset!r} cannot be used: {with_hint(error)}"]
    if content != planned.content:
        hashes = f"its content hash is {content[:16]}, the run's {planned.content[:16]}"
        return [f"its data set {trial.dataset!r} differs: {hashes}"]
    return []


def request_of(settings: WorkerSettings) -> dict[str, Any]:
    """Return the settings of a run that a `bench_dask.process.TrialProcess` needs, as plain JSON values."""
    same = {
        name: getattr(settings, name) for name in ("metrics", "memory", "isolation", "timeout", "audit_seed", "judge")
    }
    return {**same, "offline": settings.context.offline}
