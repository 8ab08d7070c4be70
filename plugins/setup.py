"""The metadata that all plugins share. Each plugin's ``setup.py`` is a link to this file.

Version, licence, authors, classifiers and versions of Python are the core's. A source distribution does not contain the
core; there they are read from its own ``PKG-INFO``.
"""

from __future__ import annotations

import re
import tomllib
from email import message_from_string
from pathlib import Path
from typing import Any

from setuptools import find_namespace_packages, setup

ROOT = Path(__file__).resolve().parents[1]


def shared() -> dict[str, Any]:
    """The shared arguments of ``setup``, by name."""
    info = Path("PKG-INFO")
    if info.is_file():
        written = message_from_string(info.read_text(encoding="utf-8"))
        return {
            "version": written["Version"],
            "license_expression": written["License-Expression"],
            "author": written["Author"],
            "python_requires": written["Requires-Python"],
            "classifiers": written.get_all("Classifier"),
        }
    core = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    code = (ROOT / "bench_core" / "__init__.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "(.+)"$', code, re.MULTILINE)
    return {
        "version": version,
        "license_expression": core["license"],
        "author": ", ".join(author["name"] for author in core["authors"]),
        "python_requires": core["requires-python"],
        "classifiers": [name for name in core["classifiers"] if not name.startswith("Framework ::")],
    }


setup(
    **shared(),
    long_description=Path("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    packages=find_namespace_packages(include=["bench_*"], exclude=["*.__pycache__*"]),  # including folders of data
    package_data={"": ["*"]},
    exclude_package_data={"": ["*.py[co]"]},
)
