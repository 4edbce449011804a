"""Where local variables are declared."""

from __future__ import annotations

from evenly.language import ir
from evenly.language.types import BOOL, INT32
from evenly.targets.gpu.emit.expressions import Text
from evenly.targets.gpu.emit.statements import Writer

ONE = ir.Const(1, INT32)


def either(v: ir.Var) -> ir.Stmt:
    """Both branches assign `v`. If it is read after them, it is declared before them."""
    return ir.If(ir.Const(True, BOOL), (ir.Assign(v, ONE),), (ir.Assign(v, ONE),))


def test_blocks_that_are_gone_leave_no_declarations() -> None:
    """Places are kept by the ids of statements, which Python gives out again."""
    writer = Writer(Text(False, frozenset()))
    v, after = ir.Var("v", INT32), ir.Var("after", INT32)
    for _ in range(50):
        with writer.compound(""):
            writer.block((either(v), ir.Assign(after, v)))
        assert any("int v_v;" in line for line in writer.lines)
        writer.lines.clear()
        with writer.compound(""):
            writer.block((either(ir.Var("other", INT32)),))
        assert not any("v_v" in line for line in writer.lines)
        writer.lines.clear()
