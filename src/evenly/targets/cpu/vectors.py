"""Decide how to emit passes that end in reductions: whether LLVM is to vectorise them, or whether they are unrolled.

A pass that reads arrays at consecutive atoms is written twice: as a loop that LLVM vectorises, and,
for short tiles, as a plain loop. A pass that gathers is unrolled (see `unrolled`).

LLVM vectorises and unrolls a loop without knowing how long tiles are. On tiles of a few atoms, the
remainder loops cost more than that saves. And LLVM may only vectorise a sum of floats if it may add
them in another order. That is allowed here, since the atoms of a tile have no order.
"""

from __future__ import annotations

from evenly.language import ir, walk
from evenly.language.accesses import gathers
from evenly.language.intrinsics import BY_NAME

LONG = 16  # atoms; 8 and 32 are about as good on R-MAT, 32 is worse on uniform rows of 16

VECTOR, PART = 16, 4  # staged terms that are read at a time; sums that go on at a time

_REDUCED = frozenset(("sum", "product", "min", "max", "any", "all", "&", "|", "^"))


def reduces(pass_: ir.Pass) -> bool:
    """Whether a pass is straight-line code that ends in reductions of numbers, and that LLVM can vectorise."""
    if not pass_.accumulators or any(a.op not in _REDUCED for a in pass_.accumulators):
        return False
    if any(v.length for a in pass_.accumulators for v in a.fields):
        return False
    if not all(isinstance(s, ir.Assign | ir.Accumulate) for s in pass_.body):
        return False
    chooses = not gathers(pass_)  # between numbers that are there: LLVM makes a blend of that
    return all(_is_wide(e, chooses) for e in walk.expressions(pass_.body))


def _is_wide(e: ir.Expr, chooses: bool) -> bool:
    if isinstance(e, ir.Call):
        return BY_NAME[e.name].vectorises
    if isinstance(e, ir.Select):
        return chooses
    return not isinstance(e, ir.Logic) and getattr(e, "op", "") not in ("//", "%")
