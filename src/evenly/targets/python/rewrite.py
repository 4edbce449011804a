"""Compile a user's function again, with the operators of `operators` in place of Python's.

It remains the same function on the same lines of the same file, so breakpoints, tracebacks and
closures work. Operators whose meaning is typed are replaced by calls: arithmetic, comparisons, `not`,
True and False. Where paths meet, values are converted to their common type (see `meets`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType
from typing import Any

from evenly.language import reads
from evenly.language.diagnostics import Span
from evenly.language.operators import OPERATORS
from evenly.language.parse import BINARY, place_of
from evenly.language.source import Source, tree_of

from . import operators

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide",
    ast.FloorDiv: "floor_divide", ast.Mod: "remainder", ast.Pow: "power",
    ast.LShift: "shift_left", ast.RShift: "shift_right",
    ast.BitAnd: "bit_and", ast.BitOr: "bit_or", ast.BitXor: "bit_xor",
    ast.USub: "negative", ast.Not: "truth",
    ast.Eq: "equal", ast.NotEq: "not_equal", ast.Lt: "less", ast.LtE: "less_equal",
    ast.Gt: "greater", ast.GtE: "greater_equal",
}  # fmt: skip


def hidden(name: str) -> str:
    """Return the name by which rewritten code refers to a function of evenly. No user can write such a name."""
    return f"<evenly {name}>"


NAMES = {hidden(n): getattr(operators, n) for n in (*_OPERATORS.values(), "chain", "update")}


def code_of(function: Callable[..., Any], source: Source) -> CodeType:
    """Return the code object of `function`, with its operators replaced."""
    tree = tree_of(source)
    node = next(n for n in tree.body if isinstance(n, ast.FunctionDef))
    node.decorator_list, node.returns = [], None
    a = node.args
    a.posonlyargs, a.args = [], [*a.posonlyargs, *a.args]
    for argument in (*a.args, *a.kwonlyargs):
        argument.annotation = None
    a.defaults = [ast.copy_location(ast.Constant(None), d) for d in a.defaults]
    a.kw_defaults = [d and ast.copy_location(ast.Constant(None), d) for d in a.kw_defaults]
    typed = _Typed(lambda part: place_of(source, part).place)
    node.body = typed.block(node.body)
    _shift(node, source)
    # An enclosing function makes the names of its closure free variables again.
    outer = ast.parse(f"def outer({', '.join(function.__code__.co_freevars)}):\n    pass")
    outer.body[0].body = [node]  # type: ignore[attr-defined]
    module = compile(outer, source.file, "exec", dont_inherit=True)
    return _nested(_nested(module, "outer"), node.name)


def _nested(code: CodeType, name: str) -> CodeType:
    return next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)


def _shift(node: ast.FunctionDef, source: Source) -> None:
    """Shift the tree's line and column numbers to its place in the user's file."""
    ast.increment_lineno(node, source.first_line - 1)
    for part in ast.walk(node):
        if hasattr(part, "col_offset"):
            part.col_offset += source.indent
        if getattr(part, "end_col_offset", None) is not None:
            part.end_col_offset += source.indent  # type: ignore[attr-defined]


class _Typed(ast.NodeTransformer):
    def __init__(self, place: Callable[[Any], Span]) -> None:
        self._place = place
        self._leaving: list[
            Callable[[], list[ast.stmt]]
        ] = []  # for each open loop, the statements at the end of an iteration

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in statements:
            new = self.visit(statement)
            made.extend(new if isinstance(new, list) else [new])
        return made

    # ---- where paths meet --------------------------------------------------------------------
    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        return _call(node, "met", self._at(node), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        made = _call(node, "call", self._at(node), node.func, *node.args)
        made.keywords = node.keywords
        return made

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        meet = self._meet(node, node.body + node.orelse)
        node.test = self.visit(node.test)
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        return [node, *meet()]

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        text = ast.copy_location(ast.Constant(ast.unparse(node)), node)
        failed = ast.copy_location(ast.Expr(_call(node, "failed", text)), node)
        wrong = ast.copy_location(ast.UnaryOp(ast.Not(), self.visit(node.test)), node)
        return ast.copy_location(ast.If(wrong, [failed], []), node)

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        node.iter = self.visit(node.iter)
        return self._loop(node)

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        node.test = self.visit(node.test)
        return self._loop(node)

    def _loop(self, node: ast.For | ast.While) -> list[ast.stmt]:
        """Convert the variables that a loop carries, before the first iteration and at the end of each."""
        meet = self._meet(node, node.body)
        self._leaving.append(meet)
        node.body = [*self.block(node.body), *meet()]
        self._leaving.pop()
        return [*meet(), node]

    def visit_Break(self, node: ast.Break) -> list[ast.stmt]:
        return [*self._leaving[-1](), node]

    def visit_Continue(self, node: ast.Continue) -> list[ast.stmt]:
        return [*self._leaving[-1](), node]

    def _meet(self, at: ast.stmt, body: list[ast.stmt]) -> Callable[[], list[ast.stmt]]:
        """Make `if known(place, "v"): v = met(place, v, "v")` for each name that `body` assigns."""
        assigned = dict.fromkeys(name for statement in body for name in _assigned(statement))

        def one(name: str) -> ast.stmt:
            text = ast.copy_location(ast.Constant(name), at)
            old = ast.copy_location(ast.Name(name, ast.Load()), at)
            new = ast.copy_location(ast.Name(name, ast.Store()), at)
            value = _call(at, "met", self._at(at), old, text)
            change = ast.copy_location(ast.Assign([new], value), at)
            return ast.copy_location(
                ast.If(_call(at, "known", self._at(at), text), [change], []), at
            )

        return lambda: [one(name) for name in assigned]

    def _at(self, node: ast.expr | ast.stmt) -> ast.Constant:
        place: Any = self._place(node)  # a tuple may be a constant, too
        return ast.copy_location(ast.Constant(place), node)

    # ---- operators ---------------------------------------------------------------------------
    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        whole = _computed(node)
        if whole is not None:
            return ast.copy_location(ast.Constant(whole), node)
        return _call(node, _OPERATORS[type(node.op)], node.left, node.right)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        name, target = _OPERATORS[type(node.op)], node.target
        if isinstance(target, ast.Subscript):
            operation, value = _name(node, name), _later(node.value)
            call = _call(node, "update", target.value, target.slice, operation, value)
            return ast.copy_location(ast.Expr(call), node)
        assert isinstance(target, ast.Name)
        old = ast.copy_location(ast.Name(target.id, ast.Load()), target)
        return ast.copy_location(ast.Assign([target], _call(node, name, old, node.value)), node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        names = [_OPERATORS.get(type(op)) for op in node.ops]
        if names[0] is None:  # `is None`
            return _call(node, "truth", node)
        if len(names) == 1:
            return _call(node, names[0], node.left, node.comparators[0])
        rest = [
            part
            for name, right in zip(names, node.comparators, strict=True)
            for part in (_name(node, str(name)), _later(right))
        ]
        return _call(node, "chain", node.left, *rest)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return _call(node, "truth", node)
        literal = isinstance(node.operand, ast.Constant)
        if isinstance(node.op, ast.USub) and not literal:
            return _call(node, "negative", node.operand)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return _call(node, "truth", node) if type(node.value) is bool else node


def _assigned(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement, or one inside it, assigns."""
    targets = {
        ast.Assign: "targets",
        ast.AnnAssign: "target",
        ast.AugAssign: "target",
        ast.For: "target",
    }
    found = getattr(statement, targets.get(type(statement), ""), [])
    for target in found if isinstance(found, list) else [found]:
        yield from (
            n.id for n in ast.walk(target) if isinstance(n, ast.Name) and type(n.ctx) is ast.Store
        )
    for inner in ast.iter_child_nodes(statement):
        if isinstance(inner, ast.stmt):
            yield from _assigned(inner)


