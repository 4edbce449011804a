"""Reductions by a key: sums that are relative to the greatest key so far, as those of an online softmax.

Such sums, each times a factor that only its own key and the greatest one of all decide, add up. So several
contributions need one greatest key, and a factor each, and the sums of those before are scaled once for all of them.

Source: the blocks of Dao and others, "FlashAttention" (NeurIPS 2022), section 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import ir, walk

EQUAL = {"<": False, ">": False, "!=": False, "<=": True, ">=": True, "==": True}


@dataclass(frozen=True, slots=True)
class Keyed:
    """A reduction by a key. key: which of its fields that is. better: the greater (or the lesser) of two keys.

    factor: of what was relative to one key and is to be to a better one: code of both keys.
    """

    key: int
    better: ir.Inline
    factor: ir.Inline


def keyed(acc: ir.Accumulator) -> Keyed | None:
    """Return how an accumulator of several fields is one by a key; None if it is none.

    Its key is the greatest or the least of all. Every other field is a sum of both parts', each times a factor that
    follows from both keys, is the same one for all fields, and is 1 if the keys are equal. Then a part that is nothing
    but the best key of all may be joined to each part without a change. After that all keys are equal.
    """
    if acc.combine is None or len(acc.fields) < 2:
        return None
    results = _results(acc.combine)
    count = len(acc.fields)
    a, b = acc.combine.params[:count], acc.combine.params[count:]
    for key, best in enumerate(results or ()):
        both = a[key], b[key]
        if not _is_best(best, both):
            continue
        assert results is not None
        found = {_factors(e, a[i], b[i], both) for i, e in enumerate(results) if i != key}
        factors = found.pop()
        if (
            found
            or factors is None
            or not all(_is_one(_with(f, {b[key]: a[key]})) for f in factors)
        ):
            return None
        of_a = _replaced(factors[0], best, b[key])  # b's key is the better one
        return Keyed(key, ir.Inline(both, (), (best,)), ir.Inline(both, (), (of_a,)))
    return None


def _is_best(e: ir.Expr, keys: tuple[ir.Var, ir.Var]) -> bool:
    """Whether an expression is the greater or the lesser of two keys."""
    names = "maximum", "minimum"
    return isinstance(e, ir.Call) and e.name in names and set(e.arguments) == set(keys)


def _results(code: ir.Inline) -> list[ir.Expr] | None:
    """Return what code computes, as expressions of its parameters; None if it has other statements than assignments."""
    made: dict[ir.Var, ir.Expr] = {}
    for s in code.body:
        if not isinstance(s, ir.Assign) or s.var in made:
            return None
        made[s.var] = _with(s.value, made)
    return [_with(e, made) for e in code.results]


def _with(e: ir.Expr, values: dict[ir.Var, ir.Expr]) -> ir.Expr:
    """Return an expression with variables replaced."""
    return walk.map_expr(e, lambda x: values.get(x) if isinstance(x, ir.Var) else None)


def _replaced(e: ir.Expr, old: ir.Expr, new: ir.Expr) -> ir.Expr:
    return walk.map_expr(e, lambda x: new if x == old else None)


def _factors(
    e: ir.Expr, a: ir.Var, b: ir.Var, keys: tuple[ir.Var, ir.Var]
) -> tuple[ir.Expr, ir.Expr] | None:
    """Return the factors of a sum a * f + b * g that depend on `keys` alone; None if it is none."""
    if not (isinstance(e, ir.Binary) and e.op == "+"):
        return None
    for left, right in ((e.left, e.right), (e.right, e.left)):
        of_a, of_b = _factor(left, a, keys), _factor(right, b, keys)
        if of_a is not None and of_b is not None:
            return of_a, of_b
    return None


def _factor(e: ir.Expr, own: ir.Var, keys: tuple[ir.Var, ir.Var]) -> ir.Expr | None:
    if not (isinstance(e, ir.Binary) and e.op == "*" and own in (e.left, e.right)):
        return None
    other = e.right if e.left == own else e.left
    numbers = (ir.Const, ir.Var, ir.Unary, ir.Binary, ir.Compare, ir.Select, ir.Cast, ir.Call)
    plain = all(isinstance(x, numbers) for x in walk.subexpressions(other))
    return other if plain and walk.variables((other,)) <= set(keys) else None


def _is_one(e: ir.Expr) -> bool:
    """Whether an expression is 1, of which both keys are the same."""
    found = walk.map_expr(e, _simpler)
    return isinstance(found, ir.Const) and found.value == 1


def _simpler(e: ir.Expr) -> ir.Expr | None:
    match e:
        case ir.Call(name="maximum" | "minimum", arguments=(x, y)) if x == y:
            return x
        case ir.Compare(op=op, left=x, right=y) if x == y and op in EQUAL:
            return ir.Const(EQUAL[op], e.type)
        case ir.Select(condition=ir.Const(value=value), then=x, otherwise=y):
            return x if value else y
        case ir.Cast(operand=ir.Const(value=float() | int() as value), type=t) if t.is_float:
            return ir.Const(float(value), t)
    return None
