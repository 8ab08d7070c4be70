"""From a suite's file to records: suite, trials, plan, store, executors.

`bench_core.run` is also what a notebook calls: ``bench_core.run("quickstart")``. The function belongs to
`bench_notebook`; once this package is imported, its module stands under that name, so the module passes the call on.
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
