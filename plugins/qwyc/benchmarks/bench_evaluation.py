"""Time evaluation per example in the form of Tables 2 to 5, on synthetic data of the paper's sizes.

    python bench_evaluation.py [--runs 100] [--rows SHARE] [--only "5, joint"]

It compares the full ensemble with QWYC* and Fan*, for 5 and 500 base models trained jointly and independently. Of QWYC*
and Fan* it takes the policy whose share of differences on the test rows is nearest to 0.5 %, as the paper does ("at
≈0.5 % classification differences", §5). It reports mean and standard deviation of the time per example over the runs
(100 in the paper): processor time of one thread on all test rows.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from bench_qwyc.methods import Fan, Qwyc

from bench_core import DataContext, Family, Part, Policy, Problem, Rows, SplitRule
from bench_core.execution import prepare
from bench_core.suites import load_registry

ENSEMBLES: dict[str, tuple[str, dict[str, Any]]] = {
    "5, joint": ("Table 2", {"ensemble": "subsets-joint", "n_estimators": 5, "subset": 13, "hidden": 48}),
    "500, joint": ("Table 3", {"ensemble": "subsets-joint", "n_estimators": 500, "subset": 8, "hidden": 4}),
    "5, independent": ("Table 4", {"ensemble": "subsets-independent", "n_estimators": 5, "subset": 13, "hidden": 48}),
    "500, independent": ("Table 5", {"ensemble": "subsets-independent", "n_estimators": 500, "subset": 8, "hidden": 4}),
}
TRAIN = {5: 183_755, 500: 83_817}
TEST = {5: 45_940, 500: 20_955}
"""Numbers of training and test rows, by number of base models (Table 1)."""

ABOUT = 0.005
ALPHAS = (0.005, 0.0, 0.001, 0.002, 0.003, 0.004, 0.0075)
GAMMAS = (2.0, 1.0, 1.5, 2.5, 3.0, 4.0)


def generated(models: int, share: float) -> tuple[Problem, Part]:
    """A problem and its test rows: 16 features, 95 % negative; or 30 features, balanced."""
    from bench_synthetic.families import MakeClassification

    few = models == 5
    train, test = round(share * TRAIN[models]), round(share * TEST[models])
    source = MakeClassification(
        rows=train + 2 * test,
        features=16 if few else 30,
        informative=12 if few else 20,
        redundant=2 if few else 4,
        clusters_per_class=2 if few else 4,
        class_sep=2.0 if few else 1.0,
        weights=[0.95, 0.05] if few else [],
        flip_y=0.005 if few else 0.01,
        seed=1 if few else 2,
    )
    data = source.load(DataContext(Path()))
    uniform = load_registry(entry_points=False).cost_scheme("uniform")()
    prepared = prepare(data, uniform, SplitRule(train=train, validation=test, test=test), "ordinal", 0, 0)
    return prepared.problem, prepared.test


def labels(policy: Policy, X: Any) -> Any:
    """Class codes that a policy decides."""
    return np.asarray(policy.decide(Rows(X)).probabilities).argmax(axis=1)


def microseconds(policy: Policy, X: Any, runs: int) -> tuple[float, float]:
    """Mean time per example in microseconds, and its standard deviation over the runs as a share of the mean."""
    rows = Rows(X)
    policy.decide(rows)
    spent = []
    for _ in range(runs):
        start = time.process_time()
        policy.decide(rows)
        spent.append((time.process_time() - start) / len(X) * 1e6)
    return float(np.mean(spent)), float(np.std(spent) / np.mean(spent))


def nearest(family: Family, X: Any, full: Any) -> tuple[Policy, float]:
    """The policy whose share of differences from the full ensemble is nearest to 0.5 %, and that share."""
    differ = [float((labels(policy, X) != full).mean()) for policy in family.policies]
    at = int(np.argmin(np.abs(np.array(differ) - ABOUT)))
    return family.policies[at], differ[at]


def compare(name: str, share: float, runs: int) -> None:
    """Print the table of one ensemble."""
    table, shape = ENSEMBLES[name]
    models = shape["n_estimators"]
    problem, test = generated(models, share)
    common = {**shape, "stop": "filter-and-score", "precision": "float64" if models == 5 else "float32"}
    print(f"\n{table}: {name}, {len(problem.train)} training and {len(test)} test rows\n")
    print("| Algorithm | Test % diff | Test mean # base models | Test mean µs eval time | Test mean speed-up |")
    print("|---|---|---|---|---|", flush=True)
    slow, full = 0.0, None
    for label, method in (
        ("QWYC*", Qwyc(alphas=ALPHAS, **common)),
        ("Fan*", Fan(widths=(0.01, 0.1, 0.001), gammas=GAMMAS, **common)),
    ):
        family = method.fit(problem)
        assert family.reference is not None
        if full is None:
            full = labels(family.reference, test.X)
            slow, spread = microseconds(family.reference, test.X, runs)
            print(f"| Full ens. | 0 | {models} | {slow:.2f} ± {spread:.0%} | 1x |")
        policy, differ = nearest(family, test.X, full)
        mean, spread = microseconds(policy, test.X, runs)
        run = np.mean(np.asarray(policy.decide(Rows(test.X)).evaluations))
        print(f"| {label} | {differ:.2%} | {run:.2f} | {mean:.2f} ± {spread:.0%} | {slow / mean:.1f}x |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--rows", type=float, default=1.0, help="share of the paper's rows")
    parser.add_argument("--only", choices=list(ENSEMBLES), action="append")
    options = parser.parse_args()
    for name in options.only or ENSEMBLES:
        compare(name, options.rows, options.runs)


if __name__ == "__main__":
    main()
