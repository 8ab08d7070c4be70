"""Small deterministic problems of every task, and unusual variants: about 120 rows, mixed scales, learnable.

They are made like real ones: a `Dataset` is split and encoded by the core, which gives a `Problem`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bench_core.contract.costs import Costs
from bench_core.contract.dataset import Dataset, Part
from bench_core.contract.decisions import Rows
from bench_core.contract.errors import did_you_mean
from bench_core.contract.facts import Task
from bench_core.contract.method import Problem
from bench_core.contract.readonly import frozen
from bench_core.protocol.encode import fit_encoder
from bench_core.protocol.split import SplitRule, make_split

__all__ = ["FEATURES", "THRESHOLD", "VARIANTS", "Case", "make_case", "make_dataset", "make_problem"]

Variant = Literal[
    "plain",
    "zero-prices",
    "constant-features",
    "one-hot",
    "missing-values",
    "no-threshold",
    "groups",
    "item-sizes",
    "one-feature",
    "missing-class",
    "tiny",
]
VARIANTS: tuple[str, ...] = get_args(Variant)

FEATURES = ("strong", "large", "small", "counts", "kind", "noise")
"""Feature names of the problems; ``kind`` is a category of three levels."""

PRICES = (4.0, 2.5, 1.0, 1.0, 3.0, 0.5)
THRESHOLD = 0.8
ROWS = 120
QUERIES = 12


@dataclass(frozen=True)
class Case:
    """A problem, and rows that its method has not seen.

    Attributes:
        problem: the problem that a method gets to fit.
        rows: the test rows.
        y: their labels, which policies never get.
    """

    problem: Problem
    rows: Rows
    y: NDArray[Any]


def make_dataset(task: Task = "binary", seed: int = 0, rows: int = ROWS, *, missing: bool = False) -> Dataset:
    """A data set of six features on mixed scales, some of which predict the target.

    Args:
        task: any of the four tasks.
        seed: the same seed gives the same table.
        rows: number of rows; ranking data has twelve queries.
        missing: whether to remove a random eighth of the values of the features ``large`` and ``counts``.
    """
    rng = np.random.default_rng(np.random.SeedSequence([seed, 0x7E57]))
    latent = rng.normal(size=(rows, 4))
    kind = rng.integers(0, 3, rows)
    values = np.column_stack(
        [
            latent[:, 0],
            5000.0 + 1000.0 * latent[:, 1],
            1e-3 * latent[:, 2],
            rng.poisson(3.0 + 2.0 * (latent[:, 0] > 0)),
            kind,
            latent[:, 3],
        ]
    )
    if missing:
        for column in (1, 3):
            values[rng.permutation(rows)[: rows // 8], column] = np.nan
    signal = 2.0 * latent[:, 0] + 1.2 * latent[:, 1] + 0.6 * latent[:, 2] + 0.5 * kind
    signal = signal + 0.4 * rng.normal(size=rows)
    target: NDArray[Any]
    classes: tuple[str, ...] = ()
    if task == "regression":
        target = signal
    else:
        levels = {"binary": 2, "multiclass": 3, "ranking": 4}[task]
        target = np.searchsorted(np.quantile(signal, np.arange(1, levels) / levels), signal).astype(np.int64)
        if task == "ranking":
            target = target.astype(np.float64)
        else:
            classes = tuple("abc"[:levels])
    query = np.arange(rows) * QUERIES // rows if task == "ranking" else None
    return Dataset(f"kit-{task}", task, values, FEATURES, target, classes, categorical=(4,), query=query)


def make_case(
    task: Task = "binary",
    variant: str = "plain",
    *,
    seed: int = 0,
    rows: int = ROWS,
    threshold: float | None = THRESHOLD,
    threads: int = 1,
) -> Case:
    """A problem with test rows.

    Args:
        task: any of the four tasks; only classification has a threshold.
        variant: one of `VARIANTS`. ``missing-values`` is encoded ``raw`` (NaN stays); ``missing-class`` has no training
            row of the last class; ``tiny`` has six training rows; ``item-sizes`` has prices that grow with the item.
        seed: the seed of the table, the split and the trial.
        rows: rows in all three parts together.
        threshold: confidence threshold of classification tasks.
        threads: threads that the method may use.

    Raises:
        ValueError: there is no such variant.
    """
    if variant not in VARIANTS:
        raise ValueError(f"there is no variant {variant!r}; {did_you_mean(variant, VARIANTS)}")
    dataset = make_dataset(task, seed, rows, missing=variant == "missing-values")
    costs = Costs(np.array(PRICES))
    if variant == "zero-prices":
        costs = Costs(np.zeros(len(PRICES)))
    elif variant == "constant-features":
        values = np.array(dataset.values)
        values[:, [1, 5]] = 7.25, -3.0
        dataset = replace(dataset, values=values)
    elif variant == "groups":
        costs = Costs(np.array([1.0, 0.0, 0.0, 1.0, 2.0, 0.0]), np.array([0, 0, 1, -1, -1, 1]), np.array([3.0, 2.0]))
    elif variant == "item-sizes":
        sizes = np.random.default_rng(seed).integers(1, 50, rows).astype(np.float64)
        dataset = replace(dataset, sizes=sizes)
        costs = Costs(np.column_stack([PRICES, np.linspace(0.0, 0.5, 6), np.linspace(0.02, 0.0, 6)]))
    elif variant == "one-feature":
        dataset = replace(dataset, values=dataset.values[:, :1], feature_names=FEATURES[:1], categorical=())
        costs = Costs(np.array(PRICES[:1]))
    split = make_split(dataset, SplitRule(), seed)
    train = split.train
    if variant == "missing-class":
        train = train[dataset.target[train] != len(dataset.classes) - 1]
    elif variant == "tiny":
        train = _few(dataset, train)
    encoding = {"one-hot": "onehot", "missing-values": "raw"}.get(variant, "ordinal")
    encoder = fit_encoder(dataset, train, encoding)

    def part(rows: NDArray[np.int64]) -> Part:
        return Part(
            frozen(encoder.transform(dataset.values[rows])),
            frozen(dataset.target[rows]),
            None if dataset.sizes is None else frozen(dataset.sizes[rows]),
            None if dataset.query is None else frozen(dataset.query[rows]),
        )

    refuses = bool(dataset.classes) and variant != "no-threshold"
    problem = Problem(
        train=part(train),
        validation=part(split.validation),
        costs=costs,
        task=task,
        n_classes=len(dataset.classes),
        feature_names=dataset.feature_names,
        feature_of_column=frozen(encoder.feature_of_column),
        categorical=dataset.categorical,
        threshold=threshold if refuses else None,
        seed=seed,
        threads=threads,
    )
    test = part(split.test)
    return Case(problem, test.rows(), test.y)


def make_problem(task: Task = "binary", variant: str = "plain", **options: Any) -> Problem:
    """The problem of `make_case`, for tests without test rows."""
    return make_case(task, variant, **options).problem


def _few(dataset: Dataset, train: NDArray[np.int64]) -> NDArray[np.int64]:
    """Six training rows: two or three of every class; for ranking, three of each of two queries."""
    if dataset.query is not None:
        queries = np.unique(dataset.query[train])[:2]
        groups: Sequence[NDArray[np.int64]] = [train[dataset.query[train] == query][:3] for query in queries]
    elif dataset.classes:
        each = 6 // len(dataset.classes)
        groups = [train[dataset.target[train] == code][:each] for code in range(len(dataset.classes))]
    else:
        groups = [train[:6]]
    return np.sort(np.concatenate(groups))
