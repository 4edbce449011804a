"""Where the examples run: on the best target there is, with arrays where it reaches them."""

from __future__ import annotations

from evenly import targets
from evenly.interop.transfer import to_cuda, to_numpy
from evenly.layouts import is_layout


def best() -> str:
    """The best target of this machine: "cuda", else "cpu", else "python"."""
    missing = targets.available()
    return next(name for name in ("cuda", "cpu", "python") if not missing[name])


def put(target, *things):
    """Arrays and layouts where `target` reaches them: on the GPU for "cuda", else as they are."""
    moved = [_moved(thing) if target == "cuda" else thing for thing in things]
    return moved[0] if len(moved) == 1 else moved


def _moved(thing):
    return thing.to("cuda") if is_layout(thing) else to_cuda(thing)


def get(array):
    """An array as NumPy's, to compare and print; from a GPU it waits for the kernels before it."""
    return to_numpy(array)
