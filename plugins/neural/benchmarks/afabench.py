"""Accuracy at hard caps on the rows and splits of AFABench, compared with AFABench's program.

    python plugins/neural/benchmarks/afabench.py FOLDER [METHOD …]

FOLDER holds ``cube_{0,1,2}.npz`` and ``cube_nm_{0,1}.npz``. A cap is a number of purchases per row. Test rows only
serve for evaluation; nothing is chosen by them. The standard error is that of the difference: both programs answered
the same rows, but AFABench's answers row by row are not known, so the two are taken as independent. Seconds are
processor time of a fit with compiled programs (the second fit in this process); AFABench's are from a similar machine.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from bench_neural import plugin

from bench_core import Costs, Family, Method, Part, Policy, Problem

CAPS = {"cube": (3, 5, 10), "cube_nm": (3, 5, 7, 10, 14)}
SPLITS = {"cube": (0, 1, 2), "cube_nm": (0, 1)}
PEER = {
    ("cube", "gdfs"): (0.507, 0.660, 0.823),
    ("cube", "dime"): (0.458, 0.590, 0.715),
    ("cube", "mask-static"): (0.503, 0.683, 0.845),
    ("cube", "cae"): (0.380, 0.470, 0.825),
    ("cube_nm", "gdfs"): (0.132, 0.125, 0.165, 0.318, 0.283),
    ("cube_nm", "dime"): (0.103, 0.132, 0.138, 0.130, 0.140),
}
"""Mean accuracy of AFABench's program, with the method's own predictor (`papers/AFABENCH.md`)."""
PEER_SPLITS = {("cube", "dime"): 2, ("cube", "cae"): 1}
PEER_SECONDS = {
    ("cube", "gdfs"): 19, ("cube", "dime"): 34, ("cube", "cae"): 7, ("cube", "mask-static"): 5,
    ("cube_nm", "gdfs"): 29, ("cube_nm", "dime"): 20,
}  # fmt: skip


def methods(caps: tuple[int, ...]) -> dict[str, Method]:
    """The methods with one policy for each cap."""
    budgets = tuple(float(cap) for cap in caps)
    return {
        "mask-static": plugin.MaskStatic(budgets=budgets),
        "cae": plugin.CAE(budgets=budgets),
        "gdfs": plugin.GDFS(budgets=budgets),
        "dime": plugin.DIME(stop="budget", values=budgets),
        "ol": plugin.OL(stop="budget", values=budgets),
    }


def problem_of(stored: Any, seed: int) -> Problem:
    """The problem of a stored split; a group costs its members' prices together, once."""
    X, y, group = stored["X"].astype(np.float64), stored["y"].astype(np.int64), stored["feature_group"].astype(np.int64)
    train, validation = (Part(X[stored[part]], y[stored[part]]) for part in ("train", "val"))
    costs = Costs(np.zeros(X.shape[1]), group, stored["group_cost"].astype(np.float64))
    names = tuple(str(name) for name in stored["feature_names"])
    return Problem(train, validation, costs, "multiclass", int(y.max()) + 1, names, np.arange(len(names)), seed=seed)


def accuracies(family: Family, rows: Part, costs: Costs, caps: tuple[int, ...]) -> list[float]:
    """Accuracy of the policy of each cap; no row may pay more."""
    by_cap: dict[float, Policy] = {policy.details["budget"]: policy for policy in family.policies}
    results = []
    for cap in caps:
        decisions = by_cap[float(cap)].decide(rows.rows())
        assert decisions.probabilities is not None
        assert costs.bill(decisions.acquired).max() <= cap
        results.append(float((decisions.probabilities.argmax(axis=1) == rows.y).mean()))
    return results


def main(folder: Path, chosen: list[str]) -> None:
    """Print a table."""
    print("set      method        cap   ours   peer   2 se of the difference   seconds (a quarter of the peer's)")
    for name, caps in CAPS.items():
        for use, method in methods(caps).items():
            if chosen and use not in chosen:
                continue
            table, seconds = [], 0.0
            for split in SPLITS[name]:
                with np.load(folder / f"{name}_{split}.npz") as stored:
                    problem = problem_of(stored, split)
                    test = Part(stored["X"][stored["test"]].astype(np.float64), stored["y"][stored["test"]])
                if split == 0:
                    method.fit(problem_of(np.load(folder / f"{name}_{split}.npz"), split))  # compiles
                start = time.process_time()
                family = method.fit(problem)
                seconds += (time.process_time() - start) / len(SPLITS[name])
                table.append(accuracies(family, test, problem.costs, caps))
            peer, limit = PEER.get((name, use)), PEER_SECONDS.get((name, use))
            for place, cap in enumerate(caps):
                ours = float(np.mean([row[place] for row in table]))
                line = f"{name:8} {use:12} {cap:4}   {ours:.3f}"
                if peer is not None:
                    rows = 200 * np.array([len(table), PEER_SPLITS.get((name, use), len(table))])
                    spread = [ours * (1 - ours), peer[place] * (1 - peer[place])]
                    error = 2 * float(np.sqrt((spread / rows).sum()))
                    verdict = "" if ours >= peer[place] - error else "   WORSE"
                    line += f"   {peer[place]:.3f}   {error:.3f}{verdict}"
                if place == 0:
                    line += f"   {seconds:.1f} s" + ("" if limit is None else f" ({limit / 4:.2f} s)")
                print(line, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
