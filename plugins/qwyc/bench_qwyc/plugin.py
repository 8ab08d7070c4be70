"""The plugin's hooks: four methods and the metrics of their tables."""

from __future__ import annotations

from collections.abc import Callable

from bench_core import RegisterMethod, RegisterMetric, hookimpl
from bench_qwyc.methods import EarlyStopping, Fan, Qwyc, SmallerEnsemble
from bench_qwyc.metrics import METRICS

BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """Register ``qwyc``, ``early-stopping``, ``fan`` and ``smaller-ensemble``."""
    register("qwyc", Qwyc)
    register("early-stopping", EarlyStopping)
    register("fan", Fan)
    register("smaller-ensemble", SmallerEnsemble)


@hookimpl
def bench_register_metrics(register: RegisterMetric) -> None:
    """Register the metrics."""
    for metric in METRICS:
        register(metric)


@hookimpl(optionalhook=True)
def bench_register_figures(register: Callable[[str, str], None]) -> None:
    """Register the figure of base models run per row (QWYC Figs. 5 and 6); its module is imported when drawn."""
    register("base-models", "bench_qwyc.figures:BaseModels")


@hookimpl(optionalhook=True)
def bench_policy_types() -> list[type]:
    """Return the types that a saved policy contains."""
    from bench_models.trees import FlatTrees

    from bench_qwyc.fan import Bins
    from bench_qwyc.model import Ensemble, Packed, Subsets
    from bench_qwyc.optimise import Stopping
    from bench_qwyc.policy import StoppingPolicy

    return [StoppingPolicy, Ensemble, Packed, Subsets, FlatTrees, Stopping, Bins]
