"""Read the lines that kernels print from the runtime's records, for Python's print.

A part of a line has a letter for its type, its size in 4 bytes, and its bytes. A zero in place of
the letter ends the line (host/primitives.cpp).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

_TYPES = {
    "b": np.bool_, "a": np.int8, "h": np.int16, "i": np.int32, "l": np.int64,
    "B": np.uint8, "H": np.uint16, "j": np.uint32, "m": np.uint64, "f": np.float32, "d": np.float64,
    "F": np.complex64, "D": np.complex128,
}  # fmt: skip


def lines(records: bytes) -> Iterator[tuple[Any, ...]]:
    """Yield each line, as the arguments of a call of print."""
    parts: list[Any] = []
    at = 0
    while at < len(records):
        kind, size = chr(records[at]), int.from_bytes(records[at + 1 : at + 5], "little")
        content, at = records[at + 5 : at + 5 + size], at + 5 + size
        if kind == "s":
            parts.append(content.decode())
        elif kind in _TYPES:
            parts.append(np.frombuffer(content, _TYPES[kind])[0])
        else:
            yield tuple(parts)
            parts = []
