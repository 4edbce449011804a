"""Plans of kernels over patterns. They are kept with a pattern, and found again by the addresses of its tensors."""

from __future__ import annotations

import weakref
from typing import Any

import torch

import evenly as ev

_known: weakref.WeakValueDictionary[Any, Structure] = weakref.WeakValueDictionary()


FAR = 1 << 25  # bytes of values among which a GPU's cache finds few that are read from anywhere
NEAR = 3 << 23  # bytes that lie in it, beside what passes through
MOVED = 72  # bytes of memory that moving a value takes, which lies anywhere


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
        self.offsets, self.columns, self.width = offsets, columns, width
        self.plans: dict[Any, ev.Plan] = {}
        self._panels: dict[int, list[tuple[Structure, Any]]] = {}
        _known[_key(offsets, columns, width)] = self

    def run(self, kernel: ev.Kernel, *given: Any) -> None:
        """Run a kernel on this pattern. The schedule is chosen once for arrays of such types and widths.

        given: arrays, numbers, and None for what there is not.
        """
        key = kernel, *map(_kind, given)
        given = tuple(x.detach() if isinstance(x, torch.Tensor) else x for x in given)
        plan = self.plans.get(key)
        if plan is None:
            plan = self.plans[key] = kernel.plan(self.layout, *given).release()
        plan(self.layout, *given)

    def product(self, kernel: ev.Kernel, order: Any, values: Any, X: Any, out: Any) -> None:
        """Run a product with `values`. Where its threads would fetch them from all over memory, it does less at a time.

        A kernel that reads values beside rows of a dense matrix would drive these out of the cache. So it is run for
        some of the columns after the other, or values are moved first, whichever moves fewer bytes.
        """
        size = values.element_size()
        if order is None or self.reach * size <= FAR or not values.is_cuda:
            self.run(kernel, order, values, X, out, None)
            return
        count = -(-(self.reach * size + _bytes(X)) // NEAR)
        if size >= 4 and 2 * (count - 1) * _bytes(out) < MOVED * len(values):
            for i, (panel, places) in enumerate(self.panels(count, order)):
                panel.run(kernel, places, values, X, out, 1 if i else None)
            return
        self.run(kernel, None, values.detach().index_select(0, order), X, out, None)

    def panels(self, count: int, order: Any) -> list[tuple[Structure, Any]]:
        """Return the pattern and its order in `count` parts of equally many columns. They are made once."""
        if count not in self._panels:
            each = -(-self.width // count)
            cuts = [(i * each, (i + 1) * each) for i in range(count)]
            self._panels[count] = [self._panel(*cut, order) for cut in cuts]
        return self._panels[count]

    def _panel(self, first: int, end: int, order: Any) -> tuple[Structure, Any]:
        inside = (self.columns >= first) & (self.columns < end)
        before = torch.nn.functional.pad(inside.cumsum(0, dtype=self.offsets.dtype), (1, 0))
        offsets = before.index_select(0, self.offsets)
        return Structure(offsets, self.columns[inside], self.width), order[inside]


def structure(offsets: Any, columns: Any, t_offsets: Any) -> Structure:
    """Return the structure of a pattern's tensors: the pattern's own, or a new one for other tensors."""
    width = len(t_offsets) - 1
    found = _known.get(_key(offsets, columns, width))
    return Structure(offsets, columns, width) if found is None else found


def _kind(x: Any) -> Any:
    """Return what a plan depends on: the type and the width of an array, the type of a number."""
    return (x.dtype, x.shape[1:]) if isinstance(x, torch.Tensor) else type(x)


def _bytes(x: Any) -> int:
    return int(x.numel() * x.element_size())


def _key(offsets: Any, columns: Any, width: int) -> Any:
    given = offsets, columns
    return width, *((x.data_ptr(), len(x), x.dtype, x.device) for x in given)
