"""Evaluation time per example, on compiled evaluation: the columns of Tables 2 to 5, on generated data.

    python bench_evaluation.py [--runs 20] [--rows 20000]

For 5 and 500 base models, trained jointly and independently, the policy with the fewest base models at no more than
0.5 % differences on validation is timed on the test rows, alone and in one thread: mean and standard deviation over
the runs of the time per example, as the paper reports them (it has 100 runs).
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from bench_qwyc.methods import Fan, Qwyc
from bench_qwyc.metrics import base_models_within

from bench_core import (
    DataContext,
    Family,
    Outcome,
    Part,
    Policy,
    Problem,
    Rows,
    SplitRule,
    load_registry,
    prepare,
)

ENSEMBLES: dict[str, dict[str, Any]] = {
    "5, joint": {"ensemble": "subsets-joint", "n_estimators": 5, "subset": 13, "hidden": 48},
    "500, joint": {"ensemble": "subsets-joint", "n_estimators": 500, "subset": 8, "hidden": 4},
    "5, independent": {"ensemble": "subsets-independent", "n_estimators": 5, "subset": 13, "hidden": 48},
    "500, independent": {"ensemble": "subsets-independent", "n_estimators": 500, "subset": 8, "hidden": 4},
}


def generated(rows: int, few: bool) -> tuple[Problem, Part]:
    """A problem and its test rows: 16 features, 95 % negative; or 30 features, balanced."""
    from bench_synthetic.families import MakeClassification

    source = MakeClassification(
        rows=rows,
        features=16 if few else 30,
        informative=12 if few else 20,
        clusters_per_class=2 if few else 4,
        class_sep=2.0 if few else 1.0,
        weights=[0.95, 0.05] if few else [],
    )
    data = source.load(DataContext(Path()))
    uniform = load_registry(entry_points=False).cost_scheme("uniform")()
    prepared = prepare(data, uniform, SplitRule(train=0.64, validation=0.16, test=0.2), "ordinal", 0, 0)
    return prepared.problem, prepared.test


def outcome(policy: Policy, reference: Policy, part: Part, problem: Problem) -> Outcome:
    """What a policy decides on a part, beside the full ensemble."""
    rows, free = Rows(part.X), np.zeros(len(part))
    whole = reference.decide(rows)
    return Outcome(problem.task, part.y, policy.decide(rows), free, free, free, reference=whole)


def microseconds(policy: Policy, X: Any, runs: int) -> tuple[float, float]:
    """Time per example: mean, and standard deviation over the runs as a share of it."""
    rows = Rows(X)
    policy.decide(rows)
    spent = []
    for _ in range(runs):
        start = time.perf_counter()
        policy.decide(rows)
        spent.append((time.perf_counter() - start) / len(X) * 1e6)
    return float(np.mean(spent)), float(np.std(spent) / np.mean(spent))


def faithful(family: Family, problem: Problem) -> Policy:
    """The policy with the fewest base models at no more than 0.5 % differences on validation."""
    reference = family.reference
    assert reference is not None

    def rank(policy: Policy) -> float:
        return base_models_within(outcome(policy, reference, problem.validation, problem), 5)

    return min(family.policies, key=rank)


def compare(name: str, shape: dict[str, Any], rows: int, runs: int) -> None:
    """Print the rows of one ensemble."""
    problem, test = generated(rows, few=shape["n_estimators"] == 5)
    whole = 0.0
    for label, method in (
        ("QWYC*", Qwyc(stop="filter-and-score", **shape)),
        ("Fan*", Fan(stop="filter-and-score", widths=(0.1, 0.01), **shape)),
    ):
        family = method.fit(problem)
        assert family.reference is not None
        if not whole:
            whole, spread = microseconds(family.reference, test.X, runs)
            print(f"| {name} | full | 0 | {shape['size']} | {whole:.2f} ± {spread:.0%} | 1.0x |")
        policy = faithful(family, problem)
        judged = outcome(policy, family.reference, test, problem)
        mean, spread = microseconds(policy, test.X, runs)
        reference = family.reference.decide(Rows(test.X)).probabilities
        differ = (judged.label != np.asarray(reference).argmax(axis=1)).mean()
        models = np.mean(np.asarray(judged.decisions.evaluations))
        print(
            f"| {name} | {label} | {differ:.2%} | {models:.2f} | {mean:.2f} ± {spread:.0%} | {whole / mean:.1f}x |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--rows", type=int, default=20_000)
    options = parser.parse_args()
    print("| ensemble | algorithm | % diff | base models | µs per example | speed-up |")
    print("|---|---|---|---|---|---|")
    for name, shape in ENSEMBLES.items():
        compare(name, shape, options.rows, options.runs)


if __name__ == "__main__":
    main()
