"""Methods and policies, which plugin authors write, and the problem that a method gets from the core."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, TypeVar
from zlib import crc32

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from bench_core.contract.costs import Costs
from bench_core.contract.dataset import Part
from bench_core.contract.decisions import Decisions, Rows
from bench_core.contract.errors import ContractError, RequestError
from bench_core.contract.facts import ALL_TASKS, DataFacts, Task
from bench_core.contract.parameters import Parameters
from bench_core.contract.shared_work import SharedWork

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Problem:
    """The data that a method gets to fit. The test part is never included.

    Attributes:
        train, validation: encoded rows with labels.
        costs: prices of the features.
        task: ``binary``, ``multiclass``, ``regression`` or ``ranking``.
        n_classes: number of classes; 0 for regression and ranking.
        feature_names: names of the features, in order.
        feature_of_column: int64 (columns,): the feature that each column of X belongs to, ascending.
        categorical: features that are categories.
        threshold: confidence threshold p̂ of the protocol, or None when nothing is refused.
        seed: the trial's seed; draw from `rng`.
        threads: how many threads a kernel may use. Results must not depend on it.
        work: objects that fits on this problem share; see `shared`.
    """

    train: Part
    validation: Part
    costs: Costs
    task: Task
    n_classes: int
    feature_names: tuple[str, ...]
    feature_of_column: NDArray[np.int64]
    categorical: tuple[int, ...] = ()
    threshold: float | None = None
    seed: int = 0
    threads: int = 1
    work: SharedWork = field(default_factory=SharedWork, repr=False)

    @property
    def n_features(self) -> int:
        """Number of features, the units of acquisition; X may have more columns."""
        return len(self.feature_names)

    def columns_of(self, feature: int) -> NDArray[np.int64]:
        """Columns of X that belong to a feature; int64, ascending."""
        return np.flatnonzero(self.feature_of_column == feature)

    def columns_of_set(self, features: Sequence[int] | NDArray[Any]) -> NDArray[np.int64]:
        """Columns of X that belong to any of the features; int64, ascending."""
        mask = np.zeros(self.n_features, dtype=bool)
        mask[np.asarray(features, dtype=np.int64)] = True
        return np.flatnonzero(mask[self.feature_of_column])

    def rng(self, *use: str) -> np.random.Generator:
        """A generator seeded by the trial's seed and the names of its use."""
        return np.random.default_rng(np.random.SeedSequence([self.seed, *(crc32(u.encode()) for u in use)]))

    def shared(self, key: Hashable, make: Callable[[], T]) -> T:
        """Make an object once for all fits on the same training and validation parts, costs and seed.

        The time it took counts as fitting time of every trial that uses it, so that a record does not depend on the
        trials before it. Only the most recently used objects are kept.

        Args:
            key: identifies the object and everything it depends on besides the parts, costs and seed: the plugin, the
                parameters.
            make: makes the object. Later callers get the same object, so it must not be changed.
        """
        return self.work.get(key, make)

    def need_threshold(self, method: str) -> float:
        """Return the threshold; without one, raise an error that asks for it in the suite."""
        if self.threshold is None:
            raise RequestError(f"{method} needs a confidence threshold: set protocol.threshold in the suite")
        return self.threshold

    def exit_thresholds(self) -> tuple[float, ...]:
        """Confidence thresholds for early stopping, ascending. One family has policies for all of them.

        If the protocol has a threshold, it is the only one. Otherwise there are nine, evenly spaced above 1/k for k
        classes (the least possible confidence): 0.55, 0.6, …, 0.95 for two classes.

        Source: the program of EMSCO's authors, which varies p̂ from 0.55 on.
        """
        if self.threshold is not None:
            return (self.threshold,)
        least = 1 / max(self.n_classes, 2)
        return tuple(round(least + (1 - least) * step / 10, 9) for step in range(1, 10))


