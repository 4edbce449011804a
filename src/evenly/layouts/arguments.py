"""Functions that the constructors of layouts share: read the arrays of a matrix, and check them in O(1)."""

from __future__ import annotations

import copy
import inspect
import operator
from typing import Any

import numpy as np

from evenly.errors import InputError, unknown
from evenly.hooks import hook
from evenly.interop import arrays, sparse
from evenly.interop.array_view import Device
from evenly.interop.transfer import to_numpy
from evenly.layouts.contract import is_layout
from evenly.layouts.entries import check_offsets, check_range
from evenly.layouts.fields import as_field

MOST = 2**63 - 1  # rows or columns, since counts have 64 bits


def take_apart(matrix: Any, format: str, shape: Any, name: str) -> sparse.Parts:
    """Return the checked arrays of a sparse matrix, or of a tuple of raw arrays in SciPy's order.

    Every array is checked for its dtype, contiguity, axes and device, and converted to what a
    layout holds (`as_field`). Nothing is copied unless the matrix has another format.
    The shape of raw arrays may be missing (None): then it is None in the result.
    """
    names = sparse.ARRAYS[format]
    if sparse.is_sparse(matrix):
        matrix = _sound_source(sparse.known_format(matrix, name), format, name)
        found = sparse.parts(matrix, name, format)
        if shape is not None and dimensions(shape, name) != found.shape:
            given = f"shape={tuple(shape)}"
            raise InputError(name, expected=f"its own shape {found.shape}", given=given)
        size: Any = dimensions(found.shape, name)
        raw = [found.arrays[part] for part in names]
    elif isinstance(matrix, tuple) and len(matrix) == len(names):
        size = None if shape is None else dimensions(shape, name)
        raw = list(matrix)
    else:
        raise refused(matrix, format, name)
    made = {}
    for part, array in zip(names, raw, strict=True):
        field = as_field(array, f"{name}.{part}", index=part != "values")
        axes = {"bsr": 3, "dia": 2}.get(format, 1) if part == "values" else 1
        if len(field.shape) != axes:
            given = f"shape {tuple(field.shape)}"
            raise InputError(f"{name}.{part}", expected=f"an array of {axes} axes", given=given)
        made[part] = field
    same_device(made, name)
    return sparse.Parts(format, size, made)


def _sound_source(matrix: Any, format: str, name: str) -> Any:
    """Check a matrix entry by entry if its library has to convert it, since a malformed one may crash the library."""
    own = sparse.format_of(matrix)
    if own == format or own not in sparse.ARRAYS:
        return matrix
    made = convert(matrix, {"bsr": "bcsr"}.get(own, own), name=name)
    if own == "bsr" and (made.num_rows % made.block_rows or made.num_columns % made.block_columns):
        block = made.block_rows, made.block_columns
        expected = f"rows and columns that are multiples of the blocks' {block}"
        raise InputError(f"{name}.shape", expected=expected, given=str(made.shape))
    matrix = _as_checked(matrix, made, own)
    axis = {"csr": 0, "bsr": 0, "csc": 1}.get(format)
    if axis is not None:
        source = sparse.parts(matrix, name).arrays.values()
        usual = sum(arrays.view(array, name).nbytes for array in source)
        needed, what = 8 * (int(matrix.shape[axis]) + 1), ("rows", "columns")[axis]
        if needed > max(2**30, 4 * usual):
            raise InputError(
                name,
                expected=f"{what} whose offsets take at most {gibibytes(max(2**30, 4 * usual))}",
                given=f"{int(matrix.shape[axis]):,} {what} in {own.upper()}",
                hint=f"ev.{own}(matrix) needs no such offsets",
            )
    return matrix


@hook
def convert(matrix: Any, layout_name: str, **options: Any) -> Any:
    """The matrix as the layout of its own format, which knows what is sound."""
    raise NotImplementedError


