"""Compare `bench recommend` with two simple baselines, on ten real tables and three draws of prices.

    python plugins/recommend/benchmarks/against_ten_lines.py --shared DIR [--time 5m] [--tables sick] [--draws 0,1,2]

Of every table, 70 % of the rows are for training and 30 % for the final test. Prices are drawn from 1, 2, 5, 10, 20 and
50 for every feature, with seed 0, 1 or 2; the budgets of these draws are 20, 30 and 40 % of the full price. The
baselines, which a practitioner would write in ten lines, are LightGBM and logistic regression. LightGBM, with its
default parameters, is fitted on all features; then again on the most important ones that fit the budget. For logistic
regression, features are added by accuracy gained per price on a quarter of the training rows. Final fits use all
training rows. ``--method NAME`` fits one method instead of the recommended one. ``DIR`` has the folders
``openml_cache`` and ``files``.

Every line shows test accuracy in per cent and mean cost, and the difference to the better baseline with its paired 95 %
interval over the test rows. The last lines show the mean difference to each baseline, with the interval over cases.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from bench_policies import Goal, fit_policy
from bench_recommend import recommend
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

CHOICES, SHARES, MOST_ROWS = (1, 2, 5, 10, 20, 50), (0.2, 0.3, 0.4), 6000
OPENML = {
    "credit-approval": (29, "class", ()),
    "cylinder-bands": (6332, "band_type", ("timestamp", "job_number", "customer")),
    "eucalyptus": (188, "Utility", ()),
    "sick": (38, "Class", ("TBG", "TBG_measured")),
    "hypothyroid": (57, "Class", ("TBG", "TBG_measured")),
    "waveform": (60, "class", ()),
    "splice": (46, "Class", ("Instance_name",)),
    "spambase": (44, "class", ()),
    "pendigits": (32, "class", ()),
}
"""OpenML id, target, and columns to leave out. The tenth table is bank marketing, from the UCI repository."""


def tables(shared: Path, names: list[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the tables with their target as column ``y``; classes of fewer than 20 rows are left out."""
    for name in names or [*OPENML, "bank"]:
        if name == "bank":
            frame = pd.read_csv(shared / "files/uci/222/bank-full.csv", sep=";")
        else:
            number, target, dropped = OPENML[name]
            frame = pd.read_parquet(shared / f"openml_cache/org/openml/www/datasets/{number}/dataset_{number}.pq")
            frame = frame.rename(columns={target: "y"}).drop(columns=[c for c in dropped if c in frame.columns])
        for column in frame.columns.drop("y"):
            if not pd.api.types.is_numeric_dtype(frame[column]):
                frame[column] = frame[column].astype(object).where(frame[column].notna(), None)
        frame["y"] = "class " + frame["y"].astype(str)
        frame = frame.loc[:, frame.nunique() > 1]
        frame = frame[frame.groupby("y")["y"].transform("size") >= 20]
        yield name, frame.sample(min(len(frame), MOST_ROWS), random_state=0).reset_index(drop=True)


def lightgbm(train: pd.DataFrame, test: pd.DataFrame, prices: dict[str, float], budget: float) -> tuple[Any, float]:
    """Return test labels and cost of LightGBM on the most important features that fit the budget."""
    from lightgbm import LGBMClassifier

    X, T = train.drop(columns="y"), test.drop(columns="y")
    text = [column for column in X.columns if not pd.api.types.is_numeric_dtype(X[column])]
    for column in text:
        kinds = pd.CategoricalDtype(sorted(X[column].dropna().unique()))
        X[column], T[column] = X[column].astype(kinds), T[column].astype(kinds)
    X.columns = T.columns = [f"c{i}" for i in range(X.shape[1])]
    price = dict(zip(X.columns, prices.values(), strict=True))
    model = LGBMClassifier(verbose=-1, n_jobs=1, importance_type="gain").fit(X, train["y"])
    chosen: list[str] = []
    for column in X.columns[np.argsort(-model.feature_importances_)]:
        if sum(price[one] for one in [*chosen, column]) <= budget:
            chosen.append(column)
    model = LGBMClassifier(verbose=-1, n_jobs=1).fit(X[chosen], train["y"])
    return model.predict(T[chosen]), sum(price[one] for one in chosen)


