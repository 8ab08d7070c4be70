"""The runner of faults, on a tree of one module and its test; and this repository's faults, which must all apply."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutation.run import FAULTS, Fault, FaultError, Result, main, read_faults
from support.bench import ROOT

CODE = "def larger(a, b):\n    return a if a > b else b\n"
TESTS = """
from code_under_test import larger

def test_it():
    assert larger(1, 2) == larger(2, 1) == 2
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "code_under_test.py").write_text(CODE)
    (root / "test_code.py").write_text(TESTS)
    return root


def fault(name: str, old: str = "a > b", new: str = "a < b", **more: str) -> str:
    lines = [f"{key} = {value}" for key, value in more.items()]
    head = ["[[faults]]", f'name = "{name}"', 'file = "code_under_test.py"', f'old = "{old}"', f'new = "{new}"']
    return "\n".join([*head, *(["tests = ['test_code.py']"] if "tests" not in more else []), *lines, ""])


def ran(tree: Path, *faults: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    path = tree.parent / "faults.toml"
    path.write_text("\n".join(faults))
    code = main(["--faults", str(path), "--root", str(tree)])
    return code, capsys.readouterr().out.splitlines()


@pytest.mark.slow
def test_a_fault_is_noticed_or_survives_and_is_reverted(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = ran(tree, fault("swapped"), fault("ties go to b", new="a >= b"), capsys=capsys)
    assert code == 1
    assert said[0].startswith("noticed ")
    assert said[0].endswith("swapped: test_code.py::test_it")
    assert said[1].startswith("survived ")
    assert said[2:] == ["1 of 2 faults noticed (50 %)", "not as it should be: ties go to b"]
    assert (tree / "code_under_test.py").read_text() == CODE


@pytest.mark.parametrize(
    ("outcome", "survives", "waits", "expected"),
    [
        ("noticed", "", False, True),
        ("survived", "", False, False),
        ("survived", "equal numbers are one", False, True),
        ("noticed", "equal numbers are one", False, False),
        ("survived", "", True, True),
        ("noticed", "", True, True),
        ("no longer applies", "", True, False),
        ("no longer applies", "equal numbers are one", False, False),
    ],
)
def test_a_survivor_needs_a_reason_and_a_reason_a_survivor(
    outcome: str, survives: str, waits: bool, expected: bool
) -> None:
    one = Fault("swapped", "code_under_test.py", "a > b", "a < b", ("test_code.py",), waits, survives)
    assert Result(one, outcome).expected is expected


def test_a_fault_that_no_longer_applies_fails_the_run_and_the_check(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = fault("gone", old="a == b")
    code, said = ran(tree, gone, capsys=capsys)
    assert (code, said[-1]) == (1, "not as it should be: gone")
    assert main(["--faults", str(tree.parent / "faults.toml"), "--root", str(tree), "--check"]) == 1
    assert "no longer applies" in capsys.readouterr().out


def test_a_fault_may_wait_for_its_tests(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    absent = "['test_other.py']"
    assert ran(tree, fault("early", tests=absent), capsys=capsys)[0] == 1
    code, said = ran(tree, fault("early", tests=absent, waits="true"), capsys=capsys)
    assert (code, said[-1]) == (0, "0 of 0 faults noticed, 1 wait for their tests")


def test_a_renamed_test_fails_the_check(tree: Path) -> None:
    path = tree.parent / "faults.toml"
    for test, code in (("test_it", 0), ("test_that", 1)):
        path.write_text(fault("swapped", tests=f"['test_code.py::{test}']"))
        assert main(["--faults", str(path), "--root", str(tree), "--check"]) == code


@pytest.mark.slow
def test_tests_that_fail_without_a_fault_are_named_and_left_out(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "test_code.py").write_text(TESTS + "\ndef test_other():\n    assert larger(1, 2) == 3\n")
    code, said = ran(tree, fault("swapped"), fault("ties go to b", new="a >= b"), capsys=capsys)
    assert code == 1
    assert "tests fail by themselves" in said[0]
    assert said[0].endswith("none: test_code.py::test_other  <--")
    assert said[1].endswith("swapped: test_code.py::test_it")
    assert said[2].startswith("survived ")
    assert said[3] == "1 of 2 faults noticed (50 %)"


def test_a_list_with_a_misspelt_key_is_refused(tree: Path) -> None:
    path = tree.parent / "faults.toml"
    path.write_text(fault("swapped", wait="true"))
    with pytest.raises(FaultError, match=r"faults\[0\].*wait"):
        read_faults(path)


def test_every_listed_fault_applies_to_the_code_as_it_is() -> None:
    faults = read_faults(FAULTS)
    assert len(faults) >= 100
    troubles = {one.name: one.trouble(ROOT) for one in faults}
    assert {name: said for name, said in troubles.items() if said and not said.startswith("waits")} == {}