def _as_checked(matrix: Any, made: Any, own: str) -> Any:
    """Return the matrix with the arrays of its layout if they differ (no spare capacity, diagonals moved)."""
    if sparse.library(matrix) == "torch" or own == "coo":
        return matrix
    if own == "dia":
        fields = {"offsets": made.diagonals}
    elif len(made.indices) < len(matrix.indices):
        blocks = made.values.reshape(len(made.indices), *matrix.data.shape[1:])
        fields = {"indices": made.indices, "data": blocks}
    else:
        return matrix
    matrix = copy.copy(matrix)
    for name, array in fields.items():
        setattr(matrix, name, array)
    return matrix


def refused(matrix: Any, format: str, name: str) -> InputError:
    """Make the error for an argument that is neither a sparse matrix nor a tuple of raw arrays."""
    names = ", ".join(sparse.ARRAYS.get(format, ("values", "indices")))
    hint, given = "", type(matrix).__name__
    if isinstance(matrix, (tuple, list)):
        given = f"a {given} of {len(matrix)}"
    elif arrays.kind(matrix) is not None:
        hint = "scipy.sparse.csr_array(dense) makes one of a dense array"
    elif hasattr(matrix, "to_numpy"):  # such as a pandas object
        hint = f"scipy.sparse.csr_array({name}.to_numpy()) makes one"
    elif is_layout(matrix):
        hint = "build it from the matrix, not from another layout"
    else:
        hint = arrays.not_an_array(matrix, name).hint
    return InputError(
        name, expected=f"a sparse matrix or a tuple ({names})", given=given, hint=hint
    )


def count_of(given: Any, name: str) -> int:
    """Return a number of groups, vertices or the like as an int. Raises InputError unless it is an integer from 0."""
    try:
        found = operator.index(given)
    except TypeError:
        found = -1
    if found < 0:
        raise InputError(name, expected="an integer of at least 0", given=repr(given))
    return found


def size_of(given: Any, name: str) -> int:
    """Return a number of atoms, rows or the like as an int. Raises InputError unless it is an integer from 1."""
    if not isinstance(given, (int, np.integer)) or isinstance(given, bool) or given < 1:
        raise InputError(name, expected="an integer of at least 1", given=repr(given))
    return int(given)


def dimensions(shape: Any, name: str) -> tuple[int, int]:
    """Check `shape` and return it as (rows, columns)."""
    try:
        rows, columns = (operator.index(n) for n in shape)
    except (TypeError, ValueError):
        raise InputError(f"{name}.shape", expected="(rows, columns)", given=repr(shape)) from None
    if rows < 0 or columns < 0:
        raise InputError(f"{name}.shape", expected="lengths of at least 0", given=repr(shape))
    if max(rows, columns) > MOST:
        raise InputError(f"{name}.shape", expected="lengths below 2**63", given=repr(shape))
    return rows, columns


def same_device(fields: dict[str, Any], name: str) -> None:
    """Raise InputError unless all arrays are on one device."""
    first = None
    for part, array in fields.items():
        if type(array) is np.ndarray:
            where: tuple[Device, int] = ("cpu", 0)
        else:
            found = arrays.view(array, f"{name}.{part}")
            where = (found.device, found.device_id)
        if first is None:
            first = (part, where)
        elif where != first[1]:
            expected = f"an array beside {name}.{first[0]} on {first[1][0]}"
            raise InputError(f"{name}.{part}", expected=expected, given=f"one on {where[0]}")


def same_length(fields: dict[str, Any], left: str, right: str, name: str) -> None:
    """Raise InputError unless two arrays have the same length."""
    if len(fields[left]) != len(fields[right]):
        raise InputError(
            f"{name}.{right}",
            expected=f"{len(fields[left])} entries, as many as {name}.{left} has",
            given=str(len(fields[right])),
        )