def logistic(train: pd.DataFrame, test: pd.DataFrame, prices: dict[str, float], budget: float) -> tuple[Any, float]:
    """Return test labels and cost of logistic regression on features that are added by accuracy gained per price."""

    def fitted(rows: pd.DataFrame, columns: list[str]) -> Any:
        numbers = [column for column in columns if pd.api.types.is_numeric_dtype(rows[column])]
        text = [column for column in columns if column not in numbers]
        fill = SimpleImputer(strategy="constant", fill_value="?", missing_values=None)
        encode = make_column_transformer(
            (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
            (make_pipeline(fill, OneHotEncoder(handle_unknown="ignore")), text),
        )
        return make_pipeline(encode, LogisticRegression(max_iter=200)).fit(rows[columns], rows["y"])

    part, judging = train_test_split(train, test_size=0.25, random_state=0, stratify=train["y"])
    chosen, best = [], float((judging["y"] == part["y"].mode()[0]).mean())
    while True:
        gains = {}
        for column, price in prices.items():
            if column not in chosen and sum(prices[one] for one in [*chosen, column]) <= budget:
                score = fitted(part, [*chosen, column]).score(judging[[*chosen, column]], judging["y"])
                gains[column] = (score - best) / max(price, 1e-9), score
        if not gains or max(gains.values())[0] <= 0:
            break
        chosen.append(max(gains, key=lambda column: gains[column]))
        best = gains[chosen[-1]][1]
    if not chosen:
        return np.full(len(test), train["y"].mode()[0]), 0.0
    return fitted(train, chosen).predict(test[chosen]), sum(prices[one] for one in chosen)


def ours(
    train: pd.DataFrame, test: pd.DataFrame, prices: dict[str, float], budget: float, options: argparse.Namespace
) -> tuple[Any, float, str]:
    """Return test labels and mean cost of the recommended method, and a text with its name and the seconds taken."""
    start, goal, method, parameters = time.monotonic(), Goal(budget=budget), options.method, options.parameters
    if method is None:
        found = recommend(train, prices, target="y", goal=goal, seconds=options.time)
        method, parameters = found.method or "majority", found.parameters
    fitted = fit_policy(method, train, prices, target="y", goal=goal, parameters=parameters, splits=0)
    answers = fitted.decide(test)
    name = method + (f" {json.dumps(parameters)}" if parameters else "")
    return answers["label"].to_numpy(), float(answers["cost"].mean()), f"{name}, {time.monotonic() - start:.0f} s"


def seconds(text: str) -> float:
    """Return a time such as 90 or 5m in seconds."""
    return 60 * float(text[:-1]) if text.endswith("m") else float(text)


def main() -> None:
    """Run the cases and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, required=True)
    parser.add_argument("--time", type=seconds, default=300.0)
    parser.add_argument("--tables", type=lambda text: text.split(","), default=[])
    parser.add_argument("--draws", type=lambda text: [int(one) for one in text.split(",")], default=[0, 1, 2])
    parser.add_argument("--method")
    parser.add_argument("--parameters", type=json.loads, default={})
    options = parser.parse_args()
    ahead: list[tuple[float, float]] = []
    for name, frame in tables(options.shared, options.tables):
        train, test = train_test_split(frame, test_size=0.3, random_state=1, stratify=frame["y"])
        features = list(frame.columns.drop("y"))
        for draw in options.draws:
            rng = np.random.default_rng(draw)
            prices = dict(zip(features, rng.choice(CHOICES, len(features)).astype(float).tolist(), strict=True))
            budget = SHARES[draw] * sum(prices.values())
            rivals = [rival(train.copy(), test.copy(), prices, budget) for rival in (lightgbm, logistic)]
            answer, cost, how = ours(train, test, prices, budget, options)
            y = test["y"].to_numpy()
            right = answer == y
            rights = [given == y for given, _ in rivals]
            difference = 100 * (right.astype(float) - rights[int(np.mean(rights[1]) > np.mean(rights[0]))])
            half = 1.96 * float(np.std(difference)) / np.sqrt(len(y))
            shown = [f"{100 * np.mean(one):5.1f} at {paid:5.1f}" for one, (_, paid) in zip(rights, rivals, strict=True)]
            print(
                f"{name:16} draw {draw}, budget {budget:6.1f} | ours {100 * right.mean():5.1f} at {cost:5.1f} | "
                f"LightGBM {shown[0]} | logistic {shown[1]} | {difference.mean():+5.2f} ± {half:.2f} | {how}",
                flush=True,
            )  # fmt: skip
            ahead.append((100 * (right.mean() - rights[0].mean()), 100 * (right.mean() - rights[1].mean())))
    for rival, column in zip(("LightGBM", "logistic"), np.array(ahead).T, strict=True):
        half = 1.96 * float(np.std(column, ddof=1)) / np.sqrt(len(column)) if len(column) > 1 else float("nan")
        print(f"mean difference to {rival}: {column.mean():+.2f} ± {half:.2f} points over {len(column)} cases")


if __name__ == "__main__":
    main()
