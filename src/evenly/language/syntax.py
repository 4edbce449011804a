"""The surface tree: what a kernel says, before anything is known about its types.

It is a small version of Python's own tree: it has only what the language allows, and every node
has its place in the user's file. `parse` makes it, and `lower` reads it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from .diagnostics import Location


@dataclass(frozen=True, slots=True)
class Node:
    at: Location


class Expr(Node):
    __slots__ = ()


class Stmt(Node):
    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Name(Expr):
    name: str


@dataclass(frozen=True, slots=True)
class Constant(Expr):
    value: bool | int | float | complex | None


@dataclass(frozen=True, slots=True)
class Attribute(Expr):
    base: Expr
    name: str


@dataclass(frozen=True, slots=True)
class Subscript(Expr):
    base: Expr
    indices: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Call(Expr):
    function: Expr
    arguments: tuple[Expr, ...]
    keywords: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, slots=True)
class Unary(Expr):
    op: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary(Expr):
    op: str
    left: Expr
    right: Expr


def is_whole_literal(node: Expr) -> bool:
    """Whether an expression is made of literal integers alone: 5, 2**63 - 1."""
    if isinstance(node, Binary):
        return is_whole_literal(node.left) and is_whole_literal(node.right)
    return isinstance(node, Constant) and type(node.value) is int


@dataclass(frozen=True, slots=True)
class Compare(Expr):
    """`first op[0] rest[0] op[1] rest[1] ...`, each operand evaluated once. `is None` and `is not None` stand alone."""

    first: Expr
    ops: tuple[str, ...]
    rest: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Logic(Expr):
    """`and` / `or`, short-circuiting."""

    op: str
    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Conditional(Expr):
    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class TupleOf(Expr):
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Generator(Expr):
    """`element for target in iterable if conditions...`."""

    element: Expr
    target: Expr
    iterable: Expr
    conditions: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Assign(Stmt):
    targets: tuple[Expr, ...]
    value: Expr


@dataclass(frozen=True, slots=True)
class Update(Stmt):
    """`target op= value`."""

    target: Expr
    op: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Evaluate(Stmt):
    """An expression for its effect."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Print(Stmt):
    """`print(...)` alone on a line, with texts and expressions, if `call` is Python's print."""

    call: Call
    parts: tuple[str | Expr, ...]


@dataclass(frozen=True, slots=True)
class Assert(Stmt):
    """An assertion. `text`: the statement as it is written."""

    condition: Expr
    text: str


@dataclass(frozen=True, slots=True)
class If(Stmt):
    """An if statement. `last`: whether the statements after it in its block have been moved into its branches."""

    condition: Expr
    then: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...]
    last: bool = False


@dataclass(frozen=True, slots=True)
class While(Stmt):
    condition: Expr
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class For(Stmt):
    target: Expr
    iterable: Expr
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Break(Stmt):
    pass


@dataclass(frozen=True, slots=True)
class Continue(Stmt):
    pass


@dataclass(frozen=True, slots=True)
class Return(Stmt):
    value: Expr | None


@dataclass(frozen=True, slots=True)
class Yield(Stmt):
    """`yield value`, or `yield from value` if `each`."""

    value: Expr
    each: bool


@dataclass(frozen=True, slots=True)
class Function(Node):
    name: str
    parameters: tuple[str, ...]
    only_by_place: int  # how many of them are before a /
    by_place: int  # and before a *
    defaults: dict[str, Location]  # where they are; the function has their values
    body: tuple[Stmt, ...]


def assigned(body: tuple[Stmt, ...]) -> dict[str, Location]:
    """Return the names that a block assigns, with the place of the first assignment."""
    found: dict[str, Location] = {}
    for statement in body:
        for target in _targets(statement):
            for name in target_names(target):
                found.setdefault(name.name, name.at)
        for block in blocks(statement):
            for name_text, at in assigned(block).items():
                found.setdefault(name_text, at)
    return found


