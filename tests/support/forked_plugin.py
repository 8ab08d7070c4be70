"""A plugin whose method hangs in the warm-up."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace

from bench_core import Family, Problem, hookimpl
from support.tiny_plugin import Slopes

BENCH_CONTRACT_VERSION = 1
IMPORTED_IN = os.getpid()


@dataclass(frozen=True)
class Forked(Slopes):
    """Says whether its process is a fork of the one that imported this module. Hangs on the warm-up's 60 rows."""

    def fit(self, problem: Problem) -> Family:
        if len(problem.train.y) == 60:
            time.sleep(600)
        return replace(super().fit(problem), diagnostics={"forked": os.getpid() != IMPORTED_IN})


@hookimpl
def bench_register_methods(register):  # type: ignore[no-untyped-def]
    register("forked", Forked)
