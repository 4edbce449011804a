"""The generated matrices: regular, gather-bound and skewed ones; smaller ones where the result is sparse, too."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from evenly.interop import generators
from evenly.interop.families.chosen import drawn


def of_family(lengths: str, nonzeros: float) -> Any:
    """A matrix of about so many nonzeros, row lengths of this family, and columns anywhere."""
    return drawn(0, lengths, "uniform", nonzeros, np.random.default_rng(0)).make()


DENSE: dict[str, Callable[[], Any]] = {
    "stencil-1024": partial(generators.stencil, 1024),
    "band-64": partial(generators.banded, 300_000, 64),
    "uniform-16": partial(generators.uniform, 1_000_000, 16),
    "rmat-18": partial(generators.rmat, 18),
    "power-law": partial(of_family, "pareto", 4e6),
    "one-huge": partial(of_family, "one-huge", 4e6),
}
SPARSE: dict[str, Callable[[], Any]] = {
    "stencil-512": partial(generators.stencil, 512),
    "uniform-200k": partial(generators.uniform, 200_000, 16),
    "rmat-15": partial(generators.rmat, 15),
}
