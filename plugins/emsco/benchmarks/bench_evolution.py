"""Time the genetic algorithm: 150 generations of 300 chromosomes (EMSCO §4.3.1).

    python bench_evolution.py [--seeds 5]

- *random table*: subset masks drawn at random, all known from the start, so nothing is fitted. Oracle: the
  plain NumPy reference implementation must give the same result bit for bit.
- *Heart* (EMSCO Table 2; read from $BUDGETBENCH_SHARED/files/uci/519, skipped when that is not set): one
  logistic regression per subset, fitted by scikit-learn when first asked for. "cold" includes the fits,
  "warm" does not; the same again with the plugin's own subset cache. Oracle: the counts of the sample below,
  computed by scikit-learn row by row, must be those of the algorithm.
- *baseline*, on the same data: scikit-learn fits every stage of a chromosome again, without a cache. It is timed on a
  sample (every m-th chromosome of the non-dominated set of the first seed's run, at most 30) and scaled by the number
  of stages to the chromosomes of all generations. Breeding and sorting do not count.
- The authors' released program took 117 s for Heart in an earlier study; this number is quoted, not measured here.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from bench_emsco.evaluation import SubsetSource
from bench_emsco.evolution import EvolutionParams, EvolutionResult, evolve
from numpy.typing import NDArray

AUTHORS_SECONDS = 117.0
PARAMS = EvolutionParams(patience=None)
HEART_FILE = "files/uci/519/heart_failure_clinical_records_dataset.csv"
HEART_CLASSES = {
    "age": 1, "anaemia": 2, "high_blood_pressure": 2, "creatinine_phosphokinase": 2, "diabetes": 2,
    "ejection_fraction": 2, "platelets": 2, "sex": 1, "serum_creatinine": 2, "serum_sodium": 2, "smoking": 1,
    "time": 1,
}  # fmt: skip
THRESHOLD = 0.75


class Table:
    """A finished table of bit masks: row m is subset m. No classifier is fitted, so there is no work."""

    work = most_work = 0

    def __init__(self, confident: NDArray[np.bool_], right: NDArray[np.bool_]) -> None:
        padded = -(-confident.shape[1] // 64) * 64 - confident.shape[1]
        packed = [
            np.packbits(np.pad(bits, ((0, 0), (0, padded))), axis=1, bitorder="little").view(np.uint64)
            for bits in (confident, right)
        ]
        self.confident, self.right = packed

    def indices(self, masks: NDArray[np.uint64]) -> NDArray[np.int64]:
        return masks.astype(np.int64)


class FittedTable(Table):
    """A `Table` whose rows scikit-learn fits at the first request."""

    def __init__(self, data: HeartData) -> None:
        shape = (1 << data.train.shape[1], data.labels.size)
        super().__init__(np.zeros(shape, np.bool_), np.zeros(shape, np.bool_))
        self._data = data
        self._known = np.zeros(shape[0], np.bool_)

    @property
    def fitted(self) -> int:
        return int(self._known.sum())

    def indices(self, masks: NDArray[np.uint64]) -> NDArray[np.int64]:
        rows = masks.astype(np.int64)
        for row in np.unique(rows[~self._known[rows]]):
            confident, right = self._data.decide(np.flatnonzero(row >> np.arange(12) & 1))
            one = Table(confident[None, :], right[None, :])
            self.confident[row], self.right[row] = one.confident[0], one.right[0]
            self._known[row] = True
        return rows


class HeartData:
    """Training and validation part of the Heart Failure data, split 50-25-25."""

    def __init__(self, path: Path, seed: int = 0) -> None:
        import pandas as pd
        from sklearn.model_selection import train_test_split
        from sklearn.preprocessing import StandardScaler

        frame = pd.read_csv(path)
        values = frame[list(HEART_CLASSES)].to_numpy(float)
        labels = frame["DEATH_EVENT"].to_numpy()
        train, rest, self.train_labels, rest_labels = train_test_split(
            values, labels, test_size=0.5, stratify=labels, random_state=seed
        )
        part, _, self.labels, _ = train_test_split(
            rest, rest_labels, test_size=0.5, stratify=rest_labels, random_state=seed
        )
        scaler = StandardScaler().fit(train)
        self.train, self.part = scaler.transform(train), scaler.transform(part)
        self.prices = 10 ** np.array(list(HEART_CLASSES.values()))

    def decide(self, features: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Fit on `features`; per validation row: confident, and confident and right."""
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(solver="newton-cholesky", tol=1e-10)  # looser fits flip rows near the threshold
        model.fit(self.train[:, features], self.train_labels)
        probability = model.predict_proba(self.part[:, features])
        confident = probability.max(axis=1) >= THRESHOLD
        return confident, confident & (model.classes_[probability.argmax(axis=1)] == self.labels)

    def subset_cache(self) -> Any:
        """The plugin's own lazily fitted cache on the same rows; None where the plugin has none."""
        try:
            from bench_emsco.subset_cache import SubsetCache
        except ModuleNotFoundError:
            return None
        make = partial(SubsetCache, self.train, self.train_labels, self.part, self.labels, 2, THRESHOLD)
        make().indices(np.arange(1, 9, dtype=np.uint64))  # compile
        return make()

    def evaluate_plainly(self, chromosome: NDArray[np.int8]) -> tuple[int, int, int]:
        """(conclusive, right, cost) with one fit per stage: the baseline and the oracle."""
        undecided = np.ones(self.labels.size, np.bool_)
        correct = np.zeros(self.labels.size, np.bool_)
        cost = 0
        for stage in range(int(chromosome.max()) + 1):
            cost += int(undecided.sum()) * int(self.prices[chromosome == stage].sum())
            confident, right = self.decide(np.flatnonzero(chromosome <= stage))
            correct |= right & undecided
            undecided &= ~confident
        return int((~undecided).sum()), int(correct.sum()), cost


