"""From a suite's file to records: suite, trials, plan, store, executors.

A notebook calls ``bench_core.run("quickstart")``. This function is defined in `bench_notebook`, but importing this
package sets ``bench_core.run`` to this module. So the module is callable and passes calls on to the function.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from bench_core.plugins.names import added_name

        return added_name("run")(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
