"""Time to train the learner ``logistic`` on sets of features, compiled and by scikit-learn.

    python benchmarks/training.py

The rows are generated: 1,000 of them, with features of one column each. A set is trained on three folds, as a search
does. Both must find the same accuracies. Times are processor time; limit the threads of BLAS to one.
"""

from __future__ import annotations

import time

import numpy as np
from bench_polydom.learners import make_learner
from bench_polydom.learning import Trainer

SETS = 40


def main() -> None:
    print("features  classes  scikit-learn, ms a set  compiled, ms a set  ratio")
    for features in (10, 30, 60, 200):
        for classes in (2, 3, 5, 10):
            rng = np.random.default_rng(0)
            X = rng.normal(size=(1000, features))
            y = (X @ rng.normal(size=(features, classes)) + 2 * rng.normal(size=(1000, classes))).argmax(axis=1)
            columns = [np.array([f]) for f in range(features)]
            parts = np.array_split(np.arange(1000), 3)
            sets = [tuple(np.flatnonzero(rng.random(features) < share)) for share in rng.random(SETS)]
            found, spent = [], []
            for strength in (None, 1.0):
                learner = make_learner("logistic", 1.0, 0)
                trainer = Trainer(learner, X, y, columns, folds=parts, strength=strength)
                trainer.accuracy((0,))  # load the compiled code
                start = time.process_time()
                found.append([trainer.accuracy(one) for one in sets])
                spent.append((time.process_time() - start) / SETS * 1e3)
            if found[0] != found[1]:
                raise SystemExit(f"{features} features, {classes} classes: the accuracies differ")
            print(f"{features:8} {classes:8} {spent[0]:23.1f} {spent[1]:19.2f} {spent[0] / spent[1]:6.1f}", flush=True)


if __name__ == "__main__":
    main()
