"""A user's function, compiled again with the operators of `operators` in place of Python's.

It stays the same function on the same lines of the same file: breakpoints, tracebacks
and closures work. Only where Python's meaning differs does a call stand instead:
`/ // % ** << >>`, the results of comparisons and `not`, True and False.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType
from typing import Any

from evenly.language import reads
from evenly.language.source import Source

from . import operators

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Div: "divide", ast.FloorDiv: "floor_divide", ast.Mod: "remainder", ast.Pow: "power",
    ast.LShift: "shift_left", ast.RShift: "shift_right",
}  # fmt: skip

# How the rewritten code refers to them: no user's name looks like this.
_PREFIX = "__evenly_"
NAMES = {
    f"{_PREFIX}{name}": getattr(operators, name)
    for name in (*_OPERATORS.values(), "truth", "update")
}


def code_of(function: Callable[..., Any], source: Source) -> CodeType:
    """The code object of `function`, with its operators replaced."""
    tree = ast.parse(source.text)
    node = next(n for n in tree.body if isinstance(n, ast.FunctionDef))
    node.decorator_list, node.returns = [], None
    a = node.args
    a.posonlyargs, a.args = [], [*a.posonlyargs, *a.args]
    for argument in (*a.args, *a.kwonlyargs):
        argument.annotation = None
    a.defaults = [ast.copy_location(ast.Constant(None), d) for d in a.defaults]
    a.kw_defaults = [d and ast.copy_location(ast.Constant(None), d) for d in a.kw_defaults]
    node.body = [_Operators().visit(statement) for statement in node.body]
    _shift(node, source)
    # A function around it makes the names of its closure free variables again.
    outer = ast.parse(f"def outer({', '.join(function.__code__.co_freevars)}):\n    pass")
    outer.body[0].body = [node]  # type: ignore[attr-defined]
    module = compile(outer, source.file, "exec", dont_inherit=True)
    return _nested(_nested(module, "outer"), node.name)


def _nested(code: CodeType, name: str) -> CodeType:
    return next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)


def _shift(node: ast.FunctionDef, source: Source) -> None:
    """Move the tree to its place in the user's file."""
    ast.increment_lineno(node, source.first_line - 1)
    for part in ast.walk(node):
        if hasattr(part, "col_offset"):
            part.col_offset += source.indent
        if getattr(part, "end_col_offset", None) is not None:
            part.end_col_offset += source.indent  # type: ignore[attr-defined]


class _Operators(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        name = _OPERATORS.get(type(node.op))
        return node if name is None else _call(node, name, node.left, node.right)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        name = _OPERATORS.get(type(node.op))
        if name is None:
            return node
        target = node.target
        if isinstance(target, ast.Subscript):
            operation = _name(node, name)
            call = _call(node, "update", target.value, target.slice, operation, node.value)
            return ast.copy_location(ast.Expr(call), node)
        assert isinstance(target, ast.Name)
        old = ast.copy_location(ast.Name(target.id, ast.Load()), target)
        return ast.copy_location(ast.Assign([target], _call(node, name, old, node.value)), node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        return _call(node, "truth", node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return _call(node, "truth", node) if isinstance(node.op, ast.Not) else node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return _call(node, "truth", node) if type(node.value) is bool else node


def _name(at: ast.AST, name: str) -> ast.Name:
    return ast.copy_location(ast.Name(_PREFIX + name, ast.Load()), at)


def _call(at: ast.AST, name: str, *arguments: ast.expr) -> ast.Call:
    return ast.copy_location(ast.Call(_name(at, name), list(arguments), []), at)


def function_with(
    function: Callable[..., Any],
    code: CodeType,
    replace: Callable[[Any], Any],
    builtins: dict[str, Any],
) -> FunctionType:
    """`code` as a function that sees what `function` sees, each name replaced."""
    names = {"__builtins__": builtins, "__name__": function.__module__, **NAMES}
    seen = {name: reads.name_of(function, name) for name in _names(code)}
    names |= {name: replace(thing) for name, thing in seen.items() if thing is not reads.NOTHING}
    closure = tuple(_cell(reads.name_of(function, n), replace) for n in code.co_freevars)
    made = FunctionType(code, names, function.__name__, None, closure)
    defaults = {name: replace(value) for name, value in reads.defaults_of(function).items()}
    given = code.co_varnames[: code.co_argcount]
    made.__defaults__ = tuple(defaults[n] for n in given if n in defaults)
    made.__kwdefaults__ = {n: value for n, value in defaults.items() if n not in given}
    return made


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _cell(value: Any, replace: Callable[[Any], Any]) -> CellType:
    return CellType() if value is reads.NOTHING else CellType(replace(value))
