"""Hand-written CUDA C++: launched, explored, counted, and refused where it is called wrongly."""

from __future__ import annotations

import functools
import math
import pickle
from typing import Any

import numpy as np
import pytest

import evenly as ev

pytestmark = pytest.mark.simt

SOURCE = """
EV_KERNEL(64) bump(int* count, int n) { ev::atomic_add(count, n); }
EV_KERNEL(64) scale(const float* x, float* y, double by, long long n, bool twice) {
  const int i = ev::block_y() * ev::block_count() * ev::block_threads() + ev::block_rank() * ev::block_threads() + ev::thread_rank();
  if (i < n) y[i] = x[i] * (float)by * (twice ? 2 : 1);
}
EV_KERNEL(64) by_value(int* out, ev::in<float> x) { out[0] = (int)x[0]; }
EV_KERNEL(64) bytes(unsigned char* out) { out[0] = 200; }
EV_KERNEL(64) pairs(ev::same_type<int, float>* p) {}
EV_KERNEL(64) racy(int* count) {
  count[0] += 1;
}

EV_KERNEL(32) one_each(int* a, int n) { for (int i = 0; i < n; ++i) ev::atomic_add(a + ev::block_rank(), 1); }
EV_KERNEL(32) one_each_in_a_block(int* a, int n) { for (int i = 0; i < n; ++i) ev::atomic_add(a + ev::thread_rank(), 1); }
EV_KERNEL(32) lost_update(int* count) {
  int seen = ev::atomic_load(count);
  ev::atomic_store(count, seen + 1);
}
EV_KERNEL(32) mutex(int* lock, int* count) {
  while (ev::atomic_exchange(lock, 1) != 0) {}
  ev::fence_device();
  count[0] += 1;
  ev::fence_device();
  ev::atomic_store(lock, 0);
}
EV_KERNEL(32) mutex_without_fences(int* lock, int* count) {
  while (ev::atomic_exchange(lock, 1) != 0) {}
  count[0] += 1;
  ev::atomic_store(lock, 0);
}

// A stack of nodes 0, 1, ...: head is the first of them or -1, next[i] the one below i.
EV_DEVICE void push(int* head, int* next, int node) {
  int seen = ev::atomic_load(head);
  for (;;) {
    next[node] = seen;
    ev::fence_device();
    const int old = ev::atomic_compare_exchange(head, seen, node);
    if (old == seen) return;
    seen = old;
  }
}
EV_DEVICE int pop(int* head, const int* next) {
  int seen = ev::atomic_load(head);
  while (seen >= 0) {
    ev::fence_device();
    const int old = ev::atomic_compare_exchange(head, seen, next[seen]);
    if (old == seen) break;
    seen = old;
  }
  return seen;
}
EV_KERNEL(32) push_both(int* head, int* next) { push(head, next, ev::block_rank()); }
EV_KERNEL(32) push_and_pop(int* head, int* next, int* got) {
  if (ev::block_rank() == 0) push(head, next, 1);
  else got[0] = pop(head, next);
}
EV_KERNEL(32) sleepy(int* flag, int* asleep) {
  if (ev::block_rank() == 0) {
    if (ev::atomic_load(flag) == 0) {
      ev::atomic_store(asleep, 1);
      while (ev::atomic_load(asleep) == 1) {}
    }
  } else {
    ev::atomic_store(flag, 1);
    if (ev::atomic_load(asleep) == 1) ev::atomic_store(asleep, 0);
  }
}
"""


@functools.cache
def program() -> ev.SimtProgram:
    return ev.SimtProgram(SOURCE)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def outcomes(explored: Any) -> set[tuple[int, ...]]:
    """What the arrays hold in the end, one behind the other."""
    return {tuple(np.concatenate(o.arrays).tolist()) for o in explored.outcomes}


# ---- launching -----------------------------------------------------------------------------------
def test_it_runs() -> None:
    count = ints(5)
    program().launch("bump", 4, 64, count, 2, seed=7)
    assert count[0] == 5 + 4 * 64 * 2


def test_every_kind_of_argument() -> None:
    x, y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    program().launch("scale", (2, 1), 64, x, y, np.float32(1.5), np.int64(90), True)
    np.testing.assert_array_equal(y[:90], x[:90] * 3)
    assert not y[90:].any()
    read_only = x.copy()
    read_only.flags.writeable = False
    program().launch("scale", (1, 2), 64, read_only, y, 1, 100, False)
    np.testing.assert_array_equal(y, x)


