"""Export a policy as one JSON document, which `bench_policies.portable` or a program in any language can apply.

A policy can be exported if its class has a method ``exported()``: policies that buy a fixed set of features and
answer by a linear model or by trees, and decision trees, which buy what the row's path tests.
"""

from __future__ import annotations

import json
import math
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from bench_core import Costs, Policy, RequestError
from bench_core.execution import Capped
from bench_policies.fitted import FittedPolicy
from bench_policies.goals import within
from bench_policies.portable import FORMAT


def exported(fitted: FittedPolicy) -> dict[str, Any]:
    """Return a policy as JSON values.

    Returns:
        ``features``: for each feature its name, its ``categories`` or ``numbers`` (else None), the value that replaces
        a missing one, and the ``shift`` and ``scale`` of ``(value - shift) / scale``; a feature with ``levels`` becomes
        one column of 0 and 1 per level. ``policy``: the features that every row buys, or None where a row buys what
        its path tests; and the model. ``answering`` and ``costs``: as in ``policy.json``.

    Raises:
        RequestError: policies of this method cannot be exported.
    """
    name = str(fitted.about.get("method", type(fitted.policy).__name__))
    policy = to_export(fitted.policy, fitted.costs, len(fitted.feature_names), name)
    encoder, answering = fitted.encoder, fitted.answering
    features = [
        {
            "name": name,
            "categories": _list(fitted.categories.get(feature)),
            "numbers": _list(fitted.numeric_categories.get(feature)),
            "fill": None if math.isnan(encoder.fill[feature]) else float(encoder.fill[feature]),
            "shift": float(encoder.shift[feature]),
            "scale": float(encoder.scale[feature]),
            "levels": encoder.levels[feature].tolist() if feature in encoder.levels else None,
        }
        for feature, name in enumerate(fitted.feature_names)
    ]
    return {
        "format": FORMAT,
        "method": fitted.about.get("method"),
        "task": fitted.task,
        "classes": list(fitted.classes),
        "features": features,
        "takes_missing": fitted.takes_missing,
        "policy": policy.exported(),
        "answering": {
            "threshold": answering.threshold,
            "error_costs": None if answering.error_costs is None else np.asarray(answering.error_costs).tolist(),
            "refused_cost": answering.refused_cost,
        },
        "costs": {key: value for key, value in fitted.costs.as_plain().items() if key not in ("classes", "evaluation")},
    }


def to_export(policy: Policy, costs: Costs, n_features: int, method: str) -> Any:
    """Return the policy that an export describes: the policy itself, or that below a cap which no row can exceed.

    Raises:
        RequestError: policies of this method cannot be exported, or the cap may cut rows.
    """
    inner: Any = policy.policy if isinstance(policy, Capped) else policy
    if not hasattr(inner, "exported"):
        raise RequestError(
            f"a policy of {method} cannot be exported: only decision trees, and fixed sets of features with linear "
            "models or trees, can"
        )
    if isinstance(policy, Capped):
        features = inner.exported()["features"]
        bought = np.zeros((1, n_features), dtype=bool)
        bought[0, slice(None) if features is None else list(features)] = True
        if costs.depends_on_size or not within(costs.bill(bought, None)[0], policy.cap):
            raise RequestError(
                f"a policy with a cap of {policy.cap:g} cannot be exported, because a row may cost more and be cut; "
                "fit it with --budget instead"
            )
    return inner


def write_export(document: dict[str, Any], file: Path) -> None:
    """Write an exported policy atomically.

    Raises:
        RequestError: the file holds anything but an exported policy, or cannot be written.
    """
    check_file(file)
    write_whole(file, json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def write_whole(file: Path, text: str) -> None:
    """Write a file completely or not at all. A link is followed; a device or pipe is written as it is.

    Raises:
        RequestError: it cannot be written.
    """
    real = Path(os.path.realpath(file))
    made = file if file.exists() and not file.is_file() else real.with_name(f".{real.name}.{os.getpid()}")
    try:
        made.write_text(text, encoding="utf-8", newline="")
        if made is not file:
            os.replace(made, real)
    except OSError as error:
        raise RequestError(f"{file} cannot be written: {error.strerror or error}") from None
    finally:
        if made is not file:
            with suppress(OSError):
                made.unlink()


def check_file(file: Path) -> None:
    """Check that writing an exported policy to a file destroys nothing else.

    Raises:
        RequestError: it is a folder, or a file that is not an exported policy.
    """
    mark = json.dumps({"format": FORMAT})[:-1].replace(": ", ":")
    if not file.exists():
        return
    if not file.is_file():
        raise RequestError(f"{file} is not a file: choose another name for the exported policy")
    with file.open(encoding="utf-8", errors="replace") as held:
        if held.read(len(mark)) != mark:
            raise RequestError(f"{file} is not an exported policy, and is not replaced: choose another name")


def _list(values: Any) -> list[Any] | None:
    return None if values is None else list(values)
