"""New tables: read as the table of the fit was, whatever pandas makes of their texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from bench_policies import BudgetedClassifier, Columns, FittedPolicy, Goal, fit_policy
from bench_policies.columns import target_notes
from bench_policies.exporting import exported
from bench_policies.folder import save_policy
from bench_policies.prices import read_prices
from bench_policies.tables import check_rows, read_table
from bench_policies.trials import Bench
from click.testing import CliRunner

from bench_core import RequestError
from bench_core.cli.main import main
from bench_core.suites import load_registry

PRICES = {"age": 1.0, "ward": 1.0, "glucose": 1.0}


def patients(ward: tuple[str, ...] = ("north", "south", "N/A")) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({
        "age": rng.integers(20, 80, 240).astype(str),
        "ward": rng.choice(ward, 240),
        "glucose": rng.normal(100, 20, 240).round(1).astype(str),
    })  # fmt: skip
    sick = (frame["ward"] == ward[-1]) ^ (frame["glucose"].astype(float) > 110)
    return frame.assign(outcome=np.where(sick, "sick", "well"))


def written(frame: pd.DataFrame, folder: Path, **options: Any) -> Path:
    path = folder / "table.csv"
    frame.to_csv(path, index=False, **options)
    return path


def fitted(path: Path, method: str = "single-stage", **columns: Any) -> FittedPolicy:
    return fit_policy(method, path, PRICES, target="outcome", columns=Columns(**columns), splits=0)


def test_a_file_is_read_as_that_of_the_fit(tmp_path: Path) -> None:
    path = written(patients(), tmp_path)
    policy = fitted(path)
    whole = policy.decide(path)
    as_texts = policy.decide(pd.read_csv(path, keep_default_na=False))
    pd.testing.assert_frame_equal(whole, as_texts)
    assert (whole["label"] == patients()["outcome"]).mean() > 0.6


def test_a_code_means_the_same_whichever_other_rows_its_file_has(tmp_path: Path) -> None:
    codes = ("008", "042", "250.00", "E11")
    policy = fitted(written(patients(codes), tmp_path))
    whole = policy.decide(patients(codes))
    digits = patients(codes)["ward"] != "E11"
    alone = policy.decide(written(patients(codes)[digits], tmp_path))
    pd.testing.assert_frame_equal(alone, whole[digits].reset_index(drop=True))
    row = patients(codes)[patients(codes)["ward"] == "008"].iloc[:1]
    session = policy.start().give({name: float(row[name].iloc[0]) for name in ("age", "glucose")} | {"ward": "008"})
    (asked,) = policy.decide(written(row, tmp_path)).itertuples()
    assert session.answer is not None
    assert (asked.label, asked.probability) == (session.answer.label, session.answer.probability)


def test_a_whole_number_with_a_decimal_is_its_category_in_a_file_too(tmp_path: Path) -> None:
    policy = fitted(written(patients(("1", "2", "A")), tmp_path))
    frame = patients(("1", "2", "A"))
    rows = frame[frame["ward"] != "A"]
    floats = written(rows.assign(ward=rows["ward"] + ".0"), tmp_path)
    pd.testing.assert_frame_equal(policy.decide(floats), policy.decide(rows).reset_index(drop=True))


def test_a_bad_value_in_a_file_of_new_rows_is_named_with_the_line(tmp_path: Path) -> None:
    policy = fitted(written(patients(), tmp_path))
    frame = patients()
    frame.loc[5, "glucose"] = "null"
    path = written(frame, tmp_path)
    with pytest.raises(RequestError, match=r"table\.csv, line 7: glucose must be a number, not 'null'"):
        policy.decide(path)
    path.write_text(path.read_text().replace("\n", "\n\n"))
    with pytest.raises(RequestError, match=r"table\.csv, line 13: glucose must be a number, not 'null'"):
        policy.decide(path)
    with pytest.raises(RequestError, match=r"^row 5 \(from 0\): glucose must be a number, not 'null'"):
        policy.decide(frame)
    frame.to_parquet(tmp_path / "table.parquet")
    with pytest.raises(RequestError, match=r"table\.parquet, row 5 \(from 0\): glucose must be a number"):
        policy.decide(tmp_path / "table.parquet")
    with pytest.raises(RequestError, match=r"there is no file .*tabel\.csv'; did you mean 'table\.csv'"):
        policy.decide(tmp_path / "tabel.csv")
    with pytest.raises(RequestError, match=r"table\.csv: the table has no column 'ward'"):
        policy.decide(written(frame.drop(columns="ward"), tmp_path))


def test_a_file_without_rows_is_refused_by_bench_answer(tmp_path: Path) -> None:
    path = written(patients(), tmp_path)
    save_policy(fitted(path), tmp_path / "policy")
    header = written(patients()[:0], tmp_path)
    run = CliRunner().invoke(
        main, ["answer", str(tmp_path / "policy"), str(header), "--out", str(tmp_path / "out.csv")]
    )
    assert run.exit_code == 2
    assert "table.csv: the table has no rows" in run.output
    assert not (tmp_path / "out.csv").exists()


def test_a_missing_target_is_named_with_its_line(tmp_path: Path) -> None:
    frame = patients()
    frame.loc[5, "outcome"] = None
    with pytest.raises(RequestError, match=r"table\.csv, line 7: target 'outcome' misses 1 value"):
        fitted(written(frame, tmp_path))


def test_a_target_with_decimal_commas_is_named(tmp_path: Path) -> None:
    frame = patients()
    frame["outcome"] = [f"{number / 7:.4f}".replace(".", ",") for number in range(240)]
    dataset = read_table(written(frame, tmp_path), "outcome", load_registry())
    (note,) = target_notes(dataset, "outcome", None)
    assert "decimal commas" in note
    with pytest.raises(RequestError, match=r"nearly every row has a class of its own; .*decimal commas"):
        check_rows(dataset)


def test_a_target_with_a_class_for_every_row_is_refused(tmp_path: Path) -> None:
    frame = patients().assign(outcome=[f"patient {row}" for row in range(240)])
    with pytest.raises(RequestError, match="nearly every row has a class of its own"):
        check_rows(read_table(written(frame, tmp_path), "outcome", load_registry()))


def test_the_target_cannot_be_left_out(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="'outcome' is the target and cannot be left out"):
        fitted(written(patients(), tmp_path), drop=("outcome",))


def test_blanks_in_a_header_are_named(tmp_path: Path) -> None:
    path = written(patients().rename(columns={"age": " age"}), tmp_path)
    with pytest.raises(RequestError, match="the table's header has ' age': remove the blanks"):
        fitted(path)


def test_lower_case_booleans_are_the_categories_of_the_fit(tmp_path: Path) -> None:
    path = written(patients(("false", "true")), tmp_path)
    policy = fitted(path)
    frame = pd.read_csv(path)
    assert frame["ward"].dtype == bool
    pd.testing.assert_frame_equal(policy.decide(frame), policy.decide(path))
    assert policy.decide(frame).attrs["unseen"] == {}


def test_codes_that_pandas_turned_into_floats_are_the_categories_of_the_fit(tmp_path: Path) -> None:
    policy = fitted(written(patients(("1", "2", "X")), tmp_path))
    new = patients(("1", "2"))
    as_floats = new.assign(ward=new["ward"].astype(float))
    pd.testing.assert_frame_equal(policy.decide(as_floats), policy.decide(new))


def test_texts_of_numbers_and_marks_of_missing_values_are_read_in_a_column_of_numbers(tmp_path: Path) -> None:
    frame = patients()
    frame.loc[::20, "glucose"] = "?"
    path = written(frame, tmp_path)
    policy = fitted(path)
    by_pandas = pd.read_csv(path, keep_default_na=False)
    assert not pd.api.types.is_numeric_dtype(by_pandas["glucose"])
    pd.testing.assert_frame_equal(policy.decide(by_pandas), policy.decide(path))
    with pytest.raises(RequestError, match=r"row 3 \(from 0\): glucose must be a number, not 'high'"):
        policy.decide(by_pandas.assign(glucose=["1"] * 3 + ["high"] + ["2"] * 236))


def test_separator_decimal_comma_and_marks_of_missing_values_can_be_given(tmp_path: Path) -> None:
    frame = patients()
    plain = fitted(written(frame.assign(glucose=frame["glucose"].mask(frame.index % 20 == 0)), tmp_path))
    comma = frame.assign(glucose=frame["glucose"].str.replace(".", ",").mask(frame.index % 20 == 0, "null"))
    path = written(comma, tmp_path, sep=";")
    policy = fitted(path, separator=";", decimal=",", missing=("null",))
    expected = plain.decide(frame)
    pd.testing.assert_frame_equal(
        policy.decide(written(frame.assign(glucose=frame["glucose"].str.replace(".", ",")), tmp_path, sep=";")),
        expected,
    )


@pytest.mark.parametrize("stray", ["n/k", "120.5"])
def test_a_text_among_numbers_with_decimal_commas_is_named(tmp_path: Path, stray: str) -> None:
    frame = patients()
    comma = frame.assign(glucose=frame["glucose"].str.replace(".", ","))
    policy = fitted(written(comma, tmp_path, sep=";"), separator=";", decimal=",")
    comma.loc[5, "glucose"] = stray
    path = written(comma, tmp_path, sep=";")
    with pytest.raises(RequestError, match=rf"line 7, column 'glucose': '{stray}' is not a number"):
        fitted(path, separator=";", decimal=",")
    with pytest.raises(RequestError, match=rf"line 7: glucose must be a number, not '{stray}'"):
        policy.decide(path)


def test_another_separator_is_suggested(tmp_path: Path) -> None:
    path = written(patients(), tmp_path, sep=";")
    with pytest.raises(RequestError, match="the header holds ';': is that the separator"):
        fitted(path)


def test_a_text_among_numbers_is_named_with_the_options_that_read_it(tmp_path: Path) -> None:
    frame = patients()
    frame.loc[5, "glucose"] = "null"
    with pytest.raises(RequestError, match=r"line 7, column 'glucose': 'null' is not a number.*--missing null"):
        fitted(written(frame, tmp_path))


@pytest.mark.parametrize("given", [{"age": 1}, [1, 2], np.zeros((2, 3)), pd.Series([1.0])])
def test_what_is_no_table_is_refused(tmp_path: Path, given: Any) -> None:
    policy = fitted(written(patients(), tmp_path))
    with pytest.raises(RequestError, match=f"not {type(given).__name__}"):
        policy.decide(given)


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    policy = fitted(written(patients(), tmp_path))
    frame = patients()
    with pytest.raises(RequestError, match="two columns are called 'age'"):
        policy.decide(pd.concat([frame, frame[["age"]]], axis=1))


def test_a_price_of_a_column_that_is_left_out_is_ignored(tmp_path: Path) -> None:
    path = written(patients(), tmp_path)
    policy = fitted(path, drop=("ward",))
    assert policy.feature_names == ("age", "glucose")
    assert policy.costs.prices[:, 0].tolist() == [1.0, 1.0]
    with pytest.raises(RequestError, match=r"\[prices\] names 'outcome', which is the target"):
        fit_policy("single-stage", path, {**PRICES, "outcome": 1.0}, target="outcome", splits=0)


def test_categories_that_are_large_numbers_are_named_in_full(tmp_path: Path) -> None:
    policy = fitted(written(patients(("1000001", "1000002", "1000003")), tmp_path), categorical=("ward",))
    assert policy.shown_categories(1) == ["1000001", "1000002", "1000003"]
    assert policy.value(1, "1000002") == policy.value(1, 1000002)
    with pytest.raises(RequestError, match="no category 5; known: 1000001, 1000002, 1000003"):
        policy.value(1, 5)


def test_new_values_of_a_numeric_category_count_as_missing_in_any_form(tmp_path: Path) -> None:
    frame = patients(("1", "2", "3"))
    policy = fitted(written(frame, tmp_path), categorical=("ward",))
    whole = policy.decide(frame.assign(ward=frame["ward"].astype(float)))
    assert whole.attrs["unseen"] == {}
    pd.testing.assert_frame_equal(policy.decide(frame), whole)  # texts of the same numbers
    blank = policy.decide(frame.assign(ward=frame["ward"].mask(frame.index == 3)))
    for new in ("9", "north", " "):
        changed = frame.assign(ward=frame["ward"].mask(frame.index == 3, new))
        if new.strip():
            with pytest.warns(UserWarning, match=r"unseen categories count as missing: ward \(1\)"):
                found = policy.decide(changed)
        else:
            found = policy.decide(changed)
        pd.testing.assert_frame_equal(found, blank)


def test_a_whole_number_beyond_all_floats_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="age must be a number"):
        fitted(written(patients(), tmp_path)).value(0, 10**400)


def test_a_policy_below_its_cap_can_be_exported_and_one_that_may_be_cut_cannot(tmp_path: Path) -> None:
    path = written(patients(), tmp_path)

    def capped(cap: float) -> FittedPolicy:
        return fit_policy("single-stage", path, PRICES, target="outcome", goal=Goal(cap=cap), splits=0)

    assert exported(capped(3.0))["policy"]["features"] == [0, 1, 2]
    with pytest.raises(RequestError, match="a cap of 2 cannot be exported, because a row may cost more"):
        exported(capped(2.0))


def test_an_export_into_a_missing_folder_is_refused_before_the_fit(tmp_path: Path) -> None:
    path = written(patients(), tmp_path)
    (tmp_path / "prices.toml").write_text("prices = [1, 1, 1]\n", encoding="utf-8")
    base = ["fit", str(path), "--target", "outcome", "--prices", str(tmp_path / "prices.toml"), "--splits", "0"]
    base += ["--method", "single-stage", "--out", str(tmp_path / "policy")]
    refused = CliRunner().invoke(main, [*base, "--export", str(tmp_path / "nowhere" / "policy.json")])
    assert refused.exit_code == 2
    assert "there is no folder" in refused.output
    assert not (tmp_path / "policy").exists()


def test_a_command_answers_a_file(tmp_path: Path) -> None:
    path = written(patients(), tmp_path)
    (tmp_path / "prices.toml").write_text("prices = [1, 1, 1]\n", encoding="utf-8")
    base = ["fit", str(path), "--target", "outcome", "--prices", str(tmp_path / "prices.toml"), "--splits", "0"]
    done = CliRunner().invoke(main, [*base, "--method", "single-stage", "--out", str(tmp_path / "policy")])
    assert done.exit_code == 0, done.output
    answered = CliRunner().invoke(
        main, ["answer", str(tmp_path / "policy"), str(path), "--out", str(tmp_path / "answers.csv")]
    )
    assert answered.exit_code == 0, answered.output
    assert "240 answers at a mean cost of 3" in answered.output
    answers = pd.read_csv(tmp_path / "answers.csv")
    assert answers["label"].tolist() == fitted(path).decide(path)["label"].tolist()
    assert set(answers["acquired"]) == {"age; ward; glucose"}
    missing = CliRunner().invoke(
        main, ["answer", str(tmp_path / "policy"), str(tmp_path / "no.csv"), "--out", str(tmp_path / "answers.csv")]
    )
    assert missing.exit_code == 2


def test_notes_on_columns_of_one_value_rare_categories_and_whole_targets(tmp_path: Path) -> None:
    frame = patients().assign(empty="", same="x", codes=[f"c{i // 2}" for i in range(240)], outcome=np.arange(240) % 12)
    path = written(frame, tmp_path)
    (tmp_path / "prices.toml").write_text("prices = [1, 1, 1, 1, 1, 1]\n", encoding="utf-8")
    base = ["fit", str(path), "--target", "outcome", "--prices", str(tmp_path / "prices.toml"), "--splits", "0"]
    done = CliRunner().invoke(main, [*base, "--method", "majority", "--out", str(tmp_path / "policy")])
    assert done.exit_code == 0, done.output
    assert "column 'empty' holds no value" in done.output
    assert "column 'same' holds one value only, 'x'" in done.output
    assert "column 'codes' has mostly categories with fewer than 5 rows" in done.output
    assert "target 'outcome' is read as 12 classes, 0 to 11" in done.output


def test_a_regression_is_compared_with_the_mean_of_the_target(tmp_path: Path) -> None:
    frame = patients().drop(columns="outcome")
    path = written(frame.assign(outcome=frame["glucose"].astype(float) + 0.5), tmp_path)
    policy = fit_policy("single-stage", path, PRICES, target="outcome", splits=2)
    (row,) = policy.about["trivial"]
    assert row["answer"] == "the mean of the target"
    registry = load_registry()
    dataset = read_table(path, "outcome", registry)
    bench = Bench(dataset, read_prices(PRICES, dataset.feature_names, registry))
    errors = []
    for split in (1, 2):
        prepared = bench.prepared(split)
        errors.append(float(np.mean((prepared.test.y - prepared.problem.train.y.mean()) ** 2)))
    assert -row["quality"] == pytest.approx(np.mean(errors))
    assert -policy.about["measured"]["quality"] < 1


@pytest.mark.parametrize("marker", ["?", "", "NA", "null"])
def test_a_frame_with_texts_for_missing_numbers_is_read_as_its_file(tmp_path: Path, marker: str) -> None:
    frame = patients()
    frame.loc[::7, "glucose"] = marker
    columns = Columns(missing=["null"])
    path = written(frame, tmp_path)
    of_file, of_frame = (read_table(data, "outcome", load_registry(), columns) for data in (path, frame))
    glucose = of_frame.feature_names.index("glucose")
    assert glucose not in of_frame.categories
    np.testing.assert_array_equal(of_frame.values[:, glucose], of_file.values[:, glucose])
    mixed = frame.assign(glucose=[text if text == marker else float(text) for text in frame["glucose"]])
    again = read_table(mixed, "outcome", load_registry(), columns)
    np.testing.assert_array_equal(again.values, of_frame.values)


def test_texts_of_a_frame_that_are_not_all_numbers_stay_categories() -> None:
    frame = patients(("1", "?", "3b"))
    read = read_table(frame, "outcome", load_registry())
    assert set(read.categories[read.feature_names.index("ward")]) == {"1", "?", "3b"}
    codes = patients(("1", "?", "3"))
    chosen = read_table(codes, "outcome", load_registry(), Columns(categorical=["ward"]))
    assert set(chosen.categories[chosen.feature_names.index("ward")]) == {"1", "?", "3"}


def test_a_classifier_reads_texts_for_missing_numbers_as_missing() -> None:
    frame = patients()
    X, y = frame[["glucose", "ward"]], frame["outcome"]
    X = X.assign(glucose=X["glucose"].where(np.arange(len(X)) % 7 > 0, "?"))
    as_missing = X.assign(glucose=pd.to_numeric(X["glucose"], errors="coerce"))
    marked, plain = (BudgetedClassifier("single-stage").fit(table, y) for table in (X, as_missing))
    assert marked.policy_.encoder.fill[0] == plain.policy_.encoder.fill[0]
    np.testing.assert_array_equal(marked.predict_proba(X), plain.predict_proba(as_missing))
