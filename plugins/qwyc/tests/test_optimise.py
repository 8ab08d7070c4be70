"""Algorithms 1 and 2, compared with NumPy, brute force, and the worked example of Appendix A.1."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from bench_qwyc.checks import error_budget
from bench_qwyc.optimise import Stopping, optimise
from bench_qwyc.reference import optimise_plainly
from hypothesis import assume, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.filterwarnings("error")
ALPHAS = st.one_of(st.sampled_from([0.0, 0.005, 0.05, 0.1, 0.29, 0.5, 0.99]), st.floats(0, 0.999))


@st.composite
def ensembles(draw: st.DrawFn, models: int = 6, examples: int = 30, classes: int = 1) -> Any:
    """Scores with many ties or none, float32 or float64; (T, N) or (T, N, K)."""
    shape = (draw(st.integers(1, models)), draw(st.integers(1, examples)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = rng.normal(size=shape if classes == 1 else (*shape, classes))
    digits = draw(st.sampled_from([0, 1, 8]))
    return scores.round(digits).astype(draw(st.sampled_from([np.float32, np.float64])))


def replay(scores: Any, found: Stopping, bias: float = 0.0, beta: float = 0.0) -> tuple[Any, Any]:
    """Decisions and base models run, example by example, by the definition in §3.1."""
    decided, runs = [], []
    full = np.full(scores.shape[1], bias, scores.dtype)
    for row in scores:
        full = full + row
    for i in range(scores.shape[1]):
        g = scores.dtype.type(bias)
        for r, model in enumerate(found.order):
            g = g + scores[model, i]
            if r == len(scores) - 1:
                decided.append(full[i] >= beta)
            elif g > found.high[r] or g < found.low[r]:
                decided.append(g > found.high[r])
            else:
                continue
            runs.append(r + 1)
            break
    return np.array(decided), np.array(runs)


@settings(deadline=None)
@given(ensembles(), ALPHAS, st.booleans(), st.booleans(), st.integers(0, 99), st.floats(-1, 1))
def test_training_disagreement_is_at_most_alpha_whatever_the_order_prices_and_ties(
    scores: Any, alpha: float, two_sided: bool, given_order: bool, seed: int, beta: float
) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(scores)) if given_order else None
    found = optimise(scores, alpha, order=order, costs=rng.integers(0, 4, len(scores)), beta=beta, two_sided=two_sided)
    full = np.zeros(scores.shape[1], scores.dtype)
    for row in scores:
        full = full + row
    decided, runs = replay(scores, found, beta=scores.dtype.type(beta))
    differ = decided != (full >= scores.dtype.type(beta))
    assert differ.mean() <= alpha
    assert differ.sum() == found.errors
    assert np.array_equal(np.bincount(runs, minlength=len(scores) + 1)[1:], found.exits)
    assert found.mean_models == pytest.approx(runs.mean())
    assert (found.low[:-1] <= found.high[:-1]).all()
    assert sorted(found.order) == list(range(len(scores)))
    if not two_sided:
        assert not (decided & (runs < len(scores))).any()


def same(one: Stopping, two: Stopping) -> None:
    for name in ("order", "low", "high", "exits"):
        a, b = getattr(one, name), getattr(two, name)
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes(), name
    assert one.errors == two.errors


@settings(deadline=None)
@given(ensembles(), ALPHAS, st.booleans(), st.integers(0, 99), st.sampled_from([0.0, 0.3, -1.5]))
def test_the_compiled_optimiser_equals_its_reference_implementation_bit_for_bit(
    scores: Any, alpha: float, two_sided: bool, seed: int, bias: float
) -> None:
    rng = np.random.default_rng(seed)
    options: dict[str, Any] = {"costs": rng.integers(0, 4, len(scores)), "two_sided": two_sided, "bias": bias}
    same(optimise(scores, alpha, **options), optimise_plainly(scores, alpha, **options))
    options["order"] = rng.permutation(len(scores))
    same(optimise(scores, alpha, **options), optimise_plainly(scores, alpha, **options))


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(
    ensembles(models=7, examples=700), ALPHAS, st.booleans(), st.integers(0, 99), st.integers(1, 2),
    st.sampled_from([1e-310, 1e-3, 1.0, 1e4, 1e30]), st.sampled_from([0.0, 0.3, -1.5, 1e6]),
)  # fmt: skip
def test_bounds_from_rounded_scores_rule_out_no_candidate_that_is_best(
    scores: Any, alpha: float, two_sided: bool, seed: int, threads: int, scale: float, bias: float
) -> None:
    rng = np.random.default_rng(seed)
    sizes = scale * 10.0 ** -rng.integers(0, 4, (len(scores), 1))
    with np.errstate(under="ignore"):
        scores = (scores * sizes).astype(scores.dtype)
    options: dict[str, Any] = {"costs": rng.integers(0, 4, len(scores)), "two_sided": two_sided, "bias": bias}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bench_qwyc.optimise.WORTH_BOUNDING", 0)
        bounded = optimise(scores, alpha, threads=threads, **options)
        patch.setattr("bench_qwyc.optimise.WORTH_BOUNDING", np.inf)
        same(bounded, optimise(scores, alpha, **options))
        same(bounded, optimise_plainly(scores, alpha, **options))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("alpha", [0.0, 0.005, 0.1, 0.6])
def test_the_reference_implementation_agrees_on_larger_matrices_and_with_threads(dtype: Any, alpha: float) -> None:
    rng = np.random.default_rng(4)
    scores = (rng.normal(size=(25, 1)) * rng.normal(size=(25, 6000)) + 0.2 * rng.normal(size=6000)).astype(dtype)
    one, two = optimise(scores, alpha), optimise(scores, alpha, threads=2)
    same(one, two)
    same(one, optimise_plainly(scores, alpha))


@settings(deadline=None)
@given(ensembles(classes=3), ALPHAS, st.integers(0, 99))
def test_several_classes_are_faithful_too_and_equal_their_reference(scores: Any, alpha: float, seed: int) -> None:
    costs = np.random.default_rng(seed).integers(1, 4, len(scores))
    found = optimise(scores, alpha, costs=costs)
    same(found, optimise_plainly(scores, alpha, costs=costs))
    full = np.zeros(scores.shape[1:], scores.dtype)
    for row in scores:
        full += row
    wrong = 0
    for i in range(scores.shape[1]):
        g = np.zeros(3, scores.dtype)
        for r, model in enumerate(found.order[:-1]):
            g += scores[model, i]
            if np.sort(g)[-1] - np.sort(g)[-2] > found.high[r]:
                wrong += g.argmax() != full[i].argmax()
                break
    assert wrong == found.errors <= alpha * scores.shape[1]


@settings(deadline=None)
@given(ensembles(models=5), ALPHAS)
def test_a_given_order_that_was_found_gives_the_same_thresholds(scores: Any, alpha: float) -> None:
    found = optimise(scores, alpha)
    same(found, optimise(scores, alpha, order=found.order))


@settings(deadline=None)
@given(ensembles(models=5), ALPHAS, st.booleans(), st.integers(0, 99))
def test_thresholds_are_the_best_possible_for_their_position(
    scores: Any, alpha: float, two_sided: bool, seed: int
) -> None:
    """Tries every pair of thresholds at a sum or at infinity: first the ε⁻ at which most stop, then ε⁺ ≥ ε⁻."""
    order = np.random.default_rng(seed).permutation(len(scores))
    found = optimise(scores, alpha, order=order, two_sided=two_sided)
    full = np.zeros(scores.shape[1], scores.dtype)
    for row in scores:
        full = full + row
    positive, budget = full >= 0, error_budget(alpha, scores.shape[1])
    active, g = np.ones(len(full), dtype=bool), np.zeros_like(full)
    for r, model in enumerate(order[:-1]):
        g = g + scores[model]
        marks = np.array([-np.inf, *np.unique(g[active]), np.inf], dtype=g.dtype)
        allowed = [e for e in marks if (active & positive & (g < e)).sum() <= budget]
        low = max(allowed)
        stopped = active & (g < low)
        most_below = max((active & (g < e)).sum() for e in allowed)
        assert stopped.sum() == most_below
        left = budget - (stopped & positive).sum()
        allowed = [e for e in marks if e >= low and (active & ~positive & (g > e)).sum() <= left]
        most_above = max((active & (g > e)).sum() for e in allowed) if two_sided else 0
        assert found.exits[r] == most_below + most_above
        stops = active & ((g < found.low[r]) | (g > found.high[r]))
        assert stops.sum() == found.exits[r]
        if stops.any():
            assert found.low[r] == low
        budget -= (stops & ((g > found.high[r]) != positive)).sum()
        active &= ~stops


def a_1() -> Any:
    scores = np.zeros((3, 8))
    scores[0, [0, 1]] = 1, -1
    scores[1, [2, 3, 4]] = 1, 1, -1
    scores[2, [4, 5, 6, 7]] = -1, 1, -1, -1
    return scores


def test_the_worked_example_of_appendix_a_1() -> None:
    found = optimise(a_1(), 0.0)
    assert (found.order + 1).tolist() == [3, 2, 1]
    assert found.exits.tolist() == [4, 2, 2]
    assert found.mean_cost(np.ones(3)) == 7 / 4


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 7), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_theorem_1_holds_on_pipeline_problems(models: int, examples: int, seed: int) -> None:
    """The cost is at most 4 times the optimum over all orders if base model t can stop S_t at any position (§4.1).

    Base model t scores 1 or −1 on the examples of its set and 0 on all others; an example in several sets has the same
    sign in all. Two further examples belong to no set and have tiny scores of opposite sign; they keep sums of 0
    undecided, so that S_t(i) = S_t(1).
    """
    rng = np.random.default_rng(seed)
    member = rng.random((models, examples)) < rng.uniform(0.05, 0.6)
    sign = rng.choice([-1.0, 1.0], examples)
    scores = np.concatenate([member * sign, np.zeros((models, 2))], axis=1)
    # The last base model separates the two undecided examples, by less than the difference of any two sums.
    scores = np.concatenate([scores, np.zeros((1, examples + 2))])
    scores[-1, -2:] = 1e-3, -1e-3
    costs = np.append(rng.integers(1, 6, models).astype(float), 1e6)
    found = optimise(scores, 0.0, costs=costs)
    assume(found.order[-1] == models)
    prices = costs[:-1]

    def cost(order: Any) -> float:
        waiting, total = np.ones(examples + 2, dtype=bool), 0.0
        for model in order:
            total += prices[model] * waiting.sum()
            waiting[:-2] &= ~member[model]
        return total / (examples + 2)

    ours = (found.exits * np.cumsum(np.append(prices[found.order[:-1]], 0.0))).sum() / (examples + 2)
    best = min(cost(order) for order in permutations(range(models)))
    assert cost(found.order[:-1]) == pytest.approx(ours)
    assert best - 1e-9 <= ours <= 4 * best + 1e-9


def test_a_dearer_base_model_must_stop_more_for_its_price() -> None:
    # In A.1 base model 3 stops four of eight, base model 2 three.
    assert optimise(a_1(), 0.0, costs=[1, 1, 1.2]).order[0] == 2
    assert optimise(a_1(), 0.0, costs=[1, 1, 1.5]).order[0] == 1


def test_without_possible_stops_the_cheapest_then_the_first_base_model_is_next() -> None:
    scores = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [1.0, -1.0]])
    assert optimise(scores, 0.0, costs=[3, 2, 2, 9]).order[0] == 3  # the only one at which an example stops
    nobody = optimise(scores[:3], 0.0, costs=[3, 2, 2])
    assert nobody.order.tolist() == [1, 2, 0]
    assert np.isinf(nobody.low).all()
    assert np.isinf(nobody.high).all()


@pytest.mark.parametrize("scores", [np.array([[0.5]]), np.array([[-0.5], [0.2]]), np.ones((4, 5)), -np.ones((4, 5))])
@pytest.mark.parametrize("alpha", [0.0, 0.4])
def test_one_base_model_one_example_and_identical_rows(scores: Any, alpha: float) -> None:
    found = optimise(scores, alpha)
    same(found, optimise_plainly(scores, alpha))
    assert found.exits.sum() == scores.shape[1]
    assert found.disagreement <= alpha


@pytest.mark.parametrize(("alpha", "examples", "errors"), [(0.29, 100, 29), (0.005, 200, 1), (0.3, 10, 3), (0.0, 7, 0)])
def test_the_error_budget_is_what_alpha_allows(alpha: float, examples: int, errors: int) -> None:
    assert error_budget(alpha, examples) == errors


def test_bad_input_is_refused_by_name() -> None:
    good = np.ones((2, 3))
    bad = good.copy()
    bad[1, 2] = np.nan
    with pytest.raises(ValueError, match="base model 1 has the score nan on example 2"):
        optimise(bad, 0.1)
    for alpha in (-0.1, 1.0, float("nan")):
        with pytest.raises(ValueError, match=r"alpha must be in \[0, 1\)"):
            optimise(good, alpha)
    with pytest.raises(ValueError, match="each of the 2 base models"):
        optimise(good, 0.1, order=[0, 0])
    with pytest.raises(ValueError, match="price of base model 0"):
        optimise(good, 0.1, costs=[-1, 1])
    with pytest.raises(ValueError, match="shape"):
        optimise(np.ones((0, 3)), 0.1)
    with pytest.raises(ValueError, match="leaves the range"):
        optimise(np.full((2, 2), 3e38, dtype=np.float32), 0.1)
    with pytest.raises(ValueError, match="two classes"):
        optimise(np.ones((2, 3, 3)), 0.1, two_sided=False)
