"""Emulate several machines on one: names, data and pages must not depend on kernels, vector units and thread counts.

    python3 .ci/machines.py names             data hashes and trial names of every suite, under every setting
    python3 .ci/machines.py suites [SUITE …]  run the quick suites under every setting, compare records and pages
    python3 .ci/machines.py show              print the names and hashes of this process, as JSON

All settings are compared with the first one; --settings chooses them. Data that is not built in is taken from the cache
and from --mirror DIR and never downloaded; missing data sets are left out.

The exit code is 1 if a hash or a name differs, or a page rendered from the same records. For the settings' own records,
the largest difference of two numbers and each trial with different decisions are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

KERNELS: dict[str, dict[str, str]] = {
    "as-is": {},
    "native": {"OPENBLAS_CORETYPE": "", "NPY_DISABLE_CPU_FEATURES": ""},
    "sandybridge": {"OPENBLAS_CORETYPE": "Sandybridge"},
    "prescott": {"OPENBLAS_CORETYPE": "Prescott"},
    "plain-numpy": {"NPY_DISABLE_CPU_FEATURES": "all that this NumPy dispatches on"},
    "plain-libm": {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-AVX2,-FMA_Usable,-AVX2_Usable"},
    "plainest": {
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": "all that this NumPy dispatches on",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-AVX2,-FMA_Usable,-AVX2_Usable",
    },
    "plain-numba": {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""},
    "one-thread": {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    "two-threads": {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"},
}
"""Setting → environment variables. They need x86-64; features that the processor lacks are ignored.

`bench` makes OpenBLAS and NumPy use AVX2, so suites run ``as-is`` use it; ``native`` allows all the processor supports.
"""

SERIAL = ("two-threads",)
"""Settings under which suites run in one process, so that methods have all threads; under others, in two workers."""


def environment(setting: str, scratch: Path) -> dict[str, str]:
    """The environment of a process that emulates a machine. If numba compiles for another, it has its own cache."""
    played = dict(KERNELS[setting])
    if played.get("NPY_DISABLE_CPU_FEATURES"):
        played["NPY_DISABLE_CPU_FEATURES"] = " ".join(dispatched())
    if any(name.startswith("NUMBA") for name in played):
        played["NUMBA_CACHE_DIR"] = str(scratch / f"numba-{setting}")
    others = {name for variables in KERNELS.values() for name in variables} | {"NUMBA_NUM_THREADS"}
    return {name: value for name, value in os.environ.items() if name not in others} | played


def dispatched() -> list[str]:
    """The processor features that this NumPy looks for and this processor has (AVX2, FMA3 …, or X86_V3 …)."""
    from numpy._core import _multiarray_umath as core

    has = core.__cpu_features__
    return [feature for feature in core.__cpu_dispatch__ if has.get(feature)]


def show(mirror: Path | None) -> dict[str, str]:
    """The names in this process: data set → content hash, suite → hash of its trials' names."""
    from bench_core import BenchError, DataContext, RequestError, build, sha256_text
    from bench_core.suites import SuiteSession

    known = DataContext.from_environment(mirror)
    context = DataContext(known.cache, known.mirror, offline=True)
    said: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as empty:
        for path in sorted((ROOT / "suites").glob("*.toml")):
            session = SuiteSession.open(path, Path(empty) / "store", Path(empty), context)
            plan = session.plan()
            for planned in plan.planned:
                said[f"{path.stem}: {planned.trial.dataset}"] = planned.content
            names = " ".join(planned.name for planned in plan.planned)
            said[f"{path.stem}: names of {len(plan.planned)} trials"] = sha256_text(names)
        for name, source in sorted(session.registry.datasets.items()):
            try:
                made = build(source, {}, name)
                if not made.network or made.status(context) == "built-in":
                    said[f"data set {name}"] = session.cache.content(name, made)
            except (BenchError, RequestError):
                continue
    return said


