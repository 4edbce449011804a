"""The families: each draws the parameters of its row lengths, or of its columns, for a matrix of a given size."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from . import kinds
from .member import Blocks, Columns, Lengths

WHOLE = 1 << 30  # a window that no matrix exceeds


@dataclass(frozen=True, slots=True)
class Size:
    """What is drawn for: the numbers of rows, columns and nonzeros, about, and a generator of parameters."""

    rng: np.random.Generator
    rows: int
    cols: int
    nnz: float

    @property
    def mean(self) -> float:
        return self.nnz / self.rows

    def between(self, low: float, high: float) -> float:
        """Draw a parameter, to two digits after the point, so that no library's last bits tell in it."""
        return round(float(self.rng.uniform(low, high)), 2)

    def scale(self, low: float, high: float) -> int:
        """Draw an integer whose logarithm is uniform."""
        return round(math.exp(self.rng.uniform(math.log(low), math.log(high))))


# ---- row lengths ---------------------------------------------------------------------------------
def equal(size: Size) -> Lengths:
    mean = max(1, int(size.mean))
    return Lengths(f"all {mean}", kinds.EQUAL, mean)


def normal(size: Size) -> Lengths:
    part = size.between(0.1, 0.5)
    return Lengths(f"{size.mean:.1f} +- {part:.0%}", kinds.NORMAL, size.mean, part)


def geometric(size: Size) -> Lengths:
    return Lengths(f"mean {size.mean:.2f}", kinds.GEOMETRIC, size.mean)


def log_normal(size: Size) -> Lengths:
    sigma = size.between(0.5, 2)
    return Lengths(f"mean {size.mean:.1f}, sigma {sigma}", kinds.LOG_NORMAL, size.mean, sigma)


def pareto(size: Size) -> Lengths:
    alpha = size.between(1.2, 2.5)
    return Lengths(f"mean {size.mean:.1f}, alpha {alpha}", kinds.PARETO, size.mean, alpha)


def bimodal(size: Size) -> Lengths:
    return _bimodal(size, 0.02)


def clustered(size: Size) -> Lengths:
    run = min(size.scale(16, 4096), max(1, size.rows // 512))
    return _bimodal(size, size.between(0.02, 0.1), kinds.CLUSTERED, run)


def _bimodal(size: Size, share: float, order: int = kinds.SCATTERED, run: int = 1) -> Lengths:
    times = size.scale(10, 100)
    short = size.mean / (1 - share + share * times)
    short = math.floor(short) if short >= 1 else short
    times = max(2, min(times, int(size.cols / max(short, 1))))
    about = f"{1 - share:.0%} of {short:.3g}, {share:.0%} of {short * times:.4g}"
    about += f", in runs of {run} rows" if run > 1 else ""
    mean = short * (1 - share + share * times)
    return Lengths(about, kinds.BIMODAL, mean, share, times, order, run)


def one_huge(size: Size) -> Lengths:
    huge = int(min(size.between(0.05, 0.6) * size.nnz, size.cols))
    mean = (size.nnz - huge) / size.rows
    row = int(size.rng.integers(size.rows))
    about = f"{mean:.1f} +- 20%, row {row} has {huge}"
    return Lengths(about, kinds.NORMAL, mean, 0.2, long=(row,), longest=huge)


def descending(size: Size) -> Lengths:
    sigma = size.between(0.5, 2)
    about = f"mean {size.mean:.1f}, sigma {sigma}, the longest first"
    return Lengths(about, kinds.LOG_NORMAL, size.mean, sigma, order=kinds.DESCENDING)


def mostly_empty(size: Size) -> Lengths:
    share = size.between(0.92, 0.99)
    most = max(1, round(2 * size.mean / (1 - share)) - 1)
    mean = (1 - share) * (most + 1) / 2
    return Lengths(f"{share:.0%} empty, 1 to {most}", kinds.MOSTLY_EMPTY, mean, share, most)


def arrow(size: Size) -> Lengths:
    heads = min(size.scale(1, 8), max(1, int(size.nnz / 2 / size.cols)))
    mean = max(1.0, (size.nnz - heads * size.cols) / size.rows)
    about = f"the first {heads} full, the others {mean:.1f} +- 20% with the first column"
    return Lengths(
        about, kinds.NORMAL, mean, 0.2, long=tuple(range(heads)), longest=size.cols, border=True
    )


def in_blocks(size: Size) -> Lengths:
    made = (equal, normal, geometric, log_normal)[size.rng.integers(4)]
    return made(size)


def diagonal(size: Size, mean: float) -> Blocks:
    """Draw small blocks, one again and again, or any of up to 4,096; they have rows of this mean length."""
    rng, patterns = size.rng, 1 if size.rng.random() < 0.5 else size.scale(2, 4096)
    low = max(8, math.ceil(3 * mean))
    high = max(low, min(1000, size.rows // 4))
    heights = np.array([size.scale(low, high) for _ in range(patterns)])
    items = max(2, round(size.rows / heights.mean()))
    keys = rng.integers(patterns, size=items)
    begins = np.concatenate([[0], np.cumsum(heights[keys])])
    return Blocks(begins, begins, keys)


# ---- columns -------------------------------------------------------------------------------------
def near(size: Size) -> Columns:
    window = size.scale(32, 8192)
    return Columns(f"anywhere in {window} around the diagonal", kinds.SCATTER, window)


def bands(size: Size) -> Columns:
    count, window = size.scale(1, 12), size.scale(16, 65536)
    return Columns(
        f"runs of adjacent columns, {count} within {window}", kinds.RUNS, window, a=count
    )


def blocks(size: Size) -> Columns:
    group, width = size.scale(2, 16), size.scale(2, 16)
    window = WHOLE if size.rng.random() < 0.3 else size.scale(512, 65536)
    within = "anywhere" if window == WHOLE else f"within {window}"
    about = f"blocks of {group} x {width}, {within}"
    return Columns(about, kinds.SHARED, window, group, width)


def power_law(size: Size) -> Columns:
    quarters = int(size.rng.integers(6, 17))
    return Columns(f"columns n u**{quarters / 4}", kinds.POWER_LAW, a=quarters)


def shuffled(size: Size) -> Columns:
    quarters = int(size.rng.integers(6, 17))
    return Columns(f"columns n u**{quarters / 4}, numbered anew", kinds.SHUFFLED, a=quarters)


def uniform(size: Size) -> Columns:
    return Columns("anywhere", kinds.SCATTER)


def repeated(size: Size) -> Columns:
    group = size.scale(4, 64)
    window = WHOLE if size.rng.random() < 0.5 else size.scale(512, 65536)
    within = "anywhere" if window == WHOLE else f"within {window}"
    return Columns(f"{group} rows share theirs, {within}", kinds.SHARED, window, group)
