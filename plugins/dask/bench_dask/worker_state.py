"""What the coordinator knows of a worker."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from bench_core.suites import Planned

__all__ = ["WorkerState"]


@dataclass
class WorkerState:
    """A worker of the cluster.

    Attributes:
        address, name: Dask's address and name of the worker.
        slots: number of trials that it runs at a time.
        concurrent: number of trials that all workers of its machine run at a time.
        memory: bytes that its trials may need together.
        state: ``asked`` while it checks whether it can run the trials, then ``ready`` or ``refused``.
        environment: description of its machine, for records of trials whose process ended.
        assigned: trials that it has not answered yet, by key of the task, in order.
    """

    address: str
    name: str
    slots: int
    concurrent: int
    memory: float
    state: str = "asked"
    environment: dict[str, Any] = field(default_factory=dict)
    assigned: OrderedDict[str, Planned] = field(default_factory=OrderedDict)

    @classmethod
    def of(cls, address: str, info: dict[str, Any], concurrent: int) -> WorkerState:
        """Return the state of a new worker; ``info`` is what Dask's scheduler reports of it."""
        import psutil

        limit = float(info.get("memory_limit") or 0) or float(psutil.virtual_memory().total)
        name = str(info.get("name", address))
        shown = name if name == address else f"{name} ({address})"
        return cls(address, shown, int(info.get("nthreads", 1)), concurrent, limit)
