"""The covering set compiled by NVRTC, without a GPU: it compiles, and its resources stay under a ceiling.

Registers decide how many threads run at once, spills and stack mean traffic: a change that
costs either shows here.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from tests import emitting, typed
from tests.batteries import matrices
from tests.dense import sddmm
from tests.emitting import codes, emitted
from tests.golden.files import of_tasks
from tests.golden.kernel import halves
from tests.kernels import CASES, ROW_LAYOUTS, SCHEDULES

import evenly as ev
from evenly import schedules
from evenly.algorithms.ragged.segment_softmax import softmax
from evenly.gpus.numbers import numbers
from evenly.targets.cuda import CudaTarget
from evenly.targets.cuda import compile as compiling
from evenly.targets.gpu import headers

pytest.importorskip("cuda.core")

REGISTERS = 64  # at 256 threads a block: half the threads of a multiprocessor at once, at least
MANY = {
    ("scanned", None): 128,  # three scans and two accumulators for each of several atoms
    ("softmax", "warp"): 128,  # exponentials in double precision, of several atoms
}
SPILLS = 32  # bytes a thread: a few registers put aside outside the loops, on one architecture or another
HELD = {"spmv": 0}  # the kernel that speed is judged by spills nothing, except as EXCEPT says
EXCEPT = {
    ("spmv", "nonzero", "sm_100"): 8,
    ("softmax", "work", "sm_100"): 56,
    ("bucket_counts", "nonzero runs", "sm_100"): 40,
}


def covering() -> list:
    """Each kernel meets each schedule; layouts, dtypes and architectures take turns."""
    out = []
    for i, kernel in enumerate(CASES):
        for j, schedule in enumerate(SCHEDULES):
            n = i + j
            arch = ("sm_80", "sm_90", "sm_100")[n % 3]
            out.append(
                pytest.param(
                    kernel,
                    schedule,
                    ROW_LAYOUTS[n % len(ROW_LAYOUTS)],
                    n // 2 % 2,
                    arch,
                    id=f"{kernel}-{schedule}-{ROW_LAYOUTS[n % len(ROW_LAYOUTS)]}-{arch}",
                )
            )
    return out


@pytest.mark.parametrize(("kernel", "schedule", "layout", "dtype", "arch"), covering())
def test_nvrtc_compiles_within_the_ceiling(
    kernel: str, schedule: str, layout: str, dtype: int, arch: str
) -> None:
    for code in codes(CASES[kernel], SCHEDULES[schedule], layout, (np.float32, np.float64)[dtype]):
        found = compiling.resources(code.source, code.name, arch)
        assert found["code"] > 0
        many = MANY.get((kernel, None), MANY.get((kernel, schedule), REGISTERS))
        assert found["registers"] <= many, code.name
        ceiling = EXCEPT.get((kernel, schedule, arch), HELD.get(kernel, SPILLS))
        assert found["spills"] <= ceiling, code.name
        assert found["stack"] <= ceiling, code.name


@pytest.mark.parametrize(("kernel", "schedule", "layout", "dtype"), typed.few(1))
def test_other_types_compile_within_the_ceiling(
    kernel: str, schedule: str, layout: str, dtype: str
) -> None:
    case = CASES[kernel]
    args = typed.arguments(case, matrices(np.float32)["power law"], layout, dtype)
    arch = ("sm_80", "sm_90", "sm_100")[typed.TYPES.index(dtype) % 3]
    for code in emitted(case.kernel, tuple(args), SCHEDULES[schedule]):
        found = compiling.resources(code.source, code.name, arch)
        assert found["code"] > 0
        assert found["registers"] <= REGISTERS, code.name
        assert max(found["spills"], found["stack"]) <= SPILLS, code.name


INSTRUCTIONS = {  # what loads a value that is read once, and one that is gathered
    "float32": ("ld.global.cs.f32", "ld.global.nc.f32"),
    "float16": ("ld.global.cs.u16", "ld.global.nc.u16"),
    "bfloat16": ("ld.global.cs.u16", "ld.global.nc.u16"),
    "complex64": ("ld.global.cs.v2.f32", "ld.global.nc.v2.f32"),
    "complex128": ("ld.global.cs.v2.f64", "ld.global.nc.v2.f64"),
}


@pytest.mark.parametrize("dtype", INSTRUCTIONS)
def test_an_element_is_one_load_of_its_own_size(dtype: str) -> None:
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    args = typed.arguments(CASES["spmv"], matrices(np.float32)["power law"], "csr", dtype)
    (main, *_) = emitted(CASES["spmv"].kernel, tuple(args), ev.MergePath())
    _, program = nvrtc.nvrtcCreateProgram((headers.text() + main.source).encode(), b"", 0, [], [])
    options = [
        b"--gpu-architecture=compute_90",
        b"--std=c++17",
        b"--device-as-default-execution-space",
    ]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS
    text = bytearray(nvrtc.nvrtcGetPTXSize(program)[1])
    nvrtc.nvrtcGetPTX(program, text)
    loads = set(re.findall(r"ld\.global[\w.]*", text.decode()))
    assert set(INSTRUCTIONS[dtype]) <= loads
    of_other_sizes = {x for both in INSTRUCTIONS.values() for x in both} - set(INSTRUCTIONS[dtype])
    assert not loads & of_other_sizes


@pytest.mark.parametrize("schedule", [ev.ThreadMapped(items=3), ev.Lrb(items=3)], ids=repr)
def test_atoms_are_asked_for_several_at_once(schedule: Any) -> None:
    """Where a kernel only reduces them; what has effects is walked one by one."""
    every = codes(CASES["spmv"], schedule, "csr", np.float32)
    (source,) = (code.source for code in every if "a_x[a_A_indices[v_k]]" in code.source)
    assert "parts[3];" in source
    assert source.count("if (v_k < ") == 1  # a predicate before each, and no more
    (alone, *_) = codes(CASES["spmv"], ev.ThreadMapped(items=1), "csr", np.float32)
    assert "parts" not in alone.source
    for code in codes(CASES["column_counts"], schedule, "csr", np.float32):
        assert "parts" not in code.source


@ev.kernel
def running_sums(A, z, y):
    for row in A.tiles():
        for k in A.atoms(row):
            z[k] = ev.scan(A.value(k))
        for k in A.atoms(row):
            y[k] = z[k]


@pytest.mark.parametrize("schedule", [ev.GroupMapped(64, items=4), ev.BlockMapped(64, items=4)], ids=repr)  # fmt: skip
def test_a_group_reads_several_atoms_before_it_scans_and_before_it_stores(schedule: Any) -> None:
    matrix = matrices(np.float32)["power law"]
    given = ev.csr(matrix), *(np.zeros(matrix.nnz, np.float32) for _ in range(2))
    (code,) = emitted(running_sums, given, schedule)
    blocks = [
        re.findall(r"(ld|shfl|st)\.(?:global|sync)", b) for b in ptx(code.source).split("$L_")
    ]
    assert any(b[:5] == [*["ld"] * 4, "shfl"] for b in blocks)
    # NVRTC leaves the last one where it is used.
    assert any(b[:3] == ["ld"] * 3 for b in blocks if "shfl" not in b)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "schedule", [ev.ThreadMapped(), ev.GroupMapped(8), ev.GroupMapped(64)], ids=repr
)
def test_registers_suffice_for_what_is_asked_for_at_once(schedule: Any, dtype: type) -> None:
    """ptxas keeps to 32 by itself, and then asks one after the other: a bound of more is said where it takes them."""
    (code,) = codes(CASES["spmv"], schedule, "csr", dtype)
    said = f"EV_KERNEL({schedule.block}, 4)" in code.source
    assert said == (dtype is np.float64 or schedule == ev.GroupMapped(64))
    assert compiling.resources(code.source, code.name, "sm_90")["registers"] <= 48


def test_what_follows_a_loop_stays_behind_it() -> None:
    """0 + total, for tiles with atoms and without: where it is pulled into the loop, ptxas orders the loads worse."""
    (code,) = codes(CASES["spmv"], ev.ThreadMapped(), "csr", np.float32)
    before, _, _ = ptx(code.source).partition("st.global")
    assert "add.f32" in before[before.rindex("$L") :]  # in one block with the store
    (bound,) = codes(CASES["spmv"], ev.ThreadMapped(), "csr", np.float64)
    # Of eight bytes a stencil takes 4% longer with it, a matrix of empty rows 14%.
    assert "ev::pin" not in bound.source


def ptx(source: str) -> str:
    """cuda-core makes PTX where there is a driver only."""
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    _, program = nvrtc.nvrtcCreateProgram((headers.text() + source).encode(), b"", 0, [], [])
    (error,) = nvrtc.nvrtcCompileProgram(program, 2, [b"-arch=compute_90", b"-std=c++17"])
    assert not error
    _, size = nvrtc.nvrtcGetPTXSize(program)
    text = b" " * size
    nvrtc.nvrtcGetPTX(program, text)
    return text.decode()


@ev.func
def most(a, b):
    return max(a[0], b[0]), max(a[1], b[1]), max(a[2], b[2])


@ev.kernel
def extremes(A, y):
    for row in A.tiles():
        high, low, size = ev.reduce(
            most,
            ((A.value(k), -A.value(k), abs(A.value(k))) for k in A.atoms(row)),
            (-1e30, -1e30, -1e30),
        )
        y[row] = high + low + size


# Bytes that some spill all the same, by the type of values and whether positions have 64 bits. They were measured so.
SPILLED = {
    (ev.MergePath(256, 6, 5, 28), np.float32, True): 8,
    (ev.NonzeroSplit(128, 4, 16, run=4), np.float64, True): 16,
    (ev.NonzeroSplit(128, 8, 12, run=4), np.float64, False): 8,
    (ev.NonzeroSplit(128, 8, 12, run=4), np.float64, True): 20,
    (ev.NonzeroSplit(512, 8, 3, run=4), np.float64, False): 8,
    (ev.NonzeroSplit(512, 8, 3, run=4), np.float64, True): 20,
    (ev.NonzeroSplit(128, 16, 10, run=4), np.float64, False): 152,
    (ev.NonzeroSplit(128, 16, 10, run=4), np.float64, True): 172,
}


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_shares_of_the_data_file_leave_registers_enough(
    monkeypatch: pytest.MonkeyPatch, dtype: type, wide: bool
) -> None:
    """Their bounds are there for more registers; positions of 64 bits take some, too."""
    monkeypatch.setattr(emitting, "is_wide", lambda binding: wide)
    shares = [schedules.by_name(row["schedule"], **row["with"]) for row in numbers()["shares"]]
    for share in (made for made in shares if made.min_blocks):
        for code in codes(CASES["spmv"], share, "csr", dtype):
            assert f"using pos = {'long long' if wide else 'int'};" in code.source
            used = compiling.resources(code.source, code.name, "sm_90")
            assert used["spills"] <= SPILLED.get((share, dtype, wide), 0), share


def test_no_bound_where_much_is_in_flight() -> None:
    """Five values of three 8-byte numbers: some would be spilled."""
    matrix = matrices(np.float64)["power law"]
    given = ev.csr(matrix), np.zeros(matrix.shape[0])
    for items, bound in ((4, True), (5, False)):
        (code,) = emitted(extremes, given, ev.ThreadMapped(items=items))
        assert ("EV_KERNEL(256, 4)" in code.source) == bound
        assert compiling.resources(code.source, code.name, "sm_90")["spills"] == 0


def test_read_only_loads_and_streaming_loads_are_codes() -> None:
    """x is gathered through the read-only cache; what the atom indexes is read once, where that coalesces."""
    (main, *_) = codes(CASES["spmv"], ev.MergePath(), "csr", np.float32)
    assert "a_A_values.once(v_k)" in main.source
    assert "loads.e1 = a_A_indices.once(v_k);" in main.source
    assert "loads.e2 = a_x[loads.e1];" in main.source
    (owned,) = codes(CASES["spmv"], ev.ThreadMapped(), "csr", np.float32)
    assert ".once(" not in owned.source
    assert "ev::out<float> a_y" in owned.source and "ev::in<float> a_x" in owned.source


def test_debug_is_refused_where_nothing_is_checked() -> None:
    """An option that would be ignored is answered."""
    with pytest.raises(ev.InputError, match="debug: expected target 'cpu' or 'python'"):
        CudaTarget().build(None, ev.MergePath(), False, True)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "schedule",
    [ev.MergePath(512, 16), ev.MergePath(1024, 64), ev.NonzeroSplit(1024, 64)],
    ids=repr,
)
def test_a_block_that_takes_too_much_shared_memory_is_refused(schedule: Any) -> None:
    """1024 times 64: more tiles than 16 bits can number."""
    matrix = matrices(np.float64)["power law"]
    args = CASES["spmv"].arguments(ev.csr(matrix), matrix, np.float64)
    code = emitted(CASES["spmv"].kernel, args, schedule)[0]
    expected = (
        "schedule: expected blocks that fit into 49,152 bytes of shared memory, got .* bytes, in spmv_0;"
        " hint: fewer items or threads a block"
    )
    with pytest.raises(ev.InputError, match=expected):
        compiling.cubin(code.source, code.name, "sm_90")


@ev.kernel
def bounded(R, x, scale, out):
    """Three numbers of 4 bytes become two, that are read at once, for which the place of the three is not aligned."""
    for t in R.tiles():
        total, least, most = 0.0, 0.0, 0.0
        for k in R.atoms(t):
            total += x[k]
            least = min(least, x[k])
            most = max(most, x[k])
        low, high = total - scale * most, total - scale * least
        for k in R.atoms(t):
            out[k] = min(max(x[k], low), high)


@pytest.mark.parametrize(
    ("kernel", "block", "items"),
    [(softmax, 1024, 4), (softmax, 384, 12), (bounded, 256, 12)],
    ids=str,
)
def test_a_pass_does_not_follow_at_once_where_its_block_would_not_fit(
    kernel: Any, block: int, items: int
) -> None:
    """In a softmax, what warps exchange would be too much by a few hundred bytes."""
    x = np.ones(4000, np.float32)
    args, schedule = (
        (ev.ragged(np.array([0, 9, 4000])), x, np.float32(1), x.copy()),
        ev.NonzeroSplit(block, items, run=4),
    )
    for code in emitted(kernel, args, schedule):
        assert compiling.cubin(code.source, code.name, "sm_90")


@pytest.mark.parametrize("size", [1, 8, 48])
@pytest.mark.parametrize("name", schedules.OF_TASKS)
def test_schedules_of_tasks_compile_within_the_ceiling(name: str, size: int) -> None:
    schedule = schedules.OF_TASKS[name].make(size=size)
    for code in emitted(halves, of_tasks(), schedule):
        found = compiling.resources(code.source, code.name, ("sm_80", "sm_90")[size % 2])
        assert found["code"] > 0
        assert found["registers"] <= REGISTERS, code.name
        assert max(found["spills"], found["stack"]) <= SPILLS, code.name


def test_what_lanes_tell_each_other_leaves_shared_memory_to_a_large_block() -> None:
    matrix = matrices(np.float64)["power law"]
    X, Z = (np.zeros((n, 8)) for n in matrix.shape)
    schedule = ev.GroupMapped(8, block=1024, items=32, lanes=4, vector=1)
    (code,) = emitted(sddmm, (ev.csr(matrix), X, Z, np.zeros(matrix.nnz)), schedule)
    found = re.findall(r"\.shared .*\[(\d+)\]", ptx(code.source))
    assert sum(map(int, found)) <= 48 * 1024
