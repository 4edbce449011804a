"""Check that a text belongs to a function: the file's name and line may lead to another program's text.

That happens for functions that `exec` made in a program with a file of that name (of `python -c`, from 3.13 on),
after a file was edited, and if a decorator further down replaced the function. The file is compiled again, and the
code at the function's line is compared with the code that the function runs.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

_COMPARED = (
    "co_name", "co_firstlineno", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_varnames",
    "co_names", "co_freevars", "co_cellvars", "co_code",
)  # fmt: skip


def is_own(function: Callable[..., Any], text: str) -> bool:
    """Whether `function` was compiled from the code at its line of `text`, the whole text of its file."""
    code = function.__code__
    if code.co_name == "<lambda>":
        return True  # no text is cut out for it, and the parser refuses it
    try:
        found = _compiled(text)
    except (SyntaxError, ValueError):  # not a program, or another one
        return False
    except (
        RecursionError,
        MemoryError,
    ):  # nested too deeply: some function of the file, this one or another
        return True
    return any(
        _same(own, code) or (bare is not None and _contained(bare, code))
        for own, bare in found.get((code.co_name, code.co_firstlineno), ())
    )


@functools.lru_cache(maxsize=16)
def _compiled(text: str) -> dict[tuple[str, int], list[tuple[CodeType, CodeType | None]]]:
    """Compile a text, and return the code of all its functions, by name and line.

    Each comes with the same code without assertions, if it has any, because some tools (pytest) rewrite them. Each is
    compiled in two ways: how a method is called depends on whether its module imports the name before the dot, and
    a notebook compiles each statement of a cell on its own.
    """
    tree = ast.parse(text)
    asserting = any(isinstance(node, ast.Assert) for node in ast.walk(tree))
    found: dict[tuple[str, int], list[tuple[CodeType, CodeType | None]]] = {}
    for part in (tree, *(ast.Module([node], []) for node in tree.body)):
        bare = {_place(c): c for c in _codes(_compile(part, 1))} if asserting else {}
        for code in _codes(_compile(part, -1)):
            other = bare.get(_place(code))
            without = None if other is None or _same(code, other) else other
            found.setdefault(_place(code), []).append((code, without))
    return found


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_name, code.co_firstlineno


def _compile(part: ast.Module, level: int) -> CodeType:
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # for notebooks
    made: CodeType = compile(part, "<text>", "exec", flags, dont_inherit=True, optimize=level)
    return made


def _codes(code: CodeType) -> Iterator[CodeType]:
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield part
            yield from _codes(part)


def _same(a: CodeType, b: CodeType) -> bool:
    return bool(_constant(a) == _constant(b))


def _contained(a: CodeType, b: CodeType) -> bool:
    """Whether `b` contains `a`, which was compiled without assertions."""
    count = a.co_argcount + a.co_kwonlyargcount
    return (
        a.co_varnames[:count] == b.co_varnames[:count]
        and {*a.co_names} <= {*b.co_names}
        and {*map(_constant, _plain(a))} <= {*map(_constant, _plain(b))}
    )


def _plain(code: CodeType) -> list[Any]:
    return [part for part in code.co_consts if not isinstance(part, CodeType)]


def _constant(value: Any) -> Any:
    """Return a constant with its type, for comparison: 1, 1.0 and True differ."""
    if isinstance(value, CodeType):
        compared = tuple(getattr(value, name) for name in _COMPARED)
        return compared, tuple(map(_constant, value.co_consts))
    if isinstance(value, tuple):
        return tuple(map(_constant, value))
    if isinstance(value, frozenset):
        return frozenset(map(_constant, value))
    return type(value), repr(value)
