"""A hostile plugin: its import manipulates the process, and so every process that is forked from it."""

from __future__ import annotations

import os

from bench_core import hookimpl
from support.mailboxes import Carrying, Remembering, set_up

BENCH_CONTRACT_VERSION = 1

if os.getppid() <= 1 or os.environ.get("MAILBOXES_HERE"):  # a restricted process: the first in its namespace
    set_up()


@hookimpl
def bench_register_methods(register):  # type: ignore[no-untyped-def]
    register("carrying", Carrying)
    register("remembering", Remembering)
