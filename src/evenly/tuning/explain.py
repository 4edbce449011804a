"""`ev.explain`: what `auto` saw and why it chose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evenly.arguments import accept
from evenly.errors import InputError, unknown
from evenly.layouts.contract import is_layout
from evenly.targets import TABLE

from .auto import Choice, consider


@dataclass(frozen=True)
class Explanation:
    """The statistics, the choice and what was rejected; `str()` is the report."""

    layout: str
    target: str
    choice: Choice

    def __str__(self) -> str:
        st = self.choice.statistics
        lines = [
            f"{self.layout} on {self.target}",
            f"  tiles {st.tiles:,}, atoms {st.atoms:,}",
            f"  atoms a tile: mean {st.mean:.2f}, longest {st.greatest:,}, "
            f"spread {st.spread:.2f}, empty tiles {st.empty:.1%}",
            f"  chosen: {self.choice.schedule}",
            f"    because {self.choice.why}",
            "  rejected:",
            *(f"    {name}: {reason}" for name, reason in self.choice.rejected),
        ]
        return "\n".join(lines)


def explain(A: Any, target: str = "auto") -> Explanation:
    """What `auto` sees in a layout or sparse matrix, the schedule that it chooses, and why.

    Prints nothing itself: `print(ev.explain(A))`.
    """
    layout = accept(A, "A")
    if not is_layout(layout):
        raise InputError("A", expected="a layout or a sparse matrix", given=type(A).__name__)
    if target not in (known := ["auto", *TABLE]):
        raise unknown("target", target, known)
    if target == "auto":
        from evenly.layouts.moving import device_of

        target = "cuda" if device_of(layout).startswith("cuda") else "cpu"
    return Explanation(repr(layout), target, consider(layout, target, False))
