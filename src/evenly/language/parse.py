"""Parse Python source to the surface tree. Only this file handles Python's own tree.

What the language does not allow is refused here, where its location is known best.
"""

from __future__ import annotations

import ast
from typing import NoReturn

from . import syntax as s
from .depth import shallow
from .diagnostics import Location, refuse
from .remarks import refuse_keyword
from .source import Source, tree_of

BINARY = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Not: "not", ast.Invert: "~"}

# What people try, and what to write instead.
HINTS: dict[type[ast.AST], tuple[str, str]] = {
    ast.ListComp: ("a list", "reduce it where it stands: sum(... for k in A.atoms(tile))"),
    ast.SetComp: ("a set", "reduce it where it stands: sum(... for k in A.atoms(tile))"),
    ast.DictComp: ("a dict", "keep such data in arrays and pass them as arguments"),
    ast.List: ("a list", "a tuple has a fixed length and works; for data, pass an array"),
    ast.Dict: ("a dict", "keep such data in arrays and pass them as arguments"),
    ast.Set: ("a set", "keep such data in arrays and pass them as arguments"),
    ast.Lambda: ("a lambda", "define an @ev.func beside the kernel"),
    ast.JoinedStr: ("a string", "kernels compute on numbers"),
    ast.NamedExpr: ("an assignment inside an expression", "assign on a line of its own"),
    ast.Try: ("try", "check the condition with an if"),
    ast.Raise: ("raise", "write an error code to an output array"),
    ast.With: ("with", "kernels hold no resources"),
    ast.Global: ("global", "pass arrays as arguments and store into them"),
    ast.Nonlocal: ("nonlocal", "pass arrays as arguments and store into them"),
    ast.Delete: ("del", "variables end with their block"),
    ast.Import: ("import", "import at the top of the file"),
    ast.ImportFrom: ("import", "import at the top of the file"),
    ast.FunctionDef: ("a nested function", "define an @ev.func beside the kernel"),
    ast.ClassDef: ("a class", "define it outside the kernel"),
    ast.Yield: ("yield", "store results into an output array"),
    ast.YieldFrom: ("yield", "store results into an output array"),
    ast.Await: ("await", "kernels are not coroutines"),
    ast.Starred: ("a starred expression", "name the items one by one"),
    ast.Slice: ("a slice", "index one element at a time"),
    ast.AnnAssign: ("an annotation without a value", "assign the variable where it starts"),
    ast.AsyncFunctionDef: ("a nested function", "define an @ev.func beside the kernel"),
    ast.TryStar: ("try", "check the condition with an if"),
    ast.Match: ("match", "use if/elif/else"),
    ast.AsyncFor: ("async for", "use a plain for"),
    ast.AsyncWith: ("async with", "kernels hold no resources"),
}


def parse(source: Source) -> s.Function:
    """Return the surface tree of the function in `source`. Raises LanguageError."""
    with shallow(source):
        return _parse(source)


def _parse(source: Source) -> s.Function:
    try:
        module = tree_of(source)
    except SyntaxError as error:
        line = source.first_line + (error.lineno or 1) - 1
        column = source.indent + (error.offset or 1)
        at = Location(source.file, line, column, column + 1, source.line(line), source.name)
        refuse(at, f"not Python: {error.msg}")
    for node in module.body:
        if isinstance(node, ast.FunctionDef):
            return _Parser(source).function(node)
    at = Location(source.file, source.first_line, 1, 2, source.line(source.first_line), source.name)
    refuse(at, "expected a function made by def", "a lambda has no statements: write a def")


def place_of(source: Source, node: ast.expr | ast.stmt | ast.arg) -> Location:
    """Return the location in the user's file of a node of Python's tree of `source.text`."""
    line = source.first_line + node.lineno - 1
    text = source.line(line)

    def column(offset: int) -> int:
        """Convert a column: Python counts bytes from the dedented line's start, users count characters from 1."""
        before = text[source.indent :].encode()[:offset]
        return source.indent + len(before.decode(errors="replace")) + 1

    last = node.end_col_offset if node.end_lineno == node.lineno else None
    end = len(text) + 1 if last is None else column(last)
    return Location(source.file, line, column(node.col_offset), end, text, source.name)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


