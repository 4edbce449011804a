"""Read the tuned numbers of an architecture. Its data file names the commands that measured them."""

from __future__ import annotations

import functools
import tomllib
from importlib import resources
from typing import Any

from .gpu import Gpu


@functools.cache
def numbers(architecture: str = "sm_90") -> dict[str, Any]:
    """Return the tuned numbers of an architecture."""
    return tomllib.loads(resources.files(__package__).joinpath(f"{architecture}.toml").read_text())


@functools.cache
def measured() -> Gpu:
    """The GPU that the numbers were measured on."""
    held = numbers()
    return Gpu(held["multiprocessors"], shared_memory=held["shared_memory"])


def for_memory(nbytes: int) -> dict[str, Any]:
    """Return the numbers for a GPU whose multiprocessors have up to `nbytes` of shared memory.

    Carveouts are percentages of that size. If it differs from the GPU that was measured, rows that set
    a carveout are left out, and the driver decides.
    """
    held = numbers()
    if nbytes == held["shared_memory"]:
        return held
    by_driver = [row for row in held["shares"] if row["with"].get("carveout", -1) < 0]
    return held | {"shares": by_driver}
