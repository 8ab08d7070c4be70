"""Trials, the units of work, and their names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from bench_core.contract.canonical import canonical_json, sha256_text
from bench_core.contract.method import Method
from bench_core.contract.parameters import given_parameters, to_plain
from bench_core.contract.sources import CostScheme, DataSource
from bench_core.plugins.descriptions import ConfiguredMethod
from bench_core.protocol.split import SplitRule

__all__ = ["TRIAL_VERSION", "Trial", "fragment", "parameters_of"]

TRIAL_VERSION = 1
"""Raised when the meaning of a trial changes; part of every trial's name."""


@dataclass(frozen=True)
class Trial:
    """Data set × split seed × cost scheme × method × parameters.

    The labels (``dataset``, ``costs``, ``method``, ``point``) are chosen by the suite and are not part of the trial's
    name, nor is ``only_costs``, whether the data set has no other costs. Everything else is. If the method's plugin is
    not imported, ``estimator`` is a `ConfiguredMethod`.
    """

    dataset: str
    dataset_use: str
    source: DataSource
    costs: str
    costs_use: str
    scheme: CostScheme
    method: str
    method_use: str
    estimator: Method | ConfiguredMethod
    point: int
    split: SplitRule
    encode: str
    threshold: float | None
    reject: bool
    seed: int
    audit_rounds: int = 2
    caps: tuple[int, ...] = ()
    only_costs: bool = False

    @property
    def uses(self) -> dict[str, str]:
        """Kind of registered object → the name of the one that this trial uses."""
        return {"datasets": self.dataset_use, "cost_schemes": self.costs_use, "methods": self.method_use}

    @property
    def title(self) -> str:
        """The trial's method, data set, cost scheme and seed, for messages."""
        return f"{self.method} on {self.dataset}, costs {self.costs}, seed {self.seed}"

    @property
    def short_title(self) -> str:
        """The title; the cost scheme is left out if the data set has no other."""
        return f"{self.method} on {self.dataset}, seed {self.seed}" if self.only_costs else self.title

    def identity(self, content: str) -> str:
        """Canonical JSON of everything that determines the result.

        Args:
            content: the data set's content hash.
        """
        # Written key by key, in sorted order: the fragments are shared by thousands of trials.
        caps = f'"caps":{canonical_json(self.caps)},' if self.caps else ""
        return (
            f'{{"audit_rounds":{self.audit_rounds},{caps}"contract":{TRIAL_VERSION},'
            f'"costs":{fragment(self.costs_use, self.scheme)},'
            f'"dataset":"{content}","encode":"{self.encode}",'
            f'"method":{fragment(self.method_use, self.estimator)},'
            f'"reject":{"true" if self.reject else "false"},"seed":{self.seed},'
            f'"split":{canonical_json(to_plain(self.split))},"threshold":{canonical_json(self.threshold)}}}'
        )

    def name(self, content: str) -> str:
        """SHA-256 of `identity`: the trial's name in the store."""
        return sha256_text(self.identity(content))


def fragment(use: str, thing: Any) -> str:
    """Canonical JSON of a registered object: its name, version and parameters. Cached per instance."""
    return _fragment(use, _Same(thing))


@dataclass(frozen=True, eq=False)
class _Same:
    """A key that compares an instance by identity: ``1`` and ``1.0`` are equal parameters with different JSON."""

    thing: Any

    def __hash__(self) -> int:
        return object.__hash__(self.thing)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.thing is other.thing


@lru_cache(maxsize=200_000)
def _fragment(use: str, same: _Same) -> str:
    thing = same.thing
    if isinstance(thing, ConfiguredMethod):
        version, parameters = thing.version, thing.parameters
    else:
        version, parameters = type(thing).version, to_plain(thing)
    return canonical_json({"use": use, "version": version, "parameters": parameters})


def parameters_of(thing: Any) -> dict[str, Any]:
    """The parameters of a registered object that differ from their defaults, as plain JSON values."""
    return dict(thing.given) if isinstance(thing, ConfiguredMethod) else given_parameters(thing)
