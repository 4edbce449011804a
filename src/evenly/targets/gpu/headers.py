"""The device headers, as one text: NVRTC gets them in front of each kernel."""

from __future__ import annotations

import functools
from pathlib import Path

FOLDER = Path(__file__).parent / "device"
ORDER = (
    "gpu.cuh",
    "narrow.cuh",
    "complex.cuh",
    "group.cuh",
    "ops.cuh",
    "grid.cuh",
    "carry.cuh",
    "meet.cuh",
    "links.cuh",
    "rules.cuh",
    "split.cuh",
    "share.cuh",
    "flatten.cuh",
    "scan.cuh",
    "dynamic.cuh",
    "bins.cuh",
)


@functools.cache
def text() -> str:
    """All headers in order, without the lines that join them as files."""
    dropped = ("#pragma once", '#include "')
    parts = []
    for name in ORDER:
        lines = (FOLDER / name).read_text().splitlines()
        parts.append(f"// ==== {name} ====")
        parts += [line for line in lines if not line.startswith(dropped)]
    return "\n".join(parts) + "\n"
