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
    """Acquisition conditioned oracle: look ahead over the training rows that are nearest in what is known so far.

    With the features o of a row known, its ``neighbours`` nearest training rows in o stand for it: of the candidate
    sets u of further features the one of least mean loss of a naive Bayes predictor on their x_o∪u, plus λ · price(u),
    is taken. If that is the empty set the row is answered, otherwise the cheapest feature of u is acquired and the
    look-ahead made again. Candidates are the single features and random sets, drawn once from the problem's seed.

    Attributes:
        lambdas: trade-offs λ ≥ 0, in nats for the price of all features; when empty, ``count`` of them, evenly in log
            from a tenth of the loss of knowing nothing to where not even the cheapest feature can pay.
        count: of the automatic grid.
        neighbours: k.
        subsets: random candidate sets.
        reference_rows: most training rows that neighbours are taken from; drawn from the problem's seed.
        max_bins: of a column, in the naive Bayes predictor.
        answer: what answers a row in the end: ``lightgbm``, trained on rows with random features masked, or
            ``naive-bayes``, the predictor that looks ahead.
        masked_copies, n_estimators: of LightGBM's training: masked copies of each row, and rounds.

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
        """Fit the predictors on the training part; the validation part says which λ is best."""
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
    """What a saved policy holds."""
    from bench_models.boosting import BoostedModel

    from bench_aaco.oracle import Bins, Look, Oracle
    from bench_aaco.policy import OraclePolicy

    return [OraclePolicy, Oracle, Look, Bins, BoostedModel]
