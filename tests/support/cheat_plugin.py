"""The dishonest methods as a plugin. On request it makes shared memory when it is imported."""

from __future__ import annotations

from bench_core import hookimpl
from support.cheats import Cheat
from support.cheats_lie import Liar
from support.cheats_reach import Carrier
from support.cheats_steal import Thief

BENCH_CONTRACT_VERSION = 1


@hookimpl
def bench_register_methods(register):  # type: ignore[no-untyped-def]
    for name, method in (("cheat", Cheat), ("carrier", Carrier), ("thief", Thief), ("liar", Liar)):
        register(name, method)
