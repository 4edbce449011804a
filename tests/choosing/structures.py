"""Layouts of given tile lengths and columns, for the tests of `auto` and its model."""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev


def of_lengths(lengths: Any) -> ev.Layout:
    """A layout of tiles of these lengths, which has no columns."""
    return ev.ragged(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))


def equal_tiles(tiles: int, atoms: int) -> ev.Layout:
    return of_lengths(np.full(tiles, atoms))


def one_long(tiles: int, atoms: int, longest: int, place: int = 0) -> ev.Layout:
    """Tiles of so many atoms, and one of `longest`."""
    lengths = np.full(tiles, atoms)
    lengths[place] = longest
    return of_lengths(lengths)


def unequal(tiles: int, mean: int) -> np.ndarray:
    """Lengths from a geometric distribution."""
    return np.random.default_rng(0).geometric(1 / mean, tiles)


def matrix(lengths: Any, columns: np.ndarray) -> ev.Layout:
    """A square float32 matrix of rows of these lengths, with these columns (taken modulo the number of rows)."""
    tiles = len(lengths)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    indices = (columns % max(tiles, 1)).astype(np.int32)
    return ev.csr((np.ones(len(indices), np.float32), indices, offsets), shape=(tiles, tiles))


def anywhere(lengths: Any) -> ev.Layout:
    """Such a matrix with random columns."""
    return matrix(lengths, np.random.default_rng(0).integers(0, 2**31, int(np.sum(lengths))))


def nearby(lengths: Any) -> ev.Layout:
    """Such a matrix whose rows begin at the diagonal, with adjacent columns."""
    rows = np.repeat(np.arange(len(lengths)), lengths)
    starts = np.concatenate([[0], np.cumsum(lengths)])[rows]
    return matrix(lengths, rows + np.arange(len(rows)) - starts)
