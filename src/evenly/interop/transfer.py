"""Copy arrays of any library between CPU and GPU memory."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import numpy as np

from evenly.interop import arrays
from evenly.interop.device_array import DeviceArray
from evenly.language.types import BFLOAT16, from_dtype


def to_numpy(array: Any, name: str = "array") -> np.ndarray[Any, Any]:
    """Return any array as a NumPy array: over the same memory if it is on the CPU, else a copy."""
    whose = arrays.kind(array)
    if whose == "cupy":
        host: np.ndarray[Any, Any] = array.get()
        return host
    if whose == "torch":
        return arrays.as_numpy(array.detach().cpu(), name)
    found = arrays.view(array, name)
    if found.device == "cpu":
        return arrays.as_numpy(array, name)
    return (array if whose == "device" else DeviceArray(found)).to_numpy()


def to_cuda(array: Any, name: str = "array") -> Any:
    """Return any array on the GPU: itself if it is there, else a copy (a CuPy array if CuPy is installed)."""
    found = arrays.view(array, name)
    if found.device == "cuda":
        return array
    if arrays.kind(array) == "torch":
        return array.cuda()
    host = arrays.as_numpy(array, name)
    if from_dtype(host.dtype) is not BFLOAT16 and importlib.util.find_spec("cupy") is not None:
        import cupy

        return cupy.asarray(host)
    return DeviceArray.from_numpy(host)


def to_place(array: Any, place: str, name: str = "array") -> Any:
    """Any array in a place, "cpu" or "cuda": itself if it is there, else a copy."""
    return to_cuda(array, name) if place == "cuda" else to_numpy(array, name)


def to_where(like: Any, host: np.ndarray[Any, Any]) -> Any:
    """Return the NumPy array `host` on the device and of the library of `like`; itself if that is the CPU."""
    found, whose = arrays.view(like, "array"), arrays.kind(like)
    if found.device == "cpu":
        return host
    if whose == "cupy":
        with like.device:
            return to_cuda(host)
    if whose == "torch":
        import torch

        return torch.from_numpy(host).to(like.device)
    return DeviceArray.from_numpy(host, found.device_id)


def wait_for(array: Any) -> None:
    """Wait for all work on the GPU that holds the array. Do nothing for an array in CPU memory."""
    found = arrays.view(array)
    if found.device == "cuda":
        importlib.import_module("cuda.core").Device(found.device_id).sync()
