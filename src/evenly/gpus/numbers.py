"""The tuned numbers of an architecture: one data file each, beside the command that measured them."""

from __future__ import annotations

import functools
import tomllib
from importlib import resources
from typing import Any

from .gpu import Gpu


@functools.cache
def numbers(architecture: str = "sm_90") -> dict[str, Any]:
    """The tuned numbers of an architecture."""
    return tomllib.loads(resources.files(__package__).joinpath(f"{architecture}.toml").read_text())


@functools.cache
def measured() -> Gpu:
    """The GPU that the numbers were measured on."""
    held = numbers()
    return Gpu(held["multiprocessors"], shared_memory=held["shared_memory"])


def for_memory(nbytes: int) -> dict[str, Any]:
    """The numbers for a GPU whose multiprocessors can have so many bytes of shared memory.

    Carveouts are percentages of it: where there is more or less than was measured with, the driver decides.
    """
    held = numbers()
    if nbytes == held["shared_memory"]:
        return held
    by_driver = [row for row in held["shares"] if row[-1] < 0]
    return held | {"shares": by_driver}
