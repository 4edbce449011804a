"""Lists of unequal length: `ev.ragged(offsets)` is a layout of them; `ev.ragged.segment_reduce` and so on use them.

Each function is a file of kernels (docs/ragged.md). They run under every schedule, on every target.
"""

from __future__ import annotations

from typing import cast

from evenly.algorithms.arrays.index_add import index_add
from evenly.algorithms.ragged.jagged_to_padded import jagged_to_padded
from evenly.algorithms.ragged.padded_to_jagged import padded_to_jagged
from evenly.algorithms.ragged.segment_argmax import segment_argmax, segment_argmin
from evenly.algorithms.ragged.segment_reduce import segment_reduce
from evenly.algorithms.ragged.segment_scan import segment_scan
from evenly.algorithms.ragged.segment_softmax import segment_softmax
from evenly.algorithms.ragged.segment_sort import segment_sort
from evenly.algorithms.ragged.top_k import top_k
from evenly.layouts.ragged import ragged as constructor


class Lists:
    """What `ev.ragged` is: the constructor of the layout, with the functions as its attributes."""

    index_add = staticmethod(index_add)
    jagged_to_padded = jagged_to_padded
    padded_to_jagged = padded_to_jagged
    segment_argmax = segment_argmax
    segment_argmin = segment_argmin
    segment_reduce = segment_reduce
    segment_scan = segment_scan
    segment_softmax = segment_softmax
    segment_sort = staticmethod(segment_sort)
    top_k = top_k

    __call__ = staticmethod(constructor)


for name in vars(Lists):
    if not name.startswith("_"):
        setattr(constructor, name, getattr(Lists, name))
ragged = cast(Lists, constructor)
