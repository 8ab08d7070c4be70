"""Invalid data files: `bench run` names the file, the place and the fault in one line, and exits with 1."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.bench import Bench

HEAD, ROWS = "a,b,y\n", "".join(f"{i},{i % 7},{i % 2}\n" for i in range(40))
GOOD = HEAD + ROWS
JUNK = random.Random(0).randbytes(2000)

TEXTS: dict[str, tuple[str | bytes, str]] = {
    "empty.csv": ("", "the file is empty"),
    "blank.csv": ("\n \n", "the file is empty"),
    "header.csv": (HEAD, "the table has no rows"),
    "one-column.csv": ("y\n0\n1\n", "it has no features"),
    "one-class.csv": (HEAD + "1,2,0\n2,3,0\n", "at least two classes, it has 1 ('0')"),
    "one-row.csv": (HEAD + "1,2,0\n", "at least two classes, it has 1 ('0')"),
    "two-rows.csv": (HEAD + "1,2,0\n2,3,1\n", "2 rows are too few"),
    "missing-target.csv": (f"{GOOD}1,2,\n", "target 'y' misses 1 value(s)"),
    "no-target.csv": (GOOD.replace("y", "z"), "there is no column 'y' (target); known: a, b, z"),
    "column-twice.csv": (GOOD.replace("b", "a"), "line 1: two columns are called 'a'"),
    "target-twice.csv": (GOOD.replace("b", "y"), "line 1: two columns are called 'y'"),
    "column-without-name.csv": (GOOD.replace("b", ""), "line 1: column 2 has no name"),
    "infinite.csv": (f"{GOOD}inf,2,0\n", "line 42, column 'a': the value is infinite"),
    "huge.csv": (f"{GOOD}{'9' * 5000},2,0\n", "line 42, column 'a': the value is infinite"),
    "a-text.csv": (f"{GOOD}x,2,0\n", "line 42, column 'a': 'x' is not a number"),
    "too-short.csv": (f"{GOOD}1,2\n", "line 42: 2 values for 3 columns"),
    "too-long.csv": (f"{GOOD}1,2,3,4\n", "line 42: 4 values for 3 columns"),
    "open-quote.csv": (f'{HEAD}1,"2,0\n{ROWS}', "line 42: 2 values for 3 columns"),
    "semicolons.csv": (GOOD.replace(",", ";"), "there is no column 'y' (target); known: a;b;y"),
    "tabs.csv": (GOOD.replace(",", "\t"), "there is no column 'y' (target); known: 'a\\tb\\ty'"),
    "long-header.csv": ("x" * 100_000 + "\n1\n", "there is no column 'y' (target)"),
    "zero-bytes.csv": (f"{GOOD}\0,2,0\n", "line 42: not text: it holds a null byte"),
    "junk.csv": (JUNK, "not UTF-8 text"),
    "latin-1.csv": (GOOD.replace("a", "ä").encode("latin-1"), "line 1: not UTF-8 text"),
    "utf-16.csv": (GOOD.encode("utf-16"), "line 1: not UTF-8 text"),
    "page.csv": ("<html><body>404</body></html>\n", "there is no column 'y' (target)"),
    "unpacked.csv.gz": (GOOD, "cannot be read: Not a gzipped file"),
    "cut.csv.gz": (gzip.compress(GOOD.encode())[:-20], "cannot be read: Compressed file ended"),
    "unpacked.csv.xz": (GOOD, "cannot be read: Input format not supported"),
    "unpacked.csv.bz2": (GOOD, "cannot be read: Invalid data stream"),
    "empty.parquet": ("", "not a readable Parquet file"),
    "text.parquet": (GOOD, "not a readable Parquet file"),
    "junk.parquet": (b"PAR1" + JUNK + b"PAR1", "not a readable Parquet file"),
    "empty.svm": ("", "the file is empty"),
    "junk.svm": (JUNK, "line 1, target"),
    "comments.svm": ("# nothing\n", "the file holds comments only"),
    "missing.svm": ("1 1:nan\n0 1:1\n", "line 1, feature 1: 'nan' is not finite"),
    "negative.svm": ("1 -1:2\n0 1:2\n", "line 1: feature numbers must ascend from 1; -1 is below 1"),
    "far.svm": ("1 1:2\n0 99999999999:3\n", "line 2: feature number '99999999999' is too large"),
}

Y = [0, 1] * 20
FRAMES: dict[str, tuple[pd.DataFrame, str]] = {
    "no-rows.parquet": (pd.DataFrame({"a": [], "y": []}), "the table has no rows"),
    "only-target.parquet": (pd.DataFrame({"y": Y}), "it has no features"),
    "lists.parquet": (pd.DataFrame({"a": [[1, 2]] * 40, "y": Y}), "feature 'a' holds a ndarray"),
    "tables.parquet": (pd.DataFrame({"a": [{"k": 1}] * 40, "y": Y}), "feature 'a' holds a dict"),
    "bytes.parquet": (pd.DataFrame({"a": [b"x"] * 40, "y": Y}), "feature 'a' holds a bytes"),
    "dates.parquet": (pd.DataFrame({"a": pd.date_range("2020", periods=40), "y": Y}), "feature 'a' holds dates"),
    "infinite.parquet": (pd.DataFrame({"a": [np.inf] * 40, "y": Y}), "column 'a': the value is infinite"),
    "one-class.parquet": (pd.DataFrame({"a": range(40), "y": [1] * 40}), "at least two classes, it has 1"),
    "no-target.parquet": (pd.DataFrame({"a": range(40), "y": [None] * 40}), "target 'y' misses 40 value(s)"),
    "list-target.parquet": (pd.DataFrame({"a": range(40), "y": [[1]] * 40}), "target 'y' holds a ndarray"),
    "bytes-target.parquet": (pd.DataFrame({"a": range(40), "y": [b"p", b"q"] * 20}), "target 'y' holds a bytes"),
    "date-target.parquet": (
        pd.DataFrame({"a": range(40), "y": pd.date_range("2020", periods=40)}),
        "target 'y' holds dates",
    ),
}

SAID = {name: said for table in (TEXTS, FRAMES) for name, (_, said) in table.items()}


def written(folder: Path, name: str) -> str:
    """Write one of the files; return the entry of a suite that reads it."""
    if name in FRAMES:
        FRAMES[name][0].to_parquet(folder / name)
    else:
        text = TEXTS[name][0]
        (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
    use = {"parquet": "parquet", "svm": "svmlight"}.get(name.rpartition(".")[2], "csv")
    target = "" if use == "svmlight" else ', target = "y"'
    return f'[[datasets]]\nuse = "{use}"\nname = "the {name}"\nparameters = {{ path = "{name}"{target} }}\n'


@pytest.mark.weekly
@pytest.mark.parametrize("name", SAID)
def test_a_bad_file_alone_is_one_line_and_exit_code_1(bench: Bench, name: str) -> None:
    suite = bench.suite(written(bench.folder, name) + '[[methods]]\nuse = "slopes"\n')
    done = bench("run", suite, expect=1)
    assert "Traceback" not in done.stdout + done.stderr
    [line] = {line for line in done.stderr.splitlines() if SAID[name] in line and not line.startswith("1/1")}
    assert Path(name).stem.removesuffix(".csv") in line.replace(f"the {name}", "", 1)
    assert len(line) < 500
    assert line.isprintable()


@pytest.mark.slow
def test_if_no_data_set_can_be_used_the_reason_of_each_is_reported(bench: Bench) -> None:
    names = [name for name in SAID if name != "two-rows.csv"]
    suite = bench.suite("".join(written(bench.folder, name) for name in names) + '[[methods]]\nuse = "slopes"\n')
    done = bench("run", suite, expect=1)
    lines = [line for line in done.stderr.splitlines() if line.startswith("data set ")]
    assert len(lines) == len(names)
    for line, name in zip(lines, names, strict=True):
        assert line.startswith(f"data set 'the {name}' cannot be used: ")
        assert SAID[name] in line
    assert not (bench.folder / "leaderboard").exists()
