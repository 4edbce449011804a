"""Plans of kernels over patterns and lists. They are kept with these, and found again by the addresses of tensors."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar

import torch

import evenly as ev
from evenly.algorithms.ragged.jagged_to_padded import Places
from evenly.gpus.gpu import WARP, WORD
from evenly.torch_operators import kernels

_known: weakref.WeakValueDictionary[Any, Structure] = weakref.WeakValueDictionary()
_known_lists: weakref.WeakValueDictionary[Any, Segments] = weakref.WeakValueDictionary()

FAR = 1 << 25  # bytes of values among which a GPU's cache finds few that are read from anywhere
NEAR = 1 << 23  # bytes of values that lie in it, beside what passes through
PANEL = 3 << 23  # bytes of values and of rows that do
MOVED = 48  # bytes that moving a value in two steps takes, about, for which rows of a result may be added to instead


MOST = 32  # widths of rows, and lengths of padded ones, whose plans are kept

Key = TypeVar("Key")
Value = TypeVar("Value")


class Latest(dict[Key, Value]):
    """The MOST entries that were asked for last."""

    def found(self, key: Key, make: Callable[[], Value]) -> Value:
        """Return an entry. make: makes it, if it is not there."""
        value = self.pop(key, None)
        self[key] = value = make() if value is None else value
        for old in [*self][:-MOST]:  # a copy: a backward pass may run on another thread
            self.pop(old, None)
        return value


class Plans:
    """A layout, and plans of kernels over it, by the types and widths of arguments."""

    def __init__(self, layout: Any) -> None:
        self.layout = layout
        self.plans: Latest[Any, ev.Plan] = Latest()

    def run(self, kernel: ev.Kernel, *given: Any) -> None:
        """Run a kernel on this layout. The schedule is chosen once for arrays of such types and widths.

        given: arrays, layouts, numbers, and None for what there is not.
        """
        key = kernel, *map(_kind, given)
        given = tuple(x.detach() if isinstance(x, torch.Tensor) else x for x in given)
        plan = self.plans.found(key, lambda: kernel.plan(self.layout, *given).release())
        plan(self.layout, *given)


class Structure(Plans):
    """The layout of a pattern's tensors.

    reach: over how many values those lie, about, that are read at a time through the pattern's order.
    """

    reach = 0

    def __init__(self, offsets: Any, columns: Any, width: int) -> None:
        """width: how many columns there are."""
        # No kernel here reads values of a layout: the columns stand in for them.
        arrays, shape = (columns, columns, offsets), (len(offsets) - 1, width)
        super().__init__(ev.csr(arrays, shape=shape, check=False))
        self.offsets, self.columns, self.width = offsets, columns, width
        self._panels: dict[int, list[tuple[Structure, Any]]] = {}
        self._steps: dict[int, tuple[Any, Any]] = {}
        _known[_key(width, offsets, columns)] = self

    def product(self, kernel: ev.Kernel, order: Any, values: Any, X: Any, out: Any) -> None:
        """Run a product with `values`. Where its threads would fetch them from all over memory, it goes in parts.

        A kernel that reads values beside rows of a dense matrix would drive these out of the cache. So the product of
        some of the columns is added after the other, or, if rows of the result are long, values are moved first.
        """
        if not self.in_panels(kernel, order, values, X, out, (values, X, out)):
            first, second = self.steps(order, -(-values.nbytes // NEAR))
            self.run(kernel, second, values.detach().index_select(0, first), X, out, None)

    def gradients(self, order: Any, values: Any, B: Any, G: Any, of_values: Any, of_B: Any) -> bool:
        """Compute both gradients of a product by one kernel over the transpose, this structure. False: it does not pay.

        It reads rows of G once, and stores values' gradients where values are read. Where these lie all over L2, two
        kernels are quicker, of which one stores them in order (R-MAT 18, 32 columns, one H200: 191 us, and 202).
        """
        far = order is not None and NEAR < self.reach * values.element_size() <= FAR
        if far or not in_one_round(B):
            return False
        given = values, B, G, of_values, of_B
        return self.in_panels(kernels.spmm_gradients, order, values, G, of_B, given)

    def in_panels(
        self, kernel: ev.Kernel, order: Any, values: Any, X: Any, out: Any, given: tuple[Any, ...]
    ) -> bool:
        """Run a kernel that adds to `out`: at once if values are near, else in panels. False: move them first.

        given: what the kernel takes after the order.
        """
        size = values.element_size()
        if order is None or self.reach * size <= FAR or not values.is_cuda:
            self.run(kernel, order, *given, None)
            return True
        count = -(-(values.nbytes + X.nbytes) // PANEL)
        if size < 4 or 2 * (count - 1) * out.nbytes >= MOVED * len(values):
            return False
        for i, (panel, places) in enumerate(self.panels(order, count)):
            panel.run(kernel, places, *given, 1 if i else None)
        return True

    def panels(self, order: Any, count: int) -> list[tuple[Structure, Any]]:
        """Return the pattern and its order in `count` parts of equally many columns. They are made once."""
        if count not in self._panels:
            each = -(-self.width // count)
            cuts = [(i * each, (i + 1) * each) for i in range(count)]
            self._panels[count] = [self._panel(order, *cut) for cut in cuts]
        return self._panels[count]

    def _panel(self, order: Any, first: int, end: int) -> tuple[Structure, Any]:
        inside = (self.columns >= first) & (self.columns < end)
        before = torch.nn.functional.pad(inside.cumsum(0, dtype=self.offsets.dtype), (1, 0))
        offsets = before.index_select(0, self.offsets)
        return Structure(offsets, self.columns[inside], self.width), order[inside]

    def steps(self, order: Any, parts: int) -> tuple[Any, Any]:
        """Return the order of nonzeros in two steps, values[order] = values[first][second]. It is made once.

        first: the nonzeros of some columns after the other, each in their order here. So the values that are read at a
        time are few, if a row of the other matrix has them side by side. second: of these, each row has some of each
        part, and the next row those beside them.
        """
        if parts not in self._steps:
            each = max(-(-self.width // parts), 1)
            by_part = torch.sort(self.columns // each, stable=True).indices
            second = torch.empty_like(order)
            second[by_part] = torch.arange(len(order), dtype=order.dtype, device=order.device)
            self._steps[parts] = order[by_part], second
        return self._steps[parts]


@functools.cache
def _aside(device: Any, stream: int) -> Any:
    """One beside each stream: a plan has scratch memory for each that it runs on."""
    return torch.cuda.Stream(device)


@contextmanager
def beside(x: Any) -> Iterator[AbstractContextManager[Any]]:
    """Open code of which a part runs beside the rest of it: that part stands in the context that this gives.

    Neither may need what the other makes. On a GPU that part has a stream of its own, so each fills what the other
    leaves idle, as at its end. It must make no tensors: PyTorch would take their memory from that stream's, and give it
    back while others still read them. x: an array of theirs.
    """
    if not x.is_cuda:
        yield nullcontext()
        return
    here = torch.cuda.current_stream(x.device)
    aside = _aside(x.device, here.cuda_stream)
    aside.wait_stream(here)
    try:
        yield torch.cuda.stream(aside)
    finally:  # also after an error: the arrays may be freed then
        here.wait_stream(aside)


def in_one_round(B: Any) -> bool:
    """Whether a team of a GPU's threads has all columns of B at a time, in words. `cpu` takes no less time so."""
    row = B.shape[1] * B.element_size()
    return bool(B.is_cuda and 0 < row <= WARP * WORD and row % WORD == 0)


