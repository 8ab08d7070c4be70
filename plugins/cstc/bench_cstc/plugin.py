"""The plugin's hooks: the paper's methods and baselines, the metric that compares families at equal cost, figures."""

from __future__ import annotations

from collections.abc import Callable

from bench_core import Method, RegisterMethod, RegisterMetric, hookimpl
from bench_cstc.baselines import AdaBoostRS, AndOrCascade, EarlyExit, RbfSvm, Stagewise
from bench_cstc.criterion_method import LabelOverlapMethod
from bench_cstc.methods import CSCC, CSTC, Cronus, SingleCostSensitive
from bench_cstc.metrics import METRICS as _METRICS

__all__ = ["METHODS"]

BENCH_CONTRACT_VERSION = 1


METHODS: dict[str, type[Method]] = {
    "cstc": CSTC,
    "cscc": CSCC,
    "cronus": Cronus,
    "single-cost-sensitive": SingleCostSensitive,
    "label-overlap": LabelOverlapMethod,
    "stagewise": Stagewise,
    "early-exit": EarlyExit,
    "and-or": AndOrCascade,
    "adaboost-rs": AdaBoostRS,
    "rbf-svm": RbfSvm,
}


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """Register all of `METHODS`."""
    for name, method in METHODS.items():
        register(name, method)


@hookimpl
def bench_register_metrics(register: RegisterMetric) -> None:
    """Register ``best-within@k`` and ``regression-mse``."""
    for metric in _METRICS:
        register(metric)


@hookimpl(optionalhook=True)
def bench_register_figures(register: Callable[[str, str], None]) -> None:
    """Register the figures of learned trees and features read (CSTC Fig. 8 to 10); imported when a suite draws them."""
    register("tree", "bench_cstc.figures:Tree")
    register("depth-by-price", "bench_cstc.figures:DepthByPrice")


@hookimpl(optionalhook=True)
def bench_policy_types() -> list[type]:
    """Return the types that a saved policy contains."""
    from bench_models.answers import Answer, SilentPolicy
    from bench_models.columns import BoostedTrees, PlainColumns
    from bench_models.linear import ConstantPolicy, Platt
    from bench_models.sums import Additive

    from bench_cstc.baselines.adaboost import Voters
    from bench_cstc.baselines.adaboost_rs import VotePolicy
    from bench_cstc.baselines.and_or_fit import SeveralBoostings
    from bench_cstc.baselines.and_or_policy import Cascade, CascadePolicy
    from bench_cstc.baselines.early_exit import ExitPolicy, Rule
    from bench_cstc.baselines.rbf_svm import MachinePolicy, Scaling
    from bench_cstc.baselines.stagewise import PrefixPolicy
    from bench_cstc.objective import State
    from bench_cstc.shape import Shape
    from bench_cstc.walker import TreePolicy, Walker

    trees = [TreePolicy, ConstantPolicy, Walker, Platt, PlainColumns, BoostedTrees, State, Shape]
    policies = [PrefixPolicy, ExitPolicy, CascadePolicy, VotePolicy, MachinePolicy, SilentPolicy]
    return [*trees, *policies, Additive, Answer, Cascade, Rule, Scaling, SeveralBoostings, Voters]
