"""This plugin's own hook: what a saved policy may be made of."""

from __future__ import annotations

from collections.abc import Sequence

import pluggy

hookspec = pluggy.HookspecMarker("budgetbench")


@hookspec
def bench_policy_types() -> Sequence[type]:
    """Classes that a saved policy of this plugin's methods may hold. Implement with ``@hookimpl(optionalhook=True)``.

    Asked when such a policy is saved or loaded, so import them inside. Nothing else is made when a folder is loaded.
    An object is made without calling its class, from its fields (of a dataclass) or its attributes; a class that has a
    method ``saved_fields()`` says itself which are kept, and one with a class method ``from_saved(fields)`` is made by
    that.

    Example::

        @hookimpl(optionalhook=True)
        def bench_policy_types():
            from bench_models.linear import ClassModel
            from bench_mine.policy import MyPolicy

            return [MyPolicy, ClassModel]
    """
    raise NotImplementedError
