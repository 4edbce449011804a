"""The types of values of `--dtype`, and conversions between SciPy's and the kernel's.

SciPy has no sparse matrices of 16-bit floats. For float16 and bfloat16, SciPy's matrix is
float32 and holds values rounded to 16 bits. The kernel gets 16-bit values; its sums and y are
float32.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.interop import matrix_files
from evenly.interop.matrix_market import check_kept, in_type
from evenly.interop.narrow import narrowed, widened

NARROW = ("float16", "bfloat16")
DTYPES = (*NARROW, "float32", "float64", "complex64", "complex128")


def read(file: str, dtype: str) -> Any:
    """Read the matrix in a file as csr_array, with values rounded to `dtype`. Raises InputError that names the file."""
    matrix = matrix_files.read(file)
    try:
        held = in_type(matrix, held_as(dtype), file, dtype)
        if dtype not in NARROW:
            return held
        rounded = type(held)((as_held(held.data, dtype), held.indices, held.indptr), held.shape)
        check_kept(held.data, rounded.data, dtype, file)
        return rounded
    except InputError as error:
        if matrix.dtype.kind == "c":
            error.hint = "--dtype complex128" if dtype == "complex64" else "--dtype complex64"
        else:
            error.hint = "--dtype float64"
        raise


def held_as(dtype: str) -> Any:
    """Return the dtype that SciPy's matrix has: float32 for the 16-bit types, else `dtype` itself."""
    return np.dtype("float32" if dtype in NARROW else dtype)


def stored(values: Any, dtype: str) -> Any:
    """Convert numbers to the array that the kernel gets."""
    return narrowed(values) if dtype == "bfloat16" else np.asarray(values, dtype)


def as_held(values: Any, dtype: str) -> Any:
    """Round numbers to `dtype`, and return them in the dtype of SciPy's matrix (`held_as`)."""
    with np.errstate(over="ignore"):
        rounded = stored(values, dtype)
    return widened(rounded) if dtype == "bfloat16" else rounded.astype(held_as(dtype))


def stored_layout(A: Any, dtype: str) -> Any:
    """Return the layout with values in `dtype`."""
    return dataclasses.replace(A, values=stored(A.values, dtype)) if dtype in NARROW else A


def random_vector(size: int, dtype: str) -> Any:
    """Make a random vector, rounded to `dtype`, whose real and imaginary parts lie in 0 .. 1."""
    rng, held = np.random.default_rng(0), held_as(dtype)
    part = np.zeros(0, held).real.dtype.type
    numbers = rng.random(size, part)
    if held.kind == "c":
        numbers = (numbers + 1j * rng.random(size, part)).astype(held)
    return as_held(numbers, dtype)
