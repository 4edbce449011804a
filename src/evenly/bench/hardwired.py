"""The kernels of hardwired.cu as contenders, with the parameters of the schedules that they are compared with."""

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

BLOCK, ITEMS = 256, 3  # as in the file
PREFIX = "hand: "
C_TYPES = {"float32": "float", "float64": "double"}


def source() -> str:
    """The file."""
    return resources.files(__package__).joinpath("hardwired.cu").read_text()


def contenders(live: Live) -> Iterator[Contender | LeftOut]:
    """One a schedule; each is named after the schedule, "hand: MergePath(...)"."""
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
    """The kernels, compiled by CuPy for the type of the values."""
    import cupy

    if live.offsets.dtype != np.int32 or live.indices.dtype != np.int32:
        raise UnavailableError("kernels by hand", "they take 32-bit offsets and columns only")
    options = ("-std=c++17", f"-Dreal={C_TYPES[live.values.dtype.name]}")
    return cupy.RawModule(code=source(), options=options)


def blocks_for(count: int) -> int:
    return -(-count // BLOCK)


def by_rows(name: str, threads: int, live: Live) -> Callable[[], Any]:
    """The launch of a kernel that gives a row so many threads."""
    kernel = module(live).get_function(name)
    rows = live.A.shape[0]
    arguments = (live.offsets, live.indices, live.values, live.x, live.y, np.int32(rows))

    def launch() -> Any:
        kernel((blocks_for(rows * threads),), (BLOCK,), arguments)
        return live.y

    return launch


def merge_path(live: Live) -> Callable[[], Any]:
    """The two launches of merge-path; its partition is made here, once, as a plan stores it."""
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
