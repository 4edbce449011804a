"""A minimal GPU array, for users who have neither CuPy nor PyTorch.

It only owns and describes memory: it has no arithmetic. CuPy, PyTorch and Numba
take it without a copy, through `__cuda_array_interface__` and DLPack.

Memory comes from cuda.core's pool and is freed in the order of the device's default
stream. Keep a reference to the array while kernels on other streams use it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from evenly.errors import InputError, UnavailableError
from evenly.interop.array_view import ArrayView
from evenly.interop.context import make_current


class DeviceArray:
    """A C-contiguous array in GPU memory, of any shape and of any NumPy dtype or bfloat16.

    :meth:`from_numpy` and :func:`device_empty` make one. `DeviceArray(view)` wraps GPU
    memory that something else owns, and keeps the owner alive. The dtype of a bfloat16
    array is that of ml_dtypes, or evenly's own if ml_dtypes is not installed.
    """

    __slots__ = ("__weakref__", "_buffer", "_view")

    def __init__(self, view: ArrayView, buffer: Any = None) -> None:
        if view.device != "cuda":
            raise InputError("DeviceArray", expected="GPU memory", given=f"{view.device} memory")
        if not view.contiguous:
            raise InputError("DeviceArray", expected="a contiguous array", given="a strided one")
        self._view = view
        self._buffer = buffer

    @classmethod
    def from_numpy(cls, array: Any, device_id: int | None = None) -> DeviceArray:
        """Copy a NumPy array to the GPU. Returns when the copy is done."""
        host = np.asarray(array, order="C")
        made = device_empty(host.shape, host.dtype, device_id=device_id)
        if host.nbytes:
            with _on(made.device_id) as (device, Buffer):
                source = Buffer.from_handle(host.ctypes.data, host.nbytes, owner=host)
                made._memory(Buffer).copy_from(source, stream=device.default_stream)
                device.default_stream.sync()
        return made

    def __reduce__(self) -> Any:
        return type(self).from_numpy, (
            self.to_numpy(),
        )  # an address has no meaning in another process

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """Copy to CPU memory. Waits for the device's default stream first."""
        host = np.empty(self.shape, self.dtype)
        if host.nbytes:
            with _on(self.device_id) as (device, Buffer):
                target = Buffer.from_handle(host.ctypes.data, host.nbytes, owner=host)
                self._memory(Buffer).copy_to(target, stream=device.default_stream)
                device.default_stream.sync()
        return host

    def fill_zero(self) -> None:
        """Set every byte to zero. Returns when that is done."""
        if self.nbytes:
            with _on(self.device_id) as (device, Buffer):
                self._memory(Buffer).fill(0, stream=device.default_stream)
                device.default_stream.sync()

    def copy_from(self, other: DeviceArray, stream: Any) -> None:
        """Copy the bytes of another array of the same size, on a stream.

        stream: a stream of cuda.core, or a graph builder. The graph copies whenever it is launched:
          keep both arrays for as long as it is.
        """
        if self.nbytes:
            with _on(self.device_id) as (_, Buffer):
                self._memory(Buffer).copy_from(other._memory(Buffer), stream=stream)

    def view(self) -> ArrayView:
        """Describe the array, as `evenly.interop.arrays.view` does."""
        found = self._view
        return ArrayView(
            found.pointer,
            found.shape,
            found.dtype,
            "cuda",
            found.device_id,
            found.readonly,
            True,
            self,
        )

    @property
    def pointer(self) -> int:
        return self._view.pointer

    @property
    def shape(self) -> tuple[int, ...]:
        return self._view.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._view.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def device_id(self) -> int:
        return self._view.device_id

    @property
    def readonly(self) -> bool:
        return self._view.readonly

    def reshape(self, *shape: Any) -> DeviceArray:
        """Return an array over the same memory with another shape of the same size.

        One length may be -1, as in NumPy: it follows from the size.
        """
        wanted = self._full(_integers(shape[0] if len(shape) == 1 else shape))
        v = self._view
        changed = ArrayView(
            v.pointer, wanted, v.dtype, v.device, v.device_id, v.readonly, True, self
        )
        return DeviceArray(changed, self._buffer)

    def _full(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape for `reshape`, with the length for which it has -1."""
        if shape.count(-1) > 1:
            raise InputError("shape", expected="-1 at most once", given=repr(shape))
        _check_lengths([n for n in shape if n != -1], shape)
        full = shape
        if -1 in shape:
            others = -math.prod(shape)
            if not others:
                expected = "lengths from which that of -1 follows"
                raise InputError("shape", expected=expected, given=repr(shape))
            full = tuple(self.size // others if n == -1 else n for n in shape)
        if math.prod(full) != self.size:
            raise InputError("shape", expected=f"{self.size} elements", given=f"shape {shape}")
        return full

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a DeviceArray without axes")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype}, device_id={self.device_id})"

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        # NumPy would otherwise wrap it as a 0-d object array.
        raise InputError(
            "DeviceArray",
            expected="an explicit copy to the CPU",
            given="an implicit one",
            hint="call .to_numpy()",
        )

    def __getitem__(self, item: Any) -> Any:
        raise InputError(
            "DeviceArray",
            expected="whole arrays",
            given="a subscript",
            hint="copy it with .to_numpy(), or view it in CuPy: cupy.asarray(array)",
        )

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.pointer, self._view.readonly),
            "strides": None,
            "stream": None,
            "version": 3,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, self.device_id)

    def __dlpack__(self, **kwargs: Any) -> Any:
        from cuda.core import Buffer
        from cuda.core.utils import StridedMemoryView

        described = StridedMemoryView.from_buffer(
            self._memory(Buffer), self.shape, dtype=self.dtype, is_readonly=self._view.readonly
        )
        return described.__dlpack__(**kwargs)

    def _memory(self, Buffer: Any) -> Any:
        if self._buffer is not None:
            return self._buffer
        return Buffer.from_handle(self.pointer, self.nbytes, owner=self._view.owner)


def device_empty(shape: Any, dtype: Any, device_id: int | None = None) -> DeviceArray:
    """Allocate an uninitialised :class:`DeviceArray` on the current device, or on `device_id`.

    Raises UnavailableError if there is no GPU, or cuda.core is not installed.
    """
    wanted = _integers(shape)
    _check_lengths(wanted, wanted)
    element = np.dtype(dtype)
    nbytes = math.prod(wanted) * element.itemsize
    with _on(device_id) as (device, _):
        stream = device.default_stream
        # At least one byte, so that an empty array has an address of its own, too.
        buffer = device.allocate(max(nbytes, 1), stream=stream)
        stream.sync()  # now any other stream may use the memory
    view = ArrayView(
        int(buffer.handle), wanted, element, "cuda", device.device_id, False, True, buffer
    )
    return DeviceArray(view, buffer)


class _on:
    """A context in which a device is current. Entering it returns cuda.core's Device object and Buffer class."""

    def __init__(self, device_id: int | None) -> None:
        self.device_id = device_id

    def __enter__(self) -> tuple[Any, Any]:
        remedy = "an NVIDIA driver, and pip install 'evenly[cu13]' (or 'evenly[cu12]')"
        try:
            from cuda.core import Buffer, Device
        except ImportError:
            raise UnavailableError("DeviceArray", "cuda-core is missing", remedy) from None
        try:
            self.previous = Device()
            device = self.previous if self.device_id is None else Device(self.device_id)
            make_current(device)
        except Exception as error:  # cuda.core raises errors of its own if the driver is missing
            said = f"no GPU can be reached ({error})"
            raise UnavailableError("DeviceArray", said, remedy) from error
        return device, Buffer

    def __exit__(self, *error: object) -> None:
        self.previous.set_current()


def _integers(shape: Any) -> tuple[int, ...]:
    try:
        return tuple(operator.index(n) for n in (shape if hasattr(shape, "__iter__") else (shape,)))
    except TypeError:
        raise InputError("shape", expected="integers", given=repr(shape)) from None


def _check_lengths(lengths: Sequence[int], shape: tuple[int, ...]) -> None:
    if any(n < 0 for n in lengths):
        raise InputError("shape", expected="lengths of at least 0", given=repr(shape))
