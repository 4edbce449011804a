"""The matrices that the model of costs is fitted to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from evenly.bench.families import of_families
from evenly.bench.matrices import Source, sources
from evenly.interop.generators import banded, rmat

BANDS, SCALES = (3, 7, 9, 12, 16, 24, 32, 48, 100), (10, 12, 14, 15, 16, 17, 19)
BAND_ATOMS = 16_000_000


def matrices(folder: str) -> Iterator[Source]:
    """Those of a folder and of the bench, bands, and R-MAT of more sizes."""
    for source in sources(folder):
        if source.name != "rmat-22":  # which takes longer to make than all of the others to measure
            yield source
    for width in BANDS:
        make = partial(banded, BAND_ATOMS // width, width)
        yield Source(f"band-{width}-long", "synthetic", make)
    for scale in SCALES:
        yield Source(f"rmat-{scale}", "synthetic", partial(rmat, scale))


def drawn(seeds: Iterable[int], largest: int) -> Iterator[Source]:
    """Those that the seeds draw by families."""
    for seed in seeds:
        yield from of_families(seed, largest)
