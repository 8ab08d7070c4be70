"""Run suites in this process, with the tiny plugin, as the command line does but without starting Python."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench_core.contract.sources import DataContext
from bench_core.plugins.manager import load_registry
from bench_core.plugins.registry import Registry
from bench_core.run.execute import Options
from bench_core.run.runner import RunReport, run_suite
from bench_core.run.session import SuiteSession
from bench_core.run.store import Store
from bench_core.run.suite_file import parse_suite
from support import tiny_plugin
from support.publishing import PUBLISHING

REGISTRY = load_registry([*PUBLISHING, ("tiny", tiny_plugin)], entry_points=False)


@dataclass
class Place:
    """A folder with a store and pages.

    Attributes:
        registry: the plugins.
        metrics: the metrics of its suites; one by default, because drawing figures takes most of the time.
        said: notices of runs.
    """

    folder: Path
    registry: Registry = REGISTRY
    metrics: tuple[str, ...] = ("cost",)
    said: list[str] = field(default_factory=list)

    def session(self, text: str, store: str = "store", out: str = "out") -> SuiteSession:
        """A session on a suite ``s`` of this text."""
        head = f'metrics = {list(self.metrics)}\n[suite]\nname = "s"\n'
        suite = parse_suite(head + text, "suites/s.toml", self.registry)
        context = DataContext(cache=self.folder / "cache")
        return SuiteSession(suite, self.registry, Store(self.folder / store), self.folder / out, context)

    def run(
        self, text: str, store: str = "store", out: str = "out", seeds: int | None = None, **more: Any
    ) -> RunReport:
        """Run a suite."""
        self.said.clear()
        only = more.pop("only", {})
        return run_suite(
            self.session(text, store, out),
            Options(isolation="none", plugin_options={"private": True, **more.pop("plugin_options", {})}, **more),
            seeds,
            only,
            lambda plan, count: None,
            lambda planned, done: None,
            self.said.append,
        )

    def published(self, out: str = "out") -> dict[str, bytes]:
        """Every published file, without those that contain computing times."""
        return {
            str(path.relative_to(self.folder / out)): path.read_bytes()
            for path in sorted((self.folder / out).rglob("*"))
            if path.is_file() and path.name != "timings.md" and path.parent.name != "runs"
        }
