"""The lengths of a sample of tiles, in runs of neighbours: how long warps walk whose lanes share them."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenly.gpus.gpu import WARP
from evenly.language.func import func

RUNS = 64  # of as many adjacent tiles as a warp has lanes
TOGETHER, FILLED = 4, 16  # runs, and tiles with atoms: fewer do not tell how short tiles are

Lengths = npt.NDArray[np.float64]


@func
def placed(index, every):
    """Return which of the `every` runs of a stratum is in the sample: not the first, since structures repeat."""
    return (index * 103 + 151) % 256 * every // 256


@dataclass(frozen=True, slots=True)
class Sampled:
    """Which tiles are in a sample: one run of each `every`, `runs` in all. The last run may have fewer tiles."""

    tiles: int

    @property
    def every(self) -> int:
        return max(1, -(-self.tiles // WARP) // RUNS)

    @property
    def runs(self) -> int:
        return min(RUNS, -(-self.tiles // WARP))

    def positions(self) -> npt.NDArray[np.int64]:
        """Return the tiles, (runs, 32); those beyond the last one are numbers of no tile."""
        index = np.arange(self.runs)
        first = (index * self.every + placed(index, self.every)) * WARP
        found: npt.NDArray[np.int64] = first[:, None] + np.arange(WARP)
        return found


class Walks:
    """A sample of the lengths of tiles, (runs, 32)."""

    def __init__(self, lengths: Lengths) -> None:
        self.lengths = lengths

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Walks) and np.array_equal(self.lengths, other.lengths)

    __hash__ = None  # type: ignore[assignment]

    @functools.cached_property
    def longest(self) -> dict[int, Lengths]:
        """The longest of so many adjacent tiles, for 1, 2, 4, ... 32 of them."""
        return _by_neighbours(np.maximum, self.lengths)

    @functools.cached_property
    def counted(self) -> tuple[Lengths, Lengths]:
        """The different lengths, and the share of the tiles that have each."""
        lengths, counts = np.unique(self.lengths, return_counts=True)
        return lengths, counts / self.lengths.size

    def rounds(self, lanes: int, atoms: Lengths) -> Lengths:
        """Return how many rounds a warp walks, on average, if each tile has `lanes` lanes that take `atoms` at once.

        There is one number for each of the atoms. A warp of several tiles walks until the longest of them ends.
        """
        each = (1 / atoms)[:, None]
        if lanes >= WARP:
            lengths, share = self.counted
            alone: Lengths = np.ceil(lengths * each) @ share
            return alone
        longest = self.longest[WARP // lanes]
        found: Lengths = np.ceil(longest * each).sum(1) / longest.size
        return found

    @functools.cached_property
    def heaviest(self) -> dict[int, float]:
        """The most atoms of so many adjacent tiles over the mean, for 1, 2, 4, ... 32 of them."""
        sums = _by_neighbours(np.add, self.lengths)
        if not self.mean:
            return dict.fromkeys(sums, 1.0)
        return {n: float(found.max()) / (n * self.mean) for n, found in sums.items()}

    @functools.cached_property
    def mean(self) -> float:
        return float(self.lengths.sum()) / self.lengths.size

    @functools.cached_property
    def along(self) -> tuple[Lengths, Lengths]:
        """How many runs lie before each part of the sample, and how many atoms if each of their tiles stood for one."""
        filled = int(np.count_nonzero(self.lengths))
        parts = max(1, min(len(self.lengths) // TOGETHER, filled // FILLED))
        runs = np.arange(parts + 1) * len(self.lengths) // parts
        return runs.astype(np.float64), np.append(0.0, np.cumsum(self.lengths.mean(1)))[runs]

    def crowd(self, shares: Lengths, tiles: int) -> Lengths:
        """Return about how many of all `tiles` begin within so many adjacent atoms, at most, for each of the shares."""
        runs, atoms = self.along
        each = max(tiles, 1) / len(self.lengths)  # a run stands for so many tiles
        ends = np.interp(atoms + shares[:, None] / each, atoms, runs)
        found: Lengths = (ends - runs).max(1) * each
        return found


def _by_neighbours(op: np.ufunc, lengths: Lengths) -> dict[int, Lengths]:
    """Return what an operation makes of so many adjacent lengths, for 1, 2, 4, ... 32 of them."""
    found = {1: lengths.reshape(-1)}
    for count in (2, 4, 8, 16, 32):
        half = found[count // 2]
        found[count] = op(half[::2], half[1::2])
    return found


def alike(mean: float) -> Walks:
    """Return what stands for a sample if only the mean length is known."""
    return Walks(np.full((1, WARP), mean))


def of_lengths(lengths: npt.NDArray[np.int64]) -> Walks:
    """Take the sample from the lengths of all tiles."""
    at = Sampled(len(lengths)).positions()
    padded = np.append(lengths, 0)  # for places beyond the last tile
    return Walks(padded[np.minimum(at, len(lengths))].astype(np.float64))
