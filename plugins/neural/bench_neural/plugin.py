"""The entry point: registers the methods."""

from __future__ import annotations

from bench_core import RegisterMethod, hookimpl
from bench_neural.greedy import DIME, EDDI, GDFS
from bench_neural.reinforcement import OL, CwCF
from bench_neural.static import CAE, MaskStatic

__all__ = ["CAE", "DIME", "EDDI", "GDFS", "OL", "CwCF", "MaskStatic"]

BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """Register the methods."""
    register("mask-static", MaskStatic)
    register("cae", CAE)
    register("gdfs", GDFS)
    register("dime", DIME)
    register("eddi", EDDI)
    register("cwcf", CwCF)
    register("ol", OL)


@hookimpl(optionalhook=True)
def bench_policy_types() -> list[type]:
    """Return the types that a saved policy contains."""
    from bench_neural import policy
    from bench_neural.information import Imputer, InformationPolicy
    from bench_neural.view import Units, View

    policies = (
        policy.ActionPolicy, policy.OrderPolicy, policy.RewardPolicy, policy.ScorePolicy, policy.ValuePolicy,
        InformationPolicy,
    )  # fmt: skip
    return [*policies, Imputer, policy.Network, View, Units]
