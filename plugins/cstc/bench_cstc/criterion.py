"""The CSTC criterion (§6.8): do classifiers of neighbouring labels share more features than those of distant ones?

CSTC sends rows by their predicted label to classifiers that acquire different features. This has an advantage if rows
with similar labels need similar features. The paper's test: an l1-regularised classifier for every pair of neighbouring
labels (0 against 1, 1 against 2, …), and the Jaccard coefficients of the features that any two of them select. The
coefficients should fall away from the diagonal.

From a shell, for any registered data set, with parameters as TOML values::

    python -m bench_cstc.criterion svmlight path=ranks.txt task=ranking
    python -m bench_cstc.criterion iris --strength 0.2

Our choices where the paper says nothing: the loss is squared, on labels ±1, as everywhere in CSTC. Columns are
standardised on the rows of the pair. For every pair, the l1 weight is the same share (``strength``) of the smallest
weight that selects no feature, so that the number of rows of a label does not matter. A target with many values is
divided into five ranges with equally many rows.
"""

from __future__ import annotations

import argparse
import itertools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LabelOverlap", "criterion_of_dataset", "jaccard", "label_overlap", "leaf_overlap", "main"]

Floats = NDArray[np.float64]
_MOST_LEVELS = 10


@dataclass(frozen=True, eq=False)
class LabelOverlap:
    """The overlap of the features of classifiers of neighbouring labels.

    Attributes:
        pairs: names of the pairs of neighbouring labels, in label order.
        selected: bool (pairs, features): features that each classifier uses.
        matrix: float64 (pairs, pairs): Jaccard coefficients, 1 on the diagonal.
    """

    pairs: tuple[str, ...]
    selected: NDArray[np.bool_]
    matrix: Floats

    @property
    def by_distance(self) -> list[float]:
        """Mean coefficient of pairs at distance 0, 1, 2, …; the first is 1."""
        return [float(np.diagonal(self.matrix, distance).mean()) for distance in range(len(self.matrix))]

    @property
    def falling(self) -> float:
        """Share of the steps away from the diagonal, along rows, at which the coefficient does not rise."""
        size = len(self.matrix)
        steps = [
            self.matrix[i, j + way] <= self.matrix[i, j] + 1e-12
            for i in range(size)
            for way in (-1, 1)
            for j in range(i, size - 1 if way > 0 else 0, way)
        ]
        return float(np.mean(steps))


def jaccard(selected: NDArray[np.bool_]) -> Floats:
    """Jaccard coefficients of sets of features, |both| / |either|; 1 for two empty sets.

    Args:
        selected: bool (sets, features).

    Returns:
        float64 (sets, sets).
    """
    table = selected.astype(np.float64)
    both = table @ table.T
    sizes = table.sum(axis=1)
    either = sizes[:, None] + sizes[None, :] - both
    return np.where(either > 0, both / np.maximum(either, 1.0), 1.0)


def label_overlap(
    X: Floats,
    y: NDArray[Any],
    feature_of_column: NDArray[np.int64] | None = None,
    strength: float = 0.1,
    levels: int = 5,
    names: Sequence[str] = (),
) -> LabelOverlap:
    """Fit the classifiers and compare the features that they select.

    Args:
        X: float64 (rows, columns), finite.
        y: (rows,): labels with a meaningful order: grades, numbers, class codes.
        feature_of_column: int64 (columns,): the feature of each column; if None, each column is a feature.
        strength: l1 weight, as a share of the smallest that selects no feature; between 0 and 1.
        levels: number of ranges of a target with more than ten values, at least 3.
        names: names of the labels, for class codes; not used for ranges of them.

    Raises:
        ValueError: a parameter is out of range, values are not finite, or there are fewer than three labels.
    """
    if not 0 < strength < 1:
        raise ValueError(f"strength must be between 0 and 1, not {strength}")
    if levels < 3:
        raise ValueError(f"levels must be at least 3, not {levels}")
    if not np.isfinite(X).all():
        raise ValueError("the criterion needs finite values; impute missing ones first")
    codes, labels = _levels(np.asarray(y), levels)
    if len(labels) < 3:
        raise ValueError(f"{len(labels)} different labels have no two pairs of neighbours to compare")
    if names and (values := np.unique(y)).size <= _MOST_LEVELS:
        labels = [names[int(value)] for value in values]
    owner = np.arange(X.shape[1]) if feature_of_column is None else feature_of_column
    selected = np.zeros((len(labels) - 1, int(owner.max(initial=-1)) + 1), dtype=bool)
    for pair in range(len(labels) - 1):
        rows = (codes == pair) | (codes == pair + 1)
        used = _selected(X[rows], np.where(codes[rows] > pair, 1.0, -1.0), strength)
        selected[pair, owner[used]] = True
    pairs = tuple(f"{low} vs {high}" for low, high in itertools.pairwise(labels))
    return LabelOverlap(pairs, selected, jaccard(selected))


