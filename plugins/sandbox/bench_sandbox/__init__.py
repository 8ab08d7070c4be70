"""Run Python functions on arrays in new, restricted processes, with limits of time and memory.

    >>> import bench_sandbox
    >>> values, arrays = bench_sandbox.run("plugin:predict", {"limit": 3}, {"X": X}, seconds=10, memory=2**30)

`Server` manages a process that has imported common libraries, and forks restricted processes from it. The package
transfers plain values, arrays and bytes, and is independent of budgetbench.
"""

from bench_sandbox.arrays import Blob, packed
from bench_sandbox.available import layers, missing_layers
from bench_sandbox.client import Server, run
from bench_sandbox.errors import CallError, MalformedError, SandboxError, StoppedError, ending
from bench_sandbox.paths import importable, readable
from bench_sandbox.process import Process
from bench_sandbox.strays import adopt_orphans, adopting_orphans, children, end_group, end_strays
from bench_sandbox.system import die_with_parent

__all__ = [
    "Blob",
    "CallError",
    "MalformedError",
    "Process",
    "SandboxError",
    "Server",
    "StoppedError",
    "adopt_orphans",
    "adopting_orphans",
    "children",
    "die_with_parent",
    "end_group",
    "end_strays",
    "ending",
    "importable",
    "layers",
    "missing_layers",
    "packed",
    "readable",
    "run",
]
