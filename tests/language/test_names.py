"""A user's names are a user's own: none means anything to a target, and none meets one of ours or another."""

from __future__ import annotations

import random

import numpy as np
import pytest

import evenly as ev
from tests.batteries import matrices

from .building import made

NASTY = f"""
    y_ A_values A_offsets x_length y_extent0 A_offsets_extent0 a_x a_A_values v_row v_ row_ row_1 k_end
    nullptr NULL NAN INFINITY M_PI errno EOF stdin unix linux bitand compl typeid alignas template this new register
    sizeof union __restrict__ _Complex __syncthreads threadIdx warpSize atomicAdd dim3 float2 half u_int
    div abs exp gamma y0 j1 main int long float32 int32
    ev EV_DEVICE EV_KERNEL pos tile tiles team live phase state acc grid value asked parts item first whole e0
    grid_value tile_value kept_total worker workers slots record np math inf nan pointer njit cfunc types range
    ℵ é λ Δx {"z" * 300}
""".split()
SCHEDULES = [
    "thread_mapped", "group_mapped", "merge_path", "nonzero_split", "work_oriented", "lrb", "dynamic_chunks",
]  # fmt: skip


def kernel_text(seed: int) -> str:
    """A kernel whose every name is drawn from the nasty ones."""
    kernel, A, x, y, n, row, k, total, part, more = random.Random(seed).sample(NASTY, 10)
    return f"""def {kernel}({A}, {x}, {y}, {n}):
    for {row} in {A}.tiles():
        {total} = 0.0
        {more} = {n} + {row} % 3
        for {k} in {A}.atoms({row}):
            {part} = {A}.value({k})
            {total} += {part} * {x}[{A}.column({k})] + {more}
        {y}[{row}] = {total} + {more}
"""


def agree(seed: int, target: str) -> None:
    text = kernel_text(seed)
    A = ev.csr(matrices(np.float64)["empty in the middle"])
    schedule = SCHEDULES[seed % len(SCHEDULES)]
    found = []
    for where in ("python", target):
        x, y = np.arange(A.num_columns, dtype=np.float64), np.zeros(A.num_tiles)
        ev.kernel(made(text), source=text)[schedule].on(where)(A, x, y, 3)
        found.append(y)
    np.testing.assert_allclose(found[1], found[0], err_msg=text)


@pytest.mark.parametrize("seed", range(6))
def test_cpu_keeps_names_apart(seed: int) -> None:
    agree(seed, "cpu")


@pytest.mark.simt
@pytest.mark.parametrize("seed", range(6, 9))
def test_simt_keeps_names_apart(seed: int) -> None:
    agree(seed, "simt")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["cpu", pytest.param("simt", marks=pytest.mark.simt)])
@pytest.mark.parametrize("seed", range(100, 200))
def test_all_keep_names_apart(seed: int, target: str) -> None:
    agree(seed, target)


@ev.schedule
class Shadowing:
    """Its locals are called as the kernel's arguments are."""

    block: int = 64
    owner = "share"

    def launch(self, layout):
        return max(1, -(-layout.num_tiles // self.block)), self.block

    def setup(self, layout):
        n, first = 1000, ev.thread_index()
        return layout, n, first

    def tiles(self, state):
        layout, n, first = state
        x = n - 1000
        return range(first + x, layout.num_tiles, ev.thread_count())

    def atoms(self, state, tile):
        layout, n, first = state
        y = layout.begin(tile) + 0 * (n + first)
        return range(y, layout.end(tile))


@ev.kernel
def scaled(A, n, x, y, first):
    for row in A.tiles():
        y[row] = n * first + sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


@pytest.mark.parametrize("target", ["cpu", pytest.param("simt", marks=pytest.mark.simt)])
def test_locals_of_a_schedule_hide_no_argument(target: str) -> None:
    A = ev.csr(matrices(np.float64)["empty in the middle"])
    found = []
    for where in ("python", target):
        x, y = np.arange(A.num_columns, dtype=np.float64), np.zeros(A.num_tiles)
        scaled[Shadowing()].on(where)(A, 3, x, y, 10)
        found.append(y)
    np.testing.assert_allclose(found[1], found[0])
    assert found[0].min() >= 0 and 30.0 in found[0]


@ev.layout
class Odd:
    """Its fields are called as what emitted code has names for."""

    num_tiles: int
    nullptr: ev.Array[ev.Index]  # the offsets
    tile: ev.Array

    @property
    def num_atoms(self):
        return len(self.tile)

    def begin(self, pos):
        return self.nullptr[pos]

    def end(self, pos):
        return self.nullptr[pos + 1]

    def typename(self, state):
        return self.tile[state]


@ev.kernel
def sums_of_odd(grid, grid_nullptr):
    for team in grid.tiles():
        grid_nullptr[team] = sum(grid.typename(acc) for acc in grid.atoms(team))


@pytest.mark.parametrize("target", ["cpu", pytest.param("simt", marks=pytest.mark.simt)])
@pytest.mark.parametrize("schedule", ["merge_path", "group_mapped"])
def test_fields_of_a_layout(schedule: str, target: str) -> None:
    offsets, values = np.array([0, 2, 2, 5]), np.arange(5.0)
    out = np.zeros(3)
    sums_of_odd[schedule].on(target)(Odd(3, offsets, values), out)
    np.testing.assert_array_equal(out, [1, 0, 9])
