"""Fetch a Python function's source text, its place in a file and what it captures."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import itertools
import linecache
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import CellType
from typing import Any

from evenly.errors import InputError

from . import reads
from .own_text import is_own


@dataclass(frozen=True)
class Source:
    """A function's text, dedented, and its place in the file.

    `indent` columns were removed and `first_line` is the file's line of the first line, so that
    errors can point at the user's own file.
    """

    name: str
    text: str
    file: str
    first_line: int
    indent: int
    captured: Mapping[str, Any] = field(repr=False)
    defaults: Callable[[], dict[str, Any]] = field(repr=False, default=dict)

    def line(self, number: int) -> str:
        """Return the file's line `number` (counted from 1 at the top of the file)."""
        lines = self.text.splitlines()
        index = number - self.first_line
        body = lines[index] if 0 <= index < len(lines) else ""
        return " " * self.indent + body if body else ""


def check_decorated(decorator: str, function: object, source: object) -> None:
    """Refuse an object that is not a Python function (perhaps another library's), and a source that is no text."""
    if function is not None and not inspect.isfunction(function):
        raise InputError(decorator, expected="a function", given=type(function).__name__)
    if source is not None and not isinstance(source, str):
        raise InputError(
            f"{decorator}(source=...)",
            expected="the text of the function",
            given=type(source).__name__,
        )


def fetch(function: Callable[..., Any], source: str | None = None) -> Source:
    """Return the source of `function`. `source` replaces it if Python keeps none (`exec`).

    Raises InputError if there is no source.
    """
    name = getattr(function, "__qualname__", repr(function))
    code = getattr(function, "__code__", None)
    if code is None:
        raise InputError(name, expected="a Python function", given=type(function).__name__)
    if source is not None:
        text, first, file = source, 1, f"<source of {name}>"
    else:
        linecache.checkcache(code.co_filename)
        try:
            lines, first = inspect.getsourcelines(
                code
            )  # for a function, inspect would read its `__wrapped__`
            whole = "".join(inspect.findsource(code)[0])
        except (OSError, TypeError):
            raise InputError(
                name,
                expected="a function whose source can be read",
                given="none (made by exec, or typed at a bare prompt?)",
                hint="put it in a file, or pass its text as source=",
            ) from None
        text, file = "".join(lines), code.co_filename
        if not reads.is_ours(function) and not is_own(function, whole):
            raise InputError(
                name,
                expected="a function whose source can be read",
                given="another text than its own (made by exec, or was the file edited since?)",
                hint="put it in a file and import that anew, or pass its text as source=",
            )
    dedented = textwrap.dedent(text)
    first_text = next((line for line in text.splitlines() if line.strip()), "")
    indent = len(first_text) - len(first_text.lstrip())
    defaults = functools.partial(reads.defaults_of, function)
    return Source(name, dedented, file, first, indent, Captured(function), defaults)


def tree_of(source: Source) -> ast.Module:
    """Return Python's tree of a function's text. Private names of a class, `__x`, become `_Class__x`, as in Python."""
    tree = ast.parse(source.text)
    prefix = f"_{_class_around(source.name).lstrip('_')}"
    if prefix != "_":
        for node in ast.walk(tree):
            for attribute in _NAMED.get(type(node), ()):
                name = getattr(node, attribute)
                if name is not None and name.startswith("__") and not name.endswith("__"):
                    setattr(node, attribute, prefix + name)
    return tree


_NAMED: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Name: ("id",), ast.Attribute: ("attr",), ast.arg: ("arg",), ast.keyword: ("arg",),
}  # fmt: skip


def _class_around(qualified: str) -> str:
    """Return the innermost class around a function of this `__qualname__`, or ""."""
    outer = qualified.split(".")[:-1]
    while outer and outer[-1] == "<locals>":
        del outer[-2:]
    return outer[-1] if outer else ""


class Captured(Mapping[str, Any]):
    """The outside names that a function sees, with their present values: builtins, globals, closure cells."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __getitem__(self, name: str) -> Any:
        found = reads.name_of(self.function, name)
        if found is reads.NOTHING:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        function = self.function
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        free = [name for name, cell in cells if _is_filled(cell)]
        names = free, function.__globals__, vars(builtins)
        yield from dict.fromkeys(itertools.chain(*names))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _is_filled(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:  # its function has not reached the assignment yet
        return False
    return True


def captured(function: Callable[..., Any]) -> Captured:
    return Captured(function)
