"""Plans of kernels over patterns. They are kept with a pattern, and found again by the addresses of its tensors."""

from __future__ import annotations

import weakref
from typing import Any

import evenly as ev

_known: weakref.WeakValueDictionary[Any, Structure] = weakref.WeakValueDictionary()


FAR = 1 << 25  # bytes of values among which a GPU's cache finds few that are read from anywhere


class Structure:
    """The layout of a pattern's tensors, and plans of kernels over it, by the types and widths of arguments.

    reach: over how many values those lie, about, that are read at a time through the pattern's order.
    """

    reach = 0

    def __init__(self, offsets: Any, columns: Any, width: int) -> None:
        """width: how many columns there are."""
        # No kernel here reads values of a layout: the columns stand in for them.
        arrays, shape = (columns, columns, offsets), (len(offsets) - 1, width)
        self.layout = ev.csr(arrays, shape=shape, check=False)
        self.plans: dict[Any, ev.Plan] = {}
        _known[_key(offsets, columns, width)] = self

    def run(self, kernel: ev.Kernel, *arrays: Any, numbers: tuple[float, ...] = ()) -> None:
        """Run a kernel on this pattern. The schedule is chosen once for arrays of such types and widths.

        arrays: of the kernel, None for an order that there is not. numbers: its last arguments.
        """
        given = *(x if x is None else x.detach() for x in arrays), *numbers
        key = kernel, *(x if x is None else (x.dtype, x.shape[1:]) for x in arrays)
        plan = self.plans.get(key)
        if plan is None:
            plan = self.plans[key] = kernel.plan(self.layout, *given).release()
        plan(self.layout, *given)

    def product(self, kernel: ev.Kernel, order: Any, values: Any, *arrays: Any) -> None:
        """Run a product with `values`. Where its threads would fetch them from all over memory, they are moved first.

        A kernel that reads values beside rows of a dense matrix would drive these out of the cache.
        """
        if order is not None and self.reach * values.element_size() > FAR and values.is_cuda:
            values, order = values.detach().index_select(0, order), None
        self.run(kernel, order, values, *arrays)


def structure(offsets: Any, columns: Any, t_offsets: Any) -> Structure:
    """Return the structure of a pattern's tensors: the pattern's own, or a new one for other tensors."""
    width = len(t_offsets) - 1
    found = _known.get(_key(offsets, columns, width))
    return Structure(offsets, columns, width) if found is None else found


def _key(offsets: Any, columns: Any, width: int) -> Any:
    given = offsets, columns
    return width, *((x.data_ptr(), len(x), x.dtype, x.device) for x in given)
