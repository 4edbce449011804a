"""Report code that is nested too deeply for a pass, for Python or for a compiler.

The limit depends on the target and on the depth of the caller's stack, so it is found by trying.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator

from .diagnostics import Location, refuse
from .source import Source


@contextlib.contextmanager
def shallow(source: Source, what: str = "", least: int = 0) -> Iterator[None]:
    """Refuse the deepest statement of `source` if the code in this context fails because of the nesting.

    least: the depth from which `source` is held to be the cause. Below it, the error is raised as it is.
    """
    try:
        yield
    except (RecursionError, SyntaxError, MemoryError) as error:
        # Python's parser says "too many levels of indentation" or "Parser stack overflowed" of emitted text.
        if not isinstance(error, RecursionError) and not re.search("too many|stack", str(error)):
            raise
        at, depth = deepest(source)
        if depth < least:
            raise
        refuse(at, f"nested too deeply{what}", _hint(at))


def _hint(at: Location) -> str:
    if at.text.lstrip().startswith(("if ", "elif ")):
        return "do parts of it in functions (@ev.func), or look values up in an array"
    return "assign parts of it to variables on lines of their own"


def deepest(source: Source) -> tuple[Location, int]:
    """Return the statement with the deepest nesting of nodes, and its depth. In `a and b`, b counts as nested in a."""
    line, most = 1, 0
    with contextlib.suppress(RecursionError, MemoryError):
        left: list[tuple[ast.AST, int, int]] = [(ast.parse(source.text), 0, 1)]
        while left:
            node, depth, at = left.pop()
            if isinstance(node, ast.stmt):
                at = node.lineno
            if depth > most:
                line, most = at, depth
            wide = isinstance(node, ast.expr)
            for i, child in enumerate(ast.iter_child_nodes(node)):
                left.append((child, depth + 1 + wide * i, at))
    number = source.first_line + line - 1
    text = source.line(number)
    start = len(text) - len(text.lstrip()) + 1
    return Location(source.file, number, start, len(text) + 1, text, source.name), most
