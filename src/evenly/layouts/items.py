"""The items of a batch: which tiles, atoms and columns belong to each, on the host and in kernels."""

from __future__ import annotations

import dataclasses
import itertools
import operator
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from evenly.errors import InputError
from evenly.interop import arrays
from evenly.interop.transfer import to_numpy
from evenly.interop.vectors import part


class Starts(NamedTuple):
    """Where each item begins, (num_items + 1,) each, int64, in CPU memory."""

    tiles: np.ndarray[Any, Any]
    atoms: np.ndarray[Any, Any]
    columns: np.ndarray[Any, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class ItemStatistics:
    """How many items a batch has, and the greatest and mean numbers of an item's rows, nonzeros and columns."""

    items: int
    rows: int
    nonzeros: int
    columns: int
    mean_rows: float
    mean_nonzeros: float
    mean_columns: float

    def __str__(self) -> str:
        parts = ("rows", self.mean_rows, self.rows), ("nonzeros", self.mean_nonzeros, self.nonzeros)
        said = [f"{what} {mean:.1f} (at most {most:,})" for what, mean, most in parts]
        said.append(f"columns {self.mean_columns:.1f} (at most {self.columns:,})")
        return f"items {self.items:,}, of each: {', '.join(said)}"


class NoSuchItem(InputError, IndexError):
    """An item's number that the batch does not have. It ends loops over the batch, too."""


_known: weakref.WeakKeyDictionary[Any, Starts] = weakref.WeakKeyDictionary()


def remember(batch: Any, starts: Starts) -> None:
    """Note where the items of a new batch begin, so that nothing has to be read back from a GPU."""
    _known[batch] = starts


class Items:
    """A mixin for layouts of batches: what they have on the host.

    The layout has `num_items`, and for kernels the accessors `item_begin(item)`, `item_end(item)`,
    `columns_begin(item)`, `columns_end(item)`. It also has `_starts()`, `_item(i)` and `values`.
    """

    host_methods = frozenset({"with_values", "split", "shapes", "item_statistics", "starts"})

    if TYPE_CHECKING:
        num_items: Any
        values: Any
        num_tiles: Any
        num_columns: Any

        def columns_begin(self, item: Any) -> Any: ...
        def columns_end(self, item: Any) -> Any: ...
        def _starts(self) -> Starts: ...
        def _item(self, i: int) -> Any: ...

    def columns(self, item):
        """The part of x that belongs to an item: a range, for `ev.stage`."""
        return range(self.columns_begin(item), self.columns_end(item))

    @property
    def starts(self) -> Starts:
        """Where each item's tiles, atoms and columns begin. Read back once, if the batch is on a GPU."""
        found = _known.get(self)
        if found is None:
            found = self._starts()
            remember(self, found)
        return found

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """The (rows, columns) of each item."""
        rows, _, columns = map(np.diff, self.starts)
        return list(zip(rows.tolist(), columns.tolist(), strict=True))

    @property
    def item_statistics(self) -> ItemStatistics:
        sizes = [np.diff(one) for one in self.starts]
        greatest = [int(size.max(initial=0)) for size in sizes]
        means = [float(size.mean()) if len(size) else 0.0 for size in sizes]
        return ItemStatistics(len(sizes[0]), *greatest, *means)

    def with_values(self, values: Any) -> Self:
        """Return the same batch with other values: (nonzeros,), of all items one after another, on its device.

        The structure is shared, not copied. Raises InputError for another number of values.
        """
        made: Any = self
        count = int(self.starts.atoms[-1])
        shape = tuple(getattr(values, "shape", ()))
        flat = values.reshape(-1) if len(shape) == 2 and shape[0] == len(self) else values
        if not arrays.is_array(values) or tuple(flat.shape) != (count,):
            given = f"shape {shape}" if arrays.is_array(values) else type(values).__name__
            raise InputError("values", expected=f"{count} values, one a nonzero", given=given)
        here, there = (arrays.view(x, "values") for x in (self.values, flat))
        if (here.device, here.device_id) != (there.device, there.device_id):
            expected = f"values on the batch's device, {here.device}"
            raise InputError("values", expected=expected, given=f"some on {there.device}")
        other: Self = dataclasses.replace(made, values=flat)
        remember(other, self.starts)
        return other

    def split(self, y: Any, by: str = "rows") -> list[Any]:
        """Return the part of `y` that belongs to each item, as a view: `for y_i in B.split(y)`.

        y: an array of NumPy, CuPy, PyTorch or evenly whose first axis has an element for each row of the batch.
        by: "rows"; "columns", for an array such as x; "nonzeros", for one such as the values.

        Raises InputError if the array has another length.
        """
        axes = {"rows": self.starts.tiles, "columns": self.starts.columns}
        axes["nonzeros"] = self.starts.atoms
        if by not in axes:
            raise InputError("by", expected="'rows', 'columns' or 'nonzeros'", given=repr(by))
        bounds = axes[by].tolist()
        shape = tuple(arrays.view(y, "y").shape)
        if not shape or shape[0] != bounds[-1]:
            expected = f"an array of {bounds[-1]}, the {by} of the batch"
            raise InputError("y", expected=expected, given=f"shape {shape}")
        return [part(y, *at) for at in itertools.pairwise(bounds)]

    def __len__(self) -> int:
        return int(self.num_items)

    def __getitem__(self, i: Any) -> Any:
        """Item i as the layout of a CSR matrix. Its values are a view of the batch's."""
        try:
            at = operator.index(i)
        except TypeError:
            raise InputError("item", expected="an item's number", given=type(i).__name__) from None
        count = len(self)
        if not -count <= at < count:
            raise NoSuchItem("item", expected=f"one of {count} items", given=str(i))
        return self._item(at % count)

    def __iter__(self) -> Iterator[Any]:
        return map(self.__getitem__, range(len(self)))


def on_host(*offsets: Any) -> list[np.ndarray[Any, Any]]:
    """Copy small arrays of offsets to CPU memory, as int64."""
    return [to_numpy(one).astype(np.int64) for one in offsets]
