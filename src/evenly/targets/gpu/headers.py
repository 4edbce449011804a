"""The device headers, as one text: NVRTC gets them in front of each kernel."""

from __future__ import annotations

import functools
from pathlib import Path

FOLDER = Path(__file__).parent / "device"
INCLUDE = '#include "'


def in_order(folder: Path) -> tuple[str, ...]:
    """The headers of a folder, each behind those that it includes."""
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
    """All headers in order, without the lines that join them as files."""
    dropped = ("#pragma once", INCLUDE)
    parts = []
    for name in ORDER:
        lines = (FOLDER / name).read_text().splitlines()
        parts.append(f"// ==== {name} ====")
        parts += [line for line in lines if not line.startswith(dropped)]
    return "\n".join(parts) + "\n"
