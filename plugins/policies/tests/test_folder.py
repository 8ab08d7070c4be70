"""Saved policies: the same answers bit for bit, no code run on loading, edited and forged folders refused."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import re
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from bench_policies import FittedPolicy, load_policy, save_policy
from click.testing import CliRunner

from bench_core import RequestError
from bench_core.cli.main import main

Fit = Callable[..., FittedPolicy]


@pytest.fixture
def folder(fitted: Fit, tmp_path: Path) -> Path:
    return save_policy(fitted("cost-ordered", threshold=0.8), tmp_path / "policy")


def seal(folder: Path) -> None:
    """Write matching checksums for the files that are there, as a forger would."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "checksums.json"]
    sums = {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    (folder / "checksums.json").write_text(json.dumps(sums))


def edit(folder: Path, old: str, new: str) -> None:
    """Replace a text in ``policy.json`` and update the checksums."""
    text = (folder / "policy.json").read_text()
    assert old in text
    (folder / "policy.json").write_text(text.replace(old, new))
    seal(folder)


@pytest.mark.parametrize("method", ["single-stage", "cost-ordered", "lasso"])
def test_a_loaded_policy_answers_bit_for_bit_the_same(
    fitted: Fit, table: pd.DataFrame, tmp_path: Path, method: str
) -> None:
    policy = fitted(method)
    loaded = load_policy(save_policy(policy, tmp_path / "policy"))
    pd.testing.assert_frame_equal(loaded.decide(table), policy.decide(table), check_exact=True)
    assert loaded.about == json.loads(json.dumps(policy.about))
    assert (loaded.costs.prices == policy.costs.prices).all()


def test_the_same_policy_is_the_same_bytes(fitted: Fit, tmp_path: Path) -> None:
    a, b = (save_policy(fitted("lasso"), tmp_path / name) for name in ("a", "b"))
    assert (a / "checksums.json").read_bytes() == (b / "checksums.json").read_bytes()


def test_nothing_in_the_folder_is_a_pickle(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            with pytest.raises((pickle.UnpicklingError, ValueError, IndexError, KeyError, EOFError, AttributeError)):
                pickle.loads(path.read_bytes())
    with np.load(folder / "arrays.npz", allow_pickle=False) as arrays:
        assert all(not arrays[key].dtype.hasobject for key in arrays.files)


@pytest.mark.parametrize("name", ["policy.json", "arrays.npz", "card.md"])
def test_an_edited_file_is_refused_by_name(folder: Path, name: str) -> None:
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(RequestError, match=f"{name} was changed"):
        load_policy(folder)


def test_an_incomplete_folder_or_one_without_a_policy_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "extra.py").write_text("raise SystemExit")
    with pytest.raises(RequestError, match=r"extra\.py does not belong"):
        load_policy(folder)
    (folder / "extra.py").unlink()
    (folder / "arrays.npz").unlink()
    with pytest.raises(RequestError, match=r"arrays\.npz is missing"):
        load_policy(folder)
    with pytest.raises(RequestError, match="holds no policy"):
        load_policy(tmp_path)
    with pytest.raises(RequestError, match=r"there is no folder .*policyy; did you mean 'policy'"):
        load_policy(tmp_path / "policyy")


def test_a_forged_folder_creates_no_object_of_a_class_that_no_plugin_names(folder: Path) -> None:
    edit(folder, "bench_cost_ordered.plugin:CostOrderedPolicy", "subprocess:Popen")
    with pytest.raises(RequestError, match="subprocess:Popen, which no installed plugin names"):
        load_policy(folder)


def test_a_forged_folder_creates_no_object_of_another_plugins_class(folder: Path) -> None:
    edit(folder, "bench_cost_ordered.plugin:CostOrderedPolicy", "bench_single_stage.plugin:SingleStagePolicy")
    with pytest.raises(RequestError, match="SingleStagePolicy, which no installed plugin names"):
        load_policy(folder)


def test_a_policy_of_a_plugin_that_is_not_installed_says_so(folder: Path) -> None:
    edit(folder, '"plugin": "cost-ordered"', '"plugin": "gone"')
    with pytest.raises(RequestError, match="plugin 'gone', which is not installed"):
        load_policy(folder)


def test_another_format_or_contract_is_refused(folder: Path) -> None:
    edit(folder, '"format": 2', '"format": 99')
    with pytest.raises(RequestError, match="format 99"):
        load_policy(folder)
    edit(folder, '"format": 99', '"format": 2')
    edit(folder, '"contract": 1', '"contract": 7')
    with pytest.raises(RequestError, match="contract 7"):
        load_policy(folder)


def compressed(path: Path) -> None:
    """Write zeros that are a thousand times larger when decompressed."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a0.npy", array_file((2_000_000,)) + bytes(16_000_000))


def oversized(path: Path) -> None:
    """Write an array whose header claims a hundred terabytes."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a0.npy", array_file((10**13,)))


