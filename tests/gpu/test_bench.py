"""`evenly bench spmv` on a GPU: every contender takes part, is right, and is timed warm and flushed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from evenly.bench import hardwired, matrices, record
from evenly.bench.case import case_of
from evenly.cli import main
from evenly.interop.generators import dense_rows
from tests.batteries import matrices as nasty

pytestmark = pytest.mark.gpu
PEERS = {"cuSPARSE CSR ALG1", "cuSPARSE CSR ALG2", "cuSPARSE COO ALG1", "cuSPARSE COO ALG2", "CuPy"}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_everybody_takes_part(dtype, tmp_path, capsys):
    pytest.importorskip("cupy")
    rng = np.random.default_rng(4)
    for name, rows in (("small", 50), ("larger", 20_000)):
        matrix = sp.random_array((rows, 900), density=0.01, rng=rng).tocsr()
        sp.save_npz(tmp_path / f"{name}.npz", matrix)
    csv = tmp_path / "run.csv"
    line = f"bench spmv {tmp_path} --target cuda --only small --only larger --dtype {dtype} --csv {csv}"
    assert main(line.split()) == 0, capsys.readouterr()
    rows = record.read(str(csv))
    kernels = [row for row in rows if row.clock == "kernels"]
    assert {row.cache for row in kernels} == {"warm", "flushed"}
    assert {row.contender for row in rows if row.rounds} >= PEERS
    assert len({row.contender for row in rows if row.family == "hand"}) == 3
    assert all(0.5 < row.us < 1000 for row in kernels if row.cache == "warm")
    assert not [row.contender for row in rows if row.wrong]


def test_families_are_timed_warm_and_without_kernels_by_hand(tmp_path, capsys):
    pytest.importorskip("cupy")
    csv = tmp_path / "run.csv"
    line = f"bench spmv --families --largest 20000 --target cuda --only one-huge --csv {csv}"
    assert main(line.split()) == 0, capsys.readouterr()
    rows = record.read(str(csv))
    assert {row.cache for row in rows if row.rounds} == {"warm"}
    assert {row.contender for row in rows if row.rounds} >= PEERS
    assert {row.family for row in rows if row.rounds} == {
        "auto",
        "ours",
        "one call",
        "csr",
        "coo",
        "library",
    }
    assert not [row.contender for row in rows if row.wrong]


def test_pytorch_goes_on_where_it_was():
    """If a stream that has ended stayed PyTorch's current one, calls long after a benchmark would fail."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("cupy")
    from evenly.bench.gpu import GpuBench

    before, gpu = torch.cuda.current_stream(), GpuBench()
    with gpu.active():
        assert torch.cuda.current_stream().cuda_stream == gpu.stream.ptr
    assert torch.cuda.current_stream() == before


HANDED = nasty() | {"a row of many levels of blocks": dense_rows(400_000, 1, 2)}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", HANDED)
def test_kernels_by_hand_are_right(name, dtype):
    pytest.importorskip("cupy")
    from evenly.bench.gpu import GpuBench

    matrix = HANDED[name]
    if not matrix.nnz or not matrix.shape[0]:
        pytest.skip("there is nothing to multiply")
    case, gpu = case_of(matrices.Source(name, "file", lambda: matrix), dtype), GpuBench()
    with gpu.active():
        live = gpu.load(case)
        found = list(hardwired.contenders(live))
        for contender in found:
            live.y.fill(np.nan)
            gpu.rewrite(live, -1)
            first = contender.launch().get()
            assert case.reference().errors(first) == 0, contender.name
            assert all(contender.launch().get().tobytes() == first.tobytes() for _ in range(5))
    assert len(found) == 3
