"""CUDA C++ as it is written: CUDA's own names, shared memory, atomics with orders and scopes, `assert`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.targets.simt import cuda_source

pytestmark = pytest.mark.simt

SOURCE = """
#include <cuda/atomic>
#include <cassert>
__device__ __forceinline__ int warp_sum(int v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(0xffffffff, v, o);
  return v;
}
__global__ void __launch_bounds__(256) reduce(const int* __restrict__ x, int n, int* out) {
  __shared__ int part[8], extra;  // one a warp
  extern __shared__ float more[];
  __shared__ float tile[4][33];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = warp_sum(i < n ? x[i] : 0);
  if (threadIdx.x % warpSize == 0) part[threadIdx.x / 32] = v;
  if (threadIdx.x == 0) extra = 0, tile[3][32] = 1.f, more[3] = 2.f;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = warp_sum(threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0);
    if (threadIdx.x == 0) atomicAdd(out, v + extra);
  }
  assert(more[3] + tile[3][32] == 3.f);
}
__global__ void ballots(unsigned* out) {
  const int t = threadIdx.x;
  out[t] = __ballot_sync(0xffffffffu, t % 3 == 0) ^ __shfl_xor_sync(~0u, t, 1) + __popc(t) + __ffs(t) + __clz(t) + (__any_sync(~0u, t == 5) + 2 * __all_sync(~0u, t < 9));
}
__global__ void updates(int* i, unsigned* u, unsigned long long* l, float* f) {
  atomicAdd(i, 3), atomicSub(i + 1, 3), atomicMin(i + 2, -7), atomicMax(i + 3, 7), atomicAnd(i + 4, 12), atomicOr(i + 5, 3), atomicXor(i + 6, 5);
  atomicExch(i + 7, 9), atomicCAS(i + 8, 8, 11), atomicAdd_block(i + 9, 1);
  atomicInc(u, 8u), atomicDec(u + 1, 8u), atomicAdd(l, 1ull), atomicAdd(f, 0.5f);
}
__global__ void parts_of_words(unsigned char* b, short* s) {
  cuda::atomic_ref<unsigned char>(b[threadIdx.x]).fetch_add(200);
  cuda::atomic_ref<short> r(s[0]);
  ++r;
  short expected = 99;
  if (!r.compare_exchange_strong(expected, 5)) return;
  expected = 98;
  if (!r.compare_exchange_weak(expected, 6)) s[1] = expected;
}
__global__ void in_memory(int* out) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> n;
  if (threadIdx.x == 0) n.store(0, cuda::memory_order_relaxed);
  __syncthreads();
  n.fetch_add(1, cuda::memory_order_relaxed);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = n;
}
template <cuda::thread_scope scope> __device__ void message(int* data, int* flag, int* out, cuda::memory_order store, cuda::memory_order load) {
  cuda::atomic_ref<int, scope> f(*flag);
  if (blockIdx.x == 0) {
    data[0] = 42;
    f.store(1, store);
  } else {
    while (f.load(load) == 0) {}
    out[0] = data[0];
  }
}
__global__ void acquired(int* d, int* f, int* o) { message<cuda::thread_scope_device>(d, f, o, cuda::memory_order_release, cuda::memory_order_acquire); }
__global__ void of_system(int* d, int* f, int* o) { message<cuda::thread_scope_system>(d, f, o, cuda::memory_order_seq_cst, cuda::memory_order_seq_cst); }
__global__ void not_acquired(int* d, int* f, int* o) { message<cuda::thread_scope_device>(d, f, o, cuda::memory_order_release, cuda::memory_order_relaxed); }
__global__ void not_released(int* d, int* f, int* o) { message<cuda::thread_scope_device>(d, f, o, cuda::memory_order_relaxed, cuda::memory_order_acquire); }
__global__ void of_block(int* d, int* f, int* o) { message<cuda::thread_scope_block>(d, f, o, cuda::memory_order_release, cuda::memory_order_acquire); }
__global__ void released_then_stored(int* data, int* flag, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (blockIdx.x == 0) {
    data[0] = 42;
    f.store(1, cuda::memory_order_release);
    f.store(2, cuda::memory_order_relaxed);
  } else {
    while (f.load(cuda::memory_order_acquire) != 2) {}
    out[0] = data[0];
  }
}
__global__ void store_buffer(int* x, int* y, int* out, int how) {
  cuda::atomic_ref<int> mine(blockIdx.x ? *x : *y), other(blockIdx.x ? *y : *x);
  const auto store = how == 2 ? cuda::memory_order_seq_cst : cuda::memory_order_release, load = how == 2 ? cuda::memory_order_seq_cst : cuda::memory_order_acquire;
  mine.store(1, store);
  if (how == 1) cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
  if (how == 3) cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
  out[blockIdx.x] = other.load(load);
}
__global__ void asserts(int* x, float* y) {
  if (x[0] == 0) assert(x[1] == 4);
  if (x[0] == 1) assert(y[0] < 1.5f);
  if (x[0] == 2) assert(x[1] > 0 && x[1] < 3);
}
__global__ void wide(float* x, int from) { *(float4*)(x + from) = make_float4(1, 2, 3, 4); }
__global__ void local(int* x, int n) {
  int a[8];
  for (int i = 0; i < 8; ++i) a[i] = i;
  int* p = a;
  x[0] = p[n];
}
"""


@functools.cache
def program() -> ev.SimtProgram:
    return ev.SimtProgram(SOURCE)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def launch(*given: Any, **options: Any) -> str:
    with pytest.raises(ev.SimtError) as caught:
        program().launch(*given, **options)
    return f"{caught.value.kind}: {caught.value}"


@pytest.mark.parametrize("seed", range(4))
def test_a_reduction(seed: int) -> None:
    out = ints(0)
    program().launch("reduce", 4, 256, np.arange(1000, dtype=np.int32), 1000, out, seed=seed, shared=64)  # fmt: skip
    assert out[0] == 1000 * 999 // 2
    said = launch("reduce", 4, 256, np.arange(1000, dtype=np.int32), 1000, out)
    assert "bounds: dynamic shared array more: the launch gives it no memory (shared=bytes)" in said
    said = launch("reduce", 4, 256, np.arange(1000, dtype=np.int32), 1000, out, shared=12)
    assert "bounds: shared array more[3] is out of bounds: it has 3 elements" in said
    with pytest.raises(ev.InputError, match="block: expected 1 to 256 threads, got 257"):
        program().launch("reduce", 4, 257, ints(1), 1, out)


def test_counters() -> None:
    counted = program().counters("ballots", 2, 32, np.zeros(32, np.uint32))
    assert (counted.totals["global_store_requests"], counted.totals["global_store_sectors"]) == (
        2,
        8,
    )


def test_votes_and_bits() -> None:
    out = np.zeros(32, np.uint32)
    program().launch("ballots", 1, 32, out)
    ballot = sum(1 << t for t in range(0, 32, 3))
    for t in range(32):
        first = (t & -t).bit_length()
        assert out[t] == ballot ^ ((t ^ 1) + t.bit_count() + first + (32 - t.bit_length()) + 1)


def test_updates() -> None:
    i, u = np.full(10, 8, np.int32), np.array([8, 0], np.uint32)
    big, f = np.zeros(1, np.uint64), np.zeros(1, np.float32)
    program().launch("updates", 1, 1, i, u, big, f)
    assert i.tolist() == [11, 5, -7, 8, 8, 11, 13, 9, 11, 9]
    assert (u.tolist(), big[0], f[0]) == ([0, 8], 1, 0.5)


def test_atomics_on_parts_of_words() -> None:
    b, s = np.full(4, 100, np.uint8), np.array([98, 0], np.int16)
    program().launch("parts_of_words", 1, 1, b, s)
    assert (b.tolist(), s.tolist()) == ([44, 100, 100, 100], [5, 5])


def test_an_atomic_in_shared_memory() -> None:
    out = ints(0, 0)
    program().launch("in_memory", 2, 64, out, seed=3)
    assert out.tolist() == [64, 64]


@pytest.mark.parametrize("kernel", ["acquired", "of_system", "released_then_stored"])
def test_a_message(kernel: str) -> None:
    explored = program().explore(kernel, 2, 1, ints(0), ints(0), ints(0))
    assert explored.complete
    assert [int(o.arrays[2][0]) for o in explored.outcomes] == [42]
    for seed in range(5):
        program().launch(kernel, 2, 1, ints(0), ints(0), ints(0), seed=seed)


@pytest.mark.parametrize(
    ("kernel", "says"),
    [
        ("not_acquired", "data race on array (data|d)"),
        ("not_released", "data race on array (data|d)"),
        ("of_block", "(?s)data race on array f.*one of them has the scope of its block only"),
    ],
)
def test_a_message_that_may_not_arrive(kernel: str, says: str) -> None:
    arrays = ints(0), ints(0), ints(0)
    with pytest.raises(ev.SimtError, match=says):
        program().explore(kernel, 2, 1, *arrays)
    for seed in range(5):
        with pytest.raises(ev.SimtError, match="data race on array [df]"):
            program().launch(kernel, 2, 1, *arrays, seed=seed)


@pytest.mark.parametrize(("how", "both_zero"), [(0, True), (1, False), (2, False), (3, True)])
def test_store_buffering(how: int, both_zero: bool) -> None:
    """Acquire and release do not forbid it, nor do such fences; fences and operations of sequential consistency do."""
    explored = program().explore("store_buffer", 2, 1, ints(0), ints(0), ints(0, 0), how)
    seen = {tuple(o.arrays[2].tolist()) for o in explored.outcomes}
    assert explored.complete
    assert seen == {(0, 1), (1, 0), (1, 1)} | ({(0, 0)} if both_zero else set())


def test_asserts_say_what_was_there() -> None:
    y = np.array([2.5], np.float32)
    assert "assertion: x[1] == 4: expected it to hold, got 3 == 4" in launch("asserts", 1, 1, ints(0, 3), y)  # fmt: skip
    assert "y[0] < 1.5f: expected it to hold, got 2.5 < 1.5" in launch("asserts", 1, 1, ints(1, 3), y)  # fmt: skip
    assert "x[1] > 0 && x[1] < 3: expected it to hold, got False" in launch("asserts", 1, 1, ints(2, 3), y)  # fmt: skip
    program().launch("asserts", 1, 1, ints(0, 4), y)


def test_pointers_that_are_not_aligned() -> None:
    x = np.zeros(12, np.float32)
    from_16 = (-x.ctypes.data // 4) % 4
    program().launch("wide", 1, 1, x, from_16)
    assert "is not aligned to its 16 bytes" in launch("wide", 1, 1, x, from_16 + 1)


def test_a_pointer_that_leads_out_of_a_local_array() -> None:
    program().launch("local", 1, 1, ints(0), 7)
    assert "bounds: an access as 'int' leads out of a local variable" in launch("local", 1, 1, ints(0), 8)  # fmt: skip


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("long long t = clock64(); x[0] = t;", "clock64"),
        ("x[0] = __dp4a(1, 2, 3);", "__dp4a"),
        ("cooperative_groups::this_grid().sync();", "cooperative_groups"),
        ("x[0] = threadIdx.w;", "w"),
    ],
)
def test_what_is_not_there_is_refused_by_name(code: str, name: str) -> None:
    with pytest.raises(ev.InputError, match=f"source.cu:1:.*{name}"):
        ev.SimtProgram("__global__ void k(int* x) { " + code + " }")


def test_parameters_with_brackets() -> None:
    source = (
        "#define TYPE(a, b) b\n__global__ void k(TYPE(int, float)* x, int (*f)(int, int), int n) {}"
    )
    (kernel,) = cuda_source.kernels(source).values()
    assert kernel.parameters == ["TYPE(int, float)* x", "int (*f)(int, int)", "int n"]
    floats = np.zeros(1, np.float32)
    taken = ev.SimtProgram(
        source.replace("int (*f)(int, int), ", "").replace("{}", "{ x[0] = n; }")
    )
    taken.launch("k", 1, 1, floats, 3)
    assert floats[0] == 3


def test_lines_keep_their_numbers() -> None:
    text = "__shared__ int\n  a[2],\n  b;\nint c;\n"
    made = cuda_source.for_host(text)
    assert made.count("\n") == text.count("\n")
    assert made.splitlines()[3] == "int c;"
    assert "__shared__ int x;" in cuda_source.for_host("// __shared__ int x;")
