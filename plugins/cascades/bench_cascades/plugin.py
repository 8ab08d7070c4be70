"""The methods this plugin brings."""

from __future__ import annotations

from bench_cascades import AdaBoostRS, AndOrCascade, EarlyExit, RbfSvm, Stagewise
from bench_core import RegisterMethod, hookimpl

BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """CSTC's baselines."""
    register("stagewise", Stagewise)
    register("early-exit", EarlyExit)
    register("and-or", AndOrCascade)
    register("adaboost-rs", AdaBoostRS)
    register("rbf-svm", RbfSvm)


@hookimpl(optionalhook=True)
def bench_policy_types() -> list[type]:
    """What a saved policy holds."""
    from bench_cstc import BoostedTrees, PlainColumns
    from bench_models.linear import Platt

    from bench_cascades.adaboost import Voters
    from bench_cascades.adaboost_rs import VotePolicy
    from bench_cascades.additive import Additive
    from bench_cascades.and_or_fit import SeveralBoostings
    from bench_cascades.and_or_policy import Cascade, CascadePolicy
    from bench_cascades.early_exit import ExitPolicy, Rule
    from bench_cascades.outputs import Answer, SilentPolicy
    from bench_cascades.rbf_svm import MachinePolicy, Scaling
    from bench_cascades.stagewise import PrefixPolicy

    policies = [PrefixPolicy, ExitPolicy, CascadePolicy, VotePolicy, MachinePolicy, SilentPolicy]
    return [
        *policies, Additive, Answer, BoostedTrees, Cascade, PlainColumns, Platt, Rule, Scaling, SeveralBoostings, Voters
    ]  # fmt: skip
