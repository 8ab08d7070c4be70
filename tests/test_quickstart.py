"""The quickstart suite: it needs no network, and the number of workers does not change the results."""

from __future__ import annotations

import pytest
from bench_records import export_files
from support.bench import ROOT, Bench, contents, decisions


@pytest.mark.weekly
def test_quickstart_runs_without_a_network_and_is_the_same_with_two_workers(bench: Bench) -> None:
    suite = str(ROOT / "suites" / "quickstart.toml")
    offline = {"BUDGETBENCH_OFFLINE": "1"}
    bench("run", suite, "--store", "one", "--out", "page-one", **offline)
    bench("run", suite, "--store", "two", "--out", "page-two", "--jobs", "2", fresh=True, **offline)
    one, two = bench.folder / "one", bench.folder / "two"
    assert len(contents(one)) > 20
    assert contents(one) == contents(two)
    assert decisions(one) == decisions(two)
    assert bench.page("quickstart", "page-one") == bench.page("quickstart", "page-two")
    exports = [export_files(bench.folder / page / "quickstart") for page in ("page-one", "page-two")]
    files = [[(path.name, path.read_bytes()) for path in export] for export in exports]
    assert files[0] == files[1] != []
    again = bench("run", suite, "--store", "one", "--out", "page-one", **offline)
    assert "0 trial(s) computed" in again.stdout
