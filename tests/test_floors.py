"""Imports point one way: from a higher floor to a lower one, also inside functions.

`FLOORS` lists the floors, the lowest first. Packages of one floor may not import each other.
"""

from __future__ import annotations

import ast
import graphlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[1] / "src"

# Packages and modules of evenly, of which the longest name that fits a module counts. "": evenly/__init__.py itself.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("errors", "hooks", "version", "timing"),
    ("cache",),
    ("gpus",),
    ("language",),
    ("interop",),
    ("layouts", "schedules"),
    ("arguments", "targets.compilations", "targets.workspace"),
    ("targets.contract", "targets.printing"),
    ("targets.gpu",),  # what targets share that run CUDA C++
    ("targets.cpu", "targets.cuda", "targets.python", "targets.simt"),  # no target knows another
    ("targets",),  # targets by their names
    ("choosing",),
    ("balance", "tuning"),
    ("runtime",),
    ("kit",),
    ("algorithms", "verify", "explanation"),  # what a user calls with kernels and layouts
    ("collect",),
    ("wiring",),
    ("",),
    ("bench", "networkx_backend", "torch_operators"),
    ("fitting", "reproduce"),
    ("cli",),
    ("__main__",),
)

# (file, what it imports) -> why that still is so. An entry that is no longer needed fails the test, too.
EXCEPTIONS: dict[tuple[str, str], str] = {}

# The same under `if TYPE_CHECKING:`, which runs for nobody: names of types, in annotations alone.
TYPES_ALONE: frozenset[tuple[str, str]] = frozenset(
    {
        ("evenly/tuning/locality.py", "evenly.runtime.plan"),
        ("evenly/tuning/measuring.py", "evenly.runtime.plan"),
        ("evenly/tuning/tune.py", "evenly.runtime.plan"),
    }
)


@dataclass(frozen=True, slots=True)
class Import:
    """One import: its file (below src) and the module that it names. typing: whether only annotations use it."""

    file: str
    line: int
    importer: str
    module: str
    typing: bool

    @property
    def pair(self) -> tuple[str, str]:
        return self.file, self.module

    def __str__(self) -> str:
        here, there = floor_of(self.importer), floor_of(self.module)
        return (
            f"{self.file}:{self.line}: {self.importer} -> {self.module} (floor {here} -> {there})"
        )


def name_of(path: Path, src: Path) -> str:
    parts = path.relative_to(src).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path, src: Path = SRC) -> Iterator[Import]:
    """Every import of a module of evenly in a file, those in functions included."""
    file, importer = str(path.relative_to(src)), name_of(path, src)
    package = importer if path.name == "__init__.py" else importer.rpartition(".")[0]
    for node, typing in statements(ast.parse(path.read_text())):
        for module in modules_of(node, package, src):
            if module.partition(".")[0] == "evenly":
                yield Import(file, node.lineno, importer, module, typing)


Statement = ast.Import | ast.ImportFrom | ast.Constant


def statements(node: ast.AST, typing: bool = False) -> Iterator[tuple[Statement, bool]]:
    """The imports and the constants below a node, and whether each stands under `if TYPE_CHECKING:`."""
    if isinstance(node, Statement):
        yield node, typing
    elif isinstance(node, ast.If) and ast.unparse(node.test) in (
        "TYPE_CHECKING",
        "typing.TYPE_CHECKING",
    ):
        for child in node.body:
            yield from statements(child, True)
        for child in node.orelse:
            yield from statements(child, typing)
    else:
        for child in ast.iter_child_nodes(node):
            yield from statements(child, typing)


def modules_of(node: Statement, package: str, src: Path) -> Iterator[str]:
    """The modules that an import names: `from a import b` names a.b if that is a module, else a.

    A string can name one as well, as "module" or "module:function", for importlib.
    """
    if isinstance(node, ast.Constant):
        module = node.value.partition(":")[0] if isinstance(node.value, str) else ""
        if "." in module and exists(module, src):
            yield module
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    base = node.module or ""
    if node.level:
        parts = package.split(".")
        above = parts[: len(parts) - node.level + 1]
        base = ".".join([*above, base] if base else above)
    found = {f"{base}.{a.name}" if exists(f"{base}.{a.name}", src) else base for a in node.names}
    yield from sorted(found)


