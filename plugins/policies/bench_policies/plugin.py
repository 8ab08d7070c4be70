"""The plugin's entry point: it adds the hook of `bench_policies.hookspecs`."""

from __future__ import annotations

import pluggy

from bench_core import hookimpl

BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_add_hookspecs(manager: pluggy.PluginManager) -> None:
    """Add the hook specifications of `bench_policies.hookspecs`."""
    from bench_policies import hookspecs

    manager.add_hookspecs(hookspecs)
