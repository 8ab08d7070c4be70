"""Run Python functions in fresh, restricted processes, with limits of time and memory: arrays in, arrays out.

    >>> import bench_sandbox
    >>> values, arrays = bench_sandbox.run("plugin:predict", {"limit": 3}, {"X": X}, seconds=10, memory=2**30)

`Server` keeps a process that has imported the common libraries, and starts restricted processes from it. The library
knows functions, arrays and bytes; it does not know what they are for.
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
