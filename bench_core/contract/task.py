"""Tasks, and the names of a data set's parts."""

from __future__ import annotations

from typing import Literal, get_args

__all__ = ["ALL_TASKS", "CLASSIFICATION", "SPLIT_NAMES", "Task"]

Task = Literal["binary", "multiclass", "regression", "ranking"]
ALL_TASKS: frozenset[str] = frozenset(get_args(Task))
CLASSIFICATION = frozenset({"binary", "multiclass"})
SPLIT_NAMES = ("train", "validation", "test")
