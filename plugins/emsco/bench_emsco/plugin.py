"""The plugin's entry point: two methods, `emsco` and `exhaustive`."""

from __future__ import annotations

from bench_core import hookimpl
from bench_core.plugins.hookspecs import RegisterMethod
from bench_emsco.exhaustive_method import Exhaustive
from bench_emsco.method import Emsco


@hookimpl
def bench_register_methods(register: RegisterMethod) -> None:
    """Register EMSCO and the exhaustive search."""
    register("emsco", Emsco)
    register("exhaustive", Exhaustive)