class _Parser:
    def __init__(self, source: Source) -> None:
        self.source = source

    def at(self, node: ast.expr | ast.stmt | ast.arg) -> Location:
        return place_of(self.source, node)

    def unsupported(self, node: ast.expr | ast.stmt, what: str = "") -> NoReturn:
        name, hint = HINTS.get(type(node), (what or type(node).__name__, ""))
        refuse(self.at(node), f"{name} is not part of the kernel language", hint)

    # ---- functions and statements ------------------------------------------------------
    def function(self, node: ast.FunctionDef) -> s.Function:
        a = node.args
        for extra in (a.vararg, a.kwarg):
            if extra is not None:
                refuse(
                    self.at(extra),
                    "a starred parameter is not part of the kernel language",
                    "name the parameters one by one",
                )
        names = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
        positional = [p.arg for p in (*a.posonlyargs, *a.args)]
        defaults = dict(
            zip(
                positional[len(positional) - len(a.defaults) :],
                map(self.at, a.defaults),
                strict=True,
            )
        )
        defaults |= {
            p.arg: self.at(d)
            for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)
            if d is not None
        }
        places = len(a.posonlyargs), len(positional)
        body = self.block(node.body, docstring=True)
        return s.Function(self.at(node), node.name, tuple(names), *places, defaults, body)

    def block(self, body: list[ast.stmt], docstring: bool = False) -> tuple[s.Stmt, ...]:
        if (
            docstring
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
            and isinstance(body[0].value.value, str)
        ):
            body = body[1:]
        return tuple(
            statement
            for node in body
            if not isinstance(node, ast.Pass)
            for statement in [self.statement(node)]
        )

    def statement(self, node: ast.stmt) -> s.Stmt:
        at = self.at(node)
        match node:
            case ast.Assign():
                return s.Assign(
                    at, tuple(self.target(t) for t in node.targets), self.expr(node.value)
                )
            case ast.AnnAssign() if node.value is not None:
                return s.Assign(at, (self.target(node.target),), self.expr(node.value))
            case ast.AugAssign():
                return s.Update(
                    at,
                    self.target(node.target),
                    self.operator(node, node.op),
                    self.expr(node.value),
                )
            case ast.Expr(value=ast.Call(func=ast.Name("print")) as call):
                return self.printed(call)
            case ast.Assert():
                if node.msg is not None and not _is_text(node.msg):
                    refuse(
                        self.at(node.msg),
                        "the message of an assertion that is not a literal string",
                        "print the numbers before it: print(x[row])",
                    )
                return s.Assert(at, self.expr(node.test), ast.unparse(node))
            case ast.Expr(value=(ast.Yield() | ast.YieldFrom()) as given) if (
                given.value is not None
            ):
                each = isinstance(given, ast.YieldFrom)
                return s.Yield(self.at(given), self.expr(given.value), each)
            case ast.Expr():
                return s.Evaluate(at, self.expr(node.value))
            case ast.If():
                return s.If(
                    at, self.expr(node.test), self.block(node.body), self.block(node.orelse)
                )
            case ast.While():
                self.no_else(node.orelse)
                return s.While(at, self.expr(node.test), self.block(node.body))
            case ast.For():
                self.no_else(node.orelse)
                return s.For(
                    at, self.target(node.target), self.expr(node.iter), self.block(node.body)
                )
            case ast.Break():
                return s.Break(at)
            case ast.Continue():
                return s.Continue(at)
            case ast.Return():
                return s.Return(at, self.expr(node.value) if node.value is not None else None)
        self.unsupported(node)

    def printed(self, node: ast.Call) -> s.Stmt:
        for keyword in node.keywords:
            if keyword.arg is not None and _is_text(keyword.value):  # sep=" ", not a number
                refuse_keyword(keyword.arg, self.at(keyword.value))
        parts = tuple(a.value if _is_text(a) else self.expr(a) for a in node.args)  # type: ignore[attr-defined]
        rest = [a for a in node.args if not _is_text(a)]
        call = self.call(ast.copy_location(ast.Call(node.func, rest, node.keywords), node))
        return s.Print(self.at(node), call, parts)

    def no_else(self, orelse: list[ast.stmt]) -> None:
        if orelse:
            refuse(
                self.at(orelse[0]),
                "else after a loop is not part of the kernel language",
                "set a flag in the loop and test it afterwards",
            )

    def target(self, node: ast.expr) -> s.Expr:
        match node:
            case ast.Name():
                return s.Name(self.at(node), node.id)
            case ast.Tuple():
                return s.TupleOf(self.at(node), tuple(self.target(item) for item in node.elts))
            case ast.Subscript():
                return self.expr(node)
            case ast.Attribute():
                refuse(
                    self.at(node),
                    "assignment to an attribute is not part of the kernel language",
                    "store into an array: y[tile] = value",
                )
        self.unsupported(node)

    # ---- expressions -------------------------------------------------------------------
    def operator(self, node: ast.expr | ast.stmt, op: ast.operator) -> str:
        if type(op) not in BINARY:
            refuse(
                self.at(node),
                "the operator @ is not part of the kernel language",
                "write the sum over the atoms",
            )
        return BINARY[type(op)]

    def expr(self, node: ast.expr) -> s.Expr:
        at = self.at(node)
        match node:
            case ast.Name():
                return s.Name(at, node.id)
            case ast.Constant():
                return self.constant(node)
            case ast.Attribute():
                return s.Attribute(at, self.expr(node.value), node.attr)
            case ast.Subscript():
                index = node.slice
                items = index.elts if isinstance(index, ast.Tuple) else [index]
                return s.Subscript(
                    at, self.expr(node.value), tuple(self.expr(item) for item in items)
                )
            case ast.Call():
                return self.call(node)
            case ast.UnaryOp():
                return s.Unary(at, UNARY[type(node.op)], self.expr(node.operand))
            case ast.BinOp():
                return s.Binary(
                    at, self.operator(node, node.op), self.expr(node.left), self.expr(node.right)
                )
            case ast.BoolOp():
                op = "and" if isinstance(node.op, ast.And) else "or"
                return s.Logic(at, op, tuple(self.expr(value) for value in node.values))
            case ast.Compare():
                return self.compare(node)
            case ast.IfExp():
                return s.Conditional(
                    at, self.expr(node.test), self.expr(node.body), self.expr(node.orelse)
                )
            case ast.Tuple():
                return s.TupleOf(at, tuple(self.expr(item) for item in node.elts))
            case ast.GeneratorExp():
                return self.generator(node)
        self.unsupported(node)

    def constant(self, node: ast.Constant) -> s.Expr:
        if node.value is None or isinstance(node.value, bool | int | float | complex):
            return s.Constant(self.at(node), node.value)
        if isinstance(node.value, str | bytes):
            refuse(
                self.at(node),
                "a string is not part of the kernel language",
                "kernels compute on numbers",
            )
        refuse(
            self.at(node),
            f"a literal of type {type(node.value).__name__} is not part of the kernel language",
        )

    def call(self, node: ast.Call) -> s.Call:
        keywords = []
        for keyword in node.keywords:
            if keyword.arg is None:
                refuse(
                    self.at(keyword.value),
                    "** in a call is not part of the kernel language",
                    "name the arguments one by one",
                )
            keywords.append((keyword.arg, self.expr(keyword.value)))
        return s.Call(
            self.at(node),
            self.expr(node.func),
            tuple(self.expr(a) for a in node.args),
            tuple(keywords),
        )

    def compare(self, node: ast.Compare) -> s.Expr:
        if (
            len(node.ops) == 1
            and isinstance(node.ops[0], ast.Is | ast.IsNot)
            and _is_none(node.comparators[0])
        ):
            is_or_not = "is" if isinstance(node.ops[0], ast.Is) else "is not"
            return s.Compare(
                self.at(node), self.expr(node.left), (is_or_not,), (self.expr(node.comparators[0]),)
            )
        for op in node.ops:
            if type(op) not in COMPARE:
                word = {ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"}[
                    type(op)
                ]
                refuse(
                    self.at(node),
                    f"'{word}' is not part of the kernel language",
                    "compare numbers with == or !=; only `is None` and `is not None` are known",
                )
        return s.Compare(
            self.at(node),
            self.expr(node.left),
            tuple(COMPARE[type(op)] for op in node.ops),
            tuple(map(self.expr, node.comparators)),
        )

    def generator(self, node: ast.GeneratorExp) -> s.Expr:
        if len(node.generators) != 1:
            refuse(
                self.at(node),
                "a generator over two loops is not part of the kernel language",
                "nest two reductions, or write a for loop that accumulates",
            )
        loop = node.generators[0]
        return s.Generator(
            self.at(node),
            self.expr(node.elt),
            self.target(loop.target),
            self.expr(loop.iter),
            tuple(map(self.expr, loop.ifs)),
        )
