"""What all tests of this repository share, the core's and the plugins': how hypothesis draws its examples.

``fixed`` (the default) draws the same examples every time, so that a run says something about the code and not about
its luck. ``random`` (``pytest --hypothesis-profile random``) draws others, and more of them: the weekly job looks
with it for what nobody thought of. Either prints a failing example with the ``@reproduce_failure`` line that brings it
back; it then becomes an ``@example``, or a test of its own.
"""

from __future__ import annotations

from hypothesis import settings

# No deadline: how long an example takes says more about the machine, and about compiling, than about the code.
settings.register_profile("fixed", derandomize=True, deadline=None, print_blob=True)
settings.register_profile(
    "random", derandomize=False, deadline=None, print_blob=True, max_examples=300, database=None
)
settings.load_profile("fixed")
