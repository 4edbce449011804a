"""Sort on a GPU with NVIDIA's CCCL (the package cuda-cccl), which is imported when something is first sorted there.

CCCL compiles a sort for each pair of types and each architecture. That takes some seconds, so its result is kept in the
cache on disk.

Source: Adinets, Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs" (2022), which CCCL's
`cub::DeviceRadixSort` implements.
"""

from __future__ import annotations

import hashlib
import importlib
import threading
from typing import Any

import numpy as np

from evenly.cache import discard, read_file, write_file
from evenly.errors import UnavailableError
from evenly.interop import arrays, streams
from evenly.interop.context import make_current
from evenly.interop.vectors import as_integers

_ours = threading.local()  # CCCL's objects keep the arguments of a call, so each thread has its own


def radix_sort(
    keys: Any,
    values: Any,
    keys_out: Any,
    values_out: Any,
    *,
    descending: bool = False,
    bits: int | None = None,
) -> None:
    """Sort pairs stably by an integer key on their GPU, on the caller's current stream.

    keys, keys_out: (n,), integers of one type, or bool. values, values_out: (n,), of one type of up to 8 bytes.
    bits: keys are not negative, and have at most so many bits. Fewer bits are sorted faster.

    Raises UnavailableError if cuda-cccl is not installed.
    """
    compute = _compute()
    found = arrays.view(keys)
    if found.size == 0:
        return
    from cuda.core import Device

    device = Device(found.device_id)
    make_current(device)
    given = dict(zip(NAMES, map(as_integers, (keys, keys_out, values, values_out)), strict=True))
    cc = device.compute_capability
    sort = _loaded(compute, given, descending, (int(cc.major), int(cc.minor)))
    stream = _Stream(streams.current([keys, values, keys_out, values_out], found.device_id))
    call = {**given, "num_items": found.size, "begin_bit": 0, "end_bit": bits, "stream": stream}
    needed = sort(temp_storage=None, **call)
    workspace = arrays.empty(keys, (max(int(needed), 1),), np.uint8)
    sort(temp_storage=as_integers(workspace), **call)


NAMES = "d_in_keys", "d_out_keys", "d_in_values", "d_out_values"


def _loaded(
    compute: Any, given: dict[str, Any], descending: bool, architecture: tuple[int, int]
) -> Any:
    """Return this thread's sort for arrays of these types."""
    types = given["d_in_keys"].dtype.name, given["d_in_values"].dtype.name
    key = (*types, descending, *architecture)
    kept: dict[Any, Any] = _ours.__dict__.setdefault("sorts", {})
    if key not in kept:
        kept[key] = compute.deserialize(compiled(compute, given, descending, architecture))
    return kept[key]


def compiled(
    compute: Any, given: dict[str, Any], descending: bool, architecture: tuple[int, int]
) -> bytes:
    """Return a sort as CCCL serializes it, from the cache on disk or compiled anew. This works without a GPU."""
    types = [given[name].dtype.name for name in NAMES]
    text = "\0".join(map(str, ("radix_sort", *types, descending, architecture, *_versions())))
    name = hashlib.sha256(text.encode()).hexdigest() + ".cccl"
    blob = read_file("cubin", name)
    if blob is not None:
        try:
            compute.deserialize(blob)
            return blob
        except ValueError:  # not what this version of CCCL wrote
            discard("cubin", name)
    order = compute.SortOrder.DESCENDING if descending else compute.SortOrder.ASCENDING
    made = compute.make_radix_sort(**given, order=order, compute_capability=architecture)
    blob = bytes(compute.serialize(made))
    write_file("cubin", name, blob)
    return blob


def _versions() -> tuple[Any, ...]:
    from cuda.bindings import nvrtc
    from cuda.cccl import __version__

    return __version__, nvrtc.nvrtcVersion()[1:]


class _Stream:
    """A stream as CCCL takes it."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


def _compute() -> Any:
    """Return the module cuda.compute. Raises UnavailableError, which says how to install it."""
    try:
        compute = importlib.import_module("cuda.compute")
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
