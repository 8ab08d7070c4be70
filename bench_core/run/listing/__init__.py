"""The registry of a judge: what plugins offer, as each told in a process of its own, and none of them imported.

A plugin is imported here when a data set, cost scheme, metric, executor or section of it is asked for by name: what a
suite uses of that kind runs in the judge, by the suite's own choice. Methods are never asked for here: they are listed
(`bench_core.plugins.listed`), and questions about them go to a process that has imported their plugin. A distribution
that brings no method may act in the judge by other hooks, and is imported at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_core.contract.canonical import canonical_json, plain, sha256_text
from bench_core.contract.errors import RequestError
from bench_core.contract.facts import DataFacts
from bench_core.plugins.from_listings import import_acting, register_listed
from bench_core.plugins.listed import ListedMethod, Listing, MethodSpec, listing_from, spec_from
from bench_core.plugins.manager import installed, load_registry
from bench_core.plugins.registry import Registry
from bench_core.plugins.shelf import Plugin
from bench_core.run.listing.cache import ListingCache

if TYPE_CHECKING:
    import pluggy

    from bench_core.run.listing.judge import Listers

__all__ = ["listed_registry"]

_MOST_LISTING, _MOST_ASKED, _MOST_KEPT = 2**22, 1000, 20_000


def listed_registry(
    manager: pluggy.PluginManager | None = None, cache: Path | None = None, closed: Iterable[Path] = ()
) -> Registry:
    """The built-ins, and what every installed plugin tells of itself.

    Args:
        manager: what to register plugins with; a new one by default.
        cache: the folder that holds what plugins told before; that of the environment by default.
        closed: what plugins must not read while they tell of themselves.
    """
    from bench_core.contract.dataset import DataContext

    cache = DataContext.from_environment().cache if cache is None else cache
    registry = load_registry(entry_points=False, manager=manager)
    asker = registry.asker = _Asker(registry, ListingCache(cache / "listings"), [cache, *closed])
    plugins: list[tuple[Plugin, Listing | None]] = []
    for plugin in installed(registry.manager):
        try:
            plugins.append((plugin, asker.listing(plugin)))
        except _listing_error() as error:
            plugins.append((replace(plugin, error=str(error)), None))
    register_listed(registry, plugins)
    import_acting(registry)
    return registry


def _listing_error() -> type[Exception]:
    from bench_core.run.listing.judge import ListingError

    return ListingError


class _Asker:
    """Asks plugins, once for every question: what was answered is remembered, here and in the cache.

    Args:
        registry: its plugins are asked.
        cache: what was told before.
        closed: what plugins must not read.
    """

    def __init__(self, registry: Registry, cache: ListingCache, closed: Iterable[Path]) -> None:
        self._registry, self._cache, self._closed = registry, cache, list(closed)
        self._listers: Listers | None = None
        self._known: dict[str, dict[str, Any]] = {}
        self._read: dict[str, set[str]] = {}

    @property
    def _started_listers(self) -> Listers:
        if self._listers is None:
            from bench_core.run.listing.judge import Listers

            self._listers = Listers(self._closed)
        return self._listers

    @property
    def processes(self) -> set[int]:
        return set() if self._listers is None else self._listers.processes

    def close(self) -> None:
        if self._listers is not None:
            self._listers.close()

    def listing(self, plugin: Plugin) -> Listing:
        """What a plugin offers, as it is kept or as it tells now.

        Raises:
            ListingError: it cannot be loaded, or tells what it must not.
        """
        stored = self._cache.get(plugin, "listing")
        if stored is not None:
            with suppress(ValueError):
                return listing_from(stored, plugin.name)
        values, files = self._started_listers.tell(plugin)
        try:
            if len(canonical_json(values).encode()) > _MOST_LISTING:
                raise ValueError("what it said of itself is too long")
            listing = listing_from(values, plugin.name)
        except (TypeError, ValueError) as error:
            raise _listing_error()(str(error)) from None
        self._cache.put(plugin, "listing", values, files)
        return listing

    def build(self, plugin: str, requests: Sequence[tuple[ListedMethod, Mapping[str, Any], str]]) -> list[Any]:
        asked = [[method.name, plain(parameters), where] for method, parameters, where in requests]
        keys = [_key("build", *question[:2]) for question in asked]
        answers = self._answers(plugin, {"do": "build"}, keys, asked, lambda answer: "refused" not in answer)
        if isinstance(answers, Exception):
            refused = f"plugin {plugin!r} does not say what its methods are: {answers}"
            return [RequestError(f"{where}: {refused}") for _, _, where in requests]
        built: list[Any] = []
        for (method, _, where), answer in zip(requests, answers, strict=True):
            try:
                if isinstance(answer, dict) and isinstance(answer.get("refused"), str):
                    raise RequestError(answer["refused"])
                built.append(spec_from(answer, method))
            except RequestError as error:
                built.append(error)
            except ValueError as error:
                built.append(RequestError(f"{where}: plugin {plugin!r}: {error}"))
        return built

    def ask(self, plugin: str, what: str, asked: Sequence[tuple[MethodSpec, DataFacts]]) -> list[Any]:
        facts: dict[int, tuple[int, str]] = {}
        tables: list[dict[str, Any]] = []
        questions, keys = [], []
        for method, data in asked:
            if id(data) not in facts:
                tables.append(data.as_plain())
                facts[id(data)] = len(tables) - 1, sha256_text(canonical_json(tables[-1]))
            place, text = facts[id(data)]
            questions.append([method.use, method.given, place])
            keys.append(_key(what, method.use, method.given, text))
        answers = self._answers(plugin, {"do": "ask", "what": what, "facts": tables}, keys, questions)
        if isinstance(answers, Exception):
            return [None] * len(asked)
        kinds: tuple[type, ...] = (str,) if what == "inapplicable" else (int, float)
        return [answer if isinstance(answer, kinds) and not isinstance(answer, bool) else None for answer in answers]

    def _answers(
        self,
        plugin: str,
        header: Mapping[str, Any],
        keys: list[str],
        asked: list[Any],
        is_lasting: Any = lambda answer: True,
    ) -> list[Any] | Exception:
        """The answers to questions: those that are known, and the others as the plugin gives them now."""
        named = self._registry.plugins[plugin]
        if plugin not in self._known:
            stored = self._cache.get(named, "answers") or {"answers": {}, "files": []}
            self._known[plugin], self._read[plugin] = stored["answers"], set(stored["files"])
        known, files, new = self._known[plugin], self._read[plugin], dict[str, Any]()
        missing = {key: question for key, question in zip(keys, asked, strict=True) if key not in known}
        left = list(missing)
        for start in range(0, len(left), _MOST_ASKED):
            part = left[start : start + _MOST_ASKED]
            try:
                answers, read = self._started_listers.ask(named, {**header, "asked": [missing[key] for key in part]})
            except _listing_error() as error:
                return error
            new |= dict(zip(part, answers, strict=True))
            files |= set(read)
        lasting = {key: answer for key, answer in new.items() if is_lasting(answer)}
        known |= lasting
        if lasting:
            stored = {"answers": dict(list(known.items())[-_MOST_KEPT:]), "files": sorted(files)}
            self._cache.put(named, "answers", stored, files)
        return [known[key] if key in known else new[key] for key in keys]


def _key(*parts: Any) -> str:
    return sha256_text(canonical_json(list(parts)))
