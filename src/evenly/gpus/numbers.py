"""The numbers by which schedules are chosen: what was found by hand (by_hand.toml), and what work costs on a GPU.

Each GPU that was measured has a data file: those of this folder, and those that `evenly fit` wrote for this user,
which count more. A GPU without one gets the costs of the most similar GPU, scaled.
"""

from __future__ import annotations

import functools
import math
import tomllib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any

from evenly.errors import printable

from . import kept
from .gpu import Gpu
from .scaling import said, scaled

DEFAULT = "nvidia-h200.toml"  # of the GPU that stands for one that is not known
BY_HAND = "by_hand.toml"
PARAMETERS = ("schedule", "with")  # of rows, which are no numbers


@dataclass(frozen=True, slots=True)
class Measured:
    """A GPU that was measured, and its costs by tables."""

    gpu: Gpu
    costs: dict[str, Any]


def numbers() -> dict[str, Any]:
    """Return the numbers for the GPU that stands for one that is not known."""
    return for_gpu(measured())


def measured() -> Gpu:
    """Return that GPU."""
    return committed()[0].gpu


@functools.cache
def for_gpu(gpu: Gpu) -> dict[str, Any]:
    """Return the numbers for a GPU, and whence its costs are ("origin").

    Carveouts are percentages of the shared memory that a multiprocessor can have. If that differs from that of the GPU
    that was measured, rows that set a carveout are left out, and the driver decides.
    """
    held = every_row(gpu)
    if gpu.shared_memory == nearest(gpu).gpu.shared_memory:
        return held
    return held | {"shares": [r for r in held["shares"] if r["with"].get("carveout", -1) < 0]}


def every_row(gpu: Gpu) -> dict[str, Any]:
    """Return the same with all rows: where a fit begins."""
    known = nearest(gpu)
    held, origin = known.costs, f"measured on {known.gpu.name}"
    if not gpu.like(known.gpu):
        held, origin = scaled(held, known.gpu, gpu), said(known.gpu, gpu)
    properties = {"multiprocessors": gpu.multiprocessors, "threads": gpu.threads}
    return {**by_hand(), **held, **properties, "origin": origin}


def nearest(gpu: Gpu) -> Measured:
    """Return the GPU that was measured and is the most similar to this one."""
    return min((*of_user(), *committed()), key=lambda known: gpu.distance(known.gpu))


# ---- data files --------------------------------------------------------------------------------------
def text_of(file: str) -> str:
    """Return the text of a file of this folder."""
    return resources.files(__package__).joinpath(file).read_text()


@functools.cache
def by_hand() -> dict[str, Any]:
    return tomllib.loads(text_of(BY_HAND))


@functools.cache
def committed() -> tuple[Measured, ...]:
    """Return the GPUs whose data files belong to evenly, the default one first."""
    found = (file.name for file in resources.files(__package__).iterdir())
    files = {DEFAULT, *(name for name in found if name.endswith(".toml"))} - {BY_HAND}
    return tuple(read(text_of(file)) for file in sorted(files, key=lambda f: (f != DEFAULT, f)))


@functools.cache
def of_user() -> tuple[Measured, ...]:
    """Return the GPUs that this user has measured. A file that does not fit this version of evenly is left out."""
    return tuple(_sound())


def _sound() -> Iterator[Measured]:
    for path, text in kept.texts():
        try:
            yield checked(read(text))
        except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError, AttributeError):
            what = f"{printable(str(path))} is not a data file of this version of evenly"
            warnings.warn(f"{what}, and not used: run `evenly fit` again", stacklevel=2)


def keep(name: str, text: str) -> str:
    """Write the data file of a GPU for this user. From now on it is used. Returns its path."""
    path = kept.keep(name, text)
    of_user.cache_clear()
    for_gpu.cache_clear()
    return str(path)


def read(text: str) -> Measured:
    """Read a data file."""
    tables = tomllib.loads(text)
    return Measured(Gpu(**tables.pop("gpu")), tables)


def checked(found: Measured) -> Measured:
    """Return what has the tables, rows and keys of the default GPU, and positive numbers. Raises ValueError if not."""
    if _shape(found.costs) != _shape(committed()[0].costs) or found.gpu.multiprocessors < 1:
        raise ValueError("other tables than those of the model")
    return found


def _shape(costs: Any) -> Any:
    """Return what is the same for all GPUs: everything but the numbers."""
    if isinstance(costs, dict):
        return {k: v if k in PARAMETERS else _shape(v) for k, v in costs.items()}
    if isinstance(costs, list):
        return [_shape(row) for row in costs]
    return isinstance(costs, int | float) and 0 < costs < math.inf
