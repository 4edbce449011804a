"""Glue sparse matrices into the arrays of one block-diagonal CSR matrix, and check every entry on the way.

In CPU memory each item's offsets and columns are renumbered as they are copied, so that the arrays are read
once. On a GPU the arrays are concatenated by their own library, and renumbered by a kernel.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from evenly.errors import InputError
from evenly.hooks import hook
from evenly.interop import arrays
from evenly.interop.transfer import to_numpy, to_where
from evenly.interop.vectors import part
from evenly.language.types import from_dtype
from evenly.layouts.arguments import MOST
from evenly.layouts.entries import check_offsets
from evenly.layouts.fields import INDEX_TYPES, as_field
from evenly.layouts.items import Starts
from evenly.layouts.narrow import index_type, numbered_on_gpu
from evenly.layouts.numbering import Numbering, nearby, through
from evenly.layouts.pieces import Piece, blame, piece

UNSIGNED = {t: np.dtype(f"u{t.itemsize}") for t in INDEX_TYPES}


class Glued(NamedTuple):
    """The arrays of the block-diagonal matrix. `indices` are numbered as `numbering` says."""

    offsets: Any
    indices: Any
    values: Any
    starts: Starts
    numbering: Numbering


def glue(matrices: Sequence[Any], name: str, narrow: bool = False) -> Glued:
    """Glue the matrices. Raises InputError, with the item's number, for one that cannot be used.

    narrow: count columns from one nearby if 16 bits hold them.
    """
    pieces = [piece(matrix, i, name) for i, matrix in enumerate(matrices)]
    starts = _starts(pieces, name)
    numbering = (nearby(starts) if narrow else None) or through(starts)
    like = _alike(pieces, name)
    values = _concatenated([one.values for one in pieces], like, name)
    if like is None:
        offsets = _offsets(pieces, matrices, starts, name)
        indices = _indices(pieces, matrices, starts, numbering, name)
    else:
        offsets, indices = _on_gpu(pieces, matrices, starts, numbering, name)
    return Glued(offsets, indices, values, starts, numbering)


def _starts(pieces: Sequence[Piece], name: str) -> Starts:
    sizes = [(one.rows, len(one.indices), one.columns) for one in pieces]
    columns = sum(one.columns for one in pieces)
    if columns > MOST:
        expected, given = "fewer than 2**63 columns in all", f"{columns:,}"
        raise InputError(name, expected=expected, given=given)
    return Starts(*np.cumsum([(0, 0, 0), *sizes], axis=0, dtype=np.int64).T.copy())


# ---- where they lie ---------------------------------------------------------------------------------
def _alike(pieces: Sequence[Piece], name: str) -> Any:
    """Return an array like which the result is made, None in CPU memory. Raises InputError for several devices."""
    first: Any = None
    for i, one in enumerate(pieces):
        values = one.values
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
    return to_where(like, np.concatenate([to_numpy(one) for one in parts]))


def _common(parts: list[Any], name: str) -> Any:
    """Return NumPy's result type of values, as SciPy's block_diag has it. Raises InputError, with an item, for none."""
    items = {one.dtype: i for i, one in reversed(list(enumerate(parts)))}
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
    wide = any(one.offsets.dtype.itemsize == 8 for one in pieces)
    final = index_type(starts.atoms[-1])
    offsets = np.zeros(int(starts.tiles[-1]) + 1, np.int64 if wide else final)
    first = starts.atoms.astype(offsets.dtype)
    bounds = (starts.tiles + 1).tolist()
    for one, base, start, stop in zip(pieces, first, bounds[:-1], bounds[1:], strict=False):
        np.add(one.offsets[1:], base, out=offsets[start:stop])
    try:
        check_offsets(offsets, name, int(starts.atoms[-1]))
    except InputError:
        blame(matrices, range(len(pieces)), name)
    return offsets.astype(final, copy=False)


def _indices(
    pieces: Sequence[Piece],
    matrices: Sequence[Any],
    starts: Starts,
    numbering: Numbering,
    name: str,
) -> Any:
    """Check the columns of all items, and number them."""
    indices = np.empty(int(starts.atoms[-1]), numbering.dtype)
    bounds = numbering.starts.tolist()
    first = numbering.first.astype(index_type(starts.columns[-1]))
    parts = len(first) // max(len(pieces), 1)
    for i, (_, given, _, _, columns) in enumerate(pieces):
        if len(given) == 0:
            continue
        # As an unsigned number, a negative index is large, so one comparison checks both bounds.
        if int(np.maximum.reduce(given.view(UNSIGNED[given.dtype]))) >= columns:
            blame(matrices, [i], name)
        begin = bounds[parts * i]
        for at in range(parts * i, parts * (i + 1)):
            start, stop = bounds[at], bounds[at + 1]
            some, out = given[start - begin : stop - begin], indices[start:stop]
            if first[at]:
                np.add(some, first[at], out=out, casting="unsafe")
            else:
                out[:] = some
    return indices


# ---- on a GPU --------------------------------------------------------------------------------------------
def _on_gpu(
    pieces: Sequence[Piece],
    matrices: Sequence[Any],
    starts: Starts,
    numbering: Numbering,
    name: str,
) -> tuple[Any, Any]:
    """Return the offsets and columns, checked and numbered."""
    like = pieces[0].values
    given = [one.offsets for one in pieces]
    heads = _concatenated([part(offsets, 0, 1) for offsets in given], like, name)
    tails = _concatenated([part(offsets, 1, len(offsets)) for offsets in given], like, name)
    columns = _concatenated([one.indices for one in pieces], like, name)
    at = unsound_on_gpu(heads, tails, columns, starts)
    if at is not None:
        blame(matrices, [at], name)
    offsets = arrays.zeros(like, (len(tails) + 1,), index_type(starts.atoms[-1]))
    indices = arrays.empty(like, (len(columns),), numbering.dtype)
    numbered_on_gpu(tails, starts.tiles, starts.atoms[:-1], part(offsets, 1, len(offsets)))
    numbered_on_gpu(columns, numbering.starts, numbering.first, indices)
    return offsets, indices


@hook
def unsound_on_gpu(heads: Any, tails: Any, indices: Any, starts: Starts) -> int | None:
    """Return the first item with a wrong offset or column, or None.

    heads: the items' first offsets. tails: all of their other offsets, one item after another.
    """
    raise NotImplementedError
