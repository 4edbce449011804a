"""What a frontier's base says about a tile is read before the walk over its atoms, if there is such a place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenly as ev

pytestmark = pytest.mark.simt


@ev.layout
class Lists:
    """Lists whose accessor reads at the place where the tile begins: behind the end, for an empty tile there."""

    offsets: ev.Array[ev.Index]
    indices: ev.Array[ev.Index]

    @property
    def num_tiles(self) -> Any:
        return len(self.offsets) - 1

    @property
    def num_atoms(self) -> Any:
        return len(self.indices)

    def begin(self, tile: Any) -> Any:
        return self.offsets[tile]

    def end(self, tile: Any) -> Any:
        return self.offsets[tile + 1]

    def head(self, tile: Any, k: Any) -> Any:
        return self.indices[self.offsets[tile]]


@ev.kernel
def heads(F, V, out):
    for v in V.tiles():
        F.push(v)
    for u in F.tiles():
        for e in F.atoms(u):
            ev.atomic_add(out, F.head(u, e), 1)


@pytest.mark.parametrize(
    "schedule", [ev.ThreadMapped(64), ev.GroupMapped(8, 64), ev.MergePath(64), ev.NonzeroSplit(64)]
)
def test_nothing_is_read_for_the_atoms_of_a_tile_that_has_none(schedule: Any) -> None:
    base = Lists(np.array([0, 2, 3, 3], np.int32), np.array([1, 0, 2], np.int32))
    out = np.zeros(4, np.int64)
    heads[schedule].on("simt")(ev.frontier(base, check=False), ev.kit.each(3), out)
    assert out.tolist() == [0, 2, 1, 0]
