"""Run the real command line, with plugins that are installed in a separate folder."""

from __future__ import annotations

import atexit
import json
import os
import select
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).parents[2]

SMALL = """
[protocol]
seeds = 2
threshold = 0.7

[[datasets]]
use = "blobs"

[[methods]]
use = "slopes"
"""
"""A suite of one data set and one method of `support.tiny_plugin`."""


def scripts() -> Path:
    """The folder of the ``bench`` command that belongs to the running interpreter, whatever the PATH says."""
    files = metadata.distribution("budgetbench").files or []
    found = [Path(str(file.locate())) for file in files if file.name in ("bench", "bench.exe")]
    return found[0].resolve().parent if found else Path(sysconfig.get_path("scripts"))


def install(folder: Path, module: str, source: str | Path, entry: str, distribution: str = "") -> None:
    """Put a one-module distribution with an entry point into a folder, as an installer would."""
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(source, Path):
        shutil.copy(source, folder / f"{module}.py")
    else:
        (folder / f"{module}.py").write_text(source, encoding="utf-8")
    name = distribution or module
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[budgetbench]\n{entry} = {module}\n")


class Forks:
    """The server of `support.forked`, started at the first request."""

    def __init__(self) -> None:
        self.server: subprocess.Popen[str] | None = None
        self.started_with: dict[str, str] = {}

    def can(self, environment: dict[str, str]) -> bool:
        """Whether a fork behaves like a new process: variables that libraries read when loaded are the same."""
        here = self.started_with or dict(os.environ)
        changed = {name for name in here.keys() | environment.keys() if here.get(name) != environment.get(name)}
        free = {"PYTHONPATH", "PYTEST_CURRENT_TEST", "HOME", "COLUMNS"}
        return sys.platform == "linux" and all(name in free or name.startswith("BUDGETBENCH_") for name in changed)

    def run(
        self, arguments: Sequence[str], cwd: Path, environment: dict[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """Run ``bench`` in a fork.

        Raises:
            TimeoutExpired: it took too long; it and the server were killed.
        """
        server = self._serving()
        with tempfile.TemporaryDirectory() as folder:
            out, err = Path(folder, "out"), Path(folder, "err")
            request = {
                "arguments": arguments,
                "cwd": str(cwd),
                "environment": environment,
                "out": str(out),
                "err": str(err),
            }
            server.stdin.write(json.dumps(request) + "\n")
            server.stdin.flush()
            if not select.select([server.stdout], [], [], timeout)[0]:
                self.stop()
                raise subprocess.TimeoutExpired(["bench", *arguments], timeout)
            code = int(server.stdout.readline())
            said = [path.read_text(encoding="utf-8") if path.exists() else "" for path in (out, err)]
        return subprocess.CompletedProcess(["bench", *arguments], code, *said)

    def _serving(self) -> Any:
        if self.server is None:
            self.started_with = dict(os.environ)
            self.server = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("forked.py"))],
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            atexit.register(self.stop)
        return self.server

    def stop(self) -> None:
        """End the server and its child processes."""
        if self.server is not None:
            with suppress(psutil.NoSuchProcess):
                for child in psutil.Process(self.server.pid).children(recursive=True):
                    with suppress(psutil.NoSuchProcess):
                        child.kill()
            self.server.kill()
            self.server.communicate()
            self.server = None


FORKS = Forks()


# Most tests do not test isolation, and starting a method's process takes a second.
_HERE = {"BUDGETBENCH_ISOLATION": "none", "BUDGETBENCH_PRIVATE": "1"}


@dataclass
class Bench:
    """A folder to work in and the plugins' folder."""

    folder: Path
    plugins: Path

    def environment(self, **more: str) -> dict[str, str]:
        """The environment of a run: the plugins' folder and this checkout on the path."""
        path = os.pathsep.join([str(self.plugins), str(ROOT)])
        kept = {k: v for k, v in os.environ.items() if not k.startswith("BUDGETBENCH_")}
        return {**kept, "PYTHONPATH": path, "BUDGETBENCH_CACHE": str(self.folder / "cache"), **_HERE, **more}

    def __call__(
        self, *arguments: str, expect: int | None = 0, fresh: bool = False, **more: str
    ) -> subprocess.CompletedProcess[str]:
        """Run ``bench`` in a process and, unless ``expect`` is None, check its exit code.

        Args:
            *arguments: arguments of the command line.
            expect: the exit code.
            fresh: whether to start a new interpreter (to test its start, or other hashes); otherwise it is a fork of
                one that has loaded the libraries.
            **more: further environment variables.
        """
        environment = self.environment(**more)
        if not fresh and FORKS.can(environment):
            done = FORKS.run(arguments, self.folder, environment, timeout=300)
        else:
            done = subprocess.run(
                [sys.executable, "-m", "bench_core.cli.main", *arguments],
                cwd=self.folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=300,
            )
        if expect is not None and done.returncode != expect:
            raise AssertionError(f"exit code {done.returncode}, not {expect}:\n{done.stdout}\n{done.stderr}")
        return done

    def suite(self, text: str, name: str = "s") -> str:
        """Write a suite file; return its name."""
        (self.folder / f"{name}.toml").write_text(f'[suite]\nname = "{name}"\n{text}', encoding="utf-8")
        return f"{name}.toml"

    def page(self, name: str = "s", out: str = "leaderboard") -> str:
        """A rendered page."""
        return (self.folder / out / f"{name}.md").read_text(encoding="utf-8")


def contents(store: Path) -> dict[str, Any]:
    """A store's records by name, without fields that may differ between two runs (times, dates, checksums)."""
    found: dict[str, Any] = {}
    for path in sorted(store.rglob("*.json")):
        if path.parent == store:
            continue
        record = json.loads(path.read_text(encoding="utf-8"))
        record.pop("checksum")
        record.pop("timings")
        record.pop("provenance")
        found[path.name] = record
    return found


def decisions(store: Path) -> dict[str, bytes]:
    """A store's stored decisions, as bytes."""
    return {path.name: path.read_bytes() for path in sorted(store.rglob("*.parquet"))}
