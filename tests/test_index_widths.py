"""Indices and offsets of different widths in one layout: few columns, many nonzeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from evenly.arguments import Binding, is_wide
from evenly.targets.cuda import compile as compiling
from tests.batteries import matrices, vector
from tests.emitting import emitted
from tests.kernels import CASES, ENGINES

MIXES = [(np.int32, np.int64), (np.int64, np.int32)]
KERNELS = ("spmv", "weighted_by_tile", "column_counts")  # the last: atomics, where indices lead
NAMES = ("power law", "a tile longer than a block", "empty in the middle", "no tiles")
EACH_MIX = pytest.mark.parametrize(("indices", "offsets"), MIXES)


def mixed(matrix: Any, indices: type, offsets: type, make: Any = ev.csr) -> Any:
    parts = matrix.data, matrix.indices.astype(indices), matrix.indptr.astype(offsets)
    layout = make(parts, shape=matrix.shape, validate=True)
    assert layout.indices is parts[1]  # as they are: nothing is copied, nothing converted
    assert layout.offsets is parts[2]
    return layout


def agrees(target: str, kernel: str, schedule: Any, indices: type, offsets: type) -> None:
    case = CASES[kernel]
    for name in NAMES:
        matrix = matrices()[name]
        got = case.arguments(mixed(matrix, indices, offsets), matrix, np.float32)
        expected = case.arguments(ev.csr(matrix), matrix, np.float32)
        case.kernel[schedule].on(target)(*got)
        case.kernel.on("python")(*expected)
        for place in case.outputs:
            np.testing.assert_array_equal(got[place], expected[place], err_msg=name)


@EACH_MIX
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_reference(kernel: str, indices: type, offsets: type) -> None:
    agrees("python", kernel, ev.ThreadMapped(), indices, offsets)


@EACH_MIX
@pytest.mark.parametrize("schedule", ENGINES, ids=repr)
@pytest.mark.parametrize("kernel", KERNELS)
def test_cpu(kernel: str, schedule: Any, indices: type, offsets: type) -> None:
    agrees("cpu", kernel, schedule, indices, offsets)


@pytest.mark.simt
@pytest.mark.parametrize("turn", range(len(ENGINES)))
def test_simt(turn: int) -> None:
    agrees("simt", KERNELS[turn % 3], ENGINES[turn], *MIXES[turn // 3 % 2])


@pytest.mark.parametrize("turn", range(len(ENGINES)))
def test_nvrtc_compiles(turn: int) -> None:
    pytest.importorskip("cuda.core")
    case, matrix = CASES[KERNELS[turn % 3]], matrices()["power law"]
    args = case.arguments(mixed(matrix, *MIXES[turn // 3 % 2]), matrix, np.float32)
    for code in emitted(case.kernel, args, ENGINES[turn]):
        assert compiling.resources(code.source, code.name, "sm_90")["spills"] <= 32


@EACH_MIX
def test_other_layouts(indices: type, offsets: type) -> None:
    """CSC, BCSR and subsets, whose tiles may be of a third width."""
    matrix = matrices()["power law"]
    x, across = vector(matrix.shape[1]), vector(matrix.shape[0])
    transposed = matrix.T
    columns = mixed(transposed, indices, offsets, ev.csc)
    np.testing.assert_array_equal(ev.spmv(columns, across), transposed @ across)
    blocks = sp.random_array((40, 60), density=0.2, rng=0, dtype=np.float32).tobsr((2, 3))
    y = ev.spmv(mixed(blocks, indices, offsets, ev.bcsr), vector(60))
    np.testing.assert_allclose(y, blocks @ vector(60), rtol=1e-6)
    rows = np.arange(0, matrix.shape[0], 3).astype(offsets)
    part = ev.subset(mixed(matrix, indices, offsets), rows)
    np.testing.assert_array_equal(ev.spmv(part, x)[rows], (matrix @ x)[rows])


@EACH_MIX
@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("indices", 10**6, "A.indices: expected column indices in 0..199, got indices[3]=1000000"),
        ("indices", -1, "A.indices: expected column indices in 0..199, got indices[3]=-1"),
        ("indptr", 10**6, "A.offsets: expected offsets of at most 3673, got offsets[3]=1000000"),
    ],
)  # fmt: skip
def test_validation(part: str, value: int, said: str, indices: type, offsets: type) -> None:
    matrix = matrices()["power law"].copy()
    getattr(matrix, part)[3] = value
    with pytest.raises(ev.InputError) as caught:
        mixed(matrix, indices, offsets)
    assert str(caught.value) == said


@pytest.mark.gpu
@EACH_MIX
@pytest.mark.parametrize("schedule", ENGINES, ids=repr)
def test_on_a_gpu(schedule: Any, indices: type, offsets: type) -> None:
    cupy = pytest.importorskip("cupy")
    for name in NAMES:
        matrix = matrices()[name]
        A, x = mixed(matrix, indices, offsets).to("cuda"), vector(matrix.shape[1])
        assert (A.indices.dtype, A.offsets.dtype) == (indices, offsets)
        y = ev.spmv(A, cupy.asarray(x), schedule=schedule)
        np.testing.assert_array_equal(y.get(), matrix @ x, err_msg=name)


@ev.layout
class Far:
    """Positions of its methods are beyond 32 bits, though its counts and fields are small."""

    num_tiles: int
    offsets: ev.Array[ev.Index]

    @property
    def num_atoms(self):
        return self.offsets[self.num_tiles]

    def begin(self, tile):
        return self.offsets[tile * 3000000000 // 3000000000]

    def end(self, tile):
        return self.offsets[tile + 1]

    def place(self, k):
        return k * 5000000000


@ev.kernel
def places(A, out):
    for tile in A.tiles():
        out[tile] = sum(A.place(k) for k in A.atoms(tile))


@pytest.mark.simt
@pytest.mark.parametrize("schedule", ["thread_mapped", "merge_path"])
def test_a_constant_beyond_32_bits_widens_positions(schedule: str) -> None:
    out = np.zeros(3, np.int64)
    places[schedule].on("simt")(Far(3, np.array([0, 2, 2, 5])), out)
    np.testing.assert_array_equal(out, [5000000000, 0, 45000000000])


def test_loops_may_go_beyond_their_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop over tiles adds the groups of the grid to the last tile."""
    A = ev.csr(matrices()["power law"])
    for tiles, atoms, wide in (
        (2**30 - 2**21, 2**30 - 2**21, False), (2**30, 100, True),
        (100, 2**31 - 2**22, False), (100, 2**31 - 2**20, True),
    ):  # fmt: skip
        monkeypatch.setattr(type(A), "max_tiles", tiles)
        monkeypatch.setattr(type(A), "max_atoms", atoms)
        assert is_wide(Binding({"A": A})) is wide
