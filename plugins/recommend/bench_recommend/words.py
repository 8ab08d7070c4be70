"""The text of a recommendation: the method, its measured quality and cost, and warnings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench_policies.goals import Goal, within
from bench_policies.measures import Measure, rare
from bench_policies.measuring import summary
from bench_policies.trials import Bench
from bench_policies.wording import FEWEST_SPLITS, against_trivial, one_line, refused_below, with_half

from bench_recommend.choosing import equals
from bench_recommend.nested import REPORT_SHARE
from bench_recommend.race import Candidate

__all__ = ["text_of"]


def text_of(
    best: Candidate,
    finished: Sequence[Candidate],
    goal: Goal,
    bench: Bench,
    full: float,
    trivial: Sequence[Mapping[str, Any]],
) -> str:
    """Return a recommendation as text.

    Args:
        best: the recommended candidate.
        finished: all candidates that have results.
        goal: the goal.
        bench: the data set and the threshold.
        full: mean cost of all features, in the unit of the prices.
        trivial: figures of answers that need no feature, best first.
    """
    measured, measure = summary(best.chosen, REPORT_SHARE), goal.measured_in(bench.dataset.classes)
    sentences = [
        _result(best, measured, measure, goal, full),
        f"Goal: {goal.in_words(bool(bench.dataset.classes))}.",
        _measurement(len(best.chosen)),
        *_refusals(measured, goal, bench.setup.threshold),
        *_shortfalls(best, measured, goal, bool(bench.dataset.classes)),
    ]
    if equal := [candidate.name for candidate in equals(best, finished, goal)]:
        sentences.append(f"On these splits it cannot be distinguished from {', '.join(equal)}.")
    sentences += _rare_classes(goal, bench)
    if trivial:
        sentences.append(against_trivial(measured, trivial[0], goal.error_costs is not None, measure))
    return " ".join(sentences)


def _result(best: Candidate, measured: Mapping[str, Any], measure: Measure, goal: Goal, full: float) -> str:
    quality = measure.words.format(with_half(measured, "quality", measure.factor, measure.unit))
    text = f"Use {best.name}: it reaches {quality}, at a mean cost of {with_half(measured, 'cost', 1)} a row"
    if full > 0:
        text += f" ({100 * measured['cost'] / full:.0f} % of what all features cost)"
    if goal.error_costs is not None:
        text += f"; with wrong answers and refusals the mean total cost is {with_half(measured, 'total', 1)}"
    return text + "."


def _measurement(splits: int) -> str:
    text = f"Measured on rows that no method saw, of {splits} random split{'s'[: splits > 1]}"
    if splits >= FEWEST_SPLITS:
        return text + ", ± half of the 95 % interval, or the interval in brackets."
    return text + f"; {('one split does', 'two splits do')[splits - 1]} not show the uncertainty."


def _refusals(measured: Mapping[str, Any], goal: Goal, threshold: float | None) -> Iterator[str]:
    if threshold is not None:
        yield refused_below(threshold, goal.error_costs is not None, goal.refused_cost)
    if goal.refused_cost is not None:
        yield f"A row is refused where every answer is expected to cost more than {goal.refused_cost:g}."
    if threshold is not None or goal.refused_cost is not None:
        yield f"{with_half(measured, 'coverage', 100, ' %')} of the rows are answered."


def _shortfalls(best: Candidate, measured: Mapping[str, Any], goal: Goal, classes: bool) -> Iterator[str]:
    """Yield a sentence for each shortfall: a missed goal, rows above the budget, too little time, no right answer."""
    if not any(best.met):
        yield "No method reached the goal on the validation parts; this one came nearest."
    if missed := sum(not goal.met(judged) for judged in best.chosen):
        yield f"The goal is missed on such rows of {missed} of {len(best.chosen)} splits."
    if goal.budget is not None and goal.cap is None and not within(measured["most"], goal.budget):
        yield f"Single rows cost up to {measured['most']:.4g} (--cap limits every row)."
    if best.why:
        yield "The time was too short for more than a sample of the rows: give it more (--time)."
    if measured["quality"] == 0 and classes:
        yield "No answer is right: raise the budget, or lower the threshold."


def _rare_classes(goal: Goal, bench: Bench) -> Iterator[str]:
    classes = bench.dataset.classes
    if goal.measure != "accuracy" or goal.error_costs is not None or not classes:
        return
    if few := [f"{one_line(name)} ({100 * share:.1f} %)" for name, share in rare(bench.dataset.target, classes)]:
        yield (
            f"Warning: few rows are of the class {', '.join(few)}; right answers hardly depend on them."
            " Consider --measure balanced-accuracy or --error-costs."
        )