def test_bytes_have_either_sign() -> None:
    for dtype in (np.uint8, np.int8):
        out = np.zeros(1, dtype)
        program().launch("bytes", 1, 1, out)
        assert out.view(np.uint8)[0] == 200


def test_integers_of_every_width_are_arguments() -> None:
    out = np.zeros(4, np.int16)
    source = """EV_KERNEL(32) narrow(signed char a, short b, unsigned short c, const unsigned short* d, short* out) {
  out[0] = a, out[1] = b, out[2] = (short)(c >> 8), out[3] = (short)(d[0] >> 8);
}
"""
    narrow = ev.SimtProgram(source)
    narrow.launch("narrow", 1, 1, -3, -400, 65280, np.array([65280], np.uint16), out)
    assert out.tolist() == [-3, -400, 255, 255]
    with pytest.raises(ev.InputError, match=r"a: expected a number \(int8\), got 200"):
        narrow.launch("narrow", 1, 1, 200, 0, 0, np.zeros(1, np.uint16), out)
    with pytest.raises(ev.InputError, match="d: expected an array of uint16, got int16"):
        narrow.launch("narrow", 1, 1, 0, 0, 0, out, out)


def test_a_failure_says_where_and_how() -> None:
    with pytest.raises(ev.SimtError) as caught:
        program().launch("racy", 1, 2, ints(0), order="round_robin")
    error = caught.value
    line = SOURCE.splitlines().index("  count[0] += 1;") + 1
    assert (error.kind, error.kernel, error.seed, error.locations) == ("race", "racy", 0, ())
    head = "data race on array count[0] (kernel racy, order round_robin)"
    assert str(error).splitlines()[0] == head
    assert f"source.cu:{line}\n      | count[0] += 1;" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.kind, again.kernel) == (str(error), "race", "racy")


def test_without_race_detection() -> None:
    count = ints(0)
    program().launch("racy", 1, 2, count, races=False)
    assert count[0] == 2