class Policy(ABC):
    """One fitted operating point.

    `decide` must treat every row independently: a row gets the same answer in any batch and any order, and `decide`
    must not change the policy. A ranking policy whose ``decision_scope`` is ``"query"`` may compare a row with the
    other rows of its query, using the acquired features of each; it always gets complete queries.

    Attributes:
        label: distinguishes this operating point from the family's others (``"lambda=0.1"``); may be empty.
        details: plain values worth keeping in the record (a chromosome, a λ, a number of features).
        budget: the greatest cost of any row that this policy promises, or None.
        decision_scope: which rows an answer may depend on: ``"row"``, only its own; ``"query"``, those of its query.
    """

    label: str = ""
    details: Mapping[str, Any] = {}
    budget: float | None = None
    decision_scope: Literal["row", "query"] = "row"

    @abstractmethod
    def decide(self, rows: Rows) -> Decisions:
        """Decide on rows.

        Args:
            rows: the rows; there may be one, or none.

        Returns:
            Decisions, one per row; ``acquired`` marks every feature whose value can affect the answer.
        """

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the features to acquire next (optional, for policies that can be asked step by step).

        A policy that overrides this starts without any known feature and requests exactly the features that `decide`
        acquires. Features requested in one step are acquired together. Of an acquisition group it requests the features
        that it reads; the group is paid once, with the first. If ``decision_scope`` is ``"query"``, the rows of a query
        are asked together until none of them requests a feature.

        Args:
            rows: the rows. Unknown values are finite placeholders that must not matter; NaN is a value that is known
                to be missing.
            known: bool (rows, features): the features acquired so far.

        Returns:
            bool (rows, features): the features to acquire next, none of which is known. A row without any is answered
            by `decide` from its known features.
        """
        raise NotImplementedError(f"a {type(self).__name__} cannot be asked step by step")

    def decide_known(self, rows: Rows, known: NDArray[np.bool_]) -> Decisions:
        """Answer from the known features when a hard budget ends the purchases (optional).

        A policy that overrides this can predict from any set of known features. For other policies, the core calls
        `decide` on copies of the row in which unknown values are replaced by values of the training part.

        Args:
            rows: the rows. Unknown values are finite placeholders that must not matter.
            known: bool (rows, features).

        Returns:
            Decisions, one per row; ``acquired`` is ``known``.
        """
        raise NotImplementedError(f"a {type(self).__name__} answers only from what it has asked for")


def can_be_asked(policy: Policy) -> bool:
    """Whether a policy can be asked step by step, that is, overrides `Policy.next_features`."""
    return type(policy).next_features is not Policy.next_features


def answers_early(policy: Policy) -> bool:
    """Whether a policy can answer from any set of known features, that is, overrides `Policy.decide_known`."""
    return type(policy).decide_known is not Policy.decide_known


@dataclass(frozen=True)
class Family:
    """Policies along a method's trade-off, with further results of the fit.

    Attributes:
        policies: at least one; the first is the method's default policy (selection ``first``).
        reference: a policy that the others approximate (a full ensemble, say), for the metric disagreement.
        history: name → numbers per iteration or generation, kept in the record.
        diagnostics: plain values kept in the record.
    """

    policies: Sequence[Policy]
    reference: Policy | None = None
    history: Mapping[str, Sequence[float] | NDArray[Any]] = field(default_factory=dict)
    diagnostics: Mapping[str, Any] = field(default_factory=dict)


class Method(Parameters, ABC):
    """A way to learn policies. Subclasses are frozen dataclasses: their fields are the `Parameters` in a suite.

    The first line of the class docstring describes the method; ``bench list methods`` shows it.

    A method declares its limits. A plan lists trials beyond them as *not applicable* and does not run them. Class
    attributes declare the common limits; override `inapplicable` for limits that depend on parameters.

    Class attributes:
        version: raised when the algorithm changes, so that old records are not taken for new ones.
        tasks: the supported tasks.
        classes_limit, features_limit: the greatest supported number of classes and of features; None: no limit.
        takes_missing: whether X may contain NaN, which happens only if the suite encodes ``raw``.
        needs_threshold: whether fitting needs a confidence threshold (`Problem.need_threshold`).
    """

    version: ClassVar[int] = 1
    tasks: ClassVar[frozenset[str]] = ALL_TASKS
    classes_limit: ClassVar[int | None] = None
    features_limit: ClassVar[int | None] = None
    takes_missing: ClassVar[bool] = False
    needs_threshold: ClassVar[bool] = False

    @abstractmethod
    def fit(self, problem: Problem) -> Sequence[Policy] | Family:
        """Learn from the training and the validation part.

        Returns:
            A family of policies along the method's cost–accuracy trade-off (one, or many).
        """

    def inapplicable(self, data: DataFacts) -> str | None:
        """Say why this method with these parameters cannot be used on a data set; None if it can.

        It is called while planning, so it must be quick. The answer is one line, shown in the plan and on the page. An
        override calls ``super().inapplicable(data)`` first.
        """
        return beyond(self, data)

    def memory_needed(self, data: DataFacts) -> float | None:
        """The most bytes that fitting on a data set may need; None, the default, when unknown.

        Trials run in parallel only as long as the memory they need is available. It is called before a run and must be
        quick.
        """
        return None


Limit = Annotated[int, Ge(0)] | None


@dataclass(frozen=True)
class TaskLimits:
    """The limits that a method declares; see `Method`."""

    tasks: tuple[Task, ...]
    classes_limit: Limit
    features_limit: Limit
    takes_missing: bool
    needs_threshold: bool


def beyond(limits: Method | TaskLimits, data: DataFacts) -> str | None:
    """Name the limit of a method that a data set exceeds, in one line; None if it exceeds none."""
    if data.task not in limits.tasks:
        return f"it does {', '.join(sorted(limits.tasks))}; the task is {data.task}"
    if limits.classes_limit is not None and data.n_classes > limits.classes_limit:
        return f"it does at most {limits.classes_limit} classes; there are {data.n_classes}"
    if limits.features_limit is not None and data.n_features > limits.features_limit:
        return f"it does at most {limits.features_limit} features; there are {data.n_features}"
    if data.missing and not limits.takes_missing:
        return "it takes no missing values; encode = 'impute' fills them (bench fit: --encode impute)"
    if limits.needs_threshold and data.threshold is None:
        return "it stops at a confidence threshold; the data set has none (threshold = …)"
    return None


def as_family(fitted: Any, method: str) -> Family:
    """Check what `Method.fit` returned, and convert it to a `Family`.

    Raises:
        ContractError: no policy, or something that is not a policy.
    """
    if not isinstance(fitted, Family | Sequence):
        raise ContractError(f"{method}.fit must return policies or a Family, not {type(fitted).__name__}")
    returned = fitted if isinstance(fitted, Family) else Family(fitted)
    # Read once: a property or a sequence of another type could give something else the next time.
    fields = {name: getattr(returned, name) for name in Family.__dataclass_fields__}
    family = Family(**{**fields, "policies": tuple(fields["policies"])})
    if not family.policies:
        raise ContractError(f"{method}.fit returned no policy")
    for policy in (*family.policies, *([] if family.reference is None else [family.reference])):
        if not isinstance(policy, Policy):
            raise ContractError(f"{method}.fit returned a {type(policy).__name__} where a Policy is needed")
    return family