def array_file(shape: tuple[int, ...]) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("arrays.npz", compressed),
        ("arrays.npz", oversized),
        ("arrays.npz", lambda path: path.write_bytes(b"")),
        ("arrays.npz", lambda path: path.write_bytes(path.read_bytes()[:200])),
        ("policy.json", lambda path: path.write_text("[" * 100_000)),
        ("policy.json", lambda path: path.write_text("null")),
        ("policy.json", lambda path: path.write_bytes(b"\xff")),
        (
            "policy.json",
            lambda path: path.write_text(re.sub(r'"groups": .*', '"groups": 1e999,', path.read_text(), count=1)),
        ),
    ],
)
def test_malformed_files_raise_a_request_error_and_no_other(
    folder: Path, name: str, change: Callable[[Path], Any]
) -> None:
    change(folder / name)
    seal(folder)
    with pytest.raises(RequestError, match=r"not a saved policy|it holds|it has format"):
        load_policy(folder)


def test_nothing_outside_the_folder_is_read(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("mine")
    sums = json.loads((folder / "checksums.json").read_text())
    for name in ("../secret", str(tmp_path / "secret")):
        (folder / "checksums.json").write_text(json.dumps({**sums, name: "0" * 64}))
        with pytest.raises(RequestError, match=f"{name} is missing"):
            load_policy(folder)
    (folder / "card.md").unlink()
    (folder / "card.md").symlink_to(tmp_path / "secret")
    seal(folder)
    with pytest.raises(RequestError, match=r"card\.md is a link"):
        load_policy(folder)


def test_damaged_checksums_are_refused_by_name(folder: Path) -> None:
    for content in (b"[" * 100_000, b"\xff", b"[]"):
        (folder / "checksums.json").write_bytes(content)
        with pytest.raises(RequestError, match=r"checksums\.json cannot be read"):
            load_policy(folder)


def test_a_large_edited_file_is_refused_without_loading_it_into_memory(folder: Path) -> None:
    with (folder / "card.md").open("ab") as file:
        file.truncate(100 << 20)  # zeros, which take no room on the disk
    tracemalloc.start()
    with pytest.raises(RequestError, match=r"card\.md was changed"):
        load_policy(folder)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 << 20


def test_arrays_with_objects_are_not_read(folder: Path) -> None:
    out = io.BytesIO()
    np.savez(out, a0=np.array([print], dtype=object))
    (folder / "arrays.npz").write_bytes(out.getvalue())
    seal(folder)
    with pytest.raises(RequestError, match="not a saved policy"):
        load_policy(folder)


def test_a_saved_policy_is_replaced_and_any_other_folder_is_not(fitted: Fit, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(RequestError, match=r"holds thesis\.txt, which is not part of a saved policy"):
        save_policy(fitted("lasso"), tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"
    save_policy(fitted("lasso"), folder)
    assert load_policy(folder).about["method"] == "lasso"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_table_that_does_not_fit_is_refused_by_column_and_row(fitted: Fit, table: pd.DataFrame) -> None:
    policy = fitted("lasso")
    with pytest.raises(RequestError, match="no column 'scan'"):
        policy.decide(table.drop(columns=["scan"]))
    invalid = table.astype({"glucose": object})
    invalid.loc[3, "glucose"] = "high"
    with pytest.raises(RequestError, match=r"row 3 \(from 0\): glucose must be a number, not 'high'"):
        policy.decide(invalid)


def test_the_order_of_columns_and_additional_columns_change_nothing(fitted: Fit, table: pd.DataFrame) -> None:
    policy = fitted("cost-ordered", threshold=0.8)
    shuffled = table[list(reversed(table.columns))].assign(other=1)
    pd.testing.assert_frame_equal(policy.decide(shuffled), policy.decide(table), check_exact=True)


def test_the_card_says_what_it_costs_and_on_which_data(folder: Path) -> None:
    card = (folder / "card.md").read_text(encoding="utf-8")
    for part in ("`cost-ordered`", "| scan", "40", "300 rows", "is below 0.8 is refused", "A group is paid once"):
        assert part in card


@pytest.fixture
def table_files(table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The arguments of ``bench fit`` for a table in a new working folder, without ``--out``."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    table.to_csv("t.csv", index=False)
    Path("p.toml").write_text("prices = [0, 1, 5, 5, 40]\n")
    return ["fit", "t.csv", "--target", "outcome", "--prices", "p.toml", "--method", "majority", "--splits", "0"]


def held(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def link(folder: Path) -> None:
    (folder / "card.md").unlink()
    (folder / "card.md").symlink_to(folder.parent / "t.csv")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda folder: (folder / "thesis.txt").write_text("years of work"), "thesis.txt"),
        (lambda folder: (folder / ".git").mkdir(), ".git"),
        (lambda folder: (folder / "models").mkdir() or (folder / "models" / "own.txt").write_text("x"), "own.txt"),
        (lambda folder: (folder / "card.md").write_text("my notes"), "card.md"),
        (lambda folder: (folder / "arrays.npz").unlink(), "arrays.npz"),
        (link, "card.md"),
        (lambda folder: os.mkfifo(folder / "models"), "models"),
    ],
)
def test_fit_replaces_a_policy_only_where_nothing_else_would_be_lost(
    table_files: list[str], change: Callable[[Path], Any], named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path("policy").resolve()
    for _ in range(2):  # the second time it replaces a policy
        assert CliRunner().invoke(main, [*table_files, "--out", "policy"]).exit_code == 0
    change(folder)
    before = held(folder)

    def fit(*_: Any, **__: Any) -> None:
        raise SystemExit("it was fitted")

    monkeypatch.setattr("bench_policies.fitting.fit_policy", fit)
    done = CliRunner().invoke(main, [*table_files, "--out", "policy"])
    assert done.exit_code == 2
    assert named in done.output
    assert done.output.count("\n") == 1
    assert held(folder) == before
    assert sorted(path.name for path in folder.parent.iterdir()) == ["p.toml", "policy", "t.csv"]


@pytest.mark.parametrize("out", [".", "t.csv/policy"])
def test_fit_refuses_an_output_folder_that_cannot_be_replaced(table_files: list[str], out: str) -> None:
    done = CliRunner().invoke(main, [*table_files, "--out", out])
    assert done.exit_code == 2
    assert sorted(path.name for path in Path().iterdir()) == ["p.toml", "t.csv"]


def test_a_folder_with_an_unrelated_policy_json_is_not_replaced(table_files: list[str]) -> None:
    (Path("policy") / ".git").mkdir(parents=True)
    for name in ("policy.json", "thesis.txt", ".git/HEAD"):
        (Path("policy") / name).write_text("mine")
    before = held(Path("policy"))
    done = CliRunner().invoke(main, [*table_files, "--out", "policy"])
    assert done.exit_code == 2
    assert held(Path("policy")) == before


def test_when_writing_fails_the_previous_policy_stays(
    fitted: Fit, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = held(folder)
    rename = os.rename

    def full(source: Any, target: Any) -> None:
        if Path(source).name == "new":
            raise OSError(28, "No space left on device")
        rename(source, target)

    monkeypatch.setattr(os, "rename", full)
    with pytest.raises(RequestError, match="cannot be written: No space left on device"):
        save_policy(fitted("lasso"), folder)
    assert held(folder) == before
    assert [path.name for path in tmp_path.iterdir()] == ["policy"]


def test_a_file_that_is_added_while_saving_is_not_lost(
    fitted: Fit, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = os.rename

    def late(source: Any, target: Any) -> None:
        if Path(source) == folder:
            (folder / "thesis.txt").write_text("years of work")
        rename(source, target)

    monkeypatch.setattr(os, "rename", late)
    with pytest.raises(RequestError, match=r"thesis\.txt"):
        save_policy(fitted("lasso"), folder)
    assert (folder / "thesis.txt").read_text() == "years of work"
