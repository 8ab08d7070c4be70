"""The methods that CSTC's paper compares with (§6.2, §6.3, §6.7): stage-wise regression, early exits, AND-OR, …"""

from __future__ import annotations

from bench_core import Method
from bench_cstc.rivals.adaboost_rs import AdaBoostRS
from bench_cstc.rivals.and_or import AndOrCascade
from bench_cstc.rivals.early_exit import EarlyExit
from bench_cstc.rivals.rbf_svm import RbfSvm
from bench_cstc.rivals.stagewise import Stagewise

__all__ = ["RIVALS", "AdaBoostRS", "AndOrCascade", "EarlyExit", "RbfSvm", "Stagewise"]

RIVALS: dict[str, type[Method]] = {
    "stagewise": Stagewise,
    "early-exit": EarlyExit,
    "and-or": AndOrCascade,
    "adaboost-rs": AdaBoostRS,
    "rbf-svm": RbfSvm,
}
