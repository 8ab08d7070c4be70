"""The distributions of this repository, and the imports of their files."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from support.bench import ROOT


@dataclass(frozen=True)
class Import:
    """One imported name: ``from module import name`` (``name`` is empty for ``import module``)."""

    file: Path
    line: int
    module: str
    name: str = ""

    def __str__(self) -> str:
        what = f"from {self.module} import {self.name}" if self.name else f"import {self.module}"
        return f"{self.file.relative_to(ROOT)}:{self.line}: {what}"


@dataclass(frozen=True)
class Project:
    """The folder of a distribution."""

    folder: Path

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """Its pyproject.toml."""
        return tomllib.loads((self.folder / "pyproject.toml").read_text(encoding="utf-8"))

    @property
    def name(self) -> str:
        """The distribution's name."""
        return str(self.metadata["project"]["name"])

    @property
    def package(self) -> Path:
        """The folder of its import package."""
        (package,) = self.folder.glob("bench_*/__init__.py")
        return package.parent

    @property
    def modules(self) -> list[Path]:
        """The Python files of its package."""
        return sorted(self.package.rglob("*.py"))


def projects() -> list[Project]:
    """The core, then every plugin in order of name."""
    return [Project(ROOT), *map(Project, sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml")))]


@cache
def imports(file: Path) -> tuple[Import, ...]:
    """All imports of a file, except those for type checkers only (``if TYPE_CHECKING``)."""
    return tuple(_imports(file, ast.parse(file.read_text(encoding="utf-8"))))


def _imports(file: Path, node: ast.AST) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(file, child.lineno, alias.name) for alias in child.names)
        elif isinstance(child, ast.ImportFrom) and not child.level:
            yield from (Import(file, child.lineno, child.module or "", alias.name) for alias in child.names)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            for other in child.orelse:
                yield from _imports(file, other)
        else:
            yield from _imports(file, child)


def declared(requirements: list[str]) -> set[str]:
    """The distributions' names in a list of requirements, lower case, with hyphens."""
    return {re.split(r"[\[<>=!~; ]", line, maxsplit=1)[0].lower().replace("_", "-") for line in requirements}
