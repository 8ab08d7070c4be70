"""The method ``aaco``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Predicate

from bench_core import Family, Method, Problem, RegisterMethod, distinct, hookimpl

__all__ = ["AACO"]


BENCH_CONTRACT_VERSION = 1


@dataclass(frozen=True)
class AACO(Method):
    """Acquisition conditioned oracle: a look-ahead over the training rows nearest in the acquired features.

    Let o be the features that a row has acquired. Its k nearest training rows in o stand in for the row: among the
    candidate sets u of further features, the method picks the set that minimises the mean log loss of a naive Bayes
    predictor on the neighbours' x_{o∪u}, plus λ · price(u). If u is empty, the row is classified. Otherwise its
    cheapest feature is acquired and the look-ahead repeated. Candidates are all single features and random sets,
    drawn once from the problem's seed.

    Attributes:
        lambdas: trade-offs λ ≥ 0, in nats per price of all features; when empty, ``count`` values are chosen, evenly
            spaced in log λ: at the lowest, all features cost a tenth of the log loss of the class frequencies; at the
            highest, the cheapest feature costs all of it.
        count: number of λ chosen when ``lambdas`` is empty.
        neighbours: number k of nearest training rows.
        subsets: number of random candidate sets.
        reference_rows: most training rows among which neighbours are searched; a random sample when there are more.
        max_bins: most bins of a column in the naive Bayes predictor.
        answer: the classifier of the final answer: ``lightgbm``, trained on rows with random features masked, or
            ``naive-bayes``, the predictor of the look-ahead.
        masked_copies: masked copies of each training row in LightGBM's training set.
        n_estimators: LightGBM's boosting rounds.

    Source: Valancius, Lennon, Oliva, Acquisition conditioned oracle for nongreedy active feature acquisition, ICML
    2024.
    """

    version: ClassVar[int] = 1
    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "multiclass"})
    takes_missing: ClassVar[bool] = True
    lambdas: Annotated[tuple[Annotated[float, Ge(0)], ...], Predicate(distinct)] = ()
    count: Annotated[int, Ge(2)] = 10
    neighbours: Annotated[int, Ge(1)] = 5
    subsets: Annotated[int, Ge(0)] = 100
    reference_rows: Annotated[int, Ge(1)] = 2000
    max_bins: Annotated[int, Ge(2)] = 8
    answer: Literal["lightgbm", "naive-bayes"] = "lightgbm"
    masked_copies: Annotated[int, Ge(1)] = 5
    n_estimators: Annotated[int, Ge(1)] = 100

    def fit(self, problem: Problem) -> Family:
        """Fit the predictors on the training part; the default policy is the λ with the best validation score."""
        from bench_aaco.answers import fit_answer
        from bench_aaco.oracle import fit_oracle, lambda_grid
        from bench_aaco.policy import OraclePolicy
        from bench_core import default_policy_first, validation_score

        model = fit_oracle(problem, self.subsets, self.reference_rows, self.max_bins)
        answer = fit_answer(problem, self.masked_copies, self.n_estimators) if self.answer == "lightgbm" else None
        lambdas = sorted(set(self.lambdas)) or lambda_grid(model, self.count)
        policies = [
            OraclePolicy(
                model, answer, lambda_, self.neighbours, problem.threads, f"lambda={lambda_:g}", {"lambda": lambda_}
            )
            for lambda_ in lambdas
        ]
        rows = problem.validation.rows()
        scores = [validation_score(problem, policy.decide(rows)) for policy in policies]
        return Family(default_policy_first(policies, scores), diagnostics={"lambdas": lambdas})


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """Register ``aaco``."""
    register("aaco", AACO)


@hookimpl(optionalhook=True)
def bench_policy_types() -> list[type]:
    """Return the types that a saved policy contains."""
    from bench_models.boosting import BoostedModel

    from bench_aaco.oracle import Bins, Look, Oracle
    from bench_aaco.policy import OraclePolicy

    return [OraclePolicy, Oracle, Look, Bins, BoostedModel]
