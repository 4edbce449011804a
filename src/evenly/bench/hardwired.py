"""The kernels written by hand as contenders: each is a schedule's algorithm with its parameters, for SpMV alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import resources
from typing import Any

import numpy as np

from evenly.errors import UnavailableError
from evenly.schedules import MergePath, ThreadMapped, WarpMapped

from .contender import HAND, KERNELS, Contender, LeftOut, prepared
from .place import Live

BLOCK, ITEMS, FAN = 256, 3, 128  # the same numbers as in the files
SHARE = BLOCK * ITEMS
FILES = "hardwired.cu", "hardwired_merge.cu"
PREFIX = "hand: "
C_TYPES = {"float32": "float", "float64": "double"}


def source() -> str:
    """Return the text of the kernels."""
    return "\n".join(resources.files(__package__).joinpath(file).read_text() for file in FILES)


def contenders(live: Live) -> Iterator[Contender | LeftOut]:
    """Yield one contender for each schedule, named after it: "hand: MergePath(...)"."""
    makers: tuple[tuple[Any, Callable[[Live], Any]], ...] = (
        (ThreadMapped(BLOCK), partial(by_rows, "thread_mapped", 1)),
        (WarpMapped(BLOCK), partial(by_rows, "warp_mapped", 32)),
        (MergePath(BLOCK, ITEMS), merge_path),
    )
    for schedule, make in makers:
        name = f"{PREFIX}{schedule}"
        yield prepared(name, partial(_contender, name, make, live))


def _contender(name: str, make: Callable[[Live], Any], live: Live) -> Contender:
    return Contender(name, HAND, KERNELS, make(live))


def module(live: Live) -> Any:
    """Compile the kernels for the dtype of the values, with CuPy."""
    import cupy

    if live.offsets.dtype != np.int32 or live.indices.dtype != np.int32:
        raise UnavailableError("kernels by hand", "they take 32-bit offsets and columns only")
    options = ("-std=c++17", f"-Dreal={C_TYPES[live.values.dtype.name]}")
    return cupy.RawModule(code=source(), options=options)


def blocks_for(count: int) -> int:
    return -(-count // BLOCK)


def by_rows(name: str, threads: int, live: Live) -> Callable[[], Any]:
    """Return a function that launches a kernel with `threads` threads for each row."""
    kernel = module(live).get_function(name)
    rows = live.A.shape[0]
    arguments = (live.offsets, live.indices, live.values, live.x, live.y, np.int32(rows))

    def launch() -> Any:
        kernel((blocks_for(rows * threads),), (BLOCK,), arguments)
        return live.y

    return launch


def merge_path(live: Live) -> Callable[[], Any]:
    """Return a function that launches merge-path. The partition is computed here, once, as in a plan."""
    import cupy

    made = module(live)
    rows, nonzeros = live.A.shape[0], live.values.size
    if rows + nonzeros + SHARE >= 2**31:
        raise UnavailableError("merge-path by hand", "it counts rows and nonzeros in 32 bits")
    blocks = -(-(rows + nonzeros) // SHARE)
    sizes = np.int32(rows), np.int32(nonzeros)
    first_row = cupy.empty(blocks + 1, np.int32)
    partition = (live.offsets, *sizes, np.int32(blocks), first_row)
    made.get_function("merge_partition")((blocks_for(blocks + 1),), (BLOCK,), partition)
    met = cupy.zeros(links(blocks, live.y.itemsize), np.uint64)
    kernel = made.get_function("merge_path")
    matrix = (live.offsets, live.indices, live.values, live.x, live.y)

    def launch() -> Any:
        kernel((blocks,), (BLOCK,), (*matrix, first_row, *sizes, met))
        return live.y

    return launch


def links(blocks: int, itemsize: int, fan: int = FAN) -> int:
    """Return how many links the cells have in which so many blocks meet, for sums of `itemsize` bytes."""
    cells = blocks
    while blocks > fan:
        blocks = blocks // fan + 2  # + 2: a row's groups begin where the row does
        cells += blocks
    return cells * (1 + 2 * (itemsize // 4))