def names(settings: Sequence[str], mirror: Path | None) -> int:
    """Compare `show` under every setting; prints each difference, returns the exit code."""
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(2) as two:
        shown = two.map(lambda setting: _shown(setting, Path(scratch), mirror), settings)
        answers = dict(zip(settings, shown, strict=True))
    first, *others = settings
    different = [
        f"{what}: {answers[first].get(what)} under {first}, {answers[other].get(what)} under {other}"
        for other in others
        for what in sorted(answers[first].keys() | answers[other].keys())
        if answers[first].get(what) != answers[other].get(what)
    ]
    for line in different:
        print(line)
    print(f"{len(answers[first])} hashes under {', '.join(settings)}: {len(different)} differ")
    return 1 if different else 0


def _shown(setting: str, scratch: Path, mirror: Path | None) -> Mapping[str, str]:
    command = [sys.executable, __file__, "show", *(["--mirror", str(mirror)] if mirror else [])]
    done = subprocess.run(command, env=environment(setting, scratch), stdout=subprocess.PIPE, text=True, check=True)
    answer: dict[str, str] = json.loads(done.stdout)
    return answer


def suites(settings: Sequence[str], wanted: Sequence[Path], scratch: Path, seeds: int | None) -> int:
    """Run suites under every setting and compare them with the first; return the exit code."""
    from machine_records import compare_pages, compare_runs

    first, *others = settings
    wrong = 0
    for suite in wanted:
        for setting in settings:
            jobs = "1" if setting in SERIAL else "2"
            few = ["--seeds", str(seeds)] if seeds else []
            _bench(setting, scratch, "run", suite, "--jobs", jobs, *few, "--store", scratch / setting / "store")
        for setting in others:
            found = compare_runs(suite.stem, scratch / first, scratch / setting)
            pages = compare_pages(suite.stem, scratch / first, scratch / setting)
            again = ["leaderboard", suite, "--check", "--figures", "--store", scratch / "none"]
            same = _bench(setting, scratch, *again, of=first)
            wrong += bool(found.names) + bool(same)
            print(f"{suite.stem}, {setting} against {first}:")
            print(f"  names and data: {len(found.names)} differ")
            print(f"  pages from the same records: {'differ' if same else 'identical'}")
            print(f"  largest difference of two numbers: {found.largest:.3g} {found.where}".rstrip())
            print(f"  trials that decide differently: {len(found.trials)}")
            print(*(f"    {line}" for line in found.trials), sep="\n", end="\n" if found.trials else "")
            print(f"  pages from each one's own records: {'differ' if pages else 'identical'}")
            print(*(f"    {line}" for line in pages), sep="\n", end="\n" if pages else "", flush=True)
    return 1 if wrong else 0


def _bench(setting: str, scratch: Path, verb: str, suite: Path, *options: str | Path, of: str = "") -> int:
    """Run ``bench`` as a machine, on its own leaderboard or on another's; return its exit code, print errors."""
    command = [
        sys.executable,
        "-m",
        "bench_core.cli.main",
        verb,
        suite,
        *options,
        "--out",
        scratch / (of or setting) / "leaderboard",
    ]
    done = subprocess.run(
        [str(word) for word in command], env=environment(setting, scratch), cwd=ROOT,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        print(f"{verb} {suite.stem} under {setting}: exit code {done.returncode}\n{done.stdout[-2000:]}")
    return done.returncode


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["names", "suites", "show"])
    parser.add_argument("suite", nargs="*", type=lambda text: Path(text).resolve())
    parser.add_argument("--mirror", type=Path)
    parser.add_argument("--seeds", type=int, help="of the suites; all when not given")
    parser.add_argument("--keep", type=Path, help="a folder for the stores and pages, which are kept")
    parser.add_argument("--settings", type=lambda text: text.split(","), default=list(KERNELS))
    given = parser.parse_intermixed_args()
    if given.what == "show":
        json.dump(show(given.mirror), sys.stdout, indent=1)
        return 0
    for setting in given.settings:
        if setting not in KERNELS:
            parser.error(f"there is no setting {setting!r}; known are {', '.join(KERNELS)}")
    if given.what == "names":
        return names(given.settings, given.mirror)
    quick = [ROOT / "suites/quickstart.toml", *sorted((ROOT / "suites").glob("*_small.toml"))]
    with tempfile.TemporaryDirectory() as scratch:
        return suites(given.settings, given.suite or quick, given.keep or Path(scratch), given.seeds)


if __name__ == "__main__":
    sys.exit(main())
