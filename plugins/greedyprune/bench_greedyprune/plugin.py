"""The plugin's hook: registers the method. Imports nothing heavy."""

from __future__ import annotations

from bench_core.plugins.hookspecs import RegisterMethod, hookimpl
from bench_greedyprune.method import GreedyPrune

__all__ = ["bench_register_methods"]


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """GreedyPrune."""
    register("greedyprune", GreedyPrune)
