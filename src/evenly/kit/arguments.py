"""A caller's matrices and arrays as arguments of kernels, and arrays for results."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from evenly.arguments import as_layout
from evenly.choosing.items import walks_items as over_items
from evenly.errors import InputError
from evenly.interop import arrays, sparse
from evenly.language.items import has_items as of_class
from evenly.language.types import from_dtype, read_as
from evenly.layouts import seen
from evenly.layouts.contract import is_layout, leaves
from evenly.layouts.conversions import Convertible
from evenly.layouts.csr import Csr
from evenly.layouts.fields import value_types
from evenly.layouts.grouped import by_row, can_be_grouped, tiles_are_rows
from evenly.layouts.items import Items
from evenly.layouts.moving import device_of
from evenly.layouts.sell import SortedSell


def as_rows(A: Any, name: str = "A", *, keep: bool = False) -> Any:
    """Return `A` as an argument for a kernel whose tiles are rows.

    A: a sparse matrix of SciPy, CuPy or PyTorch, or a layout. A CSR matrix of SciPy or CuPy is returned as it is:
      kernels take it, and recognise it at the next call. CSC and COO are grouped by row at each call.
    name: what the caller calls it, for error messages.
    keep: what is grouped has A's own values, which may change afterwards. Else it may have a copy of them in order,
      which is faster to read.

    Raises InputError for anything else, and for other layouts whose tiles are not rows.
    """
    return A if sparse.is_compressed(A) else _in_rows(as_layout(A, name), name, keep)


def _in_rows(A: Any, name: str, keep: bool = False) -> Any:
    """Return what `as_rows` does, for what `as_layout` has returned."""
    if can_be_grouped(A) or not is_layout(A):
        shape(A, name)
        return by_row(A, name, keep)
    if not tiles_are_rows(A):
        expected = "a layout whose tiles are rows, CSC or COO"
        raise InputError(name, expected=expected, given=type(A).__name__)
    return A


def as_csr(A: Any, name: str = "A") -> Csr:
    """Return a sparse matrix as the layout that `ev.csr` makes.

    A: of SciPy, CuPy or PyTorch, or a layout of `ev.csr`, `ev.csc` or `ev.coo`.

    Others than CSR are converted at each call. The entries of a CSR matrix are checked when it is seen first. Raises
    InputError for anything else.
    """
    if sparse.is_sparse(A):
        return seen.as_csr(A, name)
    if isinstance(A, Csr):
        return A
    if isinstance(A, Convertible):
        return A.tocsr()  # type: ignore[no-any-return]
    expected = "a sparse matrix, or a layout of ev.csr, ev.csc or ev.coo"
    raise InputError(name, expected=expected, given=type(A).__name__)


def by_atoms(A: Any, name: str = "A") -> tuple[Any, bool]:
    """Return a matrix or layout for a kernel that does something for each atom, and whether its tiles are rows.

    Nothing is grouped: atoms keep their numbers. A CSR matrix of SciPy or CuPy is returned as it is. Where tiles are
    not rows, the layout is that of `ev.csc` or `ev.coo`, which says the row of an atom.

    Raises InputError for anything else.
    """
    if sparse.is_compressed(A):
        return A, True
    A = as_layout(A, name)
    return (A, False) if can_be_grouped(A) else (_in_rows(A, name), True)


def atom_count(A: Any) -> int:
    """Return how many atoms a matrix or layout has: for layouts with padding, with the slots that are empty."""
    return int(A.num_atoms if is_layout(A) else A.nnz)


def shape(A: Any, name: str = "A") -> tuple[int, int]:
    """Return (rows, columns) of a sparse matrix or a layout. Raises InputError for anything without such a shape."""
    found = getattr(A, "shape", None)
    if sparse.is_compressed(A) and len(A.indptr) != A.shape[0] + 1:
        as_layout(A, name)  # raises: the shape does not match the arrays
    known = is_layout(A) or not arrays.is_array(A)
    if not isinstance(found, tuple) or len(found) != 2 or not known:
        hint = "give the layout a field num_columns" if is_layout(A) else ""
        if arrays.is_array(A):
            hint = "scipy.sparse.csr_array(dense) makes one of a dense array"
        raise InputError(name, expected="a sparse matrix", given=type(A).__name__, hint=hint)
    return found


def leaves_rows(A: Any) -> bool:
    """Whether a kernel over `A` may leave rows of its result unwritten, since `A` may have only some of the rows."""
    return is_layout(A) and not leaves(type(A), "tile_id") and not isinstance(A, SortedSell)


def has_items(A: Any) -> bool:
    """Whether `A` is a layout with items, as `ev.batch` makes: a kernel may have a loop over them."""
    return is_layout(A) and of_class(type(A))


def walks_items(A: Any, schedule: Any, target: str) -> bool:
    """Whether "auto" takes a loop over the items of `A` for a product of its rows. Only on a GPU that can pay."""
    if schedule != "auto" or target not in ("auto", "cuda") or not isinstance(A, Items):
        return False
    layout: Any = A
    return device_of(layout) == "cuda" and over_items(layout)


def check_shape(x: Any, shape: tuple[int, ...], name: str, what: str) -> None:
    """Raise InputError if the array `x` has another shape. what: describes the shape, as in "the columns of A"."""
    if arrays.is_array(x) and getattr(x, "shape", None) == shape:
        return
    found = tuple(arrays.view(x, name).shape)
    if found != shape:
        wanted = f"a vector of {shape[0]}" if len(shape) == 1 else f"an array of shape {shape}"
        raise InputError(name, expected=f"{wanted}, {what}", given=f"shape {found}")


def result_type(first: Any, *others: Any) -> np.dtype[Any]:
    """Return NumPy's result dtype of a product of arrays, matrices and layouts; float16 or bfloat16 if all are.

    Raises InputError if all are bool.
    """
    given = [dtype for operand in (first, *others) for dtype in _types(operand)]
    found = given[0]
    if found.kind != "b" and all(dtype is found for dtype in given):  # the usual case, made fast
        return found
    return _result_type(*given)


def common_type(found: np.dtype[Any], other: Any) -> np.dtype[Any]:
    """Return NumPy's result dtype of `found` and another dtype, or a number of Python's own.

    A 16-bit float stays one if the other is no wider: a number such as 2.0, or the same dtype.
    """
    read = _read(found)
    wanted = np.result_type(read, _read(other) if isinstance(other, np.dtype) else other)
    return (
        found if other == found or (wanted == read and not isinstance(other, np.dtype)) else wanted
    )


def _read(dtype: np.dtype[Any]) -> np.dtype[Any]:
    known = from_dtype(dtype)
    return dtype if known is None else read_as(known).dtype


def empty(like: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Allocate an uninitialised array of the same library and on the same device as the array `like`.

    Raises InputError if it does not fit into memory.
    """
    return _made(arrays.empty, like, shape, dtype)


