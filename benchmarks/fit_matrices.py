"""The matrices that the model of costs is fitted to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from evenly.bench.matrices import sources
from evenly.interop.generators import banded, rmat

BANDS, SCALES = (3, 7, 9, 12, 16, 24, 32, 48, 100), (10, 12, 14, 15, 16, 17, 19)
BAND_ATOMS = 16_000_000


def matrices(folder: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Those of a folder and of the bench, bands, and R-MAT of more sizes: a name, and what makes it."""
    for source in sources(folder):
        if source.name != "rmat-22":  # which takes longer to make than all of the others to measure
            yield source.name, source.make
    for width in BANDS:
        yield f"band-{width}-long", partial(banded, BAND_ATOMS // width, width)
    for scale in SCALES:
        yield f"rmat-{scale}", partial(rmat, scale)
