"""The lengths of tiles are measured by NumPy from offsets, and by a kernel for layouts on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.choosing.lengths import Sums, has_offsets, sums
from evenly.choosing.statistics import keep, statistics
from evenly.choosing.walks import Sampled, of_lengths
from evenly.gpus.gpu import WARP
from evenly.layouts import Csr, convert
from evenly.layouts.subset import Subset
from evenly.runtime.looking import lengths_of as measured
from tests.batteries import matrices
from tests.interop import fakes

LAYOUTS = {
    **{name: name for name in ("csr", "csc", "coo", "ell", "sell", "dia", "bcsr")},
    "sorted": lambda A: ev.sell(A, slice_height=4, sigma=16),
    "subset": lambda A: ev.subset(A, np.arange(0, A.num_tiles, 2)),
    "uniform": lambda A: ev.uniform(3, A),
    "ragged": lambda A: ev.ragged(A.offsets),
}


def laid_out(name: str, matrix: Any) -> Any:
    make = LAYOUTS[name]
    return convert(matrix, make) if isinstance(make, str) else make(ev.csr(matrix))


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_kernel_measures_what_numpy_measures(name: str) -> None:
    """The kernel that `auto` runs on a GPU runs here on the CPU, over every layout."""
    for matrix in matrices().values():
        layout = laid_out(name, matrix)
        if layout.max_tiles > 0:
            found = [measured(layout, target) for target in ("cpu", "python")]
            assert found == 2 * [sums(layout) or by_hand(layout)]


def by_hand(layout: Any) -> Sums:
    assert not has_offsets(layout)
    tiles = range(int(layout.max_tiles))
    sizes = np.array([layout.end(t) - layout.begin(t) for t in tiles], np.float64)
    moment = float(sizes @ np.arange(len(sizes)))
    empty = int((sizes == 0).sum())
    return Sums(float(sizes @ sizes), int(sizes.max()), empty, moment, of_lengths(sizes))


def test_the_kernel_takes_the_sample_of_many_tiles() -> None:
    """Of more tiles than are in the sample, and of a number that no warp divides."""
    for tiles in (64 * WARP, 100_003):
        lengths = np.random.default_rng(tiles).integers(0, 30, tiles)
        layout = ev.ragged(np.concatenate([[0], np.cumsum(lengths)]))
        assert measured(layout, "cpu") == sums(layout)


def test_tiles_that_a_layout_might_have_count_as_empty() -> None:
    """A layout whose tiles are counted on the device has room for more of them."""
    base = ev.ragged(np.arange(0, 4 * 5000 + 1, 4))
    some = ev.subset(base, np.arange(5000), count=np.array([70]))
    held = measured(some, "cpu").walks.lengths
    at = Sampled(5000).positions()
    assert (held == np.where(at < 70, 4, 0)).all()


@pytest.mark.parametrize(
    ("lengths", "early"),
    [
        ([], 0), ([7], 0), ([0, 0], 0), ([3, 3, 3, 3], 0), ([0, 0, 9], 0),
        ([9, 0, 0], 1), ([8, 0, 1], 7 / 9),
    ],
)  # fmt: skip
def test_how_early_the_atoms_lie(lengths: list[int], early: float) -> None:
    """Also where the first tile has all of them, whose position is 0."""
    layout = ev.ragged(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    assert statistics(layout).early == pytest.approx(early)


def there(*numbers: int) -> fakes.OnCuda:
    return fakes.OnCuda(np.array(numbers, np.int32))


def test_some_tiles_on_a_gpu_count_as_mean_ones_of_their_base() -> None:
    """Nothing is read back for them: how many they are, the host knows."""
    base = Csr(
        offsets=there(0, 2, 8, 9), indices=there(*range(9)), values=there(*range(9)), num_columns=9
    )
    keep(base, Sums(41.0, 6, 0, 8.0, of_lengths(np.array([2, 6, 1]))))
    some = Subset(base=base, selected=there(1, 2), offsets=there(0, 6, 7))
    found = statistics(some)
    assert (found.tiles, found.atoms, found.greatest, found.mean) == (2, 6, 6, 3.0)
    assert found is statistics(some)
    every = Subset(base=base, selected=there(2, 1, 0), offsets=there(0, 1, 7, 9))
    assert statistics(every) is statistics(base)
    one = Subset(base=base, selected=there(1), offsets=there(0, 6))
    assert statistics(one).early == 0
