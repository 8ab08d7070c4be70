"""Evolutionary operators: roulette selection, recombination, mutation, initial population (EMSCO §3.2, §3.4).

These are the plain NumPy versions; `_kernels_evolution` has compiled equivalents that give the same result bit for
bit. Randomness is passed in as raw 64-bit words of a bit generator, whose stream NumPy keeps stable between
versions, in a fixed layout per child (`words_before_mutation` and the functions below). A word becomes a
number in [0, 1) by its upper 53 bits (`uniforms`).

Choices where the paper is silent:

- Rounding in Algorithm 2 is to the nearest integer, halves to even, of ([R]_i + 1) ||C|| / ||R|| (multiplied
  first, so that one correctly rounded division of small integers decides, and a half is exactly a half).
- ||Q|| in Algorithm 1 is the stage count *at that moment* of the traversal: a mutation that opens stage ||Q||
  raises it for the features that follow. So no mutation leaves a gap or exceeds k stages.
- Parents are drawn independently, with replacement.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bench_emsco.chromosome import Chromosomes, compress, stage_counts

Words = NDArray[np.uint64]
Floats = NDArray[np.float64]
MutationKind = Literal["beta-binomial", "uniform"]


def words_before_mutation(n_features: int) -> int:
    """Number of words of a child that precede its n words for mutation.

    Words 0 and 1 draw the parents, word 2 whether they recombine, word 3 the stage count; the others hold one coin
    (bit) per feature.
    """
    return 4 + -(-n_features // 64)


def uniforms(words: Words) -> Floats:
    """Numbers in [0, 1) from the upper 53 bits of each word; same shape."""
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def mutation_pmf(support: int, beta: float, mutation: MutationKind = "beta-binomial") -> Floats:
    """Probability of each stage 0..support, shape (support + 1,) (Eq. 7, alpha = 1).

    "uniform" gives every stage the same probability, as the authors' released program does in effect.

    Raises:
        ValueError: `support` < 0, `beta` is not in [1, inf), or `mutation` is unknown.
    """
    if support < 0:
        raise ValueError(f"support must be at least 0, not {support}")
    if not 1.0 <= beta < np.inf:
        raise ValueError(f"beta must be in [1, inf), not {beta}")
    if mutation not in get_args(MutationKind):
        raise ValueError(f"mutation must be one of {', '.join(get_args(MutationKind))}, not {mutation!r}")
    if mutation == "uniform":
        return np.full(support + 1, 1.0 / (support + 1))
    pmf = np.empty(support + 1)
    pmf[0] = beta / (support + beta)
    for j in range(support):  # the ratio of successive terms of Eq. 7 with alpha = 1
        pmf[j + 1] = pmf[j] * (support - j) / (support - j - 1 + beta)
    return pmf


def mutation_cdf(k: int, beta: float, mutation: MutationKind = "beta-binomial") -> Floats:
    """Cumulative probabilities for every stage count, shape (k, k).

    Row s is for the support {0..s}; its entries from s on are 1. A uniform number v in [0, 1) draws the stage that
    equals the number of entries <= v.
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    table = np.ones((k, k))
    for support in range(k):
        table[support, :support] = np.cumsum(mutation_pmf(support, beta, mutation))[:support]
    return table


def mutate(chromosomes: Chromosomes, words: Words, rate: float, cdf: Floats) -> Chromosomes:
    """Algorithm 1 on every row of a (P, n) population; returns a new array.

    `words` has shape (P, n): word i decides both whether feature i mutates (its number u < rate) and, as u /
    rate is then again uniform, to which stage. `cdf` is from `mutation_cdf`; its size is k. A feature alone
    in its stage stays.
    """
    result = chromosomes.copy()
    k = cdf.shape[0]
    rows = np.arange(result.shape[0])
    stages = stage_counts(result)
    members = (result[:, :, None] == np.arange(k, dtype=result.dtype)).sum(axis=1)
    draws = uniforms(words)
    for feature in range(result.shape[1]):
        old = result[:, feature].astype(np.int64)
        hit = rows[(draws[:, feature] < rate) & (members[rows, old] > 1)]
        table = cdf[np.minimum(stages[hit], k - 1)]
        new = np.sum(table <= (draws[hit, feature] / rate)[:, None], axis=1)
        result[hit, feature] = new
        members[hit, old[hit]] -= 1
        members[hit, new] += 1
        stages[hit] = np.maximum(stages[hit], new + 1)
    return result


def recombine(parents_a: Chromosomes, parents_b: Chromosomes, words: Words, rate: float) -> Chromosomes:
    """Algorithm 2 on pairs of parents, (P, n) each; returns (P, n) children without gaps.

    `words` has shape (P, 2 + ceil(n / 64)). With probability `rate` (word 0), the parents are recombined: the child's
    stage count is one of floor((a + b) / 2), a, b (word 1). Each feature copies the stage of one parent (its bit from
    word 2 on, 64 per word: 0 = a), rescaled to that stage count: max(round((stage + 1) / ||R|| * ||C||) - 1, 0). Then
    gaps are compressed. Otherwise the child is a copy of one parent (bit 0 of word 2).
    """
    stages_a, stages_b = stage_counts(parents_a), stage_counts(parents_b)
    choice = (uniforms(words[:, 1]) * 3.0).astype(np.int64)
    stages = np.choose(choice, [(stages_a + stages_b) // 2, stages_a, stages_b])
    feature = np.arange(parents_a.shape[1])
    coins = (words[:, 2 + feature // 64] >> (feature % 64).astype(np.uint64)) & np.uint64(1)
    from_b = coins.astype(np.bool_)
    copied = np.where(from_b, parents_b, parents_a).astype(np.int64)
    source = np.where(from_b, stages_b[:, None], stages_a[:, None])
    rescaled = np.rint((copied + 1) * stages[:, None] / source)
    blended = compress(np.maximum(rescaled - 1.0, 0.0).astype(parents_a.dtype))
    parent = np.where(from_b[:, :1], parents_b, parents_a)
    return np.where((uniforms(words[:, 0]) < rate)[:, None], blended, parent)


def roulette(cumulative: Floats, words: Words) -> NDArray[np.int64]:
    """Draw one index per word with probability proportional to the steps of `cumulative` (§3.2.1).

    `cumulative` is the running sum of the weights, shape (U,); an index whose weight is zero is never drawn.
    """
    total = cumulative[-1]
    last = np.searchsorted(cumulative, total, side="left")
    return np.minimum(np.searchsorted(cumulative, uniforms(words) * total, side="right"), last).astype(np.int64)


def breed(
    parents: Chromosomes, cumulative: Floats, words: Words, recombination: float, mutation: float, cdf: Floats
) -> Chromosomes:
    """One child per row of `words`: select two parents, recombine, mutate (the inner loop of Algorithm 3).

    `parents` is (U, n), `cumulative` their running selection weights (U,), `words` (C,
    words_before_mutation(n) + n); returns (C, n).
    """
    chosen = roulette(cumulative, words[:, :2])
    before = words_before_mutation(parents.shape[1])
    children = recombine(parents[chosen[:, 0]], parents[chosen[:, 1]], words[:, 2:before], recombination)
    return mutate(children, words[:, before:], mutation, cdf)
