"""Find and run blocks of code in Markdown pages; `tests/test_docs.py` describes their kinds."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from support.bench import Bench, scripts

FENCE = re.compile(
    r'(?P<before><!-- not run: (?P<why>[^>]+) -->\n+)?^```(?P<kind>[a-z]*)(?: title="(?P<title>[^"]+)")?\n'
    r"(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced block: its kind, the file to write it to, its text, its line, and why it is not run."""

    kind: str
    title: str
    text: str
    line: int
    why: str


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(m["kind"], m["title"] or "", m["text"], text[: m.start("kind")].count("\n") + 1, m["why"] or "")
        for m in FENCE.finditer(text)
    ]


def commands(text: str) -> list[tuple[str, int]]:
    """The commands of a block with their expected exit codes; a backslash continues a line."""
    found = []
    for line in text.replace("\\\n", " ").splitlines():
        said, _, comment = line.partition("  # exit code ")
        if said.strip() and not said.lstrip().startswith("#"):
            found.append((said.strip(), int(comment or 0)))
    return found


def run_command(bench: Bench, command: str, code: int, where: str) -> None:
    words = shlex.split(command)
    if words[0] == "bench" and not set(words) & {"|", ">", "&&"}:
        ran = bench(*words[1:], expect=None)
    else:
        environment = bench.environment(PATH=f"{scripts()}{os.pathsep}{os.environ.get('PATH', '')}")
        ran = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=bench.folder, env=environment, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
    assert ran.returncode == code, f"{where}: {command}\n{ran.stdout}\n{ran.stderr}"


def invoke(command: str) -> str:
    """Run a ``bench`` command in this process and return its output."""
    from bench_core.cli.main import main

    name, *arguments = shlex.split(command)
    assert name == "bench"
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return result.output


def run_blocks(page: Path, names: dict[str, Any]) -> list[str]:
    """Run the blocks of a page in order, in this process and folder, and return what its ``console`` commands print.

    A ``toml`` block is a file whose name is its first line, a comment. Names of ``python`` blocks stay in ``names``.
    """
    outputs = []
    for block in blocks(page):
        if block.kind == "toml":
            first, rest = block.text.split("\n", 1)
            Path(first.removeprefix("# ")).write_text(rest, encoding="utf-8")
        elif block.kind == "console":
            outputs += [invoke(line) for line in block.text.strip().splitlines()]
        elif block.kind == "python":
            exec(compile(block.text, str(page), "exec"), names)
    return outputs
