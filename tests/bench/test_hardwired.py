"""The kernels by hand compile without spilling registers, and on the emulated GPU they give SciPy's product."""

from __future__ import annotations

import io
import re
from importlib import resources

import numpy as np
import pytest

import evenly as ev
from evenly.bench import hardwired
from evenly.interop.generators import dense_rows
from evenly.schedules import MergePath, ThreadMapped, WarpMapped
from tests.batteries import matrices, vector

INSTRUMENTS = resources.files("evenly.bench").joinpath("instruments.cu").read_text()

# What evenly's primitives call CUDA's builtins: on `simt` the kernels run with these.
SPELLED = {
    r'extern "C" __global__ void __launch_bounds__\((?:256|THREADS, WORDS == 1 \? 8 : 1)\)': "EV_KERNEL(256)",
    r'extern "C" __global__ void ': "EV_KERNEL(256) ",
    r"__device__ __forceinline__": "EV_DEVICE",
    r"__shared__ (\w+(?: \w+)?) (\w+)\[(.+)\];": r"EV_SHARED(\1, \2, \3);",
    r"__syncthreads\(\)": "ev::barrier()",
    r"__syncwarp\(\)": "ev::sync_warp(ALL)",
    r"threadIdx\.x": "ev::thread_rank()",
    r"blockIdx\.x": "ev::block_rank()",
    r"blockDim\.x": "ev::block_threads()",
    r"gridDim\.x": "ev::block_count()",
    r"__shfl_up_sync": "ev::shuffle_up",
    r"__shfl_down_sync": "ev::shuffle_down",
    r"__shfl_sync": "ev::shuffle_from",
    r"__ballot_sync": "ev::ballot",
    r"__any_sync": "ev::any",
    r"__ldcs": "ev::load_once",
    r"__clz": "ev::zeros_above",
    r"__ffs\((\w+)\) - 1": r"ev::lowest_bit(\1)",
    r"\*\(const volatile Link\*\)at": "ev::atomic_load(at)",
    r"\*\(volatile Link\*\)at = link": "ev::atomic_store(at, link)",
    r"atomicExch": "ev::atomic_exchange",
    r"atomicAdd": "ev::atomic_add",
}


def compiled(source: str, real: str) -> str:
    """Return the output of ptxas."""
    core = pytest.importorskip("cuda.core")
    log = io.StringIO()
    options = core.ProgramOptions(
        arch="sm_90", std="c++17", define_macro=[("real", real)], ptxas_options=["-v"]
    )
    code = core.Program(source, "c++", options).compile("cubin", logs=log).code
    assert len(code) > 1000
    return log.getvalue()


@pytest.mark.parametrize("real", hardwired.C_TYPES.values())
@pytest.mark.parametrize(
    ("source", "kernels"), [(hardwired.source(), 4), (INSTRUMENTS, 4)], ids=["hand", "instruments"]
)
def test_compiles_without_spills(source, kernels, real):
    said = compiled(source, real)
    assert len(re.findall("Compiling entry function", said)) == kernels
    assert set(re.findall(r"(\d+) bytes spill stores", said)) == {"0"}


def test_the_parameters_are_those_of_the_schedules():
    source = hardwired.source()
    threads, items, fan = (
        int(re.search(rf"{n} = (\d+)", source)[1]) for n in ("THREADS", "ITEMS", "FAN")
    )
    assert MergePath(threads, items) == MergePath() == MergePath(hardwired.BLOCK, hardwired.ITEMS)
    assert fan == hardwired.FAN
    assert (ThreadMapped().block, WarpMapped().block) == (hardwired.BLOCK, hardwired.BLOCK)
    at_once = [int(n) for n in re.findall(r"strided_sum<(\d+), \d+>", source)]
    assert at_once == [ThreadMapped().items, WarpMapped().items]


# ---- on the emulated GPU -------------------------------------------------------------------------------
FEW = 4  # blocks that meet at once, so that a row of some blocks takes several levels
DTYPES = (np.float32, np.float64)


def as_primitives(dtype) -> str:
    text = hardwired.source().replace(f"FAN = {hardwired.FAN}", f"FAN = {FEW}")
    for cuda, ours in SPELLED.items():
        text, count = re.subn(cuda, ours, text)
        assert count, cuda
    return f"using real = {hardwired.C_TYPES[np.dtype(dtype).name]};\n{text}"


@pytest.fixture(scope="module", params=DTYPES, ids=lambda dtype: dtype.__name__)
def program(request):
    return request.param, ev.SimtProgram(as_primitives(request.param))


def cases(dtype):
    """Nasty matrices, and rows of two blocks, of three, and of many levels of blocks."""
    made = {name: A for name, A in matrices(dtype).items() if A.nnz}
    for name, n, count in (("two", 1500, 3), ("three", 4000, 2), ("levels", 60_000, 1)):
        made[name] = dense_rows(n, 1, count, dtype=dtype)
    return made


def check(launch, A, dtype):
    """Launch twice: the product is SciPy's, and the bits are the same."""
    y, again = np.full(A.shape[0], np.nan, dtype), np.full(A.shape[0], np.nan, dtype)
    x = vector(A.shape[1], dtype)
    launch(x, y, 1)
    launch(x, again, 2)
    exact = A.astype(np.float64) @ x.astype(np.float64)
    scale = abs(A).astype(np.float64) @ abs(x).astype(np.float64)
    assert (abs(y - exact) <= 64 * np.finfo(dtype).eps * scale).all()
    assert y.tobytes() == again.tobytes()


@pytest.mark.simt
@pytest.mark.parametrize("name", cases(np.float32))
def test_merge_path_on_the_emulated_gpu(program, name):
    dtype, made = program
    A = cases(dtype)[name]
    rows, nonzeros = np.int32(A.shape[0]), np.int32(A.nnz)
    blocks = -(-(A.shape[0] + A.nnz) // hardwired.SHARE)
    offsets, columns = A.indptr.astype(np.int32), A.indices.astype(np.int32)
    first_row = np.zeros(blocks + 1, np.int32)
    grid = hardwired.blocks_for(blocks + 1)
    made.launch("merge_partition", grid, 256, offsets, rows, nonzeros, np.int32(blocks), first_row)
    met = np.zeros(hardwired.links(blocks, np.dtype(dtype).itemsize, FEW), np.uint64)

    def launch(x, y, seed):
        given = offsets, columns, A.data, x, y, first_row, rows, nonzeros, met
        made.launch("merge_path", blocks, 256, *given, seed=seed)
        assert not met.any()  # what the next launch expects

    check(launch, A, dtype)


@pytest.mark.simt
@pytest.mark.parametrize(("kernel", "threads"), [("thread_mapped", 1), ("warp_mapped", 32)])
@pytest.mark.parametrize("name", matrices())
def test_whole_rows_on_the_emulated_gpu(program, kernel, threads, name):
    dtype, made = program
    A = matrices(dtype)[name]
    if not A.shape[0]:
        pytest.skip("a launch has blocks")
    offsets, columns = A.indptr.astype(np.int32), A.indices.astype(np.int32)

    def launch(x, y, seed):
        given = offsets, columns, A.data, x, y, np.int32(A.shape[0])
        made.launch(kernel, hardwired.blocks_for(A.shape[0] * threads), 256, *given, seed=seed)

    check(launch, A, dtype)
