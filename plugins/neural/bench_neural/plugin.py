"""The methods of this plugin. What trains is imported in `fit`: JAX starts threads, and takes a second to import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Gt, Interval, Lt, Predicate

from bench_core import DataFacts, Family, Method, Problem, RegisterMethod, distinct, hookimpl

if TYPE_CHECKING:
    from bench_neural.training import Prepared, Setting

BENCH_CONTRACT_VERSION = 1

Budgets = Annotated[tuple[Annotated[float, Ge(0)], ...], Predicate(distinct)]
Count = Annotated[int, Ge(2)]


@dataclass(frozen=True)
class Neural(Method):
    """What the methods share: the predictor of partial inputs and its training.

    Attributes:
        hidden: units in each of two hidden layers.
        dropout: share of hidden units that an update leaves out.
        learning_rate: of Adam, at the start; it falls to 0 along a cosine.
        weight_decay: of Adam (decoupled).
        batch_size: rows of an update.
        pretraining: most updates of the predictor on random masks.
        patience: training stops after this many times 50 updates without a lower loss on the fold.
        class_weights: whether all classes weigh the same in the losses; else all rows do.
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

    def _predictor(self, problem: Problem) -> tuple[Prepared, Setting, Any]:
        """The prepared problem, the setting, and the trained predictor's parameters, which fits share."""
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
        """The fields of a policy that every method fills alike."""
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
    """What the methods that train on sequences of purchases share.

    Attributes:
        updates: most updates of a stage.
        purchases: purchases of a training sequence; None: half of the units, but at least 10 and at most 40.
    """

    updates: Annotated[int, Ge(1)] = 500
    purchases: Annotated[int, Ge(1)] | None = None

    def _depth(self, units: int) -> int:
        return min(units, self.purchases or min(max(units // 2, 10), 40))


@dataclass(frozen=True)
class MaskStatic(Neural):
    """Static order by permutation importance per price (PT-S), answered by a network for partial inputs.

    Attributes:
        budgets: prices that a row may spend; when empty, ``count`` values from the cheapest feature to all.
        count: number of budgets chosen when ``budgets`` is empty.
        repeats: permutations of each feature.

    Source: Breiman, Random forests, Machine Learning 45, 2001; as a baseline in Covert et al., ICML 2023.
    """

    version: ClassVar[int] = 1
    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "multiclass", "regression"})
    budgets: Budgets = ()
    count: Count = 10
    repeats: Annotated[int, Ge(1)] = 5

    def fit(self, problem: Problem) -> Family:
        """Train the predictor, and order the features on the fold that stopped its training."""
        from bench_neural.families import budget_points, family
        from bench_neural.importance import importance_order, permutation_importance
        from bench_neural.policy import OrderPolicy

        prepared, _, predictor = self._predictor(problem)
        common, view, fold = self._answers(problem, prepared, predictor), prepared.view, prepared.fold
        rng = problem.rng("neural", "importance")
        importance = permutation_importance(
            view, common["predictor"], fold.values, fold.target, problem.n_classes, rng, self.repeats
        )
        order = importance_order(view, importance)
        points = budget_points(problem, view.units, self.budgets, self.count)
        return family(problem, lambda point: OrderPolicy(**common, order=order, **point), points, {})


@dataclass(frozen=True)
class GDFS(Sequential):
    """Greedy dynamic feature selection: a policy network trained by relaxed selections.

    Attributes:
        budgets: prices that a row may spend; when empty, ``count`` values from the cheapest feature to all.
        count: number of budgets chosen when ``budgets`` is empty.
        first_temperature, last_temperature, stages: temperatures of the Concrete distribution, evenly spaced in log.

    Source: Covert, Qiu, Lu, Kim, White, Lee, Learning to maximize mutual information for dynamic feature selection,
    ICML 2023.
    """

    version: ClassVar[int] = 1
    budgets: Budgets = ()
    count: Count = 10
    first_temperature: Annotated[float, Gt(0)] = 1.0
    last_temperature: Annotated[float, Gt(0)] = 0.1
    stages: Annotated[int, Ge(1)] = 5

    def fit(self, problem: Problem) -> Family:
        """Train the predictor on random masks, then it and the policy network on the policy's own sequences."""
        import numpy as np

        from bench_neural.families import budget_points, family
        from bench_neural.gdfs import train_gdfs
        from bench_neural.policy import Network, ScorePolicy

        prepared, setting, predictor = self._predictor(problem)
        units = prepared.view.units
        temperatures = np.geomspace(self.first_temperature, self.last_temperature, self.stages).tolist()
        f, pi, losses = train_gdfs(
            problem, prepared, setting, predictor, self.updates, self._depth(units.count), temperatures, self.patience
        )
        common = self._answers(problem, prepared, f)
        scores = Network.of(pi)
        points = budget_points(problem, units, self.budgets, self.count)
        return family(
            problem, lambda point: ScorePolicy(**common, scores=scores, **point), points, {"loss on the fold": losses}
        )


@dataclass(frozen=True)
class DIME(Sequential):
    """Dynamic selection by a network that estimates conditional mutual information.

    Attributes:
        stop: when a row stops to buy: ``lambda`` (the best estimate per price is too low), ``confidence`` (the answer
            is sure; not for regression) or ``budget``.
        values: operating points in the unit of ``stop``: nats per price, probabilities, prices; when empty, ``count``
            values are chosen.
        count: number of operating points chosen when ``values`` is empty.
        first_epsilon, last_epsilon, stages: shares of random purchases in training, evenly spaced in log.

    Source: Gadgil, Covert, Lee, Estimating conditional mutual information for dynamic feature selection, ICLR 2024.
    """

    version: ClassVar[int] = 1
    tasks: ClassVar[frozenset[str]] = frozenset({"binary", "multiclass", "regression"})
    stop: Literal["lambda", "confidence", "budget"] = "lambda"
    values: Budgets = ()
    count: Count = 10
    first_epsilon: Annotated[float, Interval(gt=0, le=1)] = 0.5
    last_epsilon: Annotated[float, Interval(gt=0, le=1)] = 0.05
    stages: Annotated[int, Ge(1)] = 4

    def inapplicable(self, data: DataFacts) -> str | None:
        """Beside the usual limits: a regression's answer has no confidence."""
        if self.stop == "confidence" and data.task == "regression":
            return "stop = 'confidence' needs probabilities; the task is regression"
        return super().inapplicable(data)

    def fit(self, problem: Problem) -> Family:
        """Train the predictor on random masks, then it and the value network on sequences of purchases."""
        import numpy as np

        from bench_neural.dime import train_dime
        from bench_neural.families import budget_points, confidences, family, named, penalties
        from bench_neural.policy import ValuePolicy

        prepared, setting, predictor = self._predictor(problem)
        units = prepared.view.units
        epsilons = np.geomspace(self.first_epsilon, self.last_epsilon, self.stages).tolist()
        layers, losses = train_dime(
            problem, prepared, setting, predictor, self.updates, self._depth(units.count), epsilons, self.patience
        )
        common = self._answers(problem, prepared, layers)
        if self.stop == "budget":
            points = budget_points(problem, units, self.values, self.count)
        elif self.stop == "lambda":
            grid = sorted(set(self.values)) or penalties(problem, units, self.count)
            points = [{"lambda_": value * units.scale, **named("lambda", value)} for value in grid]
        else:
            grid = sorted(set(self.values)) or confidences(problem.n_classes, self.count)
            points = [{"confidence": value, **named("confidence", value)} for value in grid]
        return family(problem, lambda point: ValuePolicy(**common, **point), points, {"loss on the fold": losses})


@dataclass(frozen=True)
class CwCF(Neural):
    """Classification with costly features: buy or classify, by deep Q-learning.

    Attributes:
        lambdas: trade-offs λ > 0, price of a unit of money in the reward; when empty, ``count`` values are chosen.
        count: number of λ chosen when ``lambdas`` is empty.
        reward: of an answer: ``error`` (−1 if it is wrong; CwCF) or ``log-loss`` (minus its log loss; JAFA).
        updates: most updates of Q.
        steps: actions of each row between two updates, over which Retrace's targets reach.
        target_rate: share of the network that its slow copy takes over after each update.
        first_epsilon, last_epsilon: share of random actions, falling evenly over the first half of the updates.

    Source: Janisch, Pevný, Lisý, Classification with costly features using deep reinforcement learning, AAAI 2019;
    reward ``log-loss``: Shim, Hwang, Yang, Joint active feature acquisition and classification, NeurIPS 2018.
    """

    version: ClassVar[int] = 1
    lambdas: Annotated[tuple[Annotated[float, Gt(0)], ...], Predicate(distinct)] = ()
    count: Count = 10
    reward: Literal["error", "log-loss"] = "error"
    updates: Annotated[int, Ge(1)] = 2000
    steps: Annotated[int, Ge(1)] = 4
    target_rate: Annotated[float, Interval(gt=0, le=1)] = 0.01
    first_epsilon: Annotated[float, Interval(gt=0, le=1)] = 1.0
    last_epsilon: Annotated[float, Interval(gt=0, le=1)] = 0.1

    def fit(self, problem: Problem) -> Family:
        """Train the predictor on random masks, then Q on episodes with the λ of the family."""
        import numpy as np

        from bench_neural.cwcf import Learning, train_cwcf
        from bench_neural.families import family, named, penalties
        from bench_neural.policy import ActionPolicy, Network

        prepared, setting, predictor = self._predictor(problem)
        scale = prepared.view.units.scale
        grid = np.array(sorted(set(self.lambdas)) or penalties(problem, prepared.view.units, self.count, self.reward))
        logs = np.log(grid)
        codes = 2 * (logs - logs.mean()) / max(float(np.ptp(logs)), 1.0)
        learning = Learning(self.reward, self.steps, self.target_rate, self.first_epsilon, self.last_epsilon)
        q, losses = train_cwcf(
            problem, prepared, setting, learning, predictor, grid * scale, codes, self.updates, self.patience
        )
        common = self._answers(problem, prepared, predictor) | {"q": Network.of(q)}
        points = [
            {"code": float(code), **named("lambda", float(value))} for code, value in zip(codes, grid, strict=True)
        ]
        return family(problem, lambda point: ActionPolicy(**common, **point), points, {"loss on the fold": losses})


@dataclass(frozen=True)
class OL(Sequential):
    """Opportunistic learning: Q-learning on the change of the predictor's certainty per price.

    Attributes:
        stop: when a row stops to buy: ``confidence`` (the answer is sure) or ``budget``.
        values: operating points in the unit of ``stop``: probabilities, prices; when empty, ``count`` values are
            chosen.
        count: number of operating points chosen when ``values`` is empty.
        samples: samples of dropout in a certainty.
        discount: of the next reward.
        target_rate: share of the network that its slow copy takes over after each update.
        first_epsilon, last_epsilon: share of random purchases, falling evenly over the first half of the updates.

    Source: Kachuee, Goldstein, Kärkkäinen, Darabi, Sarrafzadeh, Opportunistic learning: budgeted cost-sensitive
    learning from data streams, ICLR 2019.
    """

    version: ClassVar[int] = 1
    updates: Annotated[int, Ge(1)] = 1500
    stop: Literal["confidence", "budget"] = "confidence"
    values: Budgets = ()
    count: Count = 10
    samples: Annotated[int, Ge(1)] = 8
    discount: Annotated[float, Interval(ge=0, lt=1)] = 0.0
    target_rate: Annotated[float, Interval(gt=0, le=1)] = 0.01
    first_epsilon: Annotated[float, Interval(gt=0, le=1)] = 1.0
    last_epsilon: Annotated[float, Interval(gt=0, le=1)] = 0.1

    def fit(self, problem: Problem) -> Family:
        """Train the predictor on random masks, then it and Q on sequences of purchases."""
        from bench_neural.families import budget_points, confidences, family, named
        from bench_neural.ol import Learning, train_ol
        from bench_neural.policy import RewardPolicy

        prepared, setting, predictor = self._predictor(problem)
        units = prepared.view.units
        learning = Learning(self.samples, self.discount, self.target_rate, self.first_epsilon, self.last_epsilon)
        depth = self._depth(units.count)
        layers, losses = train_ol(problem, prepared, setting, learning, predictor, self.updates, depth, self.patience)
        common = self._answers(problem, prepared, layers)
        if self.stop == "budget":
            points = budget_points(problem, units, self.values, self.count)
        else:
            grid = sorted(set(self.values)) or confidences(problem.n_classes, self.count)
            points = [{"confidence": value, **named("confidence", value)} for value in grid]
        return family(problem, lambda point: RewardPolicy(**common, **point), points, {"loss on the fold": losses})


@dataclass(frozen=True)
class CAE(Sequential):
    """Static order by a concrete autoencoder's selectors, answered by the network trained with them.

    Attributes:
        updates: number of updates of the selectors.
        budgets: prices that a row may spend; when empty, ``count`` values from the cheapest feature to all.
        count: number of budgets chosen when ``budgets`` is empty.
        first_temperature, last_temperature: of the Concrete distribution, falling geometrically.

    Source: Balın, Abid, Zou, Concrete autoencoders: differentiable feature selection and reconstruction, ICML 2019.
    """

    version: ClassVar[int] = 1
    updates: Annotated[int, Ge(1)] = 1500
    budgets: Budgets = ()
    count: Count = 10
    first_temperature: Annotated[float, Gt(0)] = 10.0
    last_temperature: Annotated[float, Gt(0)] = 0.01

    def fit(self, problem: Problem) -> Family:
        """Train the predictor on random masks, then it and the selectors."""
        from bench_neural.cae import train_cae
        from bench_neural.families import budget_points, family
        from bench_neural.policy import OrderPolicy

        prepared, setting, predictor = self._predictor(problem)
        units = prepared.view.units
        temperatures = self.first_temperature, self.last_temperature
        f, order = train_cae(
            problem, prepared, setting, predictor, self.updates, self._depth(units.count), temperatures
        )
        common = self._answers(problem, prepared, f)
        points = budget_points(problem, units, self.budgets, self.count)
        return family(problem, lambda point: OrderPolicy(**common, order=order, **point), points, {})


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """Register the methods."""
    register("mask-static", MaskStatic)
    register("gdfs", GDFS)
    register("dime", DIME)
    register("cwcf", CwCF)
    register("ol", OL)
    register("cae", CAE)


@hookimpl(optionalhook=True)
def bench_policy_types() -> list[type]:
    """Return the types that a saved policy contains."""
    from bench_neural.policy import ActionPolicy, Network, OrderPolicy, RewardPolicy, ScorePolicy, ValuePolicy
    from bench_neural.view import Units, View

    return [ActionPolicy, OrderPolicy, RewardPolicy, ScorePolicy, ValuePolicy, Network, View, Units]
