"""How each reduction starts, and how two partial results combine, as plain IR.

Engines and targets know no operator by name: they call `combined`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from . import ir, walk
from .types import BOOL, POS, Scalar

_ZERO = {"f": -0.0, "c": complex(-0.0, -0.0)}
_ONE = {"f": 1.0, "c": complex(1.0, 0.0)}
OPERATORS = {"sum": "+", "product": "*", "&": "&", "|": "|", "^": "^"}


def identity(op: str, t: Scalar) -> ir.Const:
    """Return what a reduction holds before its first contribution. `combine(identity, x)` has the bits of x."""
    match op:
        case "sum":
            # -0.0 + x is x for every x, also for -0.0, and compilers fold it. Neither is true of 0.0 + x.
            return ir.Const(_ZERO.get(t.kind, 0), t)
        case "product":
            return ir.Const(_ONE.get(t.kind, 1), t)
        case "any":
            return ir.Const(False, BOOL)
        case "all":
            return ir.Const(True, BOOL)
        case "&":
            return ir.Const(
                True if t.is_bool else np.iinfo(t.dtype).max if t.is_unsigned else -1, t
            )
        case "|" | "^":
            return ir.Const(False if t.is_bool else 0, t)
        case "min" | "argmin":
            return _extreme(t, highest=True)
        case "max" | "argmax":
            return _extreme(t, highest=False)
        case "first" | "atom":
            return ir.Const(-1, POS)
    raise AssertionError(op)


def _extreme(t: Scalar, highest: bool) -> ir.Const:
    if t.is_bool:
        return ir.Const(highest, t)
    if t.is_float:
        return ir.Const(math.inf if highest else -math.inf, t)
    limits = np.iinfo(t.dtype)
    return ir.Const(int(limits.max if highest else limits.min), t)


def contributed_once(s: ir.Pass) -> frozenset[ir.Var]:
    """Return the first fields of the accumulators to which an atom contributes at most once.

    In accumulators of the atom's own, which hold the identity, the contribution then takes its place.
    """
    count: dict[ir.Var, int] = {}
    for x, looped in _contributions(s.body, False):
        count[x.accumulator.fields[0]] = count.get(x.accumulator.fields[0], 0) + 1 + looped
    return frozenset(a.fields[0] for a in s.accumulators if count.get(a.fields[0]) == 1)


def _contributions(block: ir.Block, looped: bool) -> Iterator[tuple[ir.Accumulate, bool]]:
    for s in block:
        if isinstance(s, ir.Accumulate):
            yield s, looped or s.index is not None
        inside = looped or isinstance(s, ir.While | ir.For)
        for nested in walk.blocks(s):
            yield from _contributions(nested, inside)


def combined(
    acc: ir.Accumulator,
    a: tuple[ir.Expr, ...],
    b: tuple[ir.Expr, ...],
    later: bool = False,
) -> tuple[ir.Block, tuple[ir.Expr, ...]]:
    """Combine `a` and then `b`. The operands must be cheap to repeat: variables or constants.

    `later`: no atom of `b` comes before one of `a`, which makes argmin and argmax cheaper.
    """
    t = a[0].type
    match acc.op:
        case "sum" | "product" | "&" | "|" | "^":
            return (), (ir.Binary(OPERATORS[acc.op], a[0], b[0], t),)
        case "any":
            return (), (ir.Binary("|", a[0], b[0], BOOL),)
        case "all":
            return (), (ir.Binary("&", a[0], b[0], BOOL),)
        case "min":
            return (), (ir.Call("minimum", (a[0], b[0]), t),)
        case "max":
            return (), (ir.Call("maximum", (a[0], b[0]), t),)
        case "first":
            earlier = ir.Logic(
                "and", _found(b[0]), ir.Logic("or", _missing(a[0]), ir.Compare("<", b[0], a[0]))
            )
            return (), (ir.Select(earlier, b[0], a[0], t),)
        case "argmin" | "argmax":
            take = _better(acc.op, a, b, later)
            return (), (ir.Select(take, b[0], a[0], t), ir.Select(take, b[1], a[1], POS))
        case "reduce":
            assert acc.combine is not None
            return walk.substitute(acc.combine, (*a, *b))
    raise AssertionError(acc.op)


def _found(atom: ir.Expr) -> ir.Expr:
    return ir.Compare("!=", atom, identity("atom", POS))


def _missing(atom: ir.Expr) -> ir.Expr:
    # Not `< 0`: LLVM makes a shift of that, which costs two instructions more than a predicate.
    return ir.Compare("==", atom, identity("atom", POS))


def _better(op: str, a: tuple[ir.Expr, ...], b: tuple[ir.Expr, ...], later: bool) -> ir.Expr:
    """Whether `b` beats `a`. NaN beats every number (as in NumPy), and ties go to the lowest atom.

    A result without an atom holds the identity, which everything beats or equals, and which beats nothing.
    All operands are evaluated, without short circuits: a branch in a walk over atoms delays loads.
    """
    beats = _beats(op, b[0], a[0])
    if later:
        return _either(beats, _missing(a[1]))
    first = _either(_missing(a[1]), ir.Compare("<", b[1], a[1]))
    return _both(_found(b[1]), _either(beats, _both(first, _no_worse(op, b[0], a[0]))))


def _beats(op: str, x: ir.Expr, y: ir.Expr) -> ir.Expr:
    if not x.type.is_float:
        return ir.Compare(">" if op == "argmax" else "<", x, y)
    # If x is NaN, the first comparison is false. Nothing beats y if y is NaN.
    no_better = ir.Compare("<=" if op == "argmax" else ">=", x, y)
    return _both(ir.Unary("not", no_better, BOOL), ir.Compare("==", y, y))


def _no_worse(op: str, x: ir.Expr, y: ir.Expr) -> ir.Expr:
    no_worse = ir.Compare(">=" if op == "argmax" else "<=", x, y)
    return _either(no_worse, ir.Compare("!=", x, x)) if x.type.is_float else no_worse


def _both(x: ir.Expr, y: ir.Expr) -> ir.Expr:
    return ir.Binary("&", x, y, BOOL)


def _either(x: ir.Expr, y: ir.Expr) -> ir.Expr:
    return ir.Binary("|", x, y, BOOL)
