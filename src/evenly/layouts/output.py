"""output: columns to which kernels append, in no order.

`out.append(value, ...)` in a kernel adds an element: one value a column. An atomic addition to a counter gives it its
place. An element for which there is no room is counted, too, so that it cannot be lost unnoticed.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.interop import arrays
from evenly.interop.transfer import to_numpy, wait_for
from evenly.interop.vectors import part
from evenly.language.members import column_names, columns_of
from evenly.language.types import TYPES, from_dtype
from evenly.layouts.arguments import count_of
from evenly.layouts.contract import Array, is_layout, layout
from evenly.layouts.moving import an_array


class Output:
    """Columns that kernels append to (`ev.output`). To a kernel it is an argument like a layout, without tiles."""

    appends = True
    capacity: int
    appended: (
        Any  # (1,) int64: how many elements were appended, also those for which there was no room
    )

    @property
    def num_tiles(self) -> int:
        return 0

    @property
    def num_atoms(self) -> int:
        return 0

    def begin(self, tile: Any) -> Any:
        return 0

    def end(self, tile: Any) -> Any:
        return 0

    # ---- on the host -----------------------------------------------------------------------------
    def __len__(self) -> int:
        """Return the number of elements. On a GPU this waits for the device. Raises InputError if some had no room."""
        return self.check("output")

    def check(self, name: str) -> int:
        """Return the number of elements, as `len`. Calls that wait for the device do so. name: what errors call it."""
        wait_for(self.appended)  # whatever stream the kernel ran on
        count = int(to_numpy(self.appended)[0])
        if count > self.capacity:
            raise InputError(
                name,
                expected=f"at most {self.capacity} elements",
                given=f"{count}",
                hint=f"ev.output(..., capacity={count}) has room for them",
            )
        return count

    @property
    def columns(self) -> tuple[Any, ...]:
        """The elements so far: an array (len(self),) for each type, over the output's own memory.

        On a GPU this waits for the device. Raises InputError if some elements had no room.
        """
        count = len(self)
        return tuple(part(getattr(self, name), 0, count) for name in columns_of(type(self)))

    def clear(self) -> None:
        """Forget all elements, so that the output can be used again."""
        if arrays.kind(self.appended) == "device":
            self.appended.fill_zero()
        else:
            self.appended[...] = 0


def output(types: Any, *, capacity: int, like: Any = None) -> Any:
    """Make an empty output: columns to which kernels append elements, in no order.

        leaves = ev.output((np.int32, np.float32), capacity=1000)
        leaves.append(i, x)      in a kernel, anywhere: add an element, one value for each type
        len(leaves)              how many elements there are
        leaves.columns           an array (len(leaves),) for each type
        leaves.clear()           begin again

    types: a NumPy dtype, or a tuple of them. capacity: the most elements.
    like: an array or a layout; the columns are arrays of its library, on its device. Default: NumPy's.
      `leaves.to("cuda")` has copies on a GPU.

    Which elements there are is the same in every run; their order is not. Sort them by a key for equal bits
    (`ev.sort_by_key`). Elements beyond the capacity are counted and not stored: `len` and `columns` then raise
    InputError, which says how many there were, and so does a call that waits for the device, as those with tasks do.

    Raises InputError for types that kernels do not store, and for a capacity that is no integer from 0.

    >>> import numpy as np, evenly as ev
    >>> @ev.kernel
    ... def large(A, out):
    ...     for row in A.tiles():
    ...         for k in A.atoms(row):
    ...             if A.value(k) > 2:
    ...                 out.append(row, A.column(k))
    >>> import scipy.sparse as sp
    >>> found = ev.output((np.int32, np.int32), capacity=10)
    >>> large(sp.csr_array([[1.0, 3.0], [2.0, 0.0]]), found)
    >>> found.columns
    (array([0], dtype=int32), array([1], dtype=int32))
    """
    listed = types if isinstance(types, tuple | list) else (types,)
    try:
        found = [np.dtype(t) for t in listed]
    except TypeError:
        found = []
    if not found or any(from_dtype(t) is None for t in found):
        raise InputError("types", expected=f"types of {TYPES}", given=repr(types))
    room = count_of(capacity, "capacity")
    beside = an_array(like) if is_layout(like) else like
    beside = np.empty(0) if beside is None else beside
    columns = (arrays.empty(beside, (room,), t) for t in found)
    return _class(len(found))(room, arrays.zeros(beside, (1,), np.dtype(np.int64)), *columns)


@functools.cache
def _class(count: int) -> Any:
    """Return the class of outputs with fields column_0, column_1, ... (capacity,)."""
    fields: dict[str, Any] = {"capacity": int, "appended": Array}
    fields |= dict.fromkeys(column_names(count), Array)
    body = {"__annotations__": fields, "__module__": __name__}
    return layout(type("Output", (Output,), body))
