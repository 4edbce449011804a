"""Every algorithm uses the public interface only: it imports `evenly`, no module inside it, and little of Python's own library."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import evenly as ev

FOLDER = Path(ev.__file__).parent / "algorithms"
ALGORITHMS = [p for p in sorted(FOLDER.rglob("*.py")) if p.name != "__init__.py"]
ALLOWED = {"__future__", "functools", "math", "typing", "numpy", "evenly", "evenly.kit"}


def in_own_folder(path: Path) -> bool:
    """Whether the algorithm is a folder, whose files import each other, as those of a user's package do."""
    return path.parent.parent.parent == FOLDER


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 1 and in_own_folder(path):
            assert (path.parent / f"{node.module}.py").is_file(), "a file beside it"
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "by its whole name"
            found.add(str(node.module))
    return found


@pytest.mark.parametrize("path", ALGORITHMS, ids=lambda p: p.stem)
def test_an_algorithm_imports_evenly_alone(path: Path) -> None:
    assert imported(path) <= ALLOWED


def test_there_is_one() -> None:
    assert "spmm" in {path.stem for path in ALGORITHMS}