def compressed(found: sparse.Parts, name: str, axis: int) -> dict[str, Any]:
    """Check the lengths of the arrays of CSR (axis 0), CSC (axis 1) or BSR, and return the arrays.

    In CPU memory, the first and last offsets are read, and entries after the last offset
    (SciPy's spare capacity) are cut off with a view. In GPU memory nothing is read here:
    `validate=True` checks the offsets.
    """
    made = dict(found.arrays)
    offsets = made["offsets"]
    same_length(made, "indices", "values", name)
    if len(offsets) == 0:
        raise InputError(f"{name}.offsets", expected="at least one offset", given="none")
    if found.shape is not None and found.format != "bsr" and len(offsets) != found.shape[axis] + 1:
        what = ("rows", "columns")[axis]
        raise InputError(
            f"{name}.offsets",
            expected=f"{found.shape[axis] + 1} offsets for {found.shape[axis]} {what}",
            given=str(len(offsets)),
        )
    if type(offsets) is np.ndarray:
        count = len(made["indices"])
        if offsets[0] != 0:
            given = f"offsets[0]={offsets[0]}"
            raise InputError(f"{name}.offsets", expected="offsets that start at 0", given=given)
        if offsets[-1] != count:
            if not 0 <= offsets[-1] < count:
                last = f"offsets[{len(offsets) - 1}]={offsets[-1]}"
                expected = f"a last offset of at most {count}, the length of {name}.indices"
                raise InputError(f"{name}.offsets", expected=expected, given=last)
            made["indices"] = made["indices"][: int(offsets[-1])]
            made["values"] = made["values"][: int(offsets[-1])]
    return made


def inferred(indices: Any, name: str) -> int:
    """Infer the length of an axis from its indices: one more than the largest. Raises InputError on a GPU."""
    if type(indices) is not np.ndarray:
        hint = "finding it out would read GPU memory"
        raise InputError(f"{name}.shape", expected="shape=(rows, columns)", hint=hint)
    return max(0, min(int(indices.max()) + 1, MOST)) if len(indices) else 0


def host_csr(matrix: Any, shape: Any, name: str) -> tuple[Any, Device]:
    """Return a sparse matrix as SciPy's csr_array, and the device that it came from.

    It is for layouts whose arrays must be computed on the host. A matrix on a GPU is copied. A layout is
    converted if it has `tocsr`.
    """
    import scipy.sparse

    if is_layout(matrix) and hasattr(matrix, "tocsr"):
        rows: Any = matrix.tocsr()
        if shape is not None and dimensions(shape, name) != rows.shape:
            given = f"shape={tuple(shape)}"
            raise InputError(name, expected=f"its own shape {rows.shape}", given=given)
        matrix, shape = (rows.values, rows.indices, rows.offsets), rows.shape
    found = take_apart(matrix, "csr", shape, name)
    made = compressed(found, name, axis=0)
    device: Device = "cpu" if type(made["offsets"]) is np.ndarray else "cuda"
    raw = [to_numpy(made[part]) for part in sparse.ARRAYS["csr"]]
    check_offsets(raw[2], f"{name}.offsets", len(raw[1]))
    check_range(raw[1], found.shape[1], f"{name}.indices", "column indices")
    return scipy.sparse.csr_array(tuple(raw), shape=found.shape), device


def affordable(
    needed: int, source: Any, max_bytes: int | None, name: str, what: str, why: str
) -> None:
    """Raise InputError if `needed` is more than `max_bytes`.

    Default: 1 GiB, or four times the size of the matrix as CSR if that is more. So neither a small
    matrix nor a large one that suits the layout is refused.
    """
    usual = source.data.nbytes + source.indices.nbytes + source.indptr.nbytes
    allowed = max(2**30, 4 * usual) if max_bytes is None else max_bytes
    if needed > allowed:
        raise InputError(
            name,
            expected=f"{what} of at most {gibibytes(allowed)}",
            given=f"{gibibytes(needed)}: {why}",
            hint="use ev.csr, or allow it with max_bytes=",
        )


def check_options(constructor: Any, options: dict[str, Any], what: str) -> None:
    """Raise InputError for a keyword in `options` that `constructor` does not take."""
    known = [
        p.name
        for p in inspect.signature(constructor).parameters.values()
        if p.kind is p.KEYWORD_ONLY
    ]
    for option in options:
        if option not in known:
            raise unknown(f"option of {what}", option, known)


def gibibytes(count: int) -> str:
    """Format a number of bytes: '1.5 GiB (1,610,612,736 bytes)'."""
    return f"{count / 2**30:.1f} GiB ({count:,} bytes)"
