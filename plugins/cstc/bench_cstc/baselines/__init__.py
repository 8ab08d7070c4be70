"""The baselines of CSTC's paper (§6.2, §6.3, §6.7): stage-wise regression, early exits, AND-OR, AdaBoostRS, SVM."""

from __future__ import annotations

from bench_cstc.baselines.adaboost_rs import AdaBoostRS
from bench_cstc.baselines.and_or import AndOrCascade
from bench_cstc.baselines.early_exit import EarlyExit
from bench_cstc.baselines.rbf_svm import RbfSvm
from bench_cstc.baselines.stagewise import Stagewise

__all__ = ["AdaBoostRS", "AndOrCascade", "EarlyExit", "RbfSvm", "Stagewise"]
