"""Running the command line for real, with plugins that are installed in a folder of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


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


@dataclass
class Bench:
    """A folder to work in and the plugins' folder."""

    folder: Path
    plugins: Path

    def environment(self, **more: str) -> dict[str, str]:
        """The environment of a run: the plugins' folder and this checkout on the path."""
        path = os.pathsep.join([str(self.plugins), str(ROOT)])
        kept = {k: v for k, v in os.environ.items() if not k.startswith("BUDGETBENCH_")}
        return {**kept, "PYTHONPATH": path, "BUDGETBENCH_CACHE": str(self.folder / "cache"), **more}

    def __call__(
        self, *arguments: str, expect: int | None = 0, **more: str
    ) -> subprocess.CompletedProcess[str]:
        """Run ``bench`` and, unless ``expect`` is None, demand its exit code."""
        done = subprocess.run(
            [sys.executable, "-m", "bench_core.cli", *arguments],
            cwd=self.folder,
            env=self.environment(**more),
            capture_output=True,
            text=True,
            timeout=300,
        )
        if expect is not None and done.returncode != expect:
            raise AssertionError(f"exit code {done.returncode}, not {expect}:\n{done.stdout}\n{done.stderr}")
        return done

    def suite(self, text: str, name: str = "s") -> str:
        """Write a suite file; its name."""
        (self.folder / f"{name}.toml").write_text(f'[suite]\nname = "{name}"\n{text}', encoding="utf-8")
        return f"{name}.toml"

    def page(self, name: str = "s", out: str = "leaderboard") -> str:
        """A rendered page."""
        return (self.folder / out / f"{name}.md").read_text(encoding="utf-8")


def contents(store: Path) -> dict[str, Any]:
    """A store's records by name, without what may differ between two runs (times, dates, and so the checksum)."""
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
