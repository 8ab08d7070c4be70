"""What all tests of this repository share, the core's and the plugins'.

One thread of linear algebra in each process of pytest, unless the environment says how many: with ``-n`` there is a
process per core. And the processor's kernels that trials use, so that trials in this process and in others are equal.

Hypothesis draws its examples by a profile. ``fixed`` (the default) draws the same examples every time, so that a run
says something about the code and not about its luck. ``random`` (``pytest --hypothesis-profile random``) draws others,
and more of them: the weekly job looks with it for what nobody thought of. Either prints a failing example with the
``@reproduce_failure`` line that brings it back; it then becomes an ``@example``, or a test of its own.
"""

from __future__ import annotations

import os
import time

from hypothesis import settings

from bench_core.run.libraries import BLAS_VARIABLES, kernel_variables

for variable in BLAS_VARIABLES:  # read when the libraries are loaded, which is later than this
    os.environ.setdefault(variable, "1")
os.environ.update(kernel_variables())

# Processes that tests start import the same packages: without bytecode, each would compile them again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# One date for all that this run of the tests writes: two pages that are compared may lie on two sides of midnight.
os.environ.setdefault("SOURCE_DATE_EPOCH", str(int(time.time())))

# No deadline: how long an example takes says more about the machine, and about compiling, than about the code.
settings.register_profile("fixed", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("random", derandomize=False, deadline=None, print_blob=True, max_examples=300, database=None)
settings.load_profile("fixed")