def without_continue(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Return the block with each `continue` of its own level turned into an if around the rest."""
    return _without(body, Continue, ())


def without_break(body: tuple[Stmt, ...], instead: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Return the block with each `break` of its own level turned into `instead`, and an if around the rest."""
    return _without(body, Break, instead)


def _without(
    body: tuple[Stmt, ...], kind: type[Stmt], instead: tuple[Stmt, ...]
) -> tuple[Stmt, ...]:
    out: list[Stmt] = []
    for i, statement in enumerate(body):
        if isinstance(statement, kind):
            out.extend(instead)
            break
        if isinstance(statement, If) and holds(statement, kind):
            rest = body[i + 1 :]
            then, otherwise = (
                _without(b + rest, kind, instead) for b in (statement.then, statement.otherwise)
            )
            out.append(If(statement.at, statement.condition, then, otherwise, last=True))
            break
        out.append(statement)
    return tuple(out)


def holds(statement: Stmt, kind: type[Stmt]) -> bool:
    """Whether a statement is of a kind, or is an if around such a one."""
    if isinstance(statement, kind):
        return True
    return isinstance(statement, If) and any(
        holds(inner, kind) for b in blocks(statement) for inner in b
    )


def target_names(target: Expr) -> list[Name]:
    return [leaf for leaf in target_leaves(target) if isinstance(leaf, Name)]


def target_leaves(target: Expr) -> list[Expr]:
    """Return what a target assigns: names, elements and attributes."""
    if isinstance(target, TupleOf):
        return [leaf for item in target.items for leaf in target_leaves(item)]
    return [target]


def _targets(statement: Stmt) -> tuple[Expr, ...]:
    if isinstance(statement, Assign):
        return statement.targets
    if isinstance(statement, Update | For):
        return (statement.target,)
    return ()


def blocks(statement: Stmt) -> tuple[tuple[Stmt, ...], ...]:
    """Return the blocks nested directly in a statement."""
    if isinstance(statement, If):
        return (statement.then, statement.otherwise)
    if isinstance(statement, While | For):
        return (statement.body,)
    return ()


def yields(body: tuple[Stmt, ...]) -> bool:
    """Whether a block yields: then its function is a generator."""
    return any(isinstance(x, Yield) or any(map(yields, blocks(x))) for x in body)


def expressions(statement: Stmt) -> tuple[Expr, ...]:
    """Return the expressions directly in a statement, including targets that it reads."""
    match statement:
        case Assign(targets=targets, value=value):
            return (*(t for t in targets if not isinstance(t, Name | TupleOf)), value)
        case Update(target=target, value=value):
            return (target, value)
        case Evaluate(value=value) | Yield(value=value):
            return (value,)
        case Print(call=call):
            return (call,)
        case If(condition=condition) | While(condition=condition) | Assert(condition=condition):
            return (condition,)
        case For(iterable=iterable):
            return (iterable,)
        case Return(value=value) if value is not None:
            return (value,)
    return ()


def children(expr: Expr) -> tuple[Expr, ...]:
    match expr:
        case Attribute(base=base):
            return (base,)
        case Subscript(base=base, indices=indices):
            return (base, *indices)
        case Call(function=function, arguments=arguments, keywords=keywords):
            return (function, *arguments, *(value for _, value in keywords))
        case Unary(operand=operand):
            return (operand,)
        case Binary(left=left, right=right):
            return (left, right)
        case Compare(first=first, rest=rest):
            return (first, *rest)
        case Logic(values=values):
            return values
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            return (condition, then, otherwise)
        case TupleOf(items=items):
            return items
        case Generator(element=element, iterable=iterable, conditions=conditions):
            return (iterable, element, *conditions)
    return ()


def reads(expr: Expr, name: str) -> Expr | None:
    """Return the first place in `expr` that reads `name`, or None."""
    if isinstance(expr, Name):
        return expr if expr.name == name else None
    if isinstance(expr, Generator) and any(n.name == name for n in target_names(expr.target)):
        return reads(expr.iterable, name)  # the generator's own variable hides it
    for child in children(expr):
        found = reads(child, name)
        if found is not None:
            return found
    return None


def alike(a: Expr, b: Expr) -> bool:
    """Whether two expressions are written alike."""
    if type(a) is not type(b):
        return False
    names = (f.name for f in fields(a) if f.name != "at")
    return all(_alike(getattr(a, n), getattr(b, n)) for n in names)


def _alike(a: object, b: object) -> bool:
    if isinstance(a, Expr) and isinstance(b, Expr):
        return alike(a, b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_alike, a, b))
    return type(a) is type(b) and a == b
