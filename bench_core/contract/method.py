"""Methods and policies: what a plugin author writes, and the problem the core hands over."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, TypeVar, cast
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

T = TypeVar("T")


class SharedWork:
    """Things that several fits share, each with the seconds it took to make; the last four are kept.

    Attributes:
        reused: seconds that were saved by what was there already.
    """

    _MOST = 4

    def __init__(self, values: OrderedDict[Hashable, tuple[Any, float]] | None = None) -> None:
        self._values = OrderedDict() if values is None else values
        self.reused = 0.0

    def again(self) -> SharedWork:
        """The same things, for another fit."""
        return SharedWork(self._values)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What is kept under a key, or made now."""
        if key in self._values:
            self._values.move_to_end(key)
            value, seconds = self._values[key]
            self.reused += seconds
            return cast(T, value)
        start = time.perf_counter()
        value = make()
        self._values[key] = value, time.perf_counter() - start
        while len(self._values) > self._MOST:
            self._values.popitem(last=False)
        return value


@dataclass(frozen=True, eq=False)
class Problem:
    """What a method is given to fit. Never the test part.

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
        work: what fits on this problem share, see `shared`.
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
        """Number of features (what is acquired; there may be more columns)."""
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
        """A generator seeded by the trial's seed and by what it is used for."""
        return np.random.default_rng(np.random.SeedSequence([self.seed, *(crc32(u.encode()) for u in use)]))

    def shared(self, key: Hashable, make: Callable[[], T]) -> T:
        """What several fits on the same training and validation parts, costs and seed share, made once.

        The time it took counts as time to fit of every trial that asks for it, so that a record does not depend on
        what ran before. The last few things are kept.

        Args:
            key: names it, and all that it depends on beside the parts, costs and seed: the plugin, the parameters.
            make: makes it. Who asks later gets the same object: nobody may change it.
        """
        return self.work.get(key, make)

    def need_threshold(self, method: str) -> float:
        """The threshold, or an error that asks for one in the suite."""
        if self.threshold is None:
            raise RequestError(f"{method} needs a confidence threshold: set protocol.threshold in the suite")
        return self.threshold

    def exit_thresholds(self) -> tuple[float, ...]:
        """Confidences at which a method that stops early stops, one family for all of them; ascending.

        The protocol's threshold where there is one. Otherwise nine of them, evenly spaced above 1/k for k classes,
        which every answer reaches: 0.55, 0.6, …, 0.95 for two classes.

        Source: EMSCO, which varies p̂ from 0.55 on (Spambase).
        """
        if self.threshold is not None:
            return (self.threshold,)
        least = 1 / max(self.n_classes, 2)
        return tuple(round(least + (1 - least) * step / 10, 9) for step in range(1, 10))


