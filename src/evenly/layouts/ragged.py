"""Ragged: lists of unequal length, as offsets alone. A tile is a list, an atom an element.

Use it if the kernel takes the elements as arguments of their own (segments, strings,
jagged batches). Source: the segments of moderngpu and CUB.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.interop import arrays
from evenly.layouts.checker import finished
from evenly.layouts.compressed import Compressed
from evenly.layouts.contract import Array, Index, layout
from evenly.layouts.entries import check_offsets
from evenly.layouts.fields import as_field
from evenly.layouts.moving import bounds


@layout
class Ragged(Compressed):
    """`num_tiles` lists. List t has the atoms offsets[t] .. offsets[t+1]-1."""

    offsets: Array[Index]  # (num_tiles + 1,), non-decreasing, offsets[0] == 0
    num_atoms: int

    def validate(self, name: str = "A") -> None:
        """Check every offset. Raises InputError for the first that is wrong."""
        check_offsets(self.offsets, f"{name}.offsets", self.num_atoms)

    def slice(self, tiles: Any) -> Ragged:
        """Return the consecutive lists `tiles` (a slice or a range). Their atoms are counted from 0."""
        start, stop = bounds(tiles, self.num_tiles)
        count = int(self.offsets[stop] - self.offsets[start])
        return Ragged(self.offsets[start : stop + 1] - self.offsets[start], count)


def ragged(
    offsets: Any,
    *,
    num_atoms: int | None = None,
    check: bool = True,
    validate: bool = False,
    name: str = "A",
) -> Ragged:
    """Make a :class:`Ragged` of offsets (num_tiles + 1,), int32 or int64. They are not copied.

    num_atoms: the last offset. Default: it is read, which waits for the GPU if the offsets
      are there.
    check, validate: as for `ev.csr`.

    Raises InputError for malformed offsets.
    """
    if isinstance(offsets, Ragged):
        return finished(offsets, name, False, validate)
    field = as_field(offsets, f"{name}.offsets", index=True)
    if len(field.shape) != 1 or len(field) == 0:
        given = f"shape {tuple(field.shape)}"
        raise InputError(f"{name}.offsets", expected="offsets (num_tiles + 1,)", given=given)
    if type(field) is np.ndarray:
        for at, wanted in ((0, 0), (len(field) - 1, num_atoms)):
            if wanted is not None and field[at] != wanted:
                given = f"offsets[{at}]={field[at]}"
                expected = f"offsets[{at}]={wanted}"
                raise InputError(f"{name}.offsets", expected=expected, given=given)
    if num_atoms is None:
        from evenly.interop.transfer import to_numpy

        last = field if arrays.kind(field) == "device" else field[-1:]
        num_atoms = int(to_numpy(last)[-1])
    if num_atoms < 0:
        given = f"offsets[{len(field) - 1}]={num_atoms}"
        raise InputError(f"{name}.offsets", expected="non-decreasing offsets", given=given)
    return finished(Ragged(field, num_atoms), name, check, validate)
