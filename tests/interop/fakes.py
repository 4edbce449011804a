"""Stand-ins for libraries that are not installed here. They have only the attributes that interop reads."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from evenly.language.types import BFLOAT16, name_of


class Foreign:
    """A CPU array with DLPack and nothing else."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.array.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class OnCuda:
    """An array that claims to lie on a GPU, by `__cuda_array_interface__`."""

    def __init__(self, array: np.ndarray, **changes: Any) -> None:
        self.array = array
        self.__dict__["interface"] = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (array.ctypes.data, False),
            "strides": None if array.flags.c_contiguous else array.strides,
            "version": 3,
            **changes,
        }

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.interface


class _Device(types.SimpleNamespace):
    def __str__(self) -> str:
        return self.type


class _Named:
    """An object that prints as torch's dtypes and layouts do."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return f"torch.{self.name}"


STRIDED = _Named("strided")


def _tensor(array: np.ndarray, device: str) -> Any:
    made = Tensor()
    made.array = array
    made.shape = array.shape
    made.dtype = _DTYPES[name_of(array.dtype)]
    made.layout = STRIDED
    made.device = _Device(type=device, index=None if device == "cpu" else 1)
    return made


class Tensor:
    """torch.Tensor, dense or sparse."""

    requires_grad = False

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def stride(self) -> tuple[int, ...]:
        return tuple(n // self.array.itemsize for n in self.array.strides)

    def is_contiguous(self) -> bool:
        return bool(self.array.flags.c_contiguous)

    def get_device(self) -> int:
        return -1 if self.device.index is None else int(self.device.index)

    def is_conj(self) -> bool:
        return False

    def is_neg(self) -> bool:
        return False

    def detach(self) -> Any:
        return self

    def numpy(self) -> np.ndarray:
        assert self.device.type == "cpu"
        if self.dtype.name == "bfloat16":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.array

    def cpu(self) -> Any:
        return _tensor(self.array.copy(), "cpu")

    def view(self, dtype: Any) -> Any:
        return _tensor(self.array.view(dtype.name), self.device.type)

    def zero_(self) -> Any:
        self.array[...] = 0
        return self

    def __len__(self) -> int:
        return len(self.array)


Tensor.__module__ = "torch"
_DTYPES = {
    n: _Named(n)
    for n in ("float32", "float64", "int16", "int32", "int64", "bool", "float16", "bfloat16", "uint8")
}  # fmt: skip


def tensor(array: np.ndarray, device: str = "cpu") -> Any:
    """A dense torch tensor over the array."""
    return _tensor(array, device)


def sparse_tensor(layout: str, shape: tuple[int, int], **parts: np.ndarray) -> Any:
    """A torch sparse tensor, whose methods of these names give these arrays."""
    made = Tensor()
    made.shape = shape
    made.layout = _Named(layout)
    for name, array in parts.items():
        value = tensor(array) if array.ndim == 1 else [tensor(row) for row in array]
        setattr(made, name, lambda value=value: value)
    return made


def torch_module() -> types.ModuleType:
    """A module to put into sys.modules as torch."""
    module = types.ModuleType("torch")
    for name, dtype in _DTYPES.items():
        setattr(module, name, dtype)
    module.empty = lambda shape, dtype, device: _tensor(  # type: ignore[attr-defined]
        np.empty(shape, BFLOAT16.dtype if dtype.name == "bfloat16" else dtype.name), device.type
    )
    module.grad_enabled = True  # type: ignore[attr-defined]
    module.is_grad_enabled = lambda: module.grad_enabled  # type: ignore[attr-defined]
    return module


class ndarray:
    """cupy.ndarray."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.shape, self.dtype, self.flags = array.shape, array.dtype, array.flags
        self.data = types.SimpleNamespace(ptr=array.ctypes.data, device_id=2)
        self.device = _Context()

    def get(self) -> np.ndarray:
        return self.array.copy()

    def fill(self, value: Any) -> None:
        self.array[...] = value

    def __len__(self) -> int:
        return len(self.array)


ndarray.__module__ = "cupy"


class _Context:
    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...


def cupy_module() -> types.ModuleType:
    """A module to put into sys.modules as cupy."""
    module = types.ModuleType("cupy")
    module.empty = lambda shape, dtype: ndarray(np.empty(shape, dtype))  # type: ignore[attr-defined]
    module.current = 0  # type: ignore[attr-defined]
    runtime = types.SimpleNamespace(getDevice=lambda: module.current)
    module.cuda = types.SimpleNamespace(Device=lambda n: _Context(), runtime=runtime)  # type: ignore[attr-defined]
    return module


class csr_matrix:
    """cupyx.scipy.sparse.csr_matrix."""

    format = "csr"

    def __init__(self, data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> None:
        self.data, self.indices, self.indptr, self.shape = data, indices, indptr, shape


csr_matrix.__module__ = "cupyx.scipy.sparse._csr"
