"""The sample of lengths, and how long warps walk the tiles in it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenly.choosing.walks import RUNS, Sampled, Walks, alike, of_lengths
from evenly.gpus.gpu import WARP
from evenly.interop.generators import rmat

LANES = (1, 2, 4, 8, 16, 32, 64, 256)
SIZES = st.one_of(st.integers(0, 70), st.integers(0, 2**40))


@given(
    st.lists(SIZES, min_size=1, max_size=200),
    st.sampled_from(LANES),
    st.sampled_from([1, 3, 4, 5, 6, 8]),
)
def test_a_warp_walks_until_the_longest_of_its_tiles_ends(lengths, lanes: int, items: int) -> None:
    held = lengths + [0] * (-len(lengths) % WARP)  # the last warps have places without a tile
    together = max(1, WARP // lanes)
    warps = [held[at : at + together] for at in range(0, len(held), together)]
    rounds = [-(-max(warp) // (lanes * items)) for warp in warps]
    found = of_lengths(np.array(lengths)).rounds(lanes, np.array([lanes * items]))
    assert found == pytest.approx(sum(rounds) / len(rounds), rel=1e-12)


@given(st.integers(0, 2**40))
def test_a_sample_is_spread_over_all_tiles(tiles: int) -> None:
    sample = Sampled(tiles)
    found = sample.positions()
    warps = math.ceil(tiles / WARP)
    assert found.shape == (min(RUNS, warps), WARP)
    if tiles:
        index = np.arange(len(found))
        assert (found[:, 0] // WARP // sample.every == index).all()  # one of each stratum
        assert found[-1, 0] < tiles


def test_a_sample_is_not_of_places_alone_where_structures_repeat() -> None:
    """In R-MAT, rows at multiples of powers of two are the longest."""
    lengths = np.diff(rmat(16).indptr)
    exact = np.ceil(lengths.reshape(-1, WARP).max(axis=1) / 3).mean()
    assert 0.6 < of_lengths(lengths).rounds(1, np.array([3.0])) / exact < 1.5


def test_the_sample_has_the_lengths_at_its_positions() -> None:
    for tiles in (0, 1, 31, 32, 33, 5000):
        lengths = np.arange(1, tiles + 1)
        found = of_lengths(lengths).lengths
        at = Sampled(tiles).positions()
        assert (found == np.where(at < tiles, at + 1, 0)).all()


def test_where_only_the_mean_is_known_all_tiles_are_alike() -> None:
    assert alike(10.0) == Walks(np.full((1, WARP), 10.0))
    assert alike(10.0).rounds(4, np.array([16.0, 3.0])).tolist() == [1, 4]
    assert alike(10.0).rounds(32, np.array([32.0])) == 1
    assert alike(0.0).rounds(1, np.array([5.0])) == 0
    assert alike(10.0) != alike(11.0)


def test_the_heaviest_block_has_the_long_tiles_that_lie_together() -> None:
    """One run of 32 tiles in ten has ten times the atoms of each other."""
    lengths = np.repeat([1, 10], [32 * 9, 32])
    assert (
        of_lengths(lengths).heaviest[8]
        == of_lengths(lengths).heaviest[32]
        == pytest.approx(100 / 19)
    )
    apart = np.random.default_rng(0).permutation(lengths)
    assert of_lengths(apart).heaviest[1] == pytest.approx(100 / 19)
    assert of_lengths(apart).heaviest[32] < 2.5
    assert alike(0.0).heaviest[4] == 1


def test_where_short_tiles_crowd_a_share_has_many() -> None:
    """Half of the tiles have ten atoms, then half have none, but for the last."""
    lengths = np.repeat([10, 0], 1024)
    lengths[-1] = 1
    found = of_lengths(lengths)
    assert found.crowd(np.array([100]), len(lengths)) == pytest.approx(1024, abs=15)
    assert of_lengths(lengths[:1024]).crowd(np.array([100]), 1024) == pytest.approx(10)
    mixed = np.random.default_rng(0).permutation(lengths)
    assert 20 <= of_lengths(mixed).crowd(np.array([100]), len(lengths)) <= 30


@pytest.mark.parametrize("filled", [0.01, 0.03, 0.1, 0.5])
def test_the_crowd_is_told_where_most_tiles_are_empty(filled: float) -> None:
    """A part of the sample that has one atom by chance, or none, says nothing."""
    rng = np.random.default_rng(5)
    lengths = np.where(rng.random(1_000_000) < filled, 25, 0)
    begins = np.searchsorted(np.cumsum(lengths), np.arange(0, lengths.sum(), 1024))
    found = float(of_lengths(lengths).crowd(np.array([1024]), len(lengths))[0])
    assert np.median(np.diff(begins)) / 2 < found < 2 * np.diff(begins).max()


@given(st.lists(st.integers(0, 50), max_size=300), st.integers(1, 10_000), st.integers(0, 2**40))
def test_a_share_has_no_more_tiles_than_there_are(lengths, share: int, tiles: int) -> None:
    found = of_lengths(np.array([*lengths, 0])).crowd(np.array([share]), tiles)
    assert 0 <= found <= max(tiles, 1) * (1 + 1e-9)


def test_the_different_lengths_are_counted() -> None:
    lengths, shares = of_lengths(np.array([3, 1, 3, 0] * 8)).counted
    assert (lengths.tolist(), shares.tolist()) == ([0, 1, 3], [0.25, 0.25, 0.5])