X, Y, N = np.zeros(4, np.float32), np.zeros(4, np.float32), ints(0)
FROZEN = ints(0)
FROZEN.flags.writeable = False
WRONG: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "kernel": (("bumb", 1, 1, N, 1), {}, "did you mean 'bump'"),
    "grid of none": (("bump", 0, 1, N, 1), {}, "grid: expected a number of blocks, or (x, y), got 0"),
    "grid of three": (("bump", (1, 1, 1), 1, N, 1), {}, "grid: expected a number of blocks, or (x, y), got (1, 1, 1)"),
    "grid of letters": (("bump", "ab", 1, N, 1), {}, "grid: expected a number of blocks, or (x, y), got 'ab'"),
    "grid of nothing": (("bump", None, 1, N, 1), {}, "grid: expected a number of blocks, or (x, y), got None"),
    "no threads": (("bump", 1, 0, N, 1), {}, "block: expected 1 to 64 threads, got 0"),
    "many threads": (("bump", 1, 65, N, 1), {}, "block: expected 1 to 64 threads, got 65"),
    "half a thread": (("bump", 1, 0.5, N, 1), {}, "block: expected 1 to 64 threads, got 0.5"),
    "too few": (("bump", 1, 1, N), {}, "bump: expected 2 arguments, got 1"),
    "too many": (("bump", 1, 1, N, 1, 2), {}, "bump: expected 2 arguments, got 3"),
    "a list": (("bump", 1, 1, [0], 1), {}, "count: expected a NumPy array of int32, got list"),
    "floats": (("bump", 1, 1, X, 1), {}, "count: expected an array of int32, got float32"),
    "strides": (("bump", 1, 1, ints(0, 0, 0, 0)[::2], 1), {}, "count: expected a C-contiguous array, got a view with strides"),
    "frozen": (("bump", 1, 1, FROZEN, 1), {}, "count: expected an array that may be written, got a read-only one"),
    "an array": (("bump", 1, 1, N, N), {}, "n: expected a number (int32), got an array"),
    "a fraction": (("bump", 1, 1, N, 1.5), {}, "n: expected a number (int32), got 1.5"),
    "beyond": (("bump", 1, 1, N, 2**31), {}, f"n: expected a number (int32), got {2**31}"),
    "text": (("scale", 1, 1, X, Y, "2", 4, True), {}, "by: expected a number (float64), got '2'"),
    "no bool": (("scale", 1, 1, X, Y, 2.0, 4, 1), {}, "twice: expected a number (bool), got 1"),
    "a view": (("by_value", 1, 1, N, X), {}, "x: expected a kernel whose parameters are pointers or numbers (bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64, float16, complex64, complex128), got a parameter of another type"),
    "names in angle brackets": (("pairs", 1, 1, 3), {}, "p: expected a NumPy array, got int"),
    "option": (("bump", 1, 1, N, 1), {"sed": 3}, "option of target 'simt': expected one of"),
    "seeds": (("bump", 1, 1, N, 1), {"seeds": (1, 2)}, "seeds: expected one seed a launch, got (1, 2); hint: seed=7"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_launches_that_are_refused(name: str) -> None:
    arguments, options, message = WRONG[name]
    with pytest.raises(ev.InputError) as caught:
        program().launch(*arguments, **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


SOURCES = {
    "int a;": "source: expected a kernel, EV_KERNEL(threads) name(...) { ... } or __global__ void name(...), got none",
    "EV_KERNEL(64) x(int* a) { b; }": "source: expected C++ that the compiler takes, got source.cu:1:27: error: ",
}


@pytest.mark.parametrize("source", SOURCES)
def test_sources_that_are_refused(source: str) -> None:
    with pytest.raises(ev.InputError) as caught:
        ev.SimtProgram(source)
    assert str(caught.value).startswith(SOURCES[source])


# ---- exploring -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("threads", "operations"), [(1, 3), (2, 0), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2)]
)
@pytest.mark.parametrize("kernel", ["one_each", "one_each_in_a_block"])
def test_how_many_interleavings_there_are(kernel: str, threads: int, operations: int) -> None:
    """A bound beyond all switches gives all interleavings, and without one, those alike are run once."""
    turns = operations + 1
    grid = (threads, 1) if kernel == "one_each" else (1, threads)
    arguments = kernel, *grid, np.zeros(3, np.int32), operations
    every = program().explore(*arguments, preemptions=99)
    expected = math.factorial(threads * turns) // math.factorial(turns) ** threads
    assert (every.interleavings, every.complete) == (expected, True)
    one = program().explore(*arguments)
    assert (one.interleavings, one.complete) == (1, True)
    assert outcomes(one) == outcomes(every) == {tuple([operations] * threads + [0] * (3 - threads))}


def test_the_lost_update() -> None:
    assert outcomes(program().explore("lost_update", 1, 1, ints(0))) == {(1,)}
    assert outcomes(program().explore("lost_update", 2, 1, ints(0))) == {(1,), (2,)}
    assert outcomes(program().explore("lost_update", 3, 1, ints(0))) == {(1,), (2,), (3,)}


def test_few_preemptions() -> None:
    numbers = []
    for most in (0, 1, 2, 3, 4, 5):
        explored = program().explore("lost_update", 2, 1, ints(0), preemptions=most)
        assert explored.complete
        assert outcomes(explored) == ({(1,), (2,)} if most != 0 else {(2,)})
        numbers.append(explored.interleavings)
    # Two threads of three turns: two ways to run one after the other, four with one switch more ...
    assert numbers == [2, 6, 14, 18, 20, 20]


def test_a_limit() -> None:
    explored = program().explore("lost_update", 3, 1, ints(0), limit=1)
    assert (explored.interleavings, explored.complete) == (1, False)
    assert explored.reason == "limit=1 was reached"
    assert outcomes(explored) < {(1,), (2,), (3,)}
    for limit, complete in ((4, True), (3, False)):
        explored = program().explore("lost_update", 2, 1, ints(0), limit=limit)
        assert (explored.interleavings, explored.complete) == (limit, complete)


def test_arrays_hold_what_they_held() -> None:
    count = ints(41)
    explored = program().explore("lost_update", 2, 1, count)
    assert count[0] == 41
    assert outcomes(explored) == {(42,), (43,)}
    with pytest.raises(ev.SimtError):
        program().explore("racy", 2, 1, count)
    assert count[0] == 41


def test_outcomes_have_shapes_and_a_trace() -> None:
    explored = program().explore("lost_update", 2, 1, np.zeros((1, 1), np.int32))
    traces = {int(o.arrays[0][0, 0]): o.trace for o in explored.outcomes}
    assert traces == {2: "0.0 1.0", 1: "0.0 1.0~"}
    explored = program().explore("lost_update", 2, 1, ints(0), preemptions=1)
    assert {int(o.arrays[0][0]): o.trace for o in explored.outcomes} == {
        2: "0.0 1.0",
        1: "0.0 1.0 0.0",
    }


def test_a_mutex() -> None:
    explored = program().explore("mutex", 2, 1, ints(0), ints(0))
    assert explored.complete
    assert outcomes(explored) == {(0, 2)}
    three = program().explore("mutex", 3, 1, ints(0), ints(0), preemptions=2)
    assert outcomes(three) == {(0, 3)}


def test_a_mutex_without_fences() -> None:
    with pytest.raises(ev.SimtError) as caught:
        program().explore("mutex_without_fences", 2, 1, ints(0), ints(0))
    assert caught.value.kind == "race"
    assert "data race on array count[0] (kernel mutex_without_fences, exploring)" in str(
        caught.value
    )
    assert "in the interleaving (block.thread, turn after turn) 0.0 1.0" in str(caught.value)


def test_a_stack_that_two_push_to() -> None:
    explored = program().explore("push_both", 2, 1, ints(-1), ints(-2, -2))
    assert explored.complete
    assert outcomes(explored) == {(1, -1, 0), (0, 1, -1)}  # head, and what is below 0 and 1


def test_a_stack_that_one_pushes_to_while_the_other_pops() -> None:
    explored = program().explore("push_and_pop", 2, 1, ints(0), ints(-1, -2), ints(-9))
    assert explored.complete
    # 1 is pushed on 0 and taken, or 0 is taken before or after 1 has seen it at the head.
    assert outcomes(explored) == {(0, -1, 0, 1), (1, -1, -1, 0)}


def test_a_lost_wake_up() -> None:
    with pytest.raises(ev.SimtError) as caught:
        program().explore("sleepy", 2, 1, ints(0), ints(0), preemptions=1)
    assert caught.value.kind == "deadlock"
    assert "while (ev::atomic_load(asleep) == 1) {}" in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preemptions": -1}, "preemptions: expected an integer, 0 or more, got -1"),
        ({"preemptions": 1.5}, "preemptions: expected an integer, 0 or more, got 1.5"),
        ({"limit": -1}, "limit: expected an integer, 0 or more, got -1"),
        ({"memory": "weak"}, "memory: expected one of relaxed, sequential, got 'weak'"),
        ({"limit": None}, "limit: expected an integer, 0 or more, got None"),
    ],
)
def test_explorations_that_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ev.InputError) as caught:
        program().explore("lost_update", 2, 1, ints(0), **options)
    assert str(caught.value) == message


