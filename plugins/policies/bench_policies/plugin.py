"""The plugin's entry point: it adds a hook for other plugins and registers nothing."""

from __future__ import annotations

import pluggy

from bench_core import hookimpl

BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_add_hookspecs(manager: pluggy.PluginManager) -> None:
    """Add `bench_policies.hookspecs`."""
    from bench_policies import hookspecs

    manager.add_hookspecs(hookspecs)
