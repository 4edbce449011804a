"""What the rules of CUDA allow is silent, what they leave undefined is found, and reports say what was there."""

from __future__ import annotations

import functools
import time

import numpy as np
import pytest

import evenly as ev

pytestmark = pytest.mark.simt

SOURCE = """
// ---- who takes part
EV_KERNEL(32) left_lanes(int* out) {  // lanes 16 to 31 have left
  const int t = ev::thread_rank();
  if (t >= 16) return;
  EV_SHARED(int, held, 16);
  held[t] = t;
  ev::sync_warp(ev::full_warp);
  out[t] = held[15 - t] + (int)ev::count_bits(ev::ballot(ev::full_warp, true));
}
EV_KERNEL(32) left_later(int* out) {  // they leave when the others wait already
  const int t = ev::thread_rank();
  if (t >= 16) {
    for (int i = 0; i < 9; ++i) ev::fence_block();
    return;
  }
  out[t] = (int)ev::count_bits(ev::ballot(ev::full_warp, true));
}
EV_KERNEL(32) two_lines(int* out) {
  const int t = ev::thread_rank();
  if (t < 16) {
    out[t] = ev::shuffle_from(ev::full_warp, t, 31 - t);
  } else {
    out[t] = ev::shuffle_from(ev::full_warp, t, 31 - t);
  }
}
#define MEET ev::barrier()
EV_KERNEL(64) two_barriers_on_a_line(int* out) {
  if (ev::warp_rank() == 0) MEET; else MEET;
}
EV_KERNEL(64) a_barrier_in_a_loop(int* out) {
  for (int i = 0; i < 3; ++i) MEET;
}
EV_KERNEL(32) shuffle_and_vote(int* out) {
  const int t = ev::thread_rank();
  if (t < 16) out[t] = ev::shuffle_from(ev::full_warp, t, 31 - t);
  else out[t] = ev::any(ev::full_warp, true);
}
EV_KERNEL(32) outside_the_mask(int* out) {
  const int t = ev::thread_rank();
  if (t < 16) out[t] = ev::shuffle_down(0xffffu, t, 1);
}
EV_KERNEL(32) from_who_has_left(int* out) {
  const int t = ev::thread_rank();
  if (t < 16) out[t] = ev::shuffle_down(ev::full_warp, t, 1);
}
EV_KERNEL(32) outside_and_thrown_away(int* out) {
  const int t = ev::thread_rank();
  if (t >= 16) return;
  int v = 1 << 30, n = t;
  for (int o = 1; o < 16; o *= 2) {
    const int later = ev::shuffle_down(0xffffu, v, o), next = ev::shuffle_down(0xffffu, n, o);
    v += later & 3;
    n += next;
  }
  if (t == 0) out[0] = n;
}
// ---- what was never written
EV_KERNEL(32) half_written(int* out) {
  EV_SHARED(long long, held, 2);
  if (ev::thread_rank() == 0) {
    ((int*)held)[2] = 1;
    out[0] = (int)held[1];
  }
}
struct padded { long long a; int b; };
EV_KERNEL(32) gaps(int* out) {
  EV_SHARED(padded, held, 2);
  if (ev::thread_rank() == 0) {
    held[0].a = 1, held[0].b = 2;
    held[1] = held[0];
    out[0] = held[1].b;
  }
}
EV_KERNEL(32) reads_const(const int* scratch, int* out) { out[0] = scratch[1]; }
EV_KERNEL(32) reads_scratch(int* scratch, int* out) {
  scratch[ev::thread_rank()] = 1;
  out[ev::thread_rank()] = scratch[ev::thread_rank() + 1];
}
// ---- how much
EV_KERNEL(256) publishes(int* data, int* counts) {
  data[ev::block_rank() * 256 + ev::thread_rank()] = 1;
  for (int k = 0; k < 2; ++k) {
    ev::fence_device();
    ev::atomic_add(counts + k, 1);
    ev::fence_device();
  }
}
// ---- numbers
EV_KERNEL(32) adds(const int* a, int* out) { out[0] = a[0] + a[1]; }
EV_KERNEL(32) multiplies(const long long* a, long long* out) { out[0] = a[0] * a[1]; }
EV_KERNEL(32) negates(const int* a, int* out) { out[0] = -a[0]; }
"""


@functools.cache
def program() -> ev.SimtProgram:
    return ev.SimtProgram(SOURCE)


