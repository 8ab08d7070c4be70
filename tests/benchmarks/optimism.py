"""How much better methods are on the validation part than on the test part, from a suite's published records.

    python tests/benchmarks/optimism.py [SUITE]

It writes the table into ``docs/explanation/fairness.md``, between its two marks. The table depends only on published
records.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable
from pathlib import Path

from bench_analysis.analysed import Analysed
from bench_analysis.optimism import Optimism, optimism_of
from bench_records import outdated, published
from marked import write_between

from bench_core import DataContext
from bench_core.records import Store
from bench_core.suites import SuiteSession, load_registry, load_suite

ROOT = Path(__file__).parents[2]


def measured(suite: Path) -> tuple[list[Optimism], set[str]]:
    """A row for each method, and the methods whose records were made by an earlier version of them."""
    registry = load_registry()
    read = load_suite(suite, registry)
    with tempfile.TemporaryDirectory() as folder:
        context = DataContext(cache=Path(folder, "cache"))
        session = SuiteSession(read, registry, Store(Path(folder, "store")), ROOT / "leaderboard", context)
        records = published(session).whole
    if records is None:
        raise SystemExit(f"{suite}: nothing is published")
    earlier = {method for method, change in outdated(read, records) if "method version" in change}
    return list(optimism_of(Analysed(read, records))), earlier


def rendered(rows: Iterable[Optimism], earlier: set[str]) -> str:
    """The table in Markdown, largest mean over all policies first."""
    lines = ["| method | policies | all policies | ± | chosen policy | data sets |", "|---|---|---|---|---|---|"]
    for row in sorted(rows, key=lambda row: -row.every):
        numbers = [f"{100 * value:.1f}".replace("-", "−") for value in (row.every, row.error, row.value)]
        name = row.method + " †" * (row.method in earlier)
        lines.append(f"| {name} | {row.policies:.0f} | {' | '.join(numbers)} | {row.datasets} |")
    if earlier:
        lines += ["", "† The records were made by an earlier version of the method."]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("suite", type=Path, nargs="?", default=ROOT / "suites" / "open.toml")
    table = rendered(*measured(parser.parse_args().suite))
    write_between("explanation/fairness.md", "optimism", table)
    print(table)


if __name__ == "__main__":
    main()
