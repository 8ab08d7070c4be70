"""A real scheduler and real workers on loopback."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import psutil
from support.bench import Bench


class Cluster:
    """A cluster of ``dask scheduler`` and ``dask worker`` processes."""

    def __init__(self, folder: Path, plugins: Path) -> None:
        self.folder, self.plugins = folder, plugins
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.file = folder / "scheduler.json"
        self._start("scheduler", ["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"], plugins)
        deadline = time.monotonic() + 120
        while not self._address():
            assert time.monotonic() < deadline
            assert self.processes["scheduler"].poll() is None
            time.sleep(0.05)
        self.address = self._address()

    def _address(self) -> str:
        try:
            return str(json.loads(self.file.read_text())["address"])
        except (OSError, ValueError):
            return ""

    def _start(self, name: str, arguments: list[str], plugins: Path, **more: str) -> None:
        bench = Bench(self.folder, plugins)
        self.processes[name] = subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments, "--scheduler-file", str(self.file)],
            cwd=self.folder,
            env=bench.environment(BUDGETBENCH_CACHE=str(self.folder / f"cache {name}"), **more),
            stdout=subprocess.DEVNULL,
            stderr=(self.folder / f"{name}.log").open("w"),
        )

    def worker(self, name: str, *more: str, plugins: Path | None = None, **environment: str) -> None:
        """Start a worker with a nanny."""
        arguments = ["worker", "--nthreads", "1", "--name", name, "--no-dashboard", "--host", "127.0.0.1"]
        arguments += ["--local-directory", str(self.folder / f"space {name}"), *more]
        self._start(name, arguments, plugins or self.plugins, **environment)

    def wait_for(self, count: int) -> None:
        """Wait until the scheduler has so many workers."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=180)

    def processes_of(self, name: str) -> list[psutil.Process]:
        """Return a worker's nanny and all its descendants."""
        nanny = psutil.Process(self.processes[name].pid)
        return [nanny, *nanny.children(recursive=True)]

    def trials_of(self, name: str) -> list[psutil.Process]:
        """Return a worker's processes that run trials."""
        found = []
        for process in self.processes_of(name):
            try:
                if "bench_dask.serve" in " ".join(process.cmdline()):
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def close(self) -> None:
        """End all processes, and assert that none is left."""
        below = []
        for process in self.processes.values():
            if process.poll() is None:
                below += psutil.Process(process.pid).children(recursive=True)
                process.terminate()
        for process in self.processes.values():
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        assert psutil.wait_procs(below, timeout=20)[1] == []
