"""The parameters that the methods share. Training code is imported in `fit`, because JAX starts threads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Gt, Lt, Predicate

from bench_core import Method, Problem, distinct

if TYPE_CHECKING:
    from bench_neural.training import Prepared, Setting

__all__ = ["Count", "Neural", "Points", "Sequential"]

Points = Annotated[tuple[Annotated[float, Ge(0)], ...], Predicate(distinct)]
"""Given operating points: budgets, penalties or confidences."""
Count = Annotated[int, Ge(2)]
"""Number of operating points to choose."""


@dataclass(frozen=True)
class Neural(Method):
    """Parameters of all methods: the predictor of partial inputs and its training.

    Attributes:
        hidden: units in each of two hidden layers.
        dropout: share of hidden units that an update leaves out.
        learning_rate: Adam's learning rate at the start; it falls to 0 along a cosine.
        weight_decay: Adam's decoupled weight decay.
        batch_size: rows of an update.
        pretraining: most updates of the predictor on random masks.
        patience: training stops after this many times 50 updates without a lower loss on the fold.
        class_weights: whether all classes have the same weight in the losses; otherwise all rows do.
    """

    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "multiclass"})
    takes_missing: ClassVar[bool] = True
    hidden: Annotated[int, Ge(1)] = 128
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.3
    learning_rate: Annotated[float, Gt(0)] = 3e-3
    weight_decay: Annotated[float, Ge(0)] = 0.1
    batch_size: Annotated[int, Ge(1)] = 128
    pretraining: Annotated[int, Ge(1)] = 2000
    patience: Annotated[int, Ge(1)] = 10
    class_weights: bool = False

    def trained(self, problem: Problem) -> tuple[Prepared, Setting, Any]:
        """The prepared problem, the setting, and the trained predictor's parameters, which fits on a problem share."""
        from bench_neural.predictor import fit_predictor
        from bench_neural.training import Setting, data_of

        setting = Setting(
            problem.n_classes, self.hidden, self.dropout, self.learning_rate, self.weight_decay, self.batch_size
        )
        key = ("neural", "predictor", setting, self.pretraining, self.patience, self.class_weights)

        def make() -> tuple[Prepared, Any]:
            prepared = data_of(problem, self.class_weights)
            return prepared, fit_predictor(problem, prepared, setting, self.pretraining, self.patience)

        prepared, predictor = problem.shared(key, make)
        return prepared, setting, predictor

    @staticmethod
    def _answers(problem: Problem, prepared: Prepared, predictor: Any) -> dict[str, Any]:
        """The fields of a policy that are the same for every method."""
        from bench_neural.policy import Network

        return {
            "view": prepared.view,
            "predictor": Network.of(predictor),
            "classes": problem.n_classes,
            "shift": prepared.shift,
            "stretch": prepared.stretch,
        }


@dataclass(frozen=True)
class Sequential(Neural):
    """Parameters of the methods that train the predictor further, on sequences of purchases.

    Attributes:
        updates: most updates of a stage.
        purchases: purchases of a training sequence; None: half of the units, but at least 10 and at most 40.
        answers: the predictor that answers: the method's ``own``, or the one trained on random masks, which is
            ``shared`` by all methods, so that they differ only in the features they buy.
    """

    updates: Annotated[int, Ge(1)] = 500
    purchases: Annotated[int, Ge(1)] | None = None
    answers: Literal["own", "shared"] = field(default="own", metadata={"omit_default": True})

    def _fields(self, problem: Problem, prepared: Prepared, own: Any, shared: Any) -> dict[str, Any]:
        """The fields of a policy that are the same for every method, with the predictor that answers."""
        from bench_neural.policy import Network

        fields = self._answers(problem, prepared, own)
        return fields if self.answers == "own" else fields | {"answers": Network.of(shared)}

    def _depth(self, units: int) -> int:
        return min(units, self.purchases or min(max(units // 2, 10), 40))
