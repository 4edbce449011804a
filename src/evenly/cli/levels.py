"""The picture of a search in text: how many vertices each level has, or each range of distances."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

ROWS, WIDTH = 24, 50  # of the picture, at most


def of_levels(levels: Any) -> Iterator[str]:
    """Yield a line for each level; neighbouring levels share one, so that there are at most ROWS."""
    found = levels[levels >= 0]
    each = math.ceil((found.max(initial=0) + 1) / ROWS)
    counts = np.bincount(found // each)
    first = [at * each for at in range(len(counts))]
    names = [f"{at}-{at + each - 1}" if each > 1 else str(at) for at in first]
    yield from _bars("level", names, counts)


def of_distances(distances: Any) -> Iterator[str]:
    """Yield a line for each of equal ranges of the finite distances, which begin at the number on its left."""
    found = distances[np.isfinite(distances)]
    counts, edges = np.histogram(found, ROWS if len(np.unique(found)) > 1 else found[:1].repeat(2))
    yield from _bars("from", [f"{edge:g}" for edge in edges[:-1]], counts)


def _bars(title: str, names: list[str], counts: Any) -> Iterator[str]:
    wide = max(len(title), *map(len, names))
    yield f"{title:>{wide}}    vertices"
    for name, count in zip(names, counts.tolist(), strict=True):
        bar = "#" * math.ceil(WIDTH * count / counts.max())
        yield f"{name:>{wide}} {count:>11,} {bar}".rstrip()
