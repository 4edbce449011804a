"""How others do it: PyTorch's and CuPy's ways on a GPU, NumPy's on a CPU. Each makes a call of (x, offsets)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .operations import PADDED, TOP

Call = Callable[[], Any]


class Lists:
    """Offsets as PyTorch's ways need them, made once: int64 offsets, lengths, and the list of each element.

    width: of lists of equal length; 0 if they differ.
    """

    def __init__(self, x: Any, offsets: Any) -> None:
        import torch

        self.torch = torch
        self.x = torch.as_tensor(x, device="cuda")
        self.offsets = torch.as_tensor(offsets, device="cuda").long()
        self.lengths = self.offsets.diff()
        self.count = len(self.lengths)
        self.of = torch.repeat_interleave(self.lengths)
        least, most = int(self.lengths.min()), int(self.lengths.max())
        self.width = least if least == most else 0

    def rows(self) -> Any:
        """The elements of lists of equal length as the rows of a matrix. Raises ValueError if lengths differ."""
        if not self.width:
            raise ValueError("lists of equal length only")
        return self.x.view(-1, self.width)

    def full(self, value: float) -> Any:
        return self.torch.full((self.count,), value, dtype=self.x.dtype, device="cuda")


def reduced(how: str) -> Callable[[Lists], Call]:
    """torch.segment_reduce."""
    return lambda t: (
        lambda: t.torch.segment_reduce(t.x, how, offsets=t.offsets, unsafe=True, axis=0)
    )


def scattered(how: str, start: float) -> Callable[[Lists], Call]:
    """torch.scatter_reduce, by atomics: another sum on each run."""
    return lambda t: lambda: t.full(start).scatter_reduce_(0, t.of, t.x, how)


def softmax(t: Lists) -> Call:
    """The usual chain: the greatest of each list, exponentials, their sums, the shares."""

    def run() -> Any:
        top = t.full(-np.inf).scatter_reduce_(0, t.of, t.x, "amax")
        powers = (t.x - top[t.of]).exp()
        return powers / t.full(0).scatter_reduce_(0, t.of, powers, "sum")[t.of]

    return run


def sort_twice(t: Lists) -> Call:
    """By key, then by list, both stably."""

    def run() -> Any:
        keys, order = t.torch.sort(t.x, stable=True)
        _, again = t.torch.sort(t.of[order], stable=True)
        return keys[again]

    return run


def on_rows(run: Callable[[Any, Any], Any]) -> Callable[[Lists], Call]:
    """PyTorch's function on a matrix, where all lists have one length."""

    def made(t: Lists) -> Call:
        rows = t.rows()
        return lambda: run(t.torch, rows)

    return made


def padded(t: Lists) -> Call:
    """The operator beneath torch.nested."""
    run, x = t.torch.ops.aten._jagged_to_padded_dense_forward, t.x[:, None]
    return lambda: run(x, [t.offsets], [PADDED], 0.0)


def first_place(t: Lists) -> Any:
    return t.offsets[:-1]


def argmax_on_rows(t: Lists) -> Call:
    rows, first = t.rows(), first_place(t)
    return lambda: rows.argmax(1) + first


TORCH: dict[str, dict[str, Callable[[Lists], Call]]] = {
    "sum": {
        "torch.segment_reduce": reduced("sum"),
        "torch.scatter_reduce": scattered("sum", 0),
        "torch.sum of rows": on_rows(lambda torch, rows: rows.sum(1)),
    },
    "max": {
        "torch.segment_reduce": reduced("max"),
        "torch.scatter_reduce": scattered("amax", -np.inf),
        "torch.amax of rows": on_rows(lambda torch, rows: rows.amax(1)),
    },
    "softmax": {
        "torch, scattered": softmax,
        "torch.softmax of rows": on_rows(lambda torch, rows: torch.softmax(rows, 1).view(-1)),
    },
    "argmax": {"torch.argmax of rows": argmax_on_rows},
    "scan": {"torch.cumsum of rows": on_rows(lambda torch, rows: rows.cumsum(1).view(-1))},
    "top-k": {"torch.topk of rows": on_rows(lambda torch, rows: rows.topk(TOP)[0])},
    "mean of rows": {"torch.segment_reduce": reduced("mean")},
    "pad": {"torch, jagged to padded": padded},
    "sort": {
        "torch.sort twice": sort_twice,
        "torch.sort of rows": on_rows(
            lambda torch, rows: rows.sort(dim=1, stable=True)[0].view(-1)
        ),
    },
}


