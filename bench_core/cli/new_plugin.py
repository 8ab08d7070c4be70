"""``bench new method NAME``: a plugin's folder whose tests pass."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from bench_core.contract.errors import RequestError

__all__ = ["new_method"]

_FILES = {
    "pyproject.toml.txt": "pyproject.toml",
    "README.md.txt": "README.md",
    "plugin.py.txt": "{module}/plugin.py",
    "tests/test_contract.py.txt": "tests/test_contract.py",
}


def new_method(name: str, parent: Path) -> Path:
    """Write a new plugin below ``parent``; its folder.

    Raises:
        RequestError: the name is not lower-case words joined by hyphens, or the folder exists.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise RequestError(
            f"{name!r} is not a plugin's name: lower-case words joined by hyphens, such as 'my-method'"
        )
    folder = parent / name.replace("-", "_")
    if folder.exists():
        raise RequestError(f"{folder} exists already")
    words = {
        "@name@": name,
        "@module@": f"bench_{name.replace('-', '_')}",
        "@class@": "".join(part.capitalize() for part in name.split("-")),
    }
    templates = files("bench_core").joinpath("templates", "method")
    for template, place in _FILES.items():
        text = templates.joinpath(*template.split("/")).read_text(encoding="utf-8")
        for mark, word in words.items():
            text = text.replace(mark, word)
        target = folder / place.format(module=words["@module@"])
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    package = folder / words["@module@"]
    (package / "__init__.py").write_text(f'"""{name} for budgetbench."""\n', encoding="utf-8")
    return folder
