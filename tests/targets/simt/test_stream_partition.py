"""Where blocks of device/stream.cuh begin, and which of them look for empty tiles: right, and found by few loads."""

from __future__ import annotations

import math

import numpy as np
import pytest

import evenly as ev

pytestmark = pytest.mark.simt

T, ITEMS = 32, 4
S, WIDE = T * ITEMS, 8 * T * ITEMS
SOURCE = f"""
struct Phase {{
  using pos = int;
  const int* offsets;
  int tiles;
  int* looked;
  struct Value {{}};
  struct Grid {{}};
  EV_DEVICE int num_tiles() const {{ return tiles; }}
  EV_DEVICE int num_atoms() const {{ return offsets[tiles]; }}
  EV_DEVICE int begin(int tile) const {{ return offsets[tile]; }}
  EV_DEVICE int end(int tile) const {{ ev::atomic_add(looked, 1); return offsets[tile + 1]; }}
}};
EV_KERNEL(256) cut(const int* offsets, int tiles, int* looked, int* entries, int blocks) {{
  ev::stream_partition<Phase, {T}, {ITEMS}>(Phase{{offsets, tiles, looked}}, entries, blocks);
}}
"""
LENGTHS = {
    "alike": np.full(5_000, 3),
    "power law": np.random.default_rng(0).pareto(1.2, 5_000).astype(int),
    "one tile": np.array([1_000]),
    "one atom among empty tiles": np.eye(1, 20_000, 11_111, dtype=int)[0],
    "empty tiles at the start": np.repeat([0, 1], [9 * S, 2 * S]),
    "empty tiles at the end": np.repeat([1, 0], [2 * S, 9 * S]),
    "empty tiles within": np.repeat([1, 0, 2], [S + 7, 3 * WIDE, S]),
    "just not wide": np.repeat([1, 0, 1], [S // 2, WIDE - S, S // 2]),
    "just wide": np.repeat([1, 0, 1], [S // 2, WIDE - S + 1, S // 2]),
}


def cut(offsets: np.ndarray) -> tuple[np.ndarray, int]:
    """The entries, and how many ends of tiles were looked at for them."""
    tiles, atoms = len(offsets) - 1, int(offsets[-1])
    blocks = max(-(-atoms // S), -(-tiles // WIDE), 1)
    entries, looked = np.zeros(blocks + 1, np.int32), np.zeros(1, np.int32)
    program = ev.SimtProgram(SOURCE)
    program.launch("cut", -(-(blocks + 1) // 256), 256, offsets, tiles, looked, entries, blocks)
    return entries, int(looked[0])


@pytest.mark.parametrize("name", LENGTHS)
def test_the_partition_is_what_it_says(name: str) -> None:
    offsets = np.concatenate([[0], np.cumsum(LENGTHS[name])]).astype(np.int32)
    entries, _ = cut(offsets)
    tiles, blocks, ends = len(offsets) - 1, len(entries) - 1, offsets[1:]
    share = np.maximum(ends - 1, 0) // S
    first = np.searchsorted(share, np.arange(blocks + 1))
    each = -(-tiles // blocks)
    own = [
        share[b * each : (b + 1) * each][[0, -1]] if b * each < tiles else [] for b in range(blocks)
    ]
    wide = np.diff(first) > WIDE
    looks = [any(wide[s] for s in of) for of in own]
    assert (np.where(entries < 0, ~entries, entries) == first).all()
    assert (entries[:-1] < 0).tolist() == looks


def test_a_block_is_found_by_few_loads() -> None:
    """One search for each, in which three loads at a time do not wait for each other. Nothing else is searched."""
    offsets = np.arange(60_001, dtype=np.int32)
    entries, looked = cut(offsets)
    steps = math.ceil(math.log(60_000, 4))
    assert looked <= len(entries) * (3 * steps + 8)
