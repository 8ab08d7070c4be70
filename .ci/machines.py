"""One machine plays several: the same names, data and pages under other kernels, vector units and thread counts.

    python3 .ci/machines.py names             data hashes and trial names of every suite, under every setting
    python3 .ci/machines.py show              those of this process, as JSON

Data that is not built in is looked for in the cache and in --mirror DIR, never downloaded; what is not there is left
out. Exit code 1 when a hash or a name differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

KERNELS = {
    "haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "sandybridge": {"OPENBLAS_CORETYPE": "Sandybridge"},
    "prescott": {"OPENBLAS_CORETYPE": "Prescott"},
    "plain-numpy": {"NPY_DISABLE_CPU_FEATURES": "all that this NumPy dispatches on"},
    "plain-numba": {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""},
    "one-thread": {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    "two-threads": {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"},
}
"""Setting → environment variables. They need x86-64; what a processor does not have, it ignores."""


def environment(setting: str, scratch: Path) -> dict[str, str]:
    """The environment of a process that plays a machine, with a numba cache of the machine's own."""
    played = dict(KERNELS[setting])
    if "NPY_DISABLE_CPU_FEATURES" in played:
        played["NPY_DISABLE_CPU_FEATURES"] = " ".join(dispatched())
    others = {name for variables in KERNELS.values() for name in variables} | {"NUMBA_NUM_THREADS"}
    kept = {name: value for name, value in os.environ.items() if name not in others}
    return {**kept, **played, "NUMBA_CACHE_DIR": str(scratch / f"numba-{setting}")}


def dispatched() -> list[str]:
    """The processor features that this NumPy looks for and this processor has (AVX2, FMA3 …, or X86_V3 …)."""
    from numpy._core import _multiarray_umath as core

    has = core.__cpu_features__
    return [feature for feature in core.__cpu_dispatch__ if has.get(feature)]


def show(mirror: Path | None) -> dict[str, str]:
    """What this process calls things: data set → content hash, suite → hash of its trials' names."""
    from bench_core.canonical import sha256_text
    from bench_core.commands.session import SuiteSession
    from bench_core.dataset import DataContext
    from bench_core.errors import BenchError, RequestError
    from bench_core.parameters import build

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
    with tempfile.TemporaryDirectory() as scratch:
        answers = {setting: _shown(setting, Path(scratch), mirror) for setting in settings}
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
    done = subprocess.run(
        command, env=environment(setting, scratch), stdout=subprocess.PIPE, text=True, check=True
    )
    answer: dict[str, str] = json.loads(done.stdout)
    return answer


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["names", "show"])
    parser.add_argument("--mirror", type=Path)
    parser.add_argument("--settings", type=lambda text: text.split(","), default=list(KERNELS))
    given = parser.parse_args()
    if given.what == "show":
        json.dump(show(given.mirror), sys.stdout, indent=1)
        return 0
    return names(given.settings, given.mirror)


if __name__ == "__main__":
    sys.exit(main())