def zeros(n: int) -> np.ndarray:
    return np.zeros(n, np.int32)


def fails(kernel: str, threads: int, *arrays: np.ndarray, **options: object) -> str:
    with pytest.raises(ev.SimtError) as caught:
        program().launch(kernel, 1, threads, *arrays, **options)
    return f"{caught.value.kind}: {caught.value}"


# ---- who takes part ------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(6))
def test_lanes_that_have_left_take_no_part(seed: int) -> None:
    out = zeros(16)
    program().launch("left_lanes", 1, 32, out, seed=seed)
    assert out.tolist() == [15 - t + 16 for t in range(16)]
    program().launch("left_later", 1, 32, out, seed=seed)
    assert out.tolist() == [16] * 16
    assert "waits at sync_warp for thread" in fails("left_lanes", 32, out, seed=seed, strict=True)


@pytest.mark.parametrize("seed", range(6))
def test_one_mask_at_two_lines(seed: int) -> None:
    out = zeros(32)
    program().launch("two_lines", 1, 32, out, seed=seed)
    assert out.tolist() == [31 - t for t in range(32)]
    assert "meet at two places" in fails("two_lines", 32, out, seed=seed, strict=True)
    assert "meet at two places" in fails("shuffle_and_vote", 32, out, seed=seed)


def test_two_barriers_on_a_line_are_two() -> None:
    assert "meet at two different barriers" in fails("two_barriers_on_a_line", 64, zeros(1))
    program().launch("a_barrier_in_a_loop", 1, 64, zeros(1))


@pytest.mark.parametrize("kernel", ["outside_the_mask", "from_who_has_left"])
def test_a_value_of_a_lane_that_takes_no_part(kernel: str) -> None:
    said = fails(kernel, 32, zeros(32))
    assert said.startswith("mask: thread 15 of block 0 stores what a shuffle has read from a lane")


def test_such_values_may_be_thrown_away() -> None:
    out = zeros(1)
    program().launch("outside_and_thrown_away", 1, 32, out)
    assert out[0] == sum(range(16))


# ---- what was never written ----------------------------------------------------------------------
def test_a_half_of_what_is_read() -> None:
    assert "uninitialised: shared array held[1] has not been written" in fails("half_written", 32, zeros(1))  # fmt: skip
    out = zeros(1)
    program().launch("gaps", 1, 32, out)
    assert out[0] == 2


def test_scratch_memory_that_holds_nothing() -> None:
    scratch, out = zeros(33), zeros(32)
    program().launch("reads_scratch", 1, 1, scratch, out)
    said = fails("reads_scratch", 1, scratch, out, uninitialised=("scratch",))
    assert "uninitialised: array scratch[1] has not been written" in said
    assert (
        said.replace("reads_scratch", "reads_const").splitlines()[0]
        == fails("reads_const", 1, scratch, out, uninitialised=("scratch",)).splitlines()[0]
    )
    with pytest.raises(
        ev.InputError, match="uninitialised: expected one of out, scratch, got 'scr'"
    ):
        program().launch("reads_scratch", 1, 1, scratch, out, uninitialised=("scr",))


# ---- numbers -------------------------------------------------------------------------------------
def test_an_overflow_names_its_operands() -> None:
    a = np.array([2**31 - 1, 7], np.int32)
    assert "an addition of signed integers overflows: 2147483647 + 7 as 'int'" in fails("adds", 1, a, zeros(1))  # fmt: skip
    b = np.array([-(2**62), 3], np.int64)
    said = fails("multiplies", 1, b, np.zeros(1, np.int64))
    assert "overflows: -4611686018427387904 * 3 as 'long long int'" in said
    a[0] = -(2**31)
    assert "the negation of a signed integer overflows: --2147483648 as 'int'" in fails("negates", 1, a, zeros(1))  # fmt: skip


# ---- how much ------------------------------------------------------------------------------------
def test_fences_of_many_threads() -> None:
    """Each thread of 128 blocks publishes by two counters, and knows of all that came before it."""
    data, counts = np.zeros(128 * 256, np.int32), zeros(2)
    start = time.process_time()
    program().launch("publishes", 128, 256, data, counts, seed=1)
    assert (
        time.process_time() - start < 10
    )  # 2.6 s on the machine where it was written; 8 s with clocks that share less
    assert counts.tolist() == [128 * 256] * 2
