"""What a method's process does when the judge asks: it fits, hands over its policies, restores them, and decides.

The process is a fork (`bench_core.run.execute.nursery`). The witness is one, too: it restores what the other fitted.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from bench_core.contract.asking import can_be_asked
from bench_core.contract.canonical import plain
from bench_core.contract.costs import PRICE_ARRAYS, Costs
from bench_core.contract.dataset import Part
from bench_core.contract.decisions import Decisions, Rows
from bench_core.contract.errors import ContractError
from bench_core.contract.method import Family, Method, Policy, Problem, as_family
from bench_core.contract.parameters import build
from bench_core.protocol.audit import copied, restored
from bench_core.run.execute.wire import as_bytes, unpack
from bench_core.run.failures import error_of

__all__ = ["Party", "method_of", "plain_error", "problem_of"]

_MOST_TEXT = 20_000
_SEES_NEW_MODULES = 10
"""Modules that a fit imports before it is worth to let the nursery fit something made up, once for all forks."""

_METHODS: dict[str, Method] = {}


def method_of(methods: dict[str, type[Method]], asked: dict[str, Any]) -> Method:
    """The method that is asked for, made once by its parameters."""
    key = json.dumps([asked["method"], asked["parameters"]])
    if key not in _METHODS:
        _METHODS[key] = build(methods[asked["method"]], asked["parameters"], asked["method"])
    return _METHODS[key]


def plain_error(error: BaseException) -> dict[str, Any]:
    """An error as plain text that is not too long."""
    return {name: value[:_MOST_TEXT] if isinstance(value, str) else value for name, value in error_of(error).items()}


class Party:
    """What a fork is asked to do, and the policies that it holds."""

    def __init__(self, methods: dict[str, type[Method]], loaded: ThreadpoolController) -> None:
        self.methods, self.loaded = methods, loaded
        self.policies: list[Policy] = []
        self.rows: dict[int, Rows] = {}

    def do_fit(self, asked: dict[str, Any], body: bytearray, fds: list[int]) -> tuple[dict[str, Any], list[Any]]:
        """Fit; what is to be said of the family."""
        before = len(sys.modules)
        problem = problem_of(fds[0], asked)
        os.environ["OMP_NUM_THREADS"] = str(problem.threads)  # for what is loaded by now, and what will be
        self.loaded.select(user_api="openmp").limit(limits=problem.threads)
        method = method_of(self.methods, asked)
        family = as_family(method.fit(problem), type(method).__name__)
        self.policies = [*family.policies, *([] if family.reference is None else [family.reference])]
        grown = len(sys.modules) - before > _SEES_NEW_MODULES or "numba" in sys.modules
        return {**_described(family), "rehearse": grown}, []

    def do_copy(self, asked: dict[str, Any], body: bytearray, fds: list[int]) -> tuple[dict[str, Any], list[Any]]:
        """The policies as bytes."""
        return {}, [copied(self.policies)]

    def do_restore(self, asked: dict[str, Any], body: bytearray, fds: list[int]) -> tuple[dict[str, Any], list[Any]]:
        """Hold policies that another process fitted."""
        _, arrays = unpack(fds[0], asked["table"])
        self.policies = restored(arrays["policies"].tobytes())
        return {}, []

    def do_decide(self, asked: dict[str, Any], body: bytearray, fds: list[int]) -> tuple[dict[str, Any], list[Any]]:
        """Decisions of a policy."""
        rows = self.rows.get(asked["rows"])
        if fds:
            _, arrays = unpack(fds[0], asked["table"])
            rows = Rows(arrays["X"], arrays.get("sizes"), arrays.get("query"))
            if asked["again"]:
                self.rows[asked["rows"]] = rows
        if rows is None:
            raise ContractError("it was asked for rows that it was not given")
        decisions = self.policies[asked["policy"]].decide(Rows(rows.X, rows.sizes, rows.query))
        try:
            decisions = Decisions.exact(decisions)
        except ContractError as error:
            return {"refused": str(error)[:_MOST_TEXT]}, []
        table, parts = as_bytes({name: getattr(decisions, name) for name in Decisions.__dataclass_fields__})
        return {"arrays": table}, parts

    def do_next(self, asked: dict[str, Any], body: bytearray, fds: list[int]) -> tuple[dict[str, Any], list[Any]]:
        """What a policy asks for next."""
        _, arrays = unpack(fds[0], asked["table"])
        rows = Rows(arrays["X"], arrays.get("sizes"), arrays.get("query"))
        wanted = np.asarray(self.policies[asked["policy"]].next_features(rows, np.array(arrays["known"])))
        if wanted.dtype != np.bool_:
            return {"refused": f"next_features must give bool, not {wanted.dtype}"}, []
        table, parts = as_bytes({"wanted": wanted})
        return {"arrays": table}, parts


def _described(family: Family) -> dict[str, Any]:
    """What a family and its policies say of themselves, as plain values."""
    return {
        "policies": [
            {
                "label": str(policy.label),
                "details": plain(dict(policy.details)),
                "budget": _budget(policy.budget),
                "scope": str(policy.decision_scope),
                "asks": can_be_asked(policy),
            }
            for policy in family.policies
        ],
        "reference": family.reference is not None,
        "history": plain(dict(family.history)),
        "diagnostics": plain(dict(family.diagnostics)),
    }


def _budget(budget: Any) -> Any:
    """A budget as the text of a number from 0, or None; anything else as what a message shows, in a list."""
    try:
        return None if budget is None else repr(float(budget)) if float(budget) >= 0 else [repr(budget)[:200]]
    except (TypeError, ValueError):
        return [repr(budget)[:200]]


def problem_of(fd: int, asked: dict[str, Any]) -> Problem:
    """The problem that the judge packed."""
    values, arrays = unpack(fd, asked["table"])

    def part(name: str) -> Part:
        return Part(*(arrays.get(f"{name}.{field}") for field in ("X", "y", "sizes", "query")))  # type: ignore[arg-type]

    costs = {name: arrays.get(f"costs.{name}") for name in PRICE_ARRAYS}
    return Problem(
        train=part("train"),
        validation=part("validation"),
        costs=Costs(**costs, evaluation=values["evaluation"]),  # type: ignore[arg-type]
        task=values["task"],
        n_classes=values["n_classes"],
        feature_names=tuple(values["feature_names"]),
        feature_of_column=arrays["feature_of_column"],
        categorical=tuple(values["categorical"]),
        threshold=asked["threshold"],
        seed=values["seed"],
        threads=asked["threads"],
    )
