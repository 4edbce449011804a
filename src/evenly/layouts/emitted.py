"""What a kernel emits to, while it is collected: a ragged layout that is being made, with columns of values.

`collect` (evenly/collect.py) runs a kernel twice. The first run counts what each tile emits, the second stores it.
"""

from __future__ import annotations

import functools
from typing import Any, Literal

from evenly.language.members import column_names
from evenly.layouts.contract import Array, layout
from evenly.layouts.ragged import Ragged


class Emits:
    """What kernels see of it beside a ragged layout. They call `emit`, which is part of the language."""

    emits: Literal["", "count", "fill"] = ""
    items: list[tuple[int, tuple[Any, ...]]] | None = (
        None  # what the reference has collected: (tile, values)
    )

    def emit(self, *values: Any) -> None:
        """Append values to the tile's list, one for each column. Kernels only."""


@functools.cache
def emitted_class(columns: int, emits: Literal["count", "fill"], in_part: bool = False) -> Any:
    """Return the class of a layout with fields column_0, column_1, ... (n,), to which a kernel emits.

    count: offsets[t + 1] gets the number of elements of list t; there are no columns.
    fill: offsets are complete; columns get the elements.
    in_part: there is a field `first`, and offsets[t + 1] is for list first + t; other lists are not counted.
    """
    fields: dict[str, Any] = {"first": int} if in_part else {}
    fields |= dict.fromkeys(column_names(columns), Array)
    body = {"__annotations__": fields, "__module__": __name__, "emits": emits}
    return layout(type("Out", (Emits, Ragged), body))


def counting(counts: Any, first: int | None = None) -> Any:
    """Return what counts all lists; those from `first` on, as many as there are counts, if it is given."""
    if first is None:
        return emitted_class(0, "count")(counts, 0)
    return emitted_class(0, "count", True)(counts, 0, first)


def filling(offsets: Any, num_atoms: int, columns: tuple[Any, ...]) -> Any:
    return emitted_class(len(columns), "fill")(offsets, num_atoms, *columns)
