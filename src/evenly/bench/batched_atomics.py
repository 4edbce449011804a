"""The kernels of batched_atomics.cu as contenders: COO and CSR-I as Anzt et al. (ScalA 2017) publish them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import resources
from typing import Any

import numpy as np

from evenly.errors import UnavailableError

from .contender import HAND, KERNELS, Contender
from .cusparse import row_numbers
from .place import Live

THREADS, WARPS, MOST_COLUMNS = 256, 8, 1024  # as in the file


def source() -> str:
    """Return the text of batched_atomics.cu."""
    return resources.files(__package__).joinpath("batched_atomics.cu").read_text()


@functools.cache
def module() -> Any:
    """Compile the file with CuPy, once."""
    import cupy

    return cupy.RawModule(code=source(), options=("-std=c++17",))


def coo(B: Any, x: Any, y: Any) -> Contender:
    """Return the COO kernel on the batch B, in double precision, with the row of each nonzero stored."""
    rows = row_numbers(Live(B, B.offsets, B.indices, B.values, x, y, ()))
    return contender("COO atomic", "coo_atomics", B, (rows, B.indices, B.values, x, y))


def csr_i(B: Any, x: Any, y: Any) -> Contender:
    """Return the CSR-I kernel on the batch B, in double precision, with the first row of each warp stored."""
    import cupy

    firsts = cupy.asarray(first_atoms(B))
    rows = cupy.searchsorted(B.offsets, firsts, side="right").astype(np.int32) - 1
    given = B.offsets, rows, B.indices, B.values, x, y
    return contender("CSR-I atomic", "csr_i_atomics", B, given)


def first_atoms(B: Any) -> Any:
    """Return the first nonzero of each warp of each item, (items * WARPS,); for one without nonzeros, any of B's."""
    sizes = np.diff(B.starts.atoms)
    share = (sizes + WARPS - 1) // WARPS
    found = B.starts.atoms[:-1, None] + share[:, None] * np.arange(WARPS)
    last = max(int(B.starts.atoms[-1]) - 1, 0)
    return np.minimum(found, last).astype(np.int32).reshape(-1)


def contender(name: str, kernel: str, B: Any, arguments: tuple[Any, ...]) -> Contender:
    return Contender(name, HAND, KERNELS, launcher(kernel, B, arguments))


def launcher(name: str, B: Any, arguments: tuple[Any, ...]) -> Callable[[], Any]:
    """Return a function that clears y, launches a kernel and returns y."""
    import cupy

    if max(B.offsets.itemsize, B.indices.itemsize) > 4:
        raise UnavailableError("kernels by hand", "they take 32-bit offsets and columns only")
    widest = int(np.diff(B.starts.columns).max(initial=0))
    if widest > MOST_COLUMNS:
        raise UnavailableError("kernels by hand", f"they take at most {MOST_COLUMNS} columns")
    kernel = module().get_function(name)
    starts = tuple(cupy.asarray(a.astype(np.int32)) for a in (B.starts.atoms, B.starts.columns))
    items, y = int(B.num_items), arguments[-1]

    def launch() -> Any:
        y.data.memset_async(0, y.nbytes)
        kernel((items,), (THREADS,), (*starts, *arguments))
        return y

    return launch
