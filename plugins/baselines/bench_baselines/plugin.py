"""The methods ``majority``, ``stump`` and ``lightgbm``; two methods that choose sets of features are registered too."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Interval

from bench_baselines.affordable.method import AffordableSubset
from bench_baselines.forward_selection.method import ForwardSelection
from bench_core import Family, Method, Problem, RegisterMethod, hookimpl

__all__ = ["FullLightGBM", "Majority", "StumpMethod"]


BENCH_CONTRACT_VERSION = 1


@dataclass(frozen=True)
class Majority(Method):
    """The majority class (or the mean value) for every row; acquires nothing and costs nothing.

    Its probabilities are the classes' frequencies in the training part.
    """

    version: ClassVar[int] = 1
    takes_missing: ClassVar[bool] = True

    def fit(self, problem: Problem) -> Family:
        """Count the classes of the training part; the validation part is not used."""
        from bench_models.linear import ConstantPolicy

        return Family([ConstantPolicy.learnt(problem)])


@dataclass(frozen=True)
class StumpMethod(Method):
    """A tree of one test, on the best single feature at or below each price.

    Every feature gets its best test on the training part (scikit-learn's trees of depth 1 on its columns). The feature
    whose test is best on the training part is chosen, as in both sources; ties go to the cheaper, then to the first.
    The family has a policy for each price at which a better feature becomes affordable, by ascending price; the best on
    validation comes first.

    Attributes:
        min_samples_leaf: fewest training rows on either side of the test.

    Source: Holte, Very simple classification rules perform well on most commonly used datasets, 1993; Iba and Langley,
    Induction of one-level decision trees, 1992.
    """

    version: ClassVar[int] = 2
    takes_missing: ClassVar[bool] = True
    min_samples_leaf: Annotated[int, Ge(1)] = 1

    def fit(self, problem: Problem) -> Family:
        """Fit a stump per feature and choose among them on the training part."""
        from bench_models.linear import ConstantPolicy

        from bench_baselines.stump import best_by_price, fit_stumps
        from bench_core import default_policy_first, validation_score

        stumps = fit_stumps(problem, self.min_samples_leaf)
        if not stumps:
            return Family([ConstantPolicy.learnt(problem)], diagnostics={"constant": True})
        on_train, rows = replace(problem, validation=problem.train), problem.train.rows()
        merits = [validation_score(on_train, stump.decide(rows))[0] for stump in stumps]
        chosen = [stumps[i] for i in best_by_price([float(stump.details["price"]) for stump in stumps], merits)]
        rows = problem.validation.rows()
        scores = [validation_score(problem, stump.decide(rows)) for stump in chosen]
        return Family(default_policy_first(chosen, scores))


@dataclass(frozen=True)
class FullLightGBM(Method):
    """LightGBM on all features, acquired for every row: the choice of a practitioner who ignores prices.

    The defaults are LightGBM's own. The family has one policy, which is also its reference.

    Attributes:
        n_estimators: boosting rounds, from 1.
        max_leaf_nodes: most leaves of a tree, from 2.
        learning_rate: above 0.
        min_samples_leaf: fewest training rows of a leaf, from 1.
        ranking: ``lambdarank``, or ``pointwise``: regression on the grades.

    Source: Ke et al., LightGBM: A Highly Efficient Gradient Boosting Decision Tree, NeurIPS 2017.
    """

    version: ClassVar[int] = 1
    takes_missing: ClassVar[bool] = True
    n_estimators: Annotated[int, Interval(ge=1, le=2**17)] = 100
    max_leaf_nodes: Annotated[int, Interval(ge=2, le=2**17)] = 31
    learning_rate: Annotated[float, Gt(0)] = 0.1
    min_samples_leaf: Annotated[int, Interval(ge=1, le=2**17)] = 20
    ranking: Literal["lambdarank", "pointwise"] = "lambdarank"

    def fit(self, problem: Problem) -> Family:
        """Fit on the training part; the validation part is not used.

        Raises:
            ValueError: lambdarank on grades that are not whole numbers from 0 to 30.
        """
        import numpy as np
        from bench_models.boosting import fit_boosted

        from bench_baselines.policy import FullPolicy

        model = fit_boosted(
            problem, np.arange(problem.train.X.shape[1]), self.n_estimators, self.max_leaf_nodes, self.learning_rate,
            self.min_samples_leaf, self.ranking,
        )  # fmt: skip
        policy = FullPolicy(model, problem.n_features, details={"trees": model.trees})
        return Family([policy], policy)


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """Register the five methods."""
    register("majority", Majority)
    register("stump", StumpMethod)
    register("lightgbm", FullLightGBM)
    register("forward-selection", ForwardSelection)
    register("affordable-subset", AffordableSubset)


@hookimpl(optionalhook=True)
def bench_policy_types() -> list[type]:
    """Return the types that a saved policy contains."""
    from bench_models.boosting import BoostedModel
    from bench_models.linear import ClassModel, ConstantPolicy, ScoreModel

    from bench_baselines.affordable.policy import Member, StackPolicy
    from bench_baselines.forward_selection.policy import SubsetPolicy
    from bench_baselines.policy import FullPolicy
    from bench_baselines.stump import Stump

    return [ConstantPolicy, Stump, FullPolicy, SubsetPolicy, StackPolicy, Member, BoostedModel, ClassModel, ScoreModel]
