"""Whose tuned numbers count for a layout: those of the GPU that holds it."""

from __future__ import annotations

from typing import Any

from evenly.gpus.numbers import for_gpu, numbers
from evenly.interop import arrays
from evenly.layouts.contract import LayoutInstance
from evenly.layouts.moving import an_array, device_of


def numbers_for(layout: LayoutInstance | None) -> dict[str, Any]:
    """Return the tuned numbers of the GPU that holds the layout.

    For a layout in host memory, or none, return those of the GPU that stands for one that is not known.
    """
    if layout is None or device_of(layout) != "cuda":
        return numbers()
    from evenly.targets.cuda.place import gpu_of

    there = arrays.view(an_array(layout), "array").device_id
    return for_gpu(gpu_of(there))
