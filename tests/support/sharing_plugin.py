"""A plugin that, when it is imported, makes memory that every later fork of the process shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bench_core import hookimpl
from bench_core.testing.cheats_reach import Carrier, share_memory

BENCH_CONTRACT_VERSION = 1
share_memory()


@dataclass(frozen=True)
class Sharing(Carrier):
    """Carries its answers in the memory that was made."""

    way: Literal["anonymous-memory"] = "anonymous-memory"


@hookimpl
def bench_register_methods(register):  # type: ignore[no-untyped-def]
    register("sharing", Sharing)