def zeros(like: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Allocate an array of zeros of the same library and on the same device as the array `like`.

    Raises InputError if it does not fit into memory.
    """
    return _made(arrays.zeros, like, shape, dtype)


class renamed:  # lower case, since it is used like a function
    """Make errors name a kernel's argument as the caller does: `with renamed(y="out"): kernel(A, x, out)`."""

    __slots__ = ("_names",)

    def __init__(self, **names: str) -> None:
        self._names = names

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, InputError):
            error.argument = self._names.get(error.argument, error.argument)


# ---- pieces ----------------------------------------------------------------------------------------
def _made(make: Callable[..., Any], like: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    try:
        return make(like, shape, dtype)
    except (ValueError, MemoryError):
        given = " x ".join(f"{n:,}" for n in shape) + " elements"
        expected = "a result that fits into memory"
        raise InputError("out", expected=expected, given=given) from None


def _types(operand: Any) -> Iterator[np.dtype[Any]]:
    if arrays.kind(operand) not in (None, "torch"):  # PyTorch's tensors may be sparse
        yield arrays.dtype_of(operand, "x")
    elif sparse.is_compressed(operand):
        yield operand.dtype
    elif is_layout(operand) or sparse.is_sparse(operand):
        yield from value_types(as_layout(operand, "A"))
    else:
        yield arrays.dtype_of(operand, "x")


@functools.cache
def _result_type(*given: np.dtype[Any]) -> np.dtype[Any]:
    types = {dtype: from_dtype(dtype) for dtype in given if dtype.kind != "b"}
    if len(set(types.values())) == 1:
        found = next(iter(types))
    else:
        found = np.result_type(*(read_as(t).dtype for t in types.values() if t), np.bool_)
    if found.kind == "b":
        hint = ".astype(numpy.int32) counts"
        expected = "numbers, here or in the other operand"
        raise InputError("x", expected=expected, given="bool in both", hint=hint)
    return found
