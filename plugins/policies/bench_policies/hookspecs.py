"""The hook of this plugin: the classes that a saved policy may hold."""

from __future__ import annotations

from collections.abc import Sequence

import pluggy

hookspec = pluggy.HookspecMarker("budgetbench")


@hookspec
def bench_policy_types() -> Sequence[type]:
    """Return the classes that saved policies of your plugin's methods hold.

    Implement it with ``@hookimpl(optionalhook=True)``. It is called when such a policy is saved or loaded, so import
    the classes inside it. Loading creates objects of these classes only, from the fields of a dataclass or the
    attributes of another object, without calling the class. A class may choose what is saved with a method
    ``saved_fields()``, and how it is restored with a class method ``from_saved(fields)``.

    Example::

        @hookimpl(optionalhook=True)
        def bench_policy_types():
            from bench_models.linear import ClassModel
            from bench_mine.policy import MyPolicy

            return [MyPolicy, ClassModel]
    """
    raise NotImplementedError
