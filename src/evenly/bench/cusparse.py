"""cuSPARSE through its C interface, used as fast as it allows: descriptors and preprocessing are done once.

The constants are those of NVIDIA's cusparse.h and library_types.h.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenly.errors import UnavailableError

from .place import Live

CSR_ALGORITHMS = {"CSR ALG1": 2, "CSR ALG2": 3}  # CUSPARSE_SPMV_CSR_ALG1, ...
COO_ALGORITHMS = {"COO ALG1": 1, "COO ALG2": 4}
REAL = {"float32": 0, "float64": 1}  # CUDA_R_32F, CUDA_R_64F
INDEX = {"int32": 2, "int64": 3}  # CUSPARSE_INDEX_32I, CUSPARSE_INDEX_64I
ZERO_BASED = NOT_TRANSPOSED = 0

Pointer, Long, Integer = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int


class CuSparse:
    """The library, and a handle on CuPy's current stream."""

    def __init__(self) -> None:
        self.library = find()
        self.handle = Pointer()
        self.call("cusparseCreate", ctypes.byref(self.handle))

    @staticmethod
    @functools.cache
    def loaded() -> CuSparse:
        """Return the instance of this process."""
        return CuSparse()

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the library. Raises RuntimeError if it does not succeed."""
        status = getattr(self.library, name)(*arguments)
        if status:
            raise RuntimeError(f"{name} returned {status}")

    def product(self, algorithm: str, live: Live) -> Product:
        """Prepare y = A x by one of the algorithms."""
        return Product(self, algorithm, live)


class Product:
    """One product with its descriptors and workspace, preprocessed. A call launches it and returns y."""

    def __init__(self, of: CuSparse, algorithm: str, live: Live) -> None:
        import cupy

        self.live, self.of = live, of  # keeps the arrays alive: descriptors only point to them
        real = REAL[live.values.dtype.name]
        rows, columns = live.A.shape
        A, x, y, size = Pointer(), Pointer(), Pointer(), ctypes.c_size_t()
        if algorithm in CSR_ALGORITHMS:
            self.kept = _create_csr(of, A, live, real)
        else:
            self.kept = _create_coo(of, A, live, real)
        weakref.finalize(self, of.library.cusparseDestroySpMat, A)
        for vector, count, array in ((x, columns, live.x), (y, rows, live.y)):
            made = (ctypes.byref(vector), Long(count), address(array), Integer(real))
            of.call("cusparseCreateDnVec", *made)
            weakref.finalize(self, of.library.cusparseDestroyDnVec, vector)
        number = ctypes.c_float if real == 0 else ctypes.c_double
        one, zero = number(1), number(0)
        of.call("cusparseSetStream", of.handle, Pointer(cupy.cuda.get_current_stream().ptr))
        which = (CSR_ALGORITHMS | COO_ALGORITHMS)[algorithm]
        self.arguments: tuple[Any, ...] = (
            of.handle, Integer(NOT_TRANSPOSED), ctypes.byref(one), A, x, ctypes.byref(zero), y,
            Integer(real), Integer(which),
        )  # fmt: skip
        of.call("cusparseSpMV_bufferSize", *self.arguments, ctypes.byref(size))
        work = cupy.empty(max(size.value, 1), cupy.uint8)
        self.arguments += (address(work),)
        self.kept += (one, zero, work)
        if algorithm in CSR_ALGORITHMS:
            of.call("cusparseSpMV_preprocess", *self.arguments)

    def __call__(self) -> Any:
        self.of.call("cusparseSpMV", *self.arguments)
        return self.live.y


def _create_csr(of: CuSparse, A: Any, live: Live, real: int) -> tuple[Any, ...]:
    sizes = (*live.A.shape, live.values.size)
    types = [INDEX[a.dtype.name] for a in (live.offsets, live.indices)] + [ZERO_BASED, real]
    arrays = (live.offsets, live.indices, live.values)
    made = (*map(Long, sizes), *map(address, arrays), *map(Integer, types))
    of.call("cusparseCreateCsr", ctypes.byref(A), *made)
    return ()


def _create_coo(of: CuSparse, A: Any, live: Live, real: int) -> tuple[Any, ...]:
    """Make a COO descriptor. Its array of row indices is kept alive in the result."""
    rows = row_numbers(live)
    sizes = (*live.A.shape, live.values.size)
    types = (INDEX[live.indices.dtype.name], ZERO_BASED, real)
    made = (*map(Long, sizes), *map(address, (rows, live.indices, live.values)))
    of.call("cusparseCreateCoo", ctypes.byref(A), *made, *map(Integer, types))
    return (rows,)


def row_numbers(live: Live) -> Any:
    """Return the row of each nonzero, (nnz,), in the dtype of the columns."""
    import cupy

    begun = cupy.zeros(live.values.size + 1, cupy.int32)  # how many rows begin at each nonzero
    cupy.add.at(begun, live.offsets[1:-1], cupy.int32(1))
    return cupy.cumsum(begun[:-1], dtype=live.indices.dtype)


def address(array: Any) -> Any:
    return Pointer(array.data.ptr)


def find() -> Any:
    """Load the library from NVIDIA's wheels or the system's path. Raises UnavailableError."""
    for path in (*of_wheels(), "libcusparse.so.12", "libcusparse.so.13", "libcusparse.so.11"):
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    raise UnavailableError("cuSPARSE", "libcusparse is not found", "pip install nvidia-cusparse")


def of_wheels() -> Iterator[str]:
    """Yield the paths of the library in NVIDIA's wheels."""
    try:
        packages = importlib.import_module("nvidia").__path__
    except ImportError:
        return
    for folder in packages:
        yield from map(str, sorted(Path(folder).glob("**/libcusparse.so*")))