def _computed(node: ast.BinOp) -> int | None:
    """Return the value of an operation on literal integers, as Python has it, since kernels are compiled with that."""
    sign, a, b = BINARY.get(type(node.op), "/"), _literal(node.left), _literal(node.right)
    if a is None or b is None or sign == "/" or (sign in ("**", "<<") and b > 64):
        return None
    try:
        value = OPERATORS[sign](a, b)
    except (ZeroDivisionError, ValueError):
        return None
    return value if type(value) is int else None


def _literal(node: ast.expr) -> int | None:
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _name(at: ast.AST, name: str) -> ast.Name:
    return ast.copy_location(ast.Name(hidden(name), ast.Load()), at)


def _call(at: ast.AST, name: str, *arguments: ast.expr) -> ast.Call:
    return ast.copy_location(ast.Call(_name(at, name), list(arguments), []), at)


def _later(value: ast.expr) -> ast.Lambda:
    """Return a lambda that computes `value` when it is called."""
    nothing = ast.arguments([], [], None, [], [], None, [])
    return ast.copy_location(ast.Lambda(nothing, value), value)


def function_with(
    function: Callable[..., Any],
    code: CodeType,
    replace: Callable[[Any], Any],
    builtins: dict[str, Any],
    ours: dict[str, Any],
) -> FunctionType:
    """Make a function of `code` that sees the same names as `function`, each replaced.

    ours: the functions met, known, call and failed.
    """
    names = {"__builtins__": builtins, "__name__": function.__module__, **NAMES}
    names |= {hidden(n): thing for n, thing in ours.items()}
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
