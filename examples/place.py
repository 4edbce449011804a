"""Choose the target of the examples, and move their arrays and layouts there."""

from __future__ import annotations

from evenly import targets
from evenly.interop.transfer import to_cuda, to_numpy
from evenly.layouts import is_layout


def best() -> str:
    """Return the best target of this machine: "cuda", else "cpu", else "python"."""
    missing = targets.available()
    return next(name for name in ("cuda", "cpu", "python") if not missing[name])


def put(target, *things):
    """Return arrays and layouts in the memory of `target`: on the GPU for "cuda", else unchanged."""
    moved = [_moved(thing) if target == "cuda" else thing for thing in things]
    return moved[0] if len(moved) == 1 else moved


def _moved(thing):
    return thing.to("cuda") if is_layout(thing) else to_cuda(thing)


def get(array):
    """Return an array as a NumPy array. From a GPU it is copied, after all kernels launched before."""
    return to_numpy(array)
