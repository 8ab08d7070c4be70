"""``bench`` in a fork of a loaded interpreter behaves as in a new one: output, exit code, and working directory."""

from __future__ import annotations

import os
import subprocess

import psutil
import pytest
from support.bench import FORKS, Bench

PRINTS = """
import os, sys
from bench_core import hookimpl
BENCH_CONTRACT_VERSION = 1

@hookimpl
def bench_register_datasets(register):
    print("here", os.getcwd(), os.environ.get("BUDGETBENCH_OFFLINE"), __name__, sys.argv[1:], file=sys.stderr)
"""


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("--version",), ("list", "datasets"), ("list", "nothing"), ("run", "s.toml")])
def test_a_fork_gives_the_output_and_exit_code_of_a_new_interpreter(bench: Bench, arguments: tuple[str, ...]) -> None:
    (bench.plugins / "tiny_plugin.py").write_text(PRINTS)
    fork, new = (bench(*arguments, expect=None, fresh=fresh, BUDGETBENCH_OFFLINE="1") for fresh in (False, True))
    assert FORKS.server is not None
    assert (fork.returncode, fork.stdout, fork.stderr) == (new.returncode, new.stdout, new.stderr)
    if arguments == ("list", "datasets"):
        assert f"here {bench.folder} 1 tiny_plugin {list(arguments)}" in fork.stderr


def test_a_change_that_libraries_read_when_loaded_needs_a_new_interpreter() -> None:
    here = dict(os.environ)
    assert FORKS.can({**here, "BUDGETBENCH_OFFLINE": "1", "PYTHONPATH": "elsewhere"})
    assert not FORKS.can({**here, "OPENBLAS_CORETYPE": "Prescott"})
    assert not FORKS.can({**here, "PYTHONHASHSEED": "7"})


@pytest.mark.slow
def test_a_run_that_takes_too_long_is_ended_and_the_next_one_works(bench: Bench) -> None:
    (bench.plugins / "tiny_plugin.py").write_text("import time\ntime.sleep(600)\n")
    with pytest.raises(subprocess.TimeoutExpired):
        FORKS.run(["list", "metrics"], bench.folder, bench.environment(), timeout=0.5)
    assert not [child for child in psutil.Process().children() if "forked.py" in " ".join(child.cmdline())]
    (bench.plugins / "tiny_plugin.py").write_text("")
    assert "ndcg@k" in bench("list", "metrics").stdout
