"""Glue sparse matrices into the arrays of one block-diagonal CSR matrix, and check every entry on the way.

In CPU memory each item's offsets and columns are renumbered as they are copied, so that the arrays are read
once. On a GPU the arrays are concatenated by their own library, and renumbered by a kernel.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from evenly.errors import InputError
from evenly.hooks import hook
from evenly.interop import arrays, sparse
from evenly.interop.transfer import to_numpy, to_where
from evenly.interop.vectors import part
from evenly.language.types import from_dtype
from evenly.layouts.contract import is_layout
from evenly.layouts.csr import Csr, csr
from evenly.layouts.entries import check_offsets
from evenly.layouts.fields import INDEX_TYPES, as_field
from evenly.layouts.items import Starts
from evenly.layouts.narrow import index_type, narrow_type, numbered_on_gpu

UNSIGNED = {t: np.dtype(f"u{t.itemsize}") for t in INDEX_TYPES}


class Piece(NamedTuple):
    """The arrays of one CSR matrix."""

    values: Any
    indices: Any
    offsets: Any
    rows: int
    columns: int


class Glued(NamedTuple):
    """The arrays of the block-diagonal matrix. `indices` are numbered through, or within the items if `local`."""

    offsets: Any
    indices: Any
    values: Any
    starts: Starts
    local: bool


def glue(matrices: Sequence[Any], name: str, narrow: bool = False) -> Glued:
    """Glue the matrices. Raises InputError, with the item's number, for one that cannot be used.

    narrow: number columns within the items if 16 bits hold them.
    """
    pieces = [_piece(matrix, i, name) for i, matrix in enumerate(matrices)]
    sizes = np.zeros((3, len(pieces) + 1), np.int64)
    sizes[0, 1:] = [piece.rows for piece in pieces]
    sizes[1, 1:] = [len(piece.indices) for piece in pieces]
    sizes[2, 1:] = [piece.columns for piece in pieces]
    starts = Starts(*np.cumsum(sizes, axis=1))
    if starts.columns[-1] < 0 or (sizes[2].astype(float).sum() > 2**62):
        raise InputError(name, expected="fewer than 2**63 columns in all", given="more")
    like = _alike(pieces, name)
    values = _concatenated([piece.values for piece in pieces], like, name)
    type_ = narrow_type(int(sizes[2].max()))
    local = narrow and type_.itemsize <= 2
    first, type_ = (
        (0 * starts.columns, type_) if local else (starts.columns, index_type(starts.columns[-1]))
    )
    if like is None:
        offsets = _offsets(pieces, matrices, starts, name)
        indices = _indices(pieces, matrices, starts, first, type_, name)
    else:
        offsets, indices = _on_gpu(pieces, matrices, starts, first, type_, name)
    return Glued(offsets, indices, values, starts, local)


# ---- one item ------------------------------------------------------------------------------------
def _piece(matrix: Any, i: int, name: str) -> Piece:
    """Return the arrays of an item. What is wrong with it in O(1) is refused here."""
    if sparse.is_compressed(matrix):
        values, indices, offsets = matrix.data, matrix.indices, matrix.indptr
        rows, columns = matrix.shape
        if (
            type(values) is type(indices) is type(offsets)
            and indices.dtype in INDEX_TYPES
            and (offsets.dtype is indices.dtype or offsets.dtype in INDEX_TYPES)
            and offsets.shape == (rows + 1,)
            and _counts(offsets, indices, values)
        ):
            return Piece(values, indices, offsets, rows, columns)
    elif not (is_layout(matrix) or sparse.is_sparse(matrix)):
        expected = "a sparse matrix of SciPy, CuPy or PyTorch, or a CSR, CSC or COO layout"
        hint = "ev.csr(arrays, shape=...) makes a layout of raw arrays"
        hint = hint if isinstance(matrix, tuple) else arrays.not_an_array(matrix, name).hint
        given = type(matrix).__name__
        raise InputError(f"{name}[{i}]", expected=expected, given=given, hint=hint)
    made = _layout(matrix, f"{name}[{i}]")
    if type(made.offsets) is np.ndarray and not _ends(made):
        made.validate(f"{name}[{i}]")
    rows, columns = len(made.offsets) - 1, int(made.num_columns)
    return Piece(made.values, made.indices, made.offsets, rows, columns)


def _counts(offsets: Any, indices: Any, values: Any) -> bool:
    """Whether there are as many indices and values as the offsets say. On a GPU a kernel looks at offsets later."""
    if type(offsets) is np.ndarray:
        count: int = offsets.item(-1)
        return offsets.item(0) == 0 and values.shape == indices.shape == (count,)
    return arrays.kind(offsets) == "cupy" and values.shape == indices.shape and values.ndim == 1


def _layout(matrix: Any, name: str) -> Csr:
    if not is_layout(matrix):
        return csr(matrix, check=False, name=name)
    known: Any = matrix
    if getattr(type(known), "format", None) not in ("csr", "csc", "coo"):
        expected, given = "a CSR, CSC or COO layout", type(known).__name__
        raise InputError(name, expected=expected, given=given, hint="batch the matrix itself")
    made: Csr = known.tocsr()
    return made


def _ends(made: Csr) -> bool:
    """Whether the first and last offset are right. (A layout may have been made with check=False.)"""
    offsets, count = made.offsets, len(made.indices)
    return len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == count


def _blame(matrices: Sequence[Any], items: Iterable[int], name: str) -> NoReturn:
    """Raise the error of the first of these items that its own check refuses."""
    for i in items:
        _layout(matrices[i], f"{name}[{i}]").validate(f"{name}[{i}]")
    raise InputError(name, expected="matrices that stay as they are while they are copied")


# ---- where they lie ---------------------------------------------------------------------------------
def _alike(pieces: Sequence[Piece], name: str) -> Any:
    """Return an array like which the result is made, None in CPU memory. Raises InputError for several devices."""
    first: Any = None
    for i, piece in enumerate(pieces):
        values = piece.values
        if type(values) is np.ndarray:
            place: tuple[str, int, Any] = ("cpu", 0, "numpy")
        else:
            found = arrays.view(values, f"{name}[{i}].values")
            place = (found.device, found.device_id, arrays.kind(values))
        first = first or place
        if place != first:
            where, there = (_spoken(p, p[:2] == q[:2]) for p, q in ((place, first), (first, place)))
            expected = f"a matrix beside {name}[0], {there}"
            hint = "move one: layout.to('cuda'), layout.to('cpu')"
            raise InputError(f"{name}[{i}]", expected=expected, given=f"one {where}", hint=hint)
    return None if first is None or first[0] == "cpu" else pieces[0].values


def _spoken(place: tuple[str, int, Any], same: bool) -> str:
    device, number, library = place
    where = "on cpu" if device == "cpu" else f"on {device}:{number}"
    return f"{where} in arrays of {library}" if same else where


def _concatenated(parts: list[Any], like: Any, name: str) -> Any:
    """Concatenate arrays on their device, in their common type."""
    if like is None:
        return np.concatenate(parts, dtype=_common(parts, name)) if parts else np.empty(0)
    whose = arrays.kind(like)
    if whose == "torch":
        return sys.modules["torch"].cat(parts)
    if whose == "cupy":
        with like.device:
            return sys.modules["cupy"].concatenate(parts)
    return to_where(like, np.concatenate([to_numpy(part) for part in parts]))


def _common(parts: list[Any], name: str) -> Any:
    """Return NumPy's result type of values, as SciPy's block_diag has it. Raises InputError, with an item, for none."""
    items = {part.dtype: i for i, part in reversed(list(enumerate(parts)))}
    known = list(items)[-1]
    for dtype, i in reversed(items.items()):
        where = f"{name}[{i}].values"
        if from_dtype(dtype) is None or not dtype.isnative:
            as_field(parts[i], where, index=False)  # raises
        try:
            known = np.result_type(known, dtype) if dtype != known else known
        except TypeError:
            expected = f"values that {known} can be combined with"
            hint = "convert all matrices to one type first"
            raise InputError(where, expected=expected, given=str(dtype), hint=hint) from None
    return known


# ---- in CPU memory ------------------------------------------------------------------------------------
def _offsets(pieces: Sequence[Piece], matrices: Sequence[Any], starts: Starts, name: str) -> Any:
    """Renumber and check the offsets of all items.

    Offsets of 64 bits are renumbered in 64 bits, so that a wrong one is not taken for a sound one.
    """
    wide = any(piece.offsets.dtype.itemsize == 8 for piece in pieces)
    final = index_type(starts.atoms[-1])
    offsets = np.zeros(int(starts.tiles[-1]) + 1, np.int64 if wide else final)
    first = starts.atoms.astype(offsets.dtype)
    bounds = (starts.tiles + 1).tolist()
    for piece, base, start, stop in zip(pieces, first, bounds[:-1], bounds[1:], strict=False):
        np.add(piece.offsets[1:], base, out=offsets[start:stop])
    try:
        check_offsets(offsets, name, int(starts.atoms[-1]))
    except InputError:
        _blame(matrices, range(len(pieces)), name)
    return offsets.astype(final, copy=False)


def _indices(
    pieces: Sequence[Piece],
    matrices: Sequence[Any],
    starts: Starts,
    first: Any,
    type_: np.dtype[Any],
    name: str,
) -> Any:
    """Check the columns of all items, and add the item's `first` to each."""
    indices = np.empty(int(starts.atoms[-1]), type_)
    bounds, added = starts.atoms.tolist(), first.astype(type_)
    local = type_.itemsize <= 2
    for i, (_, given, _, _, columns) in enumerate(pieces):
        if len(given) == 0:
            continue
        # As an unsigned number, a negative index is large, so one comparison checks both bounds.
        if int(np.maximum.reduce(given.view(UNSIGNED[given.dtype]))) >= columns:
            _blame(matrices, [i], name)
        out = indices[bounds[i] : bounds[i + 1]]
        if local:
            out[:] = given
        else:
            np.add(given, added[i], out=out)
    return indices


