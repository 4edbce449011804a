"""Join the device headers to one text, which NVRTC gets in front of each kernel."""

from __future__ import annotations

import functools
from pathlib import Path

FOLDER = Path(__file__).parent / "device"
INCLUDE = '#include "'


def in_order(folder: Path) -> tuple[str, ...]:
    """Return the names of a folder's headers, each after those that it includes."""
    found: dict[str, None] = {}

    def add(name: str) -> None:
        if name not in found:
            for line in (folder / name).read_text().splitlines():
                if line.startswith(INCLUDE):
                    add(line.split('"')[1])
            found[name] = None

    for path in sorted(folder.glob("*.cuh")):
        add(path.name)
    return tuple(found)


ORDER = in_order(FOLDER)


@functools.cache
def text() -> str:
    """Return all headers in order, without their `#pragma once` and `#include` lines."""
    dropped = ("#pragma once", INCLUDE)
    parts = []
    for name in ORDER:
        lines = (FOLDER / name).read_text().splitlines()
        parts.append(f"// ==== {name} ====")
        parts += [line for line in lines if not line.startswith(dropped)]
    return "\n".join(parts) + "\n"
