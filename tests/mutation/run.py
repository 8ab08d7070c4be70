"""Put the listed faults into the code, one at a time, and check that their tests notice them.

    python tests/mutation/run.py                     every fault of faults.toml
    python tests/mutation/run.py --only selection    faults whose file or name contains the word
    python tests/mutation/run.py --check             only check that every fault still applies; run no test

Each fault is one replacement in one file, made in a copy of the working tree and reverted before the next. It is
*noticed* if one of its tests fails, and *survives* if all pass. Tests that fail without any fault are named and left
out. The exit code is 1 if there are such tests, if a fault survives unexpectedly or is noticed unexpectedly, if one no
longer applies, or if its tests are missing; else 0.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FAULTS = HERE / "faults.toml"
TIMEOUT = 600.0
"""Time limit for the tests of one fault. Exceeding it counts as noticed, since a fault may cause an endless loop."""


class FaultError(Exception):
    """A list of faults that cannot be used; the message says why."""


@dataclass(frozen=True)
class Fault:
    """One replacement.

    Attributes:
        name: what it does wrong, in a few words; unique.
        file: path below the root.
        old, new: the text to replace, which occurs exactly once in the file, and its replacement.
        tests: arguments for pytest: files or node ids below the root.
        waits: its tests are being written: a missing file of tests, or its survival, is no error yet.
        survives: why no test can notice it; empty if one must.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    waits: bool = False
    survives: str = ""

    def trouble(self, root: Path) -> str:
        """Why it cannot be put into a tree; empty if it can."""
        path = root / self.file
        if not path.is_file():
            return f"no longer applies: there is no {self.file}"
        count = path.read_text(encoding="utf-8").count(self.old)
        if count != 1:
            return f"no longer applies: its old text is {count} times in {self.file}"
        if self.old == self.new:
            return "changes nothing"
        missing = [test for test in self.tests if not has_test(root, test)]
        if not missing and self.tests:
            return ""
        return f"waits for {', '.join(missing)}" if self.waits else f"no such test: {', '.join(missing)}"

    @contextmanager
    def put_into(self, root: Path) -> Iterator[None]:
        """Put the fault into the tree within a ``with`` statement.

        Modification times rise, so that the caches of Python and numba do not use an earlier version of the file.
        """
        path = root / self.file
        before, stat = path.read_bytes(), path.stat()
        path.write_text(before.decode().replace(self.old, self.new), encoding="utf-8")
        os.utime(path, (stat.st_atime, stat.st_mtime + 2))
        try:
            yield
        finally:
            path.write_bytes(before)
            os.utime(path, (stat.st_atime, stat.st_mtime + 4))


def has_test(root: Path, test: str) -> bool:
    """Whether a tree has a test file or folder and, for ``file::function``, a function of that name in it."""
    path, _, function = test.partition("::")
    if not function or not (root / path).exists():
        return (root / path).exists()
    return f"def {function.rpartition('::')[2].partition('[')[0]}(" in (root / path).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Result:
    """The result of a fault: ``noticed``, ``survived``, ``waits``, or why it cannot be used; the first failed test."""

    fault: Fault
    outcome: str
    said: str = ""
    seconds: float = 0.0

    @property
    def expected(self) -> bool:
        """Whether this is the expected result."""
        if self.outcome == "survived":
            return bool(self.fault.survives) or self.fault.waits
        return self.outcome == "waits" or (self.outcome == "noticed" and not self.fault.survives)


