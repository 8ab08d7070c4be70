"""Synthetic records of a synthetic suite: policies with rising cost and accuracy, without running trials."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from bench_cstc import plugin as cstc
from bench_emsco import plugin as emsco
from bench_qwyc import plugin as qwyc
from bench_records.records import Records

from bench_core import DataContext, Dataset, DataSource, Method, Policy, Problem, hookimpl
from bench_core.contract.canonical import canonical_json
from bench_core.plugins.manager import load_registry
from bench_core.run.suite import Suite
from bench_core.run.suite_file import parse_suite
from support.publishing import PUBLISHING

DATASETS = ("Heart", "Pima", "Credit", "Synthetic30")
METHODS = ("EMSCO", "GM*", "CSTC*", "CO-T", "CaCT LASSO", "Single-Stage")
FEATURES = {"Heart": 12, "Pima": 8, "Credit": 14, "Synthetic30": 30}
SKILL = {"EMSCO": 0.83, "GM*": 0.80, "CSTC*": 0.86, "CO-T": 0.85, "CaCT LASSO": 0.84, "Single-Stage": 0.81}
SIZE = {"EMSCO": 60, "GM*": 25, "CSTC*": 30, "CO-T": 1, "CaCT LASSO": 12, "Single-Stage": 1}

FIGURES = (*PUBLISHING, ("emsco", emsco), ("cstc", cstc), ("qwyc", qwyc))
"""The plugins that draw figures."""

NASTY_TREE = "A<b>&|\"'`x"
"""A method whose name attempts an injection, and which describes its trees as CSTC* does."""


@dataclass(frozen=True)
class Nothing(DataSource):
    """A data set that is never loaded."""

    def load(self, context: DataContext) -> Dataset:
        raise NotImplementedError


@dataclass(frozen=True)
class Idle(Method):
    """A method that is never fitted."""

    def fit(self, problem: Problem) -> list[Policy]:
        raise NotImplementedError


class Offer:
    """A plugin with the names in synthetic suites."""

    BENCH_CONTRACT_VERSION = 1

    @hookimpl
    def bench_register_datasets(self, register: Any) -> None:
        register("nothing", Nothing)

    @hookimpl
    def bench_register_methods(self, register: Any) -> None:
        register("idle", Idle)


def synthetic_suite(
    datasets: Sequence[str] = DATASETS,
    methods: Sequence[str] = METHODS,
    seeds: int = 20,
    threshold: float | None = 0.75,
    more: str = "",
    metrics: Sequence[str] = ("coverage", "conclusive-accuracy", "cost", "cost-share", "combined"),
) -> Suite:
    """A checked suite of those names."""
    registry = load_registry([*FIGURES, ("synthetic", Offer())], entry_points=False)
    lines = [f"metrics = {json.dumps(list(metrics))}", '[suite]\nname = "synthetic"', f"[protocol]\nseeds = {seeds}"]
    if threshold is not None:
        lines.append(f"threshold = {threshold}")
    lines += [f'[[datasets]]\nuse = "nothing"\nname = {json.dumps(name, ensure_ascii=False)}' for name in datasets]
    lines += [f'[[methods]]\nuse = "idle"\nname = {json.dumps(name, ensure_ascii=False)}' for name in methods]
    return parse_suite("\n".join([*lines, more]), "suites/synthetic.toml", registry)


def synthetic_records(
    datasets: Sequence[str] = DATASETS,
    methods: Sequence[str] = METHODS,
    seeds: int = 20,
    sizes: int | None = None,
    threshold: float | None = 0.75,
    classes: bool = True,
) -> Records:
    """Records of such a suite, by a fixed rule with some noise.

    Args:
        sizes: number of policies in every family; None: each method's own number.
        classes: whether the prices have cost classes.
    """
    rng = np.random.default_rng(1)
    rows: list[dict[str, Any]] = []
    infos: dict[str, dict[str, Any]] = {}
    for d, dataset in enumerate(datasets):
        features = FEATURES.get(dataset, 10)
        kinds = rng.integers(1, 4, size=features)
        for m, method in enumerate(methods):
            skill = SKILL.get(method, 0.8) - 0.03 * d
            for seed in range(seeds):
                name = f"{d:02}{m:03}{seed:04}"
                count = sizes or SIZE.get(method, 20)
                rows += _family(rng, dataset, method, seed, name, count, skill, features, threshold)
                infos[name] = _info(rng, method, count, features, kinds if classes else None, threshold)
    frame = pd.DataFrame(rows).sort_values(["dataset", "costs", "method", "seed", "policy"], ignore_index=True)
    return Records(frame, infos)


def _family(
    rng: np.random.Generator, dataset: str, method: str, seed: int, name: str, count: int, skill: float,
    features: int, threshold: float | None,
) -> list[dict[str, Any]]:  # fmt: skip
    if method == "Single-Stage":
        cost = np.ones(count)
    elif count == 1:
        cost = np.array([rng.uniform(0.4, 0.5)])
    else:
        cost = np.sort(0.04 + 0.9 * rng.beta(0.8, 2.0, size=count))
    gain = 1 - np.exp(-6 * cost)
    refuses = threshold is not None and method != "Single-Stage"
    dip = {"CSTC*": 0.45, "GM*": 0.3, "CaCT LASSO": 0.25}.get(method, 0.08)
    made = []
    lapse = rng.normal(0, 0.015, size=(2, 2, count))
    for p in range(count):
        row: dict[str, Any] = {
            "dataset": dataset, "costs": "uniform", "method": method, "seed": seed, "point": 0, "name": name,
            "status": "ok", "policy": p, "label": f"p{p}", "budget": float("nan"),
            "details": canonical_json(_details(rng, method, features)),
        }  # fmt: skip
        for part, noise in (("validation", lapse[0]), ("test", lapse[1])):
            accuracy = float(np.clip(0.5 + (skill - 0.5) * gain[p] + noise[0, p], 0, 1))
            coverage = float(np.clip(1 - dip * (1 - 0.6 * gain[p]) + noise[1, p], 0, 1)) if refuses else 1.0
            share = float(np.clip(cost[p] * (1 if part == "validation" or cost[p] == 1 else 1.03), 0, 1))
            row |= {
                f"{part}.coverage": coverage,
                f"{part}.conclusive-accuracy": accuracy,
                f"{part}.cost": 250.0 * share,
                f"{part}.cost-share": share,
                f"{part}.combined": coverage + accuracy + 1 - share,
            }
        made.append(row)
    return made


def _details(rng: np.random.Generator, method: str, features: int) -> dict[str, Any]:
    if method in ("CSTC*", NASTY_TREE):
        shares = {1: 1.0, 2: 0.7, 3: 0.3, 4: 0.4, 5: 0.3}
        nodes = [{"name": n, "features": [n, n + 3], "share": s, "mean": -s} for n, s in shares.items()]
        return {"trees": [{"class": None, "nodes": nodes}]}
    return {"chromosome": rng.integers(0, 4, size=features).tolist()} if method == "EMSCO" else {}


def _info(
    rng: np.random.Generator, method: str, count: int, features: int, kinds: Any, threshold: float | None
) -> dict[str, Any]:
    held = np.sort(33 * (1 - np.exp(-np.arange(501) / rng.uniform(50, 90))))
    prices = np.full(features, 5.0) if kinds is None else 10.0 * kinds
    usage = np.sort(rng.beta(0.6, 0.6, size=(count, features)))[:, ::-1]
    return {
        "trial": canonical_json(
            {
                "threshold": threshold,
                "dataset": "0" * 64,
                "seed": 0,
                "split": {"kind": "random", "train": 0.5, "validation": 0.25, "test": 0.25},
                "reject": True,
            }
        ),
        "status": "ok",
        "task": "binary",
        "history": {"front_members": held.tolist()} if method == "EMSCO" else {},
        "diagnostics": {"front_chromosomes": 33} if method == "EMSCO" else {},
        "features": [f"feature {f}" for f in range(features)],
        "usage": usage.round(4).tolist(),
        "evaluations": {"width": 8, "counts": rng.integers(0, 40, size=(count, 12)).tolist()},
        "costs": {
            "prices": prices[:, None].tolist(), "groups": None, "group_prices": None,
            "classes": None if kinds is None else kinds.tolist(), "evaluation": 0.0,
        },
        "rows": {"train": 150, "validation": 75, "test": 75},
        "error": None,
    }  # fmt: skip