# ---- on a GPU --------------------------------------------------------------------------------------------
def _on_gpu(
    pieces: Sequence[Piece],
    matrices: Sequence[Any],
    starts: Starts,
    first: Any,
    type_: np.dtype[Any],
    name: str,
) -> tuple[Any, Any]:
    """Return the offsets and columns, checked, the item's `first` added to each column."""
    like = pieces[0].values
    given = [piece.offsets for piece in pieces]
    heads = _concatenated([part(one, 0, 1) for one in given], like, name)
    tails = _concatenated([part(one, 1, len(one)) for one in given], like, name)
    columns = _concatenated([piece.indices for piece in pieces], like, name)
    at = unsound_on_gpu(heads, tails, columns, starts)
    if at is not None:
        _blame(matrices, [at], name)
    offsets = arrays.zeros(like, (len(tails) + 1,), index_type(starts.atoms[-1]))
    indices = arrays.empty(like, (len(columns),), type_)
    numbered_on_gpu(tails, starts.tiles, starts.atoms[:-1], part(offsets, 1, len(offsets)))
    numbered_on_gpu(columns, starts.atoms, first[:-1], indices)
    return offsets, indices


@hook
def unsound_on_gpu(heads: Any, tails: Any, indices: Any, starts: Starts) -> int | None:
    """Return the first item with a wrong offset or column, or None.

    heads: the items' first offsets. tails: all of their other offsets, one item after another.
    """
    raise NotImplementedError