def _levels(y: NDArray[Any], levels: int) -> tuple[NDArray[np.int64], list[str]]:
    values, codes = np.unique(y, return_inverse=True)
    if len(values) <= _MOST_LEVELS:
        return codes.reshape(-1), [f"{float(value):g}" for value in values]
    edges = np.unique(np.quantile(y, np.arange(1, levels) / levels))
    cut = np.searchsorted(edges, y, side="right")
    present, codes = np.unique(cut, return_inverse=True)
    ends = [values[0], *edges, values[-1]]
    return codes.reshape(-1), [f"{float(ends[k]):.3g}..{float(ends[k + 1]):.3g}" for k in present]


def _selected(X: Floats, y: Floats, strength: float) -> NDArray[np.bool_]:
    """Columns with a nonzero weight in the l1-regularised fit of y; bool (columns,)."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import Lasso

    used = np.zeros(X.shape[1], dtype=bool)
    spread = X.std(axis=0)
    varying = np.flatnonzero(spread > 1e-12 * np.maximum(1.0, np.abs(X).max(axis=0, initial=0.0)))
    if not len(varying):
        return used
    Z = (X[:, varying] - X[:, varying].mean(axis=0)) / spread[varying]
    centred = y - y.mean()
    most = float(np.abs(centred @ Z).max()) / len(y)
    if most <= 1e-12:
        return used
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = Lasso(alpha=strength * most, fit_intercept=False, max_iter=20_000, tol=1e-5, random_state=0).fit(
            Z, centred
        )
    used[varying[fit.coef_ != 0]] = True
    return used


def leaf_overlap(nodes: Sequence[Mapping[str, Any]]) -> float | None:
    """Whether a tree's leaves share fewer features if their mean labels differ more (§6.5, Fig. 10).

    Args:
        nodes: tables with ``name`` (as in a heap), ``features`` and ``mean``, as policies describe their trees.

    Returns:
        Spearman's rank correlation, over all pairs of leaves that rows reach, between the distance of their mean labels
        and the Jaccard coefficient of their features: negative when similarity falls with distance. None for fewer than
        three leaves, or if all distances or all coefficients are equal.
    """
    from scipy.stats import rankdata

    names = {int(node["name"]) for node in nodes}
    leaves = [n for n in nodes if not names & {2 * int(n["name"]), 2 * int(n["name"]) + 1} and n["mean"] is not None]
    if len(leaves) < 3:
        return None
    known = sorted({f for leaf in leaves for f in leaf["features"]})
    selected = np.array([np.isin(known, leaf["features"]) for leaf in leaves], dtype=bool)
    means = np.array([leaf["mean"] for leaf in leaves], dtype=np.float64)
    above = np.triu_indices(len(leaves), 1)
    far = rankdata(np.abs(means[:, None] - means[None, :])[above])
    alike = rankdata(jaccard(selected.reshape(len(leaves), len(known)))[above])
    if far.std() == 0 or alike.std() == 0:
        return None
    return float(np.corrcoef(far, alike)[0, 1])


def criterion_of_dataset(name: str, parameters: Mapping[str, Any], **options: Any) -> LabelOverlap:
    """The criterion on a registered data set: on the training part of its fixed split, or on all rows.

    Args:
        name: name as in ``bench list datasets``.
        parameters: parameters of the source.
        options: ``strength``, ``levels`` of `label_overlap`.

    Raises:
        BenchError: the data set is unknown or not available.
    """
    from bench_core import DataContext, RequestError, build, did_you_mean, fit_encoder
    from bench_core.suites import load_registry

    sources = load_registry().datasets
    if name not in sources:
        raise RequestError(f"there is no data set {name!r}; {did_you_mean(name, sources)}")
    dataset = build(sources[name], parameters, f"data set {name!r}").load(DataContext.from_environment())
    rows = np.arange(dataset.n_rows) if dataset.split is None else np.flatnonzero(dataset.split == 0)
    encoder = fit_encoder(dataset, rows, "onehot")
    X = encoder.transform(dataset.values[rows])
    return label_overlap(X, dataset.target[rows], encoder.feature_of_column, names=dataset.classes, **options)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the matrix of a data set; return the exit code."""
    from bench_core import BenchError

    parser = argparse.ArgumentParser(prog="python -m bench_cstc.criterion", description=__doc__.splitlines()[0])
    parser.add_argument("dataset", help="a registered data set")
    parser.add_argument("parameters", nargs="*", metavar="KEY=VALUE", help="its parameters, values as in TOML")
    parser.add_argument(
        "--strength", type=float, default=0.1, help="l1 weight, as a share of the smallest that selects no feature"
    )
    parser.add_argument("--levels", type=int, default=5, help="number of ranges of a target with many values")
    given = parser.parse_args(arguments)
    try:
        parameters = dict(_parameter(text) for text in given.parameters)
        overlap = criterion_of_dataset(given.dataset, parameters, strength=given.strength, levels=given.levels)
    except (BenchError, ValueError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    width = max(map(len, overlap.pairs))
    for pair, row, used in zip(overlap.pairs, overlap.matrix, overlap.selected, strict=True):
        print(f"{pair:>{width}}  {'  '.join(f'{value:.2f}' for value in row)}  {int(used.sum())} features")
    print(f"away from the diagonal it does not rise at {100 * overlap.falling:.0f} % of the steps")
    return 0


def _parameter(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ValueError(f"{text!r} is not KEY=VALUE")
    try:
        return key, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key, value


if __name__ == "__main__":
    raise SystemExit(main())
