"""`print` and `assert` as Python text for Numba, in debug mode."""

from __future__ import annotations

from evenly.language import ir

from .text import Text


def remark(text: Text, s: ir.Print | ir.Assert) -> str:
    """The line for `s`. Numba's print is Python's."""
    if isinstance(s, ir.Print):
        parts = (repr(p) if isinstance(p, str) else text.expr(p) for p in s.parts)
        return f"print({', '.join(parts)})"
    number = text.place("assertion", s.text, s.at)
    return f"check_that({text.expr(s.condition)}, {number}, record)"
