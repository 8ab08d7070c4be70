"""The code of solver and witness, which the judge calls: fit, copy policies, restore them, decide.

It runs in a restricted process (`bench_sandbox`) together with the plugin's code, which could change all of it. So the
judge (`bench_core.run.execute.isolated`) treats the answers as untrusted input.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import EntryPoint
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from bench_core.contract.canonical import plain
from bench_core.contract.costs import PRICE_ARRAYS, Costs
from bench_core.contract.dataset import Part
from bench_core.contract.decisions import Decisions, Rows
from bench_core.contract.errors import ContractError
from bench_core.contract.method import Family, Method, Policy, Problem, answers_early, as_family, can_be_asked
from bench_core.contract.parameters import build
from bench_core.plugins.manager import load_registry
from bench_core.protocol.audit import copied, restored
from bench_core.run.execute.kernels import load_numba, use_kernels
from bench_core.run.summary import describe

__all__ = ["Solving", "prepare", "problem_arrays", "problem_values", "rows_arrays"]

Arrays = Mapping[str, NDArray[Any]]
Answer = tuple[dict[str, Any], dict[str, Any]]

_MOST_TEXT = 20_000
_PLAIN = ("task", "n_classes", "threshold", "seed", "threads")
"""Fields of a problem that are plain JSON values."""
_LOADED: list[ThreadpoolController] = []
"""Libraries with threads that the server has loaded. Others read ``OMP_NUM_THREADS`` when they are loaded later."""


def prepare() -> None:
    """Prepare the server once for all solvers: import modules and load numba."""
    load_numba()
    load_registry(entry_points=False)
    _LOADED.append(ThreadpoolController())


class Solving:
    """A plugin's methods, and the policies of one fitted method.

    Args:
        settings: ``plugin`` (its name), ``module``, ``kernels`` (a folder) and ``writable``.

    Raises:
        ContractError: the plugin cannot be loaded.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        name, module = settings["plugin"], settings["module"]
        use_kernels(settings["kernels"], writable=settings["writable"])
        registry = load_registry([(name, EntryPoint(name, module, "budgetbench").load())], entry_points=False)
        if registry.plugins[name].error:
            raise ContractError(registry.plugins[name].error)
        self._methods: dict[str, type[Method]] = dict(registry.methods)
        self._policies: list[Policy] = []

    def warm_up(self, values: dict[str, Any], arrays: Arrays) -> Answer:
        """Fit and decide on synthetic data, so that modules are imported and kernels compiled."""
        with suppress(Exception):
            problem = _problem({**values, "threads": 1}, arrays)
            family = as_family(self._method(values).fit(problem), "")
            for policy in family.policies[:3]:
                policy.decide(problem.validation.rows())
        return {}, {}

    def fit(self, values: dict[str, Any], arrays: Arrays) -> Answer:
        """Fit, and return a description of the family."""
        problem = _problem(values, arrays)
        for controller in _LOADED:
            controller.select(user_api="openmp").limit(limits=problem.threads)
        method = self._method(values)
        family = as_family(method.fit(problem), type(method).__name__)
        self._policies = [*family.policies, *([] if family.reference is None else [family.reference])]
        return _described(family), {}

    def copy(self, values: dict[str, Any], arrays: Arrays) -> bytes:
        """Return the policies as bytes."""
        return copied(self._policies)

    def restore(self, values: dict[str, Any], arrays: Arrays, blob: memoryview) -> Answer:
        """Restore policies that another process fitted."""
        self._policies = restored(blob)
        return {}, {}

    def decide(self, values: dict[str, Any], arrays: Arrays) -> Answer:
        """Return a policy's decisions, or the reason why they are invalid."""
        policy = self._policies[values["policy"]]
        known = arrays.get("known")
        decisions = (
            policy.decide(_rows(arrays)) if known is None else policy.decide_known(_rows(arrays), np.array(known))
        )
        try:
            decisions = Decisions.exact(decisions)
        except ContractError as error:
            return {"refused": str(error)[:_MOST_TEXT]}, {}
        return {}, {name: getattr(decisions, name) for name in Decisions.__dataclass_fields__}

    def next(self, values: dict[str, Any], arrays: Arrays) -> Answer:
        """Return the features that a policy requests next."""
        wanted = np.asarray(self._policies[values["policy"]].next_features(_rows(arrays), np.array(arrays["known"])))
        if wanted.dtype != np.bool_:
            return {"refused": f"next_features must give bool, not {wanted.dtype}"}, {}
        return {}, {"wanted": wanted}

    def _method(self, values: Mapping[str, Any]) -> Method:
        name = values["method"]
        return build(self._methods[name], values["parameters"], name)


def rows_arrays(rows: Rows) -> dict[str, Any]:
    """Rows as arrays by name."""
    return {"X": rows.X, "sizes": rows.sizes, "query": rows.query}


def _rows(arrays: Arrays) -> Rows:
    return Rows(arrays["X"], arrays.get("sizes"), arrays.get("query"))


def problem_values(problem: Problem) -> dict[str, Any]:
    """The fields of a problem that are not arrays, as plain values."""
    return {
        **{name: getattr(problem, name) for name in _PLAIN},
        "feature_names": list(problem.feature_names),
        "categorical": [int(feature) for feature in problem.categorical],
        "evaluation": float(problem.costs.evaluation),
    }


def problem_arrays(problem: Problem) -> dict[str, Any]:
    """A problem's arrays by name."""
    arrays: dict[str, Any] = {"feature_of_column": problem.feature_of_column}
    for name, part in (("train", problem.train), ("validation", problem.validation)):
        arrays |= {f"{name}.{field}": getattr(part, field) for field in ("X", "y", "sizes", "query")}
    return arrays | {f"costs.{name}": getattr(problem.costs, name) for name in PRICE_ARRAYS}


def _problem(values: Mapping[str, Any], arrays: Arrays) -> Problem:
    """Restore a problem from the results of `problem_values` and `problem_arrays`."""

    def part(name: str) -> Part:
        return Part(*(arrays.get(f"{name}.{field}") for field in ("X", "y", "sizes", "query")))  # type: ignore[arg-type]

    costs = {name: arrays.get(f"costs.{name}") for name in PRICE_ARRAYS}
    return Problem(
        train=part("train"),
        validation=part("validation"),
        costs=Costs(**costs, evaluation=values["evaluation"]),  # type: ignore[arg-type]
        feature_names=tuple(values["feature_names"]),
        feature_of_column=arrays["feature_of_column"],
        categorical=tuple(values["categorical"]),
        **{name: values[name] for name in _PLAIN},
    )


def _described(family: Family) -> dict[str, Any]:
    """Describe a family and its policies as plain values; raises as `describe`."""
    return {
        "policies": [
            {
                "label": described.label,
                "details": described.details,
                "budget": None if described.budget is None else repr(described.budget),
                "scope": str(policy.decision_scope),
                "asks": can_be_asked(policy),
                "early": answers_early(policy),
            }
            for number, policy in enumerate(family.policies)
            for described in [describe(number, policy)]
        ],
        "reference": family.reference is not None,
        "history": plain(dict(family.history)),
        "diagnostics": plain(dict(family.diagnostics)),
    }