def read_faults(path: Path) -> list[Fault]:
    """The faults of a list.

    Raises:
        FaultError: a key is unknown or missing, or two faults have one name.
    """
    found = []
    for number, entry in enumerate(tomllib.loads(path.read_text(encoding="utf-8")).get("faults", [])):
        try:
            found.append(Fault(**{**entry, "tests": tuple(entry["tests"])}))
        except (TypeError, KeyError) as error:
            raise FaultError(f"{path.name}: faults[{number}]: {error}") from None
    names = [fault.name for fault in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise FaultError(f"{path.name}: two faults are called {twice[0]!r}")
    return found


def copy_tree(root: Path, to: Path) -> None:
    """Copy every file of a working tree that git tracks or would add; without git, every file."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, capture_output=True,
    )  # fmt: skip
    if listed.returncode == 0:
        files = sorted({root / name for name in listed.stdout.decode().split("\0") if name})
    else:
        files = sorted(path for path in root.rglob("*") if "__pycache__" not in path.parts)
    for path in files:
        target = to / path.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            target.symlink_to(os.readlink(path))
        elif path.is_file():
            target.write_bytes(path.read_bytes())
            target.chmod(path.stat().st_mode)


def environment(root: Path, numba_cache: Path) -> dict[str, str]:
    """Environment variables for importing from this tree, whatever is installed."""
    folders = [root, *sorted(path.parent for path in root.glob("plugins/*/pyproject.toml"))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders)), "NUMBA_CACHE_DIR": str(numba_cache)}


def run_tests(
    root: Path, tests: Sequence[str], options: Sequence[str], variables: Mapping[str, str], timeout: float
) -> tuple[int, str, str]:
    """Run tests; return pytest's exit code (−1: time limit), the first failed test, and the output."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not weekly", "--tb=short", "-rfE", *options, *tests]
    try:
        done = subprocess.run(command, cwd=root, env=dict(variables), capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return -1, "out of time", ""
    lines = [line.split(" - ")[0] for line in done.stdout.splitlines()]
    first = next((line.split(maxsplit=1)[1] for line in lines if line.startswith(("FAILED ", "ERROR "))), "")
    return done.returncode, first, done.stdout + done.stderr


def failing_tests(root: Path, tests: Sequence[str], numba_cache: Path, timeout: float) -> list[str]:
    """Node ids of the tests that fail without a fault.

    Raises:
        FaultError: the tests cannot be run.
    """
    with tempfile.TemporaryDirectory() as cache:
        options = ["-o", f"cache_dir={cache}"]
        code, _, printed = run_tests(root, tests, options, environment(root, numba_cache), timeout)
        if code not in (0, 1):
            raise FaultError(f"without any fault pytest gave exit code {code}:\n{printed[-3000:]}")
        kept = Path(cache, "v", "cache", "lastfailed")
        return sorted(json.loads(kept.read_text())) if code else []


def try_fault(fault: Fault, root: Path, without: Sequence[str], numba_cache: Path, timeout: float) -> Result:
    """Put a fault into a copy of the tree, and run its tests, except some."""
    began = time.monotonic()
    with fault.put_into(root), tempfile.TemporaryDirectory() as fresh:
        # numba does not notice a change of a function that is compiled into another one: such a file needs a new cache.
        compiled = "numba" in (root / fault.file).read_text(encoding="utf-8")
        variables = environment(root, Path(fresh) if compiled else numba_cache)
        options = ["-x", "-p", "no:cacheprovider", *(part for node in without for part in ("--deselect", node))]
        code, first, printed = run_tests(root, fault.tests, options, variables, timeout)
    seconds = time.monotonic() - began
    if code == 0:
        return Result(fault, "survived", seconds=seconds)
    if code in (1, -1):
        return Result(fault, "noticed", first, seconds)
    return Result(fault, f"pytest gave exit code {code}", printed[-2000:], seconds)


def run_faults(faults: Sequence[Fault], root: Path, jobs: int = 1, timeout: float = TIMEOUT) -> Iterator[Result]:
    """Yield the results as they arrive; first, for a fault named "none", the tests that fail without a fault.

    Raises:
        FaultError: the tests cannot be run.
    """
    able: SimpleQueue[Fault] = SimpleQueue()
    tests: dict[str, None] = {}
    for fault in faults:
        trouble = fault.trouble(root)
        if trouble:
            yield Result(fault, "waits" if trouble.startswith("waits") else trouble, trouble)
        else:
            able.put(fault)
            tests.update(dict.fromkeys(fault.tests))
    if able.empty():
        return
    with tempfile.TemporaryDirectory() as folder:
        copies = [Path(folder) / f"tree{number}" for number in range(jobs)]
        for copy in copies:
            copy_tree(root, copy)
        caches = [Path(folder) / f"numba{number}" for number in range(jobs)]
        without = failing_tests(copies[0], list(tests), caches[0], 10 * timeout)
        if without:
            none = Fault("none", "", "", "", tuple(without))
            yield Result(none, "tests fail by themselves", ", ".join(without))
        results: SimpleQueue[Result | BaseException] = SimpleQueue()

        def work(copy: Path, cache: Path) -> None:
            try:
                while True:
                    results.put(try_fault(able.get_nowait(), copy, without, cache, timeout))
            except Empty:
                return
            except BaseException as error:  # handed to the main thread
                results.put(error)

        count = able.qsize()
        for copy, cache in zip(copies, caches, strict=True):
            Thread(target=work, args=(copy, cache), daemon=True).start()
        for _ in range(count):
            result = results.get()
            if isinstance(result, BaseException):
                raise result
            yield result


def score(results: Sequence[Result]) -> str:
    """A line with the number of noticed faults."""
    noticed = sum(result.outcome == "noticed" for result in results)
    tried = noticed + sum(result.outcome == "survived" for result in results)
    share = f" ({100 * noticed / tried:.0f} %)" if tried else ""
    waiting = sum(result.outcome == "waits" for result in results)
    return f"{noticed} of {tried} faults noticed{share}" + (f", {waiting} wait for their tests" if waiting else "")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=Path, default=FAULTS, help="another list of faults")
    parser.add_argument("--root", type=Path, default=ROOT, help="another tree")
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="faults whose file or name has a word")
    parser.add_argument("--jobs", type=int, default=1, help="copies of the tree that are worked on at once")
    parser.add_argument("--timeout", type=float, default=TIMEOUT, help="seconds for the tests of one fault")
    parser.add_argument("--check", action="store_true", help="only say whether every fault applies")
    given = parser.parse_args(arguments)
    try:
        faults = [
            fault
            for fault in read_faults(given.faults)
            if not given.only or any(word in f"{fault.file} {fault.name}" for word in given.only)
        ]
        if given.check:
            bad = [(fault, trouble) for fault in faults if (trouble := fault.trouble(given.root))]
            for fault, trouble in bad:
                print(f"{fault.name}: {trouble}")
            wrong = [trouble for _, trouble in bad if not trouble.startswith("waits")]
            print(f"{len(faults)} faults, {len(wrong)} do not apply")
            return 1 if wrong else 0
        results = []
        for result in run_faults(faults, given.root.resolve(), given.jobs, given.timeout):
            results.append(result)
            mark = "" if result.expected else "  <--"
            said = result.fault.survives if result.outcome == "survived" else result.said
            print(f"{result.outcome:9} {result.seconds:5.0f} s  {result.fault.name}: {said}{mark}", flush=True)
    except FaultError as error:
        print(error, file=sys.stderr)
        return 1
    print(score(results))
    unexpected = [result.fault.name for result in results if not result.expected]
    if unexpected:
        print("not as it should be: " + "; ".join(unexpected))
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
