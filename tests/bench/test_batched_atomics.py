"""The published COO and CSR-I by hand: they compile, and on the emulated GPU they give SciPy's product."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from evenly.bench import batched_atomics
from tests.batteries import vector
from tests.reproduce.test_six_kernels import batch, items

# What evenly's primitives call CUDA's builtins: on `simt` the kernels run with these.
SPELLED = {
    'extern "C" __global__ void __launch_bounds__(256)': "EV_KERNEL(256)",
    "__device__ __forceinline__": "EV_DEVICE",
    "__shared__ double xs[1024];": "EV_SHARED(double, xs, 1024);",
    "__syncthreads()": "ev::barrier()",
    "threadIdx.x": "ev::thread_rank()",
    "blockIdx.x": "ev::block_rank()",
    "__shfl_up_sync": "ev::shuffle_up",
    "__shfl_down_sync": "ev::shuffle_down",
    "__any_sync": "ev::any",
    "atomicAdd": "ev::atomic_add",
}


def as_primitives() -> str:
    text = batched_atomics.source()
    for cuda, ours in SPELLED.items():
        assert cuda in text
        text = text.replace(cuda, ours)
    return text


def test_compiles_without_spills():
    core = pytest.importorskip("cuda.core")
    log = io.StringIO()
    options = core.ProgramOptions(arch="sm_90", std="c++17", ptxas_options=["-v"])
    code = core.Program(batched_atomics.source(), "c++", options).compile("cubin", logs=log).code
    assert len(code) > 1000
    assert re.findall(r"(\d+) bytes spill stores", log.getvalue()) == ["0", "0"]


@pytest.mark.simt
@pytest.mark.parametrize("kernel", ["coo_atomics", "csr_i_atomics"])
def test_it_is_the_product_on_the_emulated_gpu(kernel):
    B, _ = batch(items())
    x, y = vector(B.num_columns, np.float64), np.zeros(B.num_tiles)
    rows = np.repeat(np.arange(B.num_tiles, dtype=np.int32), np.diff(B.offsets))
    firsts = np.searchsorted(B.offsets, batched_atomics.first_atoms(B), side="right") - 1
    parts = {"coo_atomics": (rows,), "csr_i_atomics": (B.offsets, firsts.astype(np.int32))}
    starts = (a.astype(np.int32) for a in (B.starts.atoms, B.starts.columns))
    given = *starts, *parts[kernel], B.indices, B.values, x, y
    program = ev.SimtProgram(as_primitives())
    program.launch(kernel, B.num_items, batched_atomics.THREADS, *given)
    whole = sp.csr_array((B.values, B.indices, B.offsets), shape=B.shape)
    np.testing.assert_allclose(y, whole @ x, atol=1e-12)


@pytest.mark.gpu
@pytest.mark.parametrize("make", [batched_atomics.coo, batched_atomics.csr_i])
def test_on_a_gpu(make):
    cupy = pytest.importorskip("cupy")
    B, _ = batch(items() * 20, cupy)
    x, y = vector(B.num_columns, np.float64), cupy.full(B.num_tiles, np.nan)
    found = make(B, cupy.asarray(x), y).launch()
    host = B.to("cpu")
    whole = sp.csr_array((host.values, host.indices, host.offsets), shape=host.shape)
    np.testing.assert_allclose(found.get(), whole @ x, atol=1e-12)
