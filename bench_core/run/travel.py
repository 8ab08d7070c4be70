"""A planned trial as plain JSON values, and back: how it gets to a machine that has the same plugins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench_core.contract.errors import RequestError
from bench_core.contract.parameters import build, given_parameters, to_plain
from bench_core.plugins.registry import Registry
from bench_core.protocol.split import SplitRule
from bench_core.run.plan import Planned
from bench_core.run.trial import Trial, parameters_of

__all__ = ["planned_from_plain", "planned_to_plain"]

_SAME = ("dataset", "costs", "method", "point", "encode", "threshold", "reject", "seed", "audit_rounds")


def planned_to_plain(planned: Planned) -> dict[str, Any]:
    """A trial, the hash of its data and its name, as plain JSON values; `planned_from_plain` is the inverse."""
    trial = planned.trial
    used = {
        "source": [trial.dataset_use, given_parameters(trial.source)],
        "scheme": [trial.costs_use, given_parameters(trial.scheme)],
        "estimator": [trial.method_use, parameters_of(trial.estimator)],
    }
    same = {key: getattr(trial, key) for key in _SAME}
    return {**same, **used, "split": to_plain(trial.split), "content": planned.content, "name": planned.name}


def planned_from_plain(plain_trial: Mapping[str, Any], registry: Registry) -> Planned:
    """The trial that was told of, made by the plugins that are here.

    Raises:
        RequestError: a plugin is not here, does not take the parameters, or makes another trial of them than was
            meant: it is another version.
    """
    name = plain_trial["name"]
    where = f"trial {name[:16]}"
    (dataset_use, source), (costs_use, scheme), (method_use, method) = (
        plain_trial["source"],
        plain_trial["scheme"],
        plain_trial["estimator"],
    )
    trial = Trial(
        **{key: plain_trial[key] for key in _SAME},
        dataset_use=dataset_use,
        source=build(registry.dataset(dataset_use, where), source, f"{where}: {dataset_use}"),
        costs_use=costs_use,
        scheme=build(registry.cost_scheme(costs_use, where), scheme, f"{where}: {costs_use}"),
        method_use=method_use,
        estimator=registry.build_method(method_use, method, f"{where}: {method_use}"),
        split=build(SplitRule, plain_trial["split"], f"{where}: split"),
    )
    if trial.name(plain_trial["content"]) != name:
        raise RequestError(
            f"{where}: the plugins here make another trial of it: {trial.identity(plain_trial['content'])}"
        )
    return Planned(trial, plain_trial["content"], name, "missing")
