"""Stores in difficult places: a full or read-only disk, a path with unusual characters, two runs at once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support import tiny_plugin
from support.bench import Bench, contents, decisions, install
from test_cheats import BLOBS, method

SUITE = BLOBS.replace("400", "4000") + "".join(method("slopes", f"m{i}", noise=i / 10) for i in range(6))


@pytest.fixture
def tiny(tmp_path: Path) -> Bench:
    install(tmp_path / "plugins", "tiny_plugin", Path(tiny_plugin.__file__), "tiny")
    return Bench(tmp_path, tmp_path / "plugins")


Disk = Callable[[str], None]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[tuple[Path, Disk]]:
    """A folder with a separate file system, and a function that mounts it again with other options."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def mount(options: str) -> None:
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "store", str(folder)], check=True, capture_output=True)

    try:
        mount("size=192k")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a file system can be mounted by root only")
    try:
        yield folder, lambda options: mount(f"remount,{options}")
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_full_disk_ends_a_run_in_one_line_and_finished_trials_are_kept(
    tiny: Bench, disk: tuple[Path, Disk], jobs: str
) -> None:
    folder, again = disk
    suite = tiny.suite(SUITE)
    tiny("run", suite, "--store", "calm", "--out", "calm pages")
    run = ["run", suite, "--store", str(folder / "store"), "--jobs", jobs]
    ended = tiny(*run, expect=2)
    (line,) = [one for one in ended.stderr.splitlines() if one.startswith("bench:")]
    assert "cannot be written: no space left on device" in line
    assert "Traceback" not in ended.stdout + ended.stderr
    calm, kept = contents(tiny.folder / "calm"), contents(folder / "store")
    assert 0 < len(kept) < len(calm)
    assert kept == {name: calm[name] for name in kept}
    again("size=64m")
    said = tiny(*run).stdout
    assert f"{len(calm) - len(kept)} trial(s) computed" in said
    assert contents(folder / "store") == calm
    assert decisions(folder / "store") == decisions(tiny.folder / "calm")


@pytest.mark.slow
def test_a_read_only_store_is_reported_in_one_line_and_still_read(tiny: Bench, disk: tuple[Path, Disk]) -> None:
    folder, again = disk
    again("size=64m")
    suite = tiny.suite(SUITE)
    store = ["--store", str(folder / "store")]
    half = tiny("run", suite, *store, "--only", "method=m0", "--only", "method=m1").stdout
    assert "2 trial(s) computed" in half
    again("ro")
    ended = tiny("run", suite, *store, expect=2)
    (line,) = [one for one in ended.stderr.splitlines() if one.startswith("bench:")]
    assert "cannot be written: read-only file system" in line
    assert "Traceback" not in ended.stdout + ended.stderr
    assert len(contents(folder / "store")) == 2
    tiny("plan", suite, *store)
    tiny("run", suite, *store, "--only", "method=m0", "--only", "method=m1")


@pytest.mark.weekly
def test_spaces_and_letters_of_any_alphabet_may_be_in_every_path(tmp_path: Path) -> None:
    home = tmp_path / "Größe 测试 — it's %20 $HOME"
    home.mkdir()
    install(home / "Plug ins ß", "tiny_plugin", Path(tiny_plugin.__file__), "tiny")
    there = Bench(home, home / "Plug ins ß")
    (home / "süit ƒ.toml").write_text('[suite]\nname = "s"\n' + SUITE, encoding="utf-8")
    places = ["--store", "störe 库", "--out", "pägés of it"]
    there("run", "süit ƒ.toml", *places, "--jobs", "2", BUDGETBENCH_ISOLATION="process")
    there("run", "süit ƒ.toml", "--store", "calm", "--out", "calm pages")
    assert contents(home / "störe 库") == contents(home / "calm")
    assert decisions(home / "störe 库") == decisions(home / "calm")
    assert (home / "pägés of it" / "s.md").read_bytes() == (home / "calm pages" / "s.md").read_bytes()


def started(tiny: Bench, suite: str, jobs: str, isolation: str) -> subprocess.Popen[str]:
    """A run of a suite in another process, with the store ``both``."""
    return subprocess.Popen(
        [sys.executable, "-m", "bench_core.cli.main", "run", suite, "--store", "both", "--jobs", jobs],
        cwd=tiny.folder,
        env=tiny.environment(BUDGETBENCH_ISOLATION=isolation),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_run_waits_for_the_trial_that_another_run_is_computing(tiny: Bench, jobs: str) -> None:
    suite = tiny.suite(BLOBS + method("slopes", "slow", seconds=4.0))
    with started(tiny, suite, "1", "none") as first:
        folder, until = tiny.folder / "both" / "running", time.monotonic() + 60
        while not any(mark.read_bytes().startswith(b"+") for mark in folder.glob("*")):
            assert time.monotonic() < until
            time.sleep(0.02)
        second = tiny("run", suite, "--store", "both", "--jobs", jobs, BUDGETBENCH_ISOLATION="none")
        assert "1 trial(s) computed, 0 kept" in first.communicate()[0]
    assert "0 trial(s) computed, 1 kept" in second.stdout
    assert tiny.page()


@pytest.mark.slow
@pytest.mark.parametrize("isolation", [pytest.param("none", marks=pytest.mark.weekly), "process"])
def test_two_runs_on_one_store_at_once_lose_nothing(tiny: Bench, isolation: str) -> None:
    suite = tiny.suite(SUITE.replace("noise = ", "seconds = 0.2, noise = "))
    tiny("run", suite, "--store", "calm", "--out", "calm pages")
    runs = [started(tiny, suite, jobs, isolation) for jobs in ("1", "2")]
    said = [one.communicate(timeout=300)[0] for one in runs]
    assert [one.returncode for one in runs] == [0, 0], said
    # Each trial is computed by one of the runs. If both begin one within microseconds, both may compute it.
    computed = sum(int(text.rpartition(" trial(s) computed")[0].rpartition("\n")[2]) for text in said)
    trials = len(contents(tiny.folder / "calm"))
    assert trials <= computed <= trials + 2, said
    assert contents(tiny.folder / "both") == contents(tiny.folder / "calm")
    assert decisions(tiny.folder / "both") == decisions(tiny.folder / "calm")
    assert tiny.page() == tiny.page(out="calm pages")
    for left in ("tmp", "running"):
        assert not list((tiny.folder / "both" / left).glob("*")), os.listdir(tiny.folder / "both" / left)
