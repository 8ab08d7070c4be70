"""An installed plugin, and the catalogue of everything of one kind that plugins registered."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from bench_core.contract.canonical import source_hash
from bench_core.contract.errors import ContractError, refused_name
from bench_core.plugins.descriptions import MethodDescription, Unimported

T = TypeVar("T")

CORE, BUILT_IN = "bench-core", "bench_core.builtin"
"""Name and module of the core as a plugin: its built-in cost schemes and metrics."""


@dataclass(frozen=True)
class Plugin:
    """One plugin, loaded or broken.

    Attributes:
        name: the entry point's name.
        distribution: the distribution it is installed as; may be empty.
        version: that distribution's version.
        module: the module that the entry point names.
        error: why it could not be loaded; empty if it was.
        folder: its code, for the source hash: a folder, or a single file; None if it cannot be found.
    """

    name: str
    distribution: str
    version: str
    module: str
    error: str = ""
    folder: Path | None = None

    @cached_property
    def source(self) -> str:
        """SHA-256 of the plugin's Python files (provenance); empty when they cannot be found."""
        return source_hash(self.folder) if self.folder is not None and self.folder.exists() else ""

    def made(self, provenance: Mapping[str, Any]) -> bool:
        """Whether a record with this provenance was made by the plugin's installed code."""
        return bool(provenance.get("plugins", {}).get(self.name, {}).get("source") == self.source[:16])


class Catalogue(UserDict[str, T]):
    """Registered objects of one kind, by name, with the plugin that registered each.

    The plugin of an `Unimported` object is imported on first access; iterating over the names imports nothing.

    Attributes:
        kind: the kind's name in messages.
        base: the base class of registered classes, or the class of registered objects.
        named_by: the attribute that holds an object's name.
        origins: name → plugin.
        claims: name → plugins, for names that several plugins claim.
    """

    def __init__(self, kind: str, base: type[Any], named_by: str = "name") -> None:
        super().__init__()
        self.kind, self.base, self.named_by = kind, base, named_by
        self.origins: dict[str, str] = {}
        self.claims: dict[str, list[str]] = {}

    def __getitem__(self, name: str) -> T:
        thing = self.data[name]
        if isinstance(thing, Unimported):
            thing.fetch()
        return self.data[name]

    def described(self, name: str) -> Mapping[str, Any]:
        """The description of an object (`bench_core.plugins.description.description_of`). It imports nothing."""
        from bench_core.plugins.description import description_of

        thing = self.data[name]
        return asdict(thing.about) if isinstance(thing, MethodDescription | Unimported) else description_of(thing)

    def add(self, plugin: str, name: str, thing: Any) -> None:
        """Register an object under a name. If several plugins claim the name, the first one keeps it.

        Raises:
            ContractError: an invalid name.
        """
        if refused := refused_name(name):
            raise ContractError(f"{self.kind}: {refused}")
        if name in self:
            self.claims.setdefault(name, [self.origins[name]]).append(plugin)
        else:
            self[name], self.origins[name] = thing, plugin

    def add_class(self, plugin: str, name: str, thing: Any) -> None:
        """Register a class of parameters under a name.

        Raises:
            ContractError: an invalid name, or a class that is not of this kind or no dataclass.
        """
        if not (isinstance(thing, type) and issubclass(thing, self.base)):
            raise ContractError(f"{self.kind} {name!r} must be a subclass of {self.base.__name__}, not {thing!r}")
        if not hasattr(thing, "__dataclass_fields__"):
            raise ContractError(f"{self.kind} {name!r}: {thing.__name__} must be a dataclass (frozen=True)")
        self.add(plugin, name, thing)

    def add_object(self, plugin: str, thing: Any) -> None:
        """Register an object under its own name.

        Raises:
            ContractError: an invalid name, or an object that is not of this kind.
        """
        if not isinstance(thing, self.base):
            raise ContractError(f"a {self.kind} must be a bench_core.{self.base.__name__}, not {thing!r}")
        self.add(plugin, getattr(thing, self.named_by), thing)

    def drop(self, plugin: str) -> None:
        """Forget what a plugin registered before it failed."""
        for name in [name for name, origin in self.origins.items() if origin == plugin]:
            del self[name], self.origins[name]
        left = {name: [other for other in claims if other != plugin] for name, claims in self.claims.items()}
        self.claims = {name: claims for name, claims in left.items() if len(claims) > 1}

    def conflict(self, name: str) -> str:
        """The error message for a name that several plugins claim."""
        return f"the {self.kind} name {name!r} is claimed by plugins {' and '.join(map(repr, self.claims[name]))}"
