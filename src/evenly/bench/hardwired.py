"""The handwritten kernels of hardwired.cu as contenders, each with the parameters of the schedule to compare with."""

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

BLOCK, ITEMS = 256, 3  # the same numbers as in the file
PREFIX = "hand: "
C_TYPES = {"float32": "float", "float64": "double"}


def source() -> str:
    """Return the text of hardwired.cu."""
    return resources.files(__package__).joinpath("hardwired.cu").read_text()


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
    """Return a function that launches merge-path's two kernels. The partition is computed here, once, as in a plan."""
    import cupy

    made = module(live)
    rows, nonzeros = np.int32(live.A.shape[0]), np.int32(live.values.size)
    blocks = -(-int(rows + nonzeros) // (BLOCK * ITEMS))
    first_row = cupy.empty(blocks + 1, np.int32)
    partition = (live.offsets, rows, nonzeros, np.int32(blocks), first_row)
    made.get_function("merge_partition")((blocks_for(blocks + 1),), (BLOCK,), partition)
    open_row, head_row = cupy.empty(blocks, np.int32), cupy.empty(blocks, np.int32)
    open_sum, head_sum = cupy.empty(blocks, live.y.dtype), cupy.empty(blocks, live.y.dtype)
    matrix = (live.offsets, live.indices, live.values, live.x, live.y)
    main, finish = made.get_function("merge_path"), made.get_function("merge_finish")
    carried = (open_row, open_sum, head_row, head_sum)

    def launch() -> Any:
        main((blocks,), (BLOCK,), (*matrix, first_row, rows, nonzeros, *carried))
        if blocks > 1:
            finish((blocks_for(blocks),), (BLOCK,), (*carried, live.y, np.int32(blocks)))
        return live.y

    return launch
