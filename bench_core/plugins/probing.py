"""The code in the probe's restricted process: it imports one plugin, describes it, and answers questions about methods.

It runs in the same process as untrusted code. `bench_core.plugins.probe` validates all answers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from inspect import signature
from typing import Any

import pluggy

from bench_core.contract.canonical import plain
from bench_core.contract.errors import RequestError, attempt
from bench_core.contract.facts import DataFacts
from bench_core.contract.method import Method
from bench_core.contract.parameters import build, given_parameters, to_plain
from bench_core.plugins.description import description_of
from bench_core.plugins.descriptions import QUESTIONS
from bench_core.plugins.manager import hooks_of, load_registry, one_line, registered_alone

__all__ = ["Probing", "prepare"]

_LIMITS = ("classes_limit", "features_limit", "takes_missing", "needs_threshold")
_Answer = tuple[dict[str, Any], dict[str, Any]]


def prepare() -> None:
    """Import the core's modules that plugins need, once, before processes are forked."""
    load_registry(entry_points=False)


class Probing:
    """One plugin, imported in this process.

    Args:
        settings: the plugin's ``name``, and the ``module`` that its entry point names.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        os.environ["NUMBA_CACHE_DIR"] = os.getcwd()
        self._name = settings["name"]
        self._registry = registered_alone(self._name, settings["module"])
        self._methods: Mapping[str, type[Method]] = self._registry.methods
        self._instances: dict[tuple[str, str], Any] = {}

    def describe(self, values: Mapping[str, Any], arrays: object) -> _Answer:
        """Describe the plugin; the answer has the form of a `PluginDescription`."""
        registry = self._registry
        things = {kind: getattr(registry, kind).items() for kind in ("datasets", "cost_schemes", "metrics")}
        return {
            **{kind: {name: description_of(thing) for name, thing in things[kind]} for kind in things},
            "methods": {name: _method(cls) for name, cls in self._methods.items()},
            "sections": list(registry.sections),
            "executors": list(registry.executors),
            "hooks": hooks_of(registry.manager, self._name),
            "registrations": _registrations(registry.manager),
        }, {}

    def build(self, values: Mapping[str, Any], arrays: object) -> _Answer:
        """Build methods: ``questions`` (name, parameters, place for messages) → a `Built` or `Refused` for each."""
        return {"answers": [self._built(*question) for question in values["questions"]]}, {}

    def ask(self, values: Mapping[str, Any], arrays: object) -> _Answer:
        """Ask methods the question ``what``, one of `QUESTIONS`, about a data set; None for a method that fails.

        ``questions`` are as for `build`; ``facts`` are the facts of the data set.
        """
        facts = DataFacts.from_plain(values["facts"])
        return {"answers": [self._answer(values["what"], facts, *question) for question in values["questions"]]}, {}

    def _built(self, name: str, parameters: dict[str, Any], where: str) -> dict[str, Any]:
        try:
            method = build(self._methods[name], parameters, where)
            values = {"parameters": to_plain(method), "given": given_parameters(method)}
        except RequestError as error:
            return {"refused": str(error)}
        except Exception as error:
            return {"refused": f"{where}: {one_line(error)}"}
        limits = attempt(lambda: {"tasks": sorted(method.tasks), **{name: getattr(method, name) for name in _LIMITS}})
        return {**values, "limits": limits if isinstance(limits, dict) else None}

    def _answer(self, what: str, facts: DataFacts, name: str, given: dict[str, Any], where: str) -> Any:
        key = name, repr(given)
        if key not in self._instances:
            self._instances[key] = attempt(partial(build, self._methods[name], given, where))
        answer = attempt(lambda: plain(getattr(self._instances[key], what)(facts)))
        return None if isinstance(answer, BaseException) else answer


def _method(cls: type[Method]) -> dict[str, Any]:
    return {
        "version": cls.version,
        "asks": [name for name in QUESTIONS if getattr(cls, name) is not getattr(Method, name)],
        "about": description_of(cls),
    }


def _registrations(manager: pluggy.PluginManager) -> dict[str, list[tuple[str, ...]]]:
    """Hook of another plugin → the texts that this plugin registers there, for hooks that only register texts."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for hook in vars(manager.hook).values():
        for impl in hook.get_hookimpls() if hook.spec is None else ():
            calls: list[tuple[Any, ...]] = []
            if list(signature(impl.function).parameters) == ["register"]:
                failed = attempt(partial(impl.function, register=lambda *texts, calls=calls: calls.append(texts)))
                if failed is None and all(isinstance(text, str) for texts in calls for text in texts):
                    found[hook.name] = calls
    return found
