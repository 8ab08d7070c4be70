"""Output of commands: tables, JSON, and progress (a bar on a terminal, else plain lines)."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from bench_core.run.execute import TrialStatus
    from bench_core.run.plan import Plan, Planned


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]], width: int = 240) -> None:
    """Print a formatted table on a terminal, else plain text of at most ``width`` characters a line."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    plain = not sys.stdout.isatty()
    table = Table(*head, box=None if plain else box.SIMPLE, pad_edge=False, highlight=False)
    for row in rows:
        table.add_row(*map(Text, row))
    Console(width=width if plain else None, soft_wrap=False).print(table)


def print_json(value: Any) -> None:
    """Print plain values as JSON.

    Raises:
        ValueError: a number is not finite, which JSON cannot express.
    """
    import json

    click.echo(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


class Progress:
    """A bar on a terminal; else a plain line every two seconds, and one for every failure."""

    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self._bar: Any = None
        self._done = self._total = 0
        self._last = 0.0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def started(self, plan: Plan, todo: int) -> None:
        """Print how many trials there are, and how many must be computed."""
        self._total, self._done = todo, 0
        self.__exit__()
        click.echo(f"{(count := len(plan.planned))} trial{'s' * (count != 1)}, {todo} to compute", err=True)
        if todo and sys.stderr.isatty():
            from rich import progress
            from rich.console import Console

            columns = (*progress.Progress.get_default_columns(), progress.MofNCompleteColumn())
            self._bar = progress.Progress(*columns, console=Console(stderr=True))
            self._bar.add_task("", total=todo)
            self._bar.start()

    def advance(self, planned: Planned, done: TrialStatus) -> None:
        """Count a trial; stop at a failure when strict."""
        self._done += 1
        about = planned.trial.short_title
        if self._bar is not None:
            from rich.markup import escape

            self._bar.update(self._bar.task_ids[0], advance=1, description=escape(about))
        elif time.monotonic() - self._last > 2 or self._done == self._total or done.status == "failed":
            self._last = time.monotonic()
            line = f"{self._done}/{self._total} {about}: {done.status} ({done.seconds:.2f} s) {done.message}"
            click.echo(line.rstrip(), err=True)
        if self.strict and done.status == "failed":
            from bench_core.contract.errors import TrialFailed

            raise TrialFailed(f"{about}: {done.message}")