class Policy(ABC):
    """One fitted operating point.

    `decide` must treat every row by itself: the same row gets the same answer in any batch and any order, and
    deciding leaves no trace in the policy. A ranking policy whose ``decision_scope`` is ``"query"`` may judge a row
    beside the others of its query, by what it has paid for on each; it is given whole queries.

    Attributes:
        label: distinguishes this operating point from the family's others (``"lambda=0.1"``); may stay empty.
        details: plain values worth keeping in the record (a chromosome, a λ, a number of features).
        budget: what this policy promises not to exceed on any row, or None.
        decision_scope: the rows that an answer may depend on: ``"row"``, itself only; ``"query"``, those of its query.
    """

    label: str = ""
    details: Mapping[str, Any] = {}
    budget: float | None = None
    decision_scope: Literal["row", "query"] = "row"

    @abstractmethod
    def decide(self, rows: Rows) -> Decisions:
        """Decide on rows.

        Args:
            rows: X float64 (rows, columns), maybe one row, maybe none; sizes.

        Returns:
            Decisions of that many rows; ``acquired`` names every feature whose value could matter.
        """

    def next_features(self, rows: Rows, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """What to acquire next, where a policy can be asked step by step; it need not be.

        A policy that overrides this asks, from nothing on, for what `decide` acquires and for nothing else; what it
        asks for at once is acquired together. Of an acquisition group it asks for the features it reads; the group is
        paid once, with the first. Rows of one query are asked together where ``decision_scope`` is ``"query"``, until
        none of them asks.

        Args:
            rows: X float64 (rows, columns). What is not known holds a finite number that must not matter; NaN is a
                value that is known to be missing.
            known: bool (rows, features): what has been acquired.

        Returns:
            bool (rows, features): features to acquire next, none of them known; for a row without any, `decide`
            answers from what is known.
        """
        raise NotImplementedError(f"a {type(self).__name__} cannot be asked step by step")

    def decide_known(self, rows: Rows, known: NDArray[np.bool_]) -> Decisions:
        """Answer from the known features when a hard budget ends the purchases (optional).

        A policy that overrides this has a predictor of any set of known features. Otherwise such a row is answered by
        `decide` on rows where values of the training part stand for unknown ones.

        Args:
            rows: X float64 (rows, columns). What is not known holds a finite number that must not matter.
            known: bool (rows, features).

        Returns:
            Decisions of that many rows; ``acquired`` is ``known``.
        """
        raise NotImplementedError(f"a {type(self).__name__} answers only from what it has asked for")


def can_be_asked(policy: Policy) -> bool:
    """Whether a policy says what to acquire next: whether it overrides `Policy.next_features`."""
    return type(policy).next_features is not Policy.next_features


def answers_early(policy: Policy) -> bool:
    """Whether a policy answers from any set of known features: whether it overrides `Policy.decide_known`."""
    return type(policy).decide_known is not Policy.decide_known


@dataclass(frozen=True)
class Family:
    """Policies along a method's trade-off, with what else is worth keeping of the fit.

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

    The class docstring's first line says what the method is; it is shown by ``bench list methods``.

    What a method cannot do it declares; a plan then lists such a trial as *not applicable* and does not run it. The
    class attributes say the common limits; `inapplicable` is for what depends on parameters.

    Class attributes:
        version: raised when the algorithm changes, so that old records are not taken for new ones.
        tasks: the tasks it can do.
        classes_limit, features_limit: the most of them it can do; None where there is no bound.
        takes_missing: whether it takes NaN in X. There is none unless the suite encodes ``raw``.
        needs_threshold: whether it cannot be fitted without a confidence threshold (`Problem.need_threshold`).
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
        """Why this method, with these parameters, cannot be tried on a data set; None when it can.

        Called while planning, so it must be quick. The answer is one line, shown in the plan and on the page. What
        overrides it asks ``super().inapplicable(data)`` first.
        """
        return beyond(self, data)

    def memory_needed(self, data: DataFacts) -> float | None:
        """Bytes that fitting on a data set may need at most; None, the default, when that is not known.

        Trials run side by side only as far as what they need fits into the memory. Called before a run; must be quick.
        """
        return None


Limit = Annotated[int, Ge(0)] | None


@dataclass(frozen=True)
class TaskLimits:
    """What a method says it can do: see `Method`."""

    tasks: tuple[Task, ...]
    classes_limit: Limit
    features_limit: Limit
    takes_missing: bool
    needs_threshold: bool


def beyond(limits: Method | TaskLimits, data: DataFacts) -> str | None:
    """Which of a method's limits a data set is beyond, in a line; None when it is beyond none."""
    if data.task not in limits.tasks:
        return f"it does {', '.join(sorted(limits.tasks))}; the task is {data.task}"
    if limits.classes_limit is not None and data.n_classes > limits.classes_limit:
        return f"it does at most {limits.classes_limit} classes; there are {data.n_classes}"
    if limits.features_limit is not None and data.n_features > limits.features_limit:
        return f"it does at most {limits.features_limit} features; there are {data.n_features}"
    if data.missing and not limits.takes_missing:
        return "it takes no missing values; encode = 'impute' fills them"
    if limits.needs_threshold and data.threshold is None:
        return "it stops at a confidence threshold; the data set has none (threshold = …)"
    return None


def as_family(fitted: Any, method: str) -> Family:
    """What `Method.fit` returned, as a checked `Family`.

    Raises:
        ContractError: no policy, or something that is not a policy.
    """
    if not isinstance(fitted, Family | Sequence):
        raise ContractError(f"{method}.fit must return policies or a Family, not {type(fitted).__name__}")
    returned = fitted if isinstance(fitted, Family) else Family(fitted)
    # Read once, whatever a property or another sequence would give the next time.
    fields = {name: getattr(returned, name) for name in Family.__dataclass_fields__}
    family = Family(**{**fields, "policies": tuple(fields["policies"])})
    if not family.policies:
        raise ContractError(f"{method}.fit returned no policy")
    for policy in (*family.policies, *([] if family.reference is None else [family.reference])):
        if not isinstance(policy, Policy):
            raise ContractError(f"{method}.fit returned a {type(policy).__name__} where a Policy is needed")
    return family
