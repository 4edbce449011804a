"""Sort on a GPU with NVIDIA's CCCL (the package cuda-cccl). It is imported when something is first sorted there.

Source: Adinets, Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs" (2022), which CCCL's
`cub::DeviceRadixSort` implements.
"""

from __future__ import annotations

from typing import Any

from evenly.errors import UnavailableError
from evenly.interop import arrays, streams
from evenly.interop.context import make_current
from evenly.interop.vectors import as_integers


def radix_sort(
    keys: Any, values: Any, keys_out: Any, values_out: Any, *, descending: bool = False
) -> None:
    """Sort pairs stably by an integer key on their GPU, on the caller's current stream.

    keys, keys_out: (n,), integers of one type, or bool. values, values_out: (n,), of one type of up to 8 bytes.

    Raises UnavailableError if cuda-cccl is not installed.
    """
    compute = _compute()
    count = arrays.view(keys).size
    if count == 0:
        return
    device_id = arrays.view(keys).device_id
    stream = _Stream(streams.current([keys, values, keys_out, values_out], device_id))
    from cuda.core import Device

    make_current(Device(device_id))
    order = compute.SortOrder
    compute.radix_sort(
        d_in_keys=as_integers(keys),
        d_out_keys=as_integers(keys_out),
        d_in_values=as_integers(values),
        d_out_values=as_integers(values_out),
        num_items=count,
        order=order.DESCENDING if descending else order.ASCENDING,
        stream=stream,
    )


class _Stream:
    """A stream as CCCL takes it."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


def _compute() -> Any:
    """Return the module cuda.compute. Raises UnavailableError, which says how to install it."""
    try:
        from cuda import compute
    except ImportError:
        missing = "the package cuda-cccl is not installed"
    except RuntimeError as error:  # a library of CUDA that it needs does not load
        missing = f"cuda-cccl cannot be used ({error})"
    else:
        if hasattr(compute, "radix_sort"):
            return compute
        missing = "cuda-cccl finds no NVIDIA driver"
    remedy = "pip install 'evenly[cu13]' (or [cu12] for a CUDA 12 driver)"
    raise UnavailableError("sorting on a GPU", missing, remedy)
