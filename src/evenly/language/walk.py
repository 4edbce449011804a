"""Traverse and rewrite the typed program: the few generic traversals that passes share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from . import ir


def is_constant(e: ir.Expr) -> bool:
    """Whether it has one value in a launch, because it consists of literals and arguments only."""
    kinds = ir.Var | ir.Element | ir.Processor | ir.Peer
    return not any(isinstance(x, kinds) for x in subexpressions(e))


def parts(e: ir.Expr) -> tuple[ir.Expr, ...]:
    """Return the operands of an expression."""
    match e:
        case ir.Element(indices=indices):
            return indices
        case ir.Item(array=array, index=index):
            return (array, index)
        case ir.Unary(operand=x) | ir.Cast(operand=x):
            return (x,)
        case ir.Within(index=x, length=n):
            return (x, n) if isinstance(n, ir.Expr) else (x,)
        case ir.Binary(left=a, right=b) | ir.Compare(left=a, right=b) | ir.Logic(left=a, right=b):
            return (a, b)
        case ir.Select(condition=c, then=a, otherwise=b):
            return (c, a, b)
        case ir.Call(arguments=arguments):
            return arguments
        case ir.Peer(index=index):
            return (index,)
    return ()


def subexpressions(e: ir.Expr) -> Iterator[ir.Expr]:
    """Yield `e` and everything in it."""
    yield e
    for part in parts(e):
        yield from subexpressions(part)


def variables(expressions: Iterable[ir.Expr]) -> set[ir.Var]:
    return {x for e in expressions for x in subexpressions(e) if isinstance(x, ir.Var)}


def operands(s: ir.Stmt) -> tuple[ir.Expr, ...]:
    """Return the expressions that a statement itself evaluates (not those of nested blocks)."""
    match s:
        case ir.Assign(value=value):
            return (value,)
        case ir.Exchange(operands=values):
            return values
        case ir.Store(indices=indices, value=value):
            return (*indices, value)
        case ir.Push(values=values):
            return values
        case ir.SetItem(index=index, value=value):
            return (index, value)
        case ir.Scratch(length=length):
            return (length,)
        case ir.Atomic(indices=indices, operands=values):
            return (*indices, *values)
        case ir.Print(parts=parts):
            return tuple(p for p in parts if isinstance(p, ir.Expr))
        case ir.If(condition=c) | ir.While(condition=c) | ir.Assert(condition=c):
            return (c,)
        case ir.For(start=a, stop=b, step=c):
            return (a, b, c)
        case ir.Stage(first=a, last=b):
            return (a, b)
        case ir.Accumulate(values=values, index=index):
            return values if index is None else (*values, index)
        case ir.Scan(values=values) | ir.Yield(over=values):
            return values
        case ir.Pass(accumulators=accumulators):
            return tuple(x for a in accumulators for x in a.identity)
    return ()


def blocks(s: ir.Stmt) -> tuple[ir.Block, ...]:
    match s:
        case ir.If(then=a, otherwise=b):
            return (a, b)
        case ir.While(before=a, body=b):
            return (a, b)
        case ir.For(body=b) | ir.Pass(body=b) | ir.Push(body=b):
            return (b,)
    return ()


def statements(block: ir.Block) -> Iterator[ir.Stmt]:
    """Yield every statement of a block, nested ones too, in order."""
    for s in block:
        yield s
        for inner in blocks(s):
            yield from statements(inner)


def expressions(block: ir.Block) -> Iterator[ir.Expr]:
    """Yield every expression of a block, with all its parts."""
    for s in statements(block):
        for e in operands(s):
            yield from subexpressions(e)
        if isinstance(s, ir.Pass):
            for a in s.accumulators:
                if a.combine is not None:
                    yield from inline_expressions(a.combine)


def inline_expressions(code: ir.Inline) -> Iterator[ir.Expr]:
    yield from expressions(code.body)
    for e in code.results:
        yield from subexpressions(e)


def assigned(s: ir.Stmt) -> tuple[ir.Var, ...]:
    """Return the variables that a statement itself sets (not those of nested blocks)."""
    match s:
        case ir.Assign(var=v):
            return (v,)
        case ir.SetItem(array=v):
            return (v,)
        case ir.Atomic(result=v) if v is not None:
            return (v,)
        case ir.For(var=v):
            return (v,)
        case ir.Scan(results=results):
            return results
        case ir.Exchange(op=op, result=v) if op != "gather":
            return (v,)
        case ir.Pass(atom=atom, accumulators=accumulators):
            return (atom, *(v for a in accumulators for v in a.fields))
    return ()


def variables_read(block: ir.Block) -> set[ir.Var]:
    return {e for e in expressions(block) if isinstance(e, ir.Var)}


def variables_set(block: ir.Block) -> set[ir.Var]:
    return {v for s in statements(block) for v in assigned(s)}


def arrays_read(block: ir.Block) -> set[ir.Array]:
    return {e.array for e in expressions(block) if isinstance(e, ir.Element)}


def arrays_written(block: ir.Block) -> set[ir.Array]:
    return {s.array for s in statements(block) if isinstance(s, ir.Store | ir.Atomic | ir.Scratch)}


def arrays_touched(block: ir.Block) -> set[ir.Array]:
    """Return the arrays that a block of code reads or changes."""
    return arrays_written(block) | arrays_read(block)


def map_expr(e: ir.Expr, f: Callable[[ir.Expr], ir.Expr | None]) -> ir.Expr:
    """Rewrite bottom-up; `f` returns None to leave a node unchanged."""
    match e:
        case ir.Element(indices=indices):
            e = replace(e, indices=tuple(map_expr(i, f) for i in indices))
        case ir.Item(index=index):
            e = replace(e, index=map_expr(index, f))
        case ir.Within(index=index, length=n):
            e = replace(
                e, index=map_expr(index, f), length=n if isinstance(n, int) else map_expr(n, f)
            )
        case ir.Unary(operand=x) | ir.Cast(operand=x):
            e = replace(e, operand=map_expr(x, f))
        case ir.Binary(left=a, right=b) | ir.Compare(left=a, right=b) | ir.Logic(left=a, right=b):
            e = replace(e, left=map_expr(a, f), right=map_expr(b, f))
        case ir.Select(condition=c, then=a, otherwise=b):
            e = replace(e, condition=map_expr(c, f), then=map_expr(a, f), otherwise=map_expr(b, f))
        case ir.Call(arguments=arguments):
            e = replace(e, arguments=tuple(map_expr(x, f) for x in arguments))
        case ir.Peer(index=index):
            e = replace(e, index=map_expr(index, f))
    new = f(e)
    return e if new is None else new


def map_block(block: ir.Block, f: Callable[[ir.Expr], ir.Expr | None]) -> ir.Block:
    """Rewrite every expression of a block."""
    return tuple(map_stmt(s, f) for s in block)


def map_stmt(s: ir.Stmt, f: Callable[[ir.Expr], ir.Expr | None]) -> ir.Stmt:
    def go(e: ir.Expr) -> ir.Expr:
        return map_expr(e, f)

    match s:
        case ir.Assign(value=value):
            return replace(s, value=go(value))
        case ir.Store(indices=indices, value=value):
            atom = s.atom and go(s.atom)
            return replace(s, indices=tuple(map(go, indices)), value=go(value), atom=atom)
        case ir.SetItem(index=index, value=value):
            return replace(s, index=go(index), value=go(value))
        case ir.Scratch(length=length):
            return replace(s, length=go(length))
        case ir.Atomic(indices=indices, operands=values):
            return replace(s, indices=tuple(map(go, indices)), operands=tuple(map(go, values)))
        case ir.Print(parts=parts):
            return replace(s, parts=tuple(p if isinstance(p, str) else go(p) for p in parts))
        case ir.Assert(condition=c):
            return replace(s, condition=go(c))
        case ir.If(condition=c, then=a, otherwise=b):
            return replace(s, condition=go(c), then=map_block(a, f), otherwise=map_block(b, f))
        case ir.While(before=a, condition=c, body=b):
            return replace(s, before=map_block(a, f), condition=go(c), body=map_block(b, f))
        case ir.For(start=x, stop=y, step=z, body=b):
            return replace(s, start=go(x), stop=go(y), step=go(z), body=map_block(b, f))
        case ir.Stage(first=x, last=y):
            return replace(s, first=go(x), last=go(y))
        case ir.Accumulate(values=values, index=index):
            return replace(s, values=tuple(map(go, values)), index=index and go(index))
        case ir.Scan(values=values):
            return replace(s, values=tuple(map(go, values)))
        case ir.Push(values=values, body=b):
            return replace(s, values=tuple(map(go, values)), body=map_block(b, f))
        case ir.Pass(body=b):
            return replace(s, body=map_block(b, f))
        case ir.Yield(over=over):
            return replace(s, over=tuple(map(go, over)))
    return s


def rewritten(block: ir.Block, f: Callable[[ir.Stmt], ir.Block | None]) -> ir.Block:
    """Put what `f` returns in the place of each statement, nested ones too; None leaves a statement as it is."""
    out: list[ir.Stmt] = []
    for s in block:
        new = f(s)
        out.extend((_rewritten_inside(s, f),) if new is None else new)
    return tuple(out)


def _rewritten_inside(s: ir.Stmt, f: Callable[[ir.Stmt], ir.Block | None]) -> ir.Stmt:
    match s:
        case ir.If(then=a, otherwise=b):
            return replace(s, then=rewritten(a, f), otherwise=rewritten(b, f))
        case ir.While(before=a, body=b):
            return replace(s, before=rewritten(a, f), body=rewritten(b, f))
        case ir.For(body=b) | ir.Pass(body=b) | ir.Push(body=b):
            return replace(s, body=rewritten(b, f))
    return s


def map_steps(steps: tuple[ir.Step, ...], f: Callable[[ir.Block], ir.Block]) -> tuple[ir.Step, ...]:
    """Rewrite the code of every step of a program, that of steps in a while, too."""

    def one(step: ir.Step) -> ir.Step:
        if isinstance(step, ir.Rounds):
            return replace(step, test=f(step.test), steps=map_steps(step.steps, f))
        return replace(step, body=f(step.body))

    return tuple(map(one, steps))


def substitute(
    code: ir.Inline, arguments: tuple[ir.Expr, ...]
) -> tuple[ir.Block, tuple[ir.Expr, ...]]:
    """Return the body and results of `code` with its parameters replaced by expressions that are cheap to repeat."""
    table = dict(zip(code.params, arguments, strict=True))

    def f(e: ir.Expr) -> ir.Expr | None:
        return table.get(e) if isinstance(e, ir.Var) else None

    return map_block(code.body, f), tuple(map_expr(e, f) for e in code.results)