def subset_prices(prices: NDArray[np.int64]) -> Callable[[NDArray[np.uint64]], NDArray[np.int64]]:
    table = (np.arange(1 << prices.size)[:, None] >> np.arange(prices.size) & 1) @ prices
    return lambda masks: table[masks.astype(np.int64)]


def random_table(n_features: int, n_rows: int) -> Table:
    rng = np.random.default_rng(0)
    subsets = 1 << n_features
    confident = rng.random((subsets, n_rows)) < 0.9 * rng.random((subsets, 1))
    return Table(confident, confident & (rng.random(confident.shape) < 0.5 + 0.5 * rng.random((subsets, 1))))


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    outcome = run()
    return time.perf_counter() - start, outcome


def best_of(seeds: int, run: Callable[[int], EvolutionResult]) -> tuple[float, EvolutionResult]:
    """The median seconds over the seeds, and the first seed's result."""
    runs = [timed(partial(run, seed)) for seed in range(seeds)]
    return float(np.median([seconds for seconds, _ in runs])), runs[0][1]


def report(name: str, seconds: float, result: EvolutionResult, note: str = "") -> None:
    per_generation = 1000 * seconds / result.generations
    print(f"{name:34s} {seconds:10.4f} s {per_generation:9.3f} ms a generation   {note}")


def same(one: EvolutionResult, other: EvolutionResult) -> bool:
    return (
        np.array_equal(one.chromosomes, other.chromosomes)
        and np.array_equal(one.cost, other.cost)
        and one.history.best_log_fitness == other.history.best_log_fitness
    )


def bench_random(n_features: int, n_rows: int, seeds: int) -> None:
    table = random_table(n_features, n_rows)
    costs_of = subset_prices(np.random.default_rng(1).integers(1, 100, n_features))

    def run(seed: int, backend: Any = "compiled") -> EvolutionResult:
        return evolve(n_features, None, n_rows, table, costs_of, PARAMS, seed, backend=backend)

    run(0)  # compile
    seconds, result = best_of(seeds, run)
    plain_seconds, plain = timed(lambda: run(0, "numpy"))
    if not same(result, plain):
        raise SystemExit("the kernels and their NumPy reference implementations disagree")
    report(f"random table, n = {n_features}, {n_rows} rows", seconds, result)
    report("  plain NumPy, same result", plain_seconds, plain, f"{plain_seconds / seconds:.1f}x")


def bench_heart(path: Path, seeds: int) -> None:
    data = HeartData(path)
    table = FittedTable(data)
    costs_of = subset_prices(data.prices)

    def run(seed: int, cache: SubsetSource = table) -> EvolutionResult:
        return evolve(12, None, data.labels.size, cache, costs_of, PARAMS, seed)

    cold_seconds, cold = timed(lambda: run(0))
    report("Heart, cold, scikit-learn fits", cold_seconds, cold, f"{table.fitted} subsets fitted")
    for seed in range(seeds):
        run(seed)
    seconds, result = best_of(seeds, run)
    report("Heart, warm", seconds, result)
    if (cache := data.subset_cache()) is not None:
        fitted_seconds, fitted = timed(lambda: run(0, cache))
        report("Heart, cold, this plugin's fits", fitted_seconds, fitted, f"{cache.n_fitted} subsets fitted")
        report("Heart, warm, this plugin's fits", best_of(seeds, lambda seed: run(seed, cache))[0], fitted)
        print(f"  the same result as with scikit-learn's fits: {'yes' if same(fitted, cold) else 'no'}")

    sample = np.unique(np.linspace(0, result.stages.size - 1, min(30, result.stages.size)).astype(int))
    sample_seconds, counts = timed(lambda: [data.evaluate_plainly(result.chromosomes[i]) for i in sample])
    expected = list(
        zip(*(part[sample].tolist() for part in (result.conclusive, result.right, result.cost)), strict=True)
    )
    if counts != expected:
        raise SystemExit("scikit-learn and the algorithm count differently")
    history = result.history
    fits = sum(size * mean for size, mean in zip(history.population_size, history.mean_stages, strict=True))
    sample_fits = int(result.stages[sample].sum())
    baseline = sample_seconds / sample_fits * fits
    print(
        f"baseline, scaled: {baseline:.0f} s for {fits:.0f} stages "
        f"of {sum(history.population_size)} chromosomes, "
        f"from {sample_fits} stages of {sample.size} in {sample_seconds:.3f} s"
    )
    print(f"baseline / warm: {baseline / seconds:.0f}x    baseline / cold: {baseline / cold_seconds:.0f}x")
    print(f"authors' program (quoted, {AUTHORS_SECONDS:.0f} s) / warm: {AUTHORS_SECONDS / seconds:.0f}x")


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the genetic algorithm of EMSCO.")
    parser.add_argument("--seeds", type=int, default=5, help="runs per figure; the median is printed")
    seeds = parser.parse_args().seeds
    print(f"{PARAMS.max_iter} generations of {PARAMS.population} chromosomes, median of {seeds} seeds")
    bench_random(12, 75, seeds)
    bench_random(14, 172, seeds)
    shared = os.environ.get("BUDGETBENCH_SHARED")
    heart = Path(shared) / HEART_FILE if shared else None
    if heart is None or not heart.is_file():
        print(f"Heart skipped: $BUDGETBENCH_SHARED/{HEART_FILE} not found")
        return
    bench_heart(heart, seeds)


if __name__ == "__main__":
    main()