def exists(module: str, src: Path) -> bool:
    if not re.fullmatch(r"\w+(\.\w+)*", module):
        return False
    path = src.joinpath(*module.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def place_of(module: str) -> str:
    """The entry of `FLOORS` that a module belongs to."""
    parts = module.split(".")[1:]
    names = [".".join(parts[:n]) for n in range(len(parts), 0 if parts else -1, -1)]
    known = {name for floor in FLOORS for name in floor}
    found = next((name for name in names if name in known), None)
    assert found is not None, f"{module} stands on no floor: give it one in FLOORS"
    return found


def floor_of(module: str) -> int:
    place = place_of(module)
    return next(n for n, floor in enumerate(FLOORS) if place in floor)


def points_up(found: Import) -> bool:
    """Whether an import names a higher floor, or another package of its own floor."""
    if place_of(found.importer) == place_of(found.module):
        return False
    if place_of(found.importer) == "algorithms" and found.module == "evenly":
        return (
            False  # what a user writes imports evenly, and so do they: it has all but them by then
        )
    return floor_of(found.module) >= floor_of(found.importer)


def everywhere() -> list[Import]:
    return [found for path in sorted((SRC / "evenly").rglob("*.py")) for found in imports_of(path)]


def test_every_module_stands_on_a_floor_and_every_floor_is_there() -> None:
    modules = {name_of(path, SRC) for path in (SRC / "evenly").rglob("*.py")}
    assert {place_of(module) for module in modules} == {name for f in FLOORS for name in f}


def test_imports_point_to_lower_floors() -> None:
    up = [found for found in everywhere() if points_up(found)]
    wrong = [x for x in up if x.pair not in (TYPES_ALONE if x.typing else EXCEPTIONS)]
    assert not wrong, "imports of a higher floor:\n" + "\n".join(map(str, wrong))


def test_no_exception_has_become_unnecessary() -> None:
    up = [found for found in everywhere() if points_up(found)]
    unused = {*EXCEPTIONS} - {found.pair for found in up if not found.typing}
    unused |= TYPES_ALONE - {found.pair for found in up if found.typing}
    assert not unused, "exceptions to be taken out:\n" + "\n".join(
        f"{file} -> {module}" for file, module in sorted(unused)
    )


@pytest.mark.parametrize("package", ["interop", "layouts"])
def test_files_of_a_floor_import_one_another_one_way(package: str) -> None:
    below: dict[str, set[str]] = {}
    for found in everywhere():
        if {place_of(found.importer), place_of(found.module)} == {package} and not found.typing:
            below.setdefault(found.importer, set()).add(found.module)
    assert below
    graphlib.TopologicalSorter(below).prepare()  # raises CycleError, which names the circle


@pytest.mark.parametrize(
    ("text", "module"),
    [
        ("import evenly.runtime.plan\n", "evenly.runtime.plan"),
        ("from evenly import runtime\n", "evenly.runtime"),
        ("from ..runtime import plan\n", "evenly.runtime.plan"),
        ("from ..runtime.plan import Plan\n", "evenly.runtime.plan"),
        ("def f():\n    from evenly.runtime.plan import Plan\n", "evenly.runtime.plan"),
        ('PLACE = "evenly.runtime.plan:Plan"\n', "evenly.runtime.plan"),
        ("try:\n    import evenly\nexcept ImportError:\n    pass\n", "evenly"),
    ],
)
def test_an_arrow_that_points_up_is_found(tmp_path: Path, text: str, module: str) -> None:
    for name in ("evenly/runtime/__init__", "evenly/runtime/plan", "evenly/language/ir"):
        path = (tmp_path / name).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    path.write_text(text)
    (found,) = imports_of(path, tmp_path)
    assert (found.module, found.typing, points_up(found)) == (module, False, True)
    assert str(found).startswith(f"evenly/language/ir.py:{found.line}: evenly.language.ir -> ")


def test_imports_for_annotations_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "evenly" / "ir.py"
    path.parent.mkdir()
    path.write_text("if TYPE_CHECKING:\n    import evenly.runtime\nelse:\n    import evenly.cli\n")
    assert [(x.module, x.typing) for x in imports_of(path, tmp_path)] == [
        ("evenly.runtime", True),
        ("evenly.cli", False),
    ]