def test_arguments_of_explorations_are_checked_too() -> None:
    with pytest.raises(ev.InputError, match="lost_update: expected 1 arguments, got 0"):
        program().explore("lost_update", 2, 1)
    with pytest.raises(ev.InputError, match="block: expected 1 to 32 threads, got 33"):
        program().counters("lost_update", 2, 33, ints(0))


# ---- counting ------------------------------------------------------------------------------------
def test_counters() -> None:
    count = ints(0)
    counted = program().counters("bump", 2, 64, count, 3)
    assert counted.kernel == "bump"
    assert count[0] == 2 * 64 * 3
    assert len(counted.per_warp) == 4
    assert (counted.totals["global_atomics"], counted.atomic_collisions) == (128, 4 * 31)


def test_counters_of_a_stream() -> None:
    x, y = np.ones(64, np.float32), np.zeros(64, np.float32)
    totals = program().counters("scale", 1, 64, x, y, 2.0, 64, False).totals
    assert (totals["global_load_requests"], totals["global_load_sectors"]) == (2, 8)
    assert (totals["global_store_requests"], totals["global_store_bytes"]) == (2, 256)


def test_complex_numbers_and_halves() -> None:
    text = """
    EV_KERNEL(32) turn(const ev::complex128* a, ev::complex64 z, ev::float16 h, ev::complex64* turned, ev::float16* real) {
      int i = ev::thread_rank();
      turned[i] = ev::complex64(a[i]) * z;
      real[i] = (ev::float16)(turned[i].re * (float)h);
    }
    """
    a = np.arange(32) + 1j
    turned, real = np.zeros(32, np.complex64), np.zeros(32, np.float16)
    program = ev.SimtProgram(text)
    program.launch("turn", 1, 32, a, 2 - 1j, 0.5, turned, real)
    np.testing.assert_array_equal(turned, a * (2 - 1j))
    np.testing.assert_array_equal(real, turned.real / 2)
    with pytest.raises(ev.InputError, match="real: expected an array of float16, got float32"):
        program.launch("turn", 1, 32, a, 2 - 1j, 0.5, turned, real.astype(np.float32))
    with pytest.raises(ev.InputError, match=r"z: expected a number \(complex64\), got 'i'"):
        program.launch("turn", 1, 32, a, "i", 0.5, turned, real)
