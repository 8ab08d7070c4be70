"""The folder of a submission: its files, and ``submission.json``, which describes it.

``submissions/PLUGIN`` holds, for every submitted suite, the suite's file and the export of the plugin's own records
(see `bench_records.exports`); the plugin's wheel, if there is one; ``submission.json``; and a README.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench_core import RequestError, did_you_mean
from bench_records.exports import RECORDS, RUNS, export_files

__all__ = ["SUBMISSION", "read_folder", "refuse_other_files", "summary_files"]

SUBMISSION = "submission.json"
_KEYS = ("plugin", "distribution", "version", "licence", "source", "install", "suites")


def summary_files(folder: Path, submission: dict[str, Any]) -> dict[Path, bytes]:
    """The contents of ``submission.json`` and of a README that shows it, by path."""
    text = json.dumps(submission, indent=2, ensure_ascii=False) + "\n"
    return {folder / SUBMISSION: text.encode(), folder / "README.md": _readme(submission).encode()}


def read_folder(folder: Path) -> dict[str, Any]:
    """The content of a folder's ``submission.json``.

    Raises:
        RequestError: it is missing or malformed.
    """
    path = folder / SUBMISSION
    try:
        submission = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise RequestError(f"{path} is missing: bench submit writes it") from None
    except ValueError as error:
        raise RequestError(f"{path} is not JSON: {error}") from None
    if not isinstance(submission, dict) or set(submission) != set(_KEYS) or not isinstance(submission["suites"], dict):
        raise RequestError(f"{path} must hold {', '.join(_KEYS)}")
    for key in _KEYS[:-1]:
        if not isinstance(submission[key], str):
            raise RequestError(f"{path}: {key} must be a text")
    for name, about in submission["suites"].items():
        if not isinstance(about, dict) or not {"records", "methods", "suite"} <= set(about):
            raise RequestError(f"{path}: suites.{name} must hold records, methods and suite")
    return submission


def refuse_other_files(folder: Path, submission: dict[str, Any]) -> None:
    """Refuse a folder that holds a file which is not part of the submission.

    Raises:
        RequestError: it holds one; the message names the file.
    """
    known = {SUBMISSION, "README.md", *(f"{name}.toml" for name in submission["suites"])}
    known |= {
        path.relative_to(folder).as_posix()
        for name in submission["suites"]
        for part in (RECORDS, RUNS)
        for path in export_files(folder / name, part)
    }
    known |= {submission["install"]} if submission["install"].endswith(".whl") else set()
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    for place in sorted(there - known):
        raise RequestError(f"{folder / place} does not belong to the submission; {did_you_mean(place, known)}")


def _readme(submission: dict[str, Any]) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("bench_records"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return templates.get_template("submission.md.j2").render(submission)