def numpy_at(ufunc: Any) -> Callable[[Any, Any], Call]:
    """ufunc.reduceat over the lists that have elements."""

    def made(x: Any, offsets: Any) -> Call:
        first = offsets[:-1]
        filled = np.diff(offsets) > 0
        empty = 0 if ufunc is np.add else -np.inf

        def run() -> Any:
            out = np.full(len(first), empty, x.dtype)
            out[filled] = ufunc.reduceat(x, first[filled])
            return out

        return run

    return made


def numpy_softmax(x: Any, offsets: Any) -> Call:
    top, total, lengths = numpy_at(np.maximum)(x, offsets), offsets, np.diff(offsets)

    def run() -> Any:
        powers = np.exp(x - np.repeat(top(), lengths))
        return powers / np.repeat(numpy_at(np.add)(powers, total)(), lengths)

    return run


def numpy_sort(x: Any, offsets: Any) -> Call:
    of = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return lambda: x[np.lexsort((x, of))]


NUMPY: dict[str, dict[str, Callable[[Any, Any], Call]]] = {
    "sum": {"numpy.add.reduceat": numpy_at(np.add)},
    "max": {"numpy.maximum.reduceat": numpy_at(np.maximum)},
    "softmax": {"NumPy, reduceat and repeat": numpy_softmax},
    "sort": {"numpy.lexsort": numpy_sort},
}


class Stream:
    """CuPy's current stream, as cuda.compute takes it."""

    def __cuda_stream__(self) -> tuple[int, int]:
        import cupy

        return 0, cupy.cuda.get_current_stream().ptr


def by_cub(make: Any, arrays: dict[str, Any], about: dict[str, Any], run: dict[str, Any]) -> Call:
    """A primitive of CUB through cuda.compute. arrays: for both calls; about, run: for making, and for running it."""
    import cupy

    made, stream = make(**arrays, **about), Stream()
    size = made(temp_storage=None, **arrays, **run, stream=stream)
    memory = cupy.empty(max(size, 1), cupy.uint8)

    def call() -> Any:
        made(temp_storage=memory, **arrays, **run, stream=stream)
        return out

    out = arrays.get("d_out", arrays.get("d_out_keys"))
    return call


def segments(offsets: Any) -> dict[str, Any]:
    return {"start_offsets_in": offsets[:-1], "end_offsets_in": offsets[1:]}


def cub_sum(x: Any, offsets: Any) -> Call:
    import cuda.compute as cc
    import cupy

    arrays = {"d_in": x, "d_out": cupy.empty(len(offsets) - 1, x.dtype), **segments(offsets)}
    about = {"op": cc.OpKind.PLUS, "h_init": np.zeros(1, x.dtype)}
    count = {"num_segments": len(offsets) - 1}
    return by_cub(cc.make_segmented_reduce, arrays, about, {**about, **count})


def cub_sort(x: Any, offsets: Any) -> Call:
    """With the order as values, as `segment_sort` gives it."""
    import cuda.compute as cc
    import cupy

    order = cupy.arange(len(x), dtype=cupy.int32)
    keys = {"d_in_keys": x, "d_out_keys": cupy.empty_like(x)}
    values = {"d_in_values": order, "d_out_values": cupy.empty_like(order)}
    count = {"num_items": len(x), "num_segments": len(offsets) - 1}
    arrays = {**keys, **values, **segments(offsets)}
    return by_cub(cc.make_segmented_sort, arrays, {"order": cc.SortOrder.ASCENDING}, count)


CUB: dict[str, Callable[[Any, Any], Call]] = {"sum": cub_sum, "sort": cub_sort}