def structure(offsets: Any, columns: Any, t_offsets: Any) -> Structure:
    """Return the structure of a pattern's tensors: the pattern's own, or a new one for other tensors."""
    width = len(t_offsets) - 1
    found = _known.get(_key(width, offsets, columns))
    return Structure(offsets, columns, width) if found is None else found


class Segments(Plans):
    """The layout of lists. padded: of lists that are filled up to one length."""

    def __init__(self, offsets: Any, count: int) -> None:
        super().__init__(ev.ragged(offsets, num_atoms=count, check=False))
        self._padded: Latest[int, Plans] = Latest()
        _known_lists[_key(count, offsets)] = self

    def padded(self, length: int) -> Plans:
        return self._padded.found(length, lambda: Plans(Places(self.layout.num_tiles, length)))


def segments(offsets: Any, count: int) -> Segments:
    """Return the layout of lists of `count` elements: the lists' own, or a new one for other tensors."""
    found = _known_lists.get(_key(count, offsets))
    return Segments(offsets, count) if found is None else found


def _kind(x: Any) -> Any:
    """Return what a plan depends on: the type and the width of an array, the type of a number."""
    return (x.dtype, x.shape[1:]) if isinstance(x, torch.Tensor) else type(x)


def _key(size: int, *given: Any) -> Any:
    return size, *((x.data_ptr(), len(x), x.dtype, x.device) for x in given)
