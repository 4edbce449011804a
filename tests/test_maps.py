"""The docstring of a package is its map: where it names most of its modules, it names them all."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from evenly import layouts, schedules

SRC = Path(__file__).resolve().parents[1] / "src"
IN_TABLES = {*layouts.TABLE, *schedules.TABLE, *schedules.OF_TASKS}  # "a file for each"
PACKAGES = sorted(
    package
    for package in (str(p.parent.relative_to(SRC)) for p in SRC.rglob("__init__.py"))
    if not package.startswith("evenly/algorithms/")  # these say how they work
)


def named(package: str) -> tuple[set[str], set[str]]:
    """The modules of a package, but those that a table names, and those of them that its docstring names."""
    folder = SRC / package
    modules = {p.stem for p in folder.glob("*.py")} - {"__init__", "__main__"} - IN_TABLES
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or ""
    return modules, modules & {*re.findall(r"\w+", text)}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_map_has_every_module(package: str) -> None:
    modules, found = named(package)
    if 2 * len(found) > len(modules):
        assert sorted(found) == sorted(modules)


def test_the_large_packages_have_maps() -> None:
    maps = [p for p in PACKAGES if 2 * len(named(p)[1]) > len(named(p)[0])]
    assert {
        f"evenly/{p}" for p in ("cli", "language", "layouts", "targets/cpu", "targets/gpu/emit")
    } <= {*maps}
