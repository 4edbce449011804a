"""`print` and `assert` as C++ text, for `simt`: `cuda` is given neither."""

from __future__ import annotations

from evenly.language import ir

from .expressions import Text


def remark(text: Text, s: ir.Print | ir.Assert) -> str:
    """The statement for `s`."""
    if isinstance(s, ir.Print):
        parts = (literal(p) if isinstance(p, str) else text.expr(p) for p in s.parts)
        return f"ev::print_line({', '.join(parts)});"
    return f"if (!({text.expr(s.condition)})) ev::assertion_failed({literal(s.text)});"


def literal(text: str) -> str:
    """A string of C++, of plain characters and octal bytes."""
    plain = (
        chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in text.encode()
    )
    return f'"{"".join(plain)}"'
