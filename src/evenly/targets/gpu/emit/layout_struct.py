"""Emit the functions of a layout that engines call, as members of a struct."""

from __future__ import annotations

from evenly.language import ir
from evenly.language.diagnostics import Location

from .expressions import Text
from .statements import Writer


def position_function(
    text: Text, name: str, code: ir.Inline, at: Location | None = None
) -> list[str]:
    """Emit one of num_tiles, num_atoms, begin and end. at: the line of Python that it belongs to."""
    inner = text.child()
    inner.names.update(dict.fromkeys(code.params, "tile"))
    writer = Writer(inner, at)
    with writer.compound(f"EV_DEVICE pos {name}({'pos tile' if code.params else ''}) const"):
        writer.block(code.body)
        writer.line(f"return {inner.expr(code.results[0])};")
    return writer.lines
