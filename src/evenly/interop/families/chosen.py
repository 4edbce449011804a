"""Which matrices a seed draws: pairs of families, sizes and parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from . import shapes
from .member import Columns, Lengths, Member, one_block
from .shapes import Size

LARGEST = 60_000_000  # nonzeros, if nothing else is asked for
MOST = 1_000_000_000  # that may be asked for: offsets are int32, and some matrices have half as many more
SMALL, SMALLEST, SMALL_SHARE = 100_000, 1_000, 0.12
FEWEST_ROWS, MOST_ROWS, MOST_COLUMNS = 64, 8_000_000, 16_000_000
PER_LENGTHS = 5  # of the seven families of columns; two adjacent seeds have all pairs

# A family of row lengths, and between which means it is drawn.
LENGTHS: dict[str, tuple[Callable[[Size], Lengths], float, float]] = {
    "equal": (shapes.equal, 1, 1000),
    "normal": (shapes.normal, 1, 1000),
    "geometric": (shapes.geometric, 0.1, 300),
    "log-normal": (shapes.log_normal, 0.5, 1000),
    "pareto": (shapes.pareto, 1, 1000),
    "bimodal": (shapes.bimodal, 1, 1000),
    "one-huge": (shapes.one_huge, 1, 30),
    "clustered": (shapes.clustered, 1, 1000),
    "sorted": (shapes.descending, 1, 1000),
    "mostly-empty": (shapes.mostly_empty, 0.02, 0.5),
    "arrow": (shapes.arrow, 2, 20),
    "block-diagonal": (shapes.in_blocks, 2, 60),
}
COLUMNS: dict[str, Callable[[Size], Columns]] = {
    "near": shapes.near,
    "bands": shapes.bands,
    "blocks": shapes.blocks,
    "power-law": shapes.power_law,
    "power-law-shuffled": shapes.shuffled,
    "uniform": shapes.uniform,
    "repeated": shapes.repeated,
}


def families(seed: int = 0, largest: int = LARGEST) -> Iterator[Member]:
    """Yield the 60 matrices of a seed, which draws their pairs of families, sizes, parameters, lengths and columns.

    Each family of lengths is drawn with five of the seven families of columns, and with the other two by the next seed.
    The first twelve have one of each lengths, and so on, so that a part of them is a fair sample, too.

    seed: 0 or more. largest: the most nonzeros, about (small matrices may have half as many more), at least 1,000. One
    matrix in eight has fewer than 100,000, where that leaves room; logarithms of sizes are uniform below and above.
    """
    count = PER_LENGTHS * len(LENGTHS)
    places = np.random.default_rng(seed).permutation(count)
    for at in range(count):
        turn, lengths = divmod(at, len(LENGTHS))
        columns = (3 * lengths + PER_LENGTHS * seed + turn) % len(COLUMNS)
        rng = np.random.default_rng([seed, lengths, columns])
        nnz = nonzeros((places[at] + rng.random()) / count, largest)
        yield drawn(seed, list(LENGTHS)[lengths], list(COLUMNS)[columns], nnz, rng)


def nonzeros(share: float, largest: int) -> float:
    """Return the size that this share of all matrices is smaller than."""
    middle = min(SMALL, math.sqrt(SMALLEST * largest))
    if share < SMALL_SHARE:
        return SMALLEST * math.pow(middle / SMALLEST, share / SMALL_SHARE)
    return middle * math.pow(largest / middle, (share - SMALL_SHARE) / (1 - SMALL_SHARE))


def drawn(seed: int, lengths: str, columns: str, nnz: float, rng: np.random.Generator) -> Member:
    """Draw a matrix of two families, with about so many nonzeros."""
    shape_of, low, high = LENGTHS[lengths]
    size = size_of(nnz, low, high, rng)
    shape, places = shape_of(size), COLUMNS[columns](size)
    blocks = one_block(size.rows, size.cols)
    if lengths == "block-diagonal":
        blocks = shapes.diagonal(size, shape.mean)
    rows, cols = int(blocks.rows[-1]), int(blocks.columns[-1])
    count = round(shape.mean * (rows - len(shape.long)) + shape.longest * len(shape.long))
    about = f"{shape.about}; {places.about}"
    if len(blocks.keys) > 1:
        different = len(np.unique(blocks.keys))
        about = f"{len(blocks.keys)} blocks, {different} of them different; {about}"
    word, name = int(rng.integers(2**62)), f"{seed}/{lengths}/{columns}"
    sizes = rows, cols, count
    return Member(name, lengths, columns, *sizes, word, about, shape, places, blocks)


def size_of(nnz: float, low: float, high: float, rng: np.random.Generator) -> Size:
    """Draw the numbers of rows and columns, where the mean length is to be between low and high.

    Means in the middle are the most frequent, and two in three matrices are square.
    """
    low = max(low, min(nnz / MOST_ROWS, high))
    high = max(low, min(high, nnz / FEWEST_ROWS))
    mean = low * (high / low) ** float(rng.random(2).mean())
    rows = min(max(round(nnz / mean), FEWEST_ROWS), MOST_ROWS)
    times = 1.0 if rng.random() < 2 / 3 else 2.0 ** (rng.integers(-12, 13).item() / 4)
    cols = max(round(rows * times), math.ceil(4 * mean))
    return Size(rng, rows, min(cols, MOST_COLUMNS), min(nnz, rows * mean))
