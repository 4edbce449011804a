"""Threads that wait for each other: what is a deadlock, what is no progress, and what only takes long."""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest
from tests.covering import gives_what_the_reference_gives

import evenly as ev

pytestmark = pytest.mark.simt

SOURCE = """
EV_KERNEL(32) fill_together(int* lock, int* left) {  // each takes the lock until it finds its own turn
  for (;;) {
    while (ev::atomic_compare_exchange(lock, 0, 1) != 0) {}
    ev::fence_device();
    const bool mine = left[0] == ev::block_rank();
    if (mine) left[0] += 1;
    ev::fence_device();
    ev::atomic_exchange(lock, 0);
    if (mine) return;
  }
}
EV_KERNEL(32) spin(int* n, int* spins) {
  while (ev::atomic_load(n) == 0) ev::atomic_add(spins, 1);
}
EV_KERNEL(32) give_up(int* n, int* rounds, int most) {
  int i = 0;
  while (ev::atomic_load(n) == 0 && i < most) ++i;
  rounds[ev::block_rank()] = i;
}
EV_KERNEL(32) give_up_together(int* n, int* rounds, int most) {  // lane 0 counts, lane 1 polls
  int found = 0;
  for (int i = 0; found == 0; ++i) {
    if (ev::lane_rank() == 1) found = ev::atomic_load(n);
    found = ev::shuffle_from(ev::full_warp, found, 1);
    found |= ev::shuffle_from(ev::full_warp, int(ev::lane_rank() == 0 && i == most), 0);
    if (ev::lane_rank() == 0) rounds[0] = i;
  }
}
EV_KERNEL(32) wait_for_the_one_before(int* done) {
  if (ev::block_rank() > 0) while (ev::atomic_load(done + ev::block_rank() - 1) == 0) {}
  ev::atomic_store(done + ev::block_rank(), 1);
}
EV_KERNEL(64) wait_for_ever(int* n) {
  if (ev::thread_rank() == 0) {
    while (ev::atomic_load(n + ev::block_rank()) == 0)
      while (ev::atomic_load(n + 3) != 0) {}
  } else if (ev::warp_rank() == 1) {
    int k = 0;
    while (k == 0) {
      if (ev::lane_rank() == 0) k = ev::atomic_load(n + 2);
      k = ev::shuffle_from(ev::full_warp, k, 0);
    }
  }
}
"""


LANES = """
__global__ void lock_then_work(int* lock, int* n) {
  while (atomicCAS(lock, 0, 1) != 0) {}
  __threadfence();
  n[0] += 1;
  __threadfence();
  atomicExch(lock, 0);
}
__global__ void work_within_the_loop(int* lock, int* n) {
  for (bool done = false; !done;)
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      n[0] += 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
}
__global__ void wait_for_a_lane(volatile int* flag, int* n) {
  if (threadIdx.x == 0) {
    while (*flag == 0) {}
    n[0] = blockDim.x;
  } else *flag = 1;
}
"""


@functools.cache
def program(source: str = SOURCE) -> ev.SimtProgram:
    return ev.SimtProgram(source)


def zeros(n: int) -> np.ndarray:
    return np.zeros(n, np.int32)


@pytest.mark.parametrize("seed", range(14))
def test_a_correct_lock_starves_nobody(seed: int) -> None:
    left = zeros(1)
    program().launch("fill_together", 8, 1, zeros(1), left, seed=seed)
    assert left[0] == 8


def test_spinning_that_changes_memory_ends() -> None:
    with pytest.raises(ev.SimtError) as caught:
        program().launch("spin", 2, 1, zeros(1), zeros(1), steps=100_000)
    assert caught.value.kind == "progress"
    message = str(caught.value)
    assert message.startswith("no progress: livelock or starvation: in 100000 turns no thread")
    assert re.search(r"thread 0 of block 1 is at array (n|spins)\[0\] at source.cu", message)


plain = ev.SimtProgram("""
__global__ void counts(unsigned* n) { for (unsigned i = 0; i < 4000000000u; i++) n[i % 4] += 1; }
__global__ void adds(const int* x, int* sum, int times) {
  int held = 0;
  for (int i = 0; i < times; i++) held += x[i % 4];
  sum[blockIdx.x] = held;
}
__global__ void bumps(int* n, int times) {
  for (int i = 0; i < times; i++) atomicAdd(n, 1);
}
""")


def test_a_plain_loop_without_end_is_named_by_its_line() -> None:
    with pytest.raises(ev.SimtError, match=r"thread 0 of block 0 runs at source.cu:2") as caught:
        plain.launch("counts", 1, 1, np.zeros(4, np.uint32), steps=10_000)
    assert caught.value.kind == "progress"


def test_a_launch_of_thousands_of_atomics_in_relaxed_memory_takes_no_minutes() -> None:
    n = zeros(1)
    plain.launch("bumps", 1, 1, n, 6_000, memory="relaxed")
    assert n[0] == 6_000


def test_a_long_plain_loop_is_progress_when_exploring() -> None:
    explored = plain.explore("adds", 2, 1, np.ones(4, np.int32), zeros(2), 3_000_000)
    assert explored.complete
    assert explored.outcomes[0].arrays[0].tolist() == [3_000_000] * 2


@pytest.mark.parametrize("order", ["random", "round_robin"])
def test_trying_a_million_times_is_no_deadlock(order: str) -> None:
    rounds = zeros(2)
    program().launch("give_up", 2, 1, zeros(1), rounds, 1_000_000, order=order)
    assert rounds.tolist() == [1_000_000] * 2


def test_a_lane_that_counts_for_the_one_that_polls() -> None:
    rounds = zeros(1)
    program().launch("give_up_together", 1, 32, zeros(1), rounds, 10_000)
    assert rounds[0] == 10_000


@pytest.mark.parametrize(
    "options", [{"seed": 0}, {"seed": 1}, {"seed": 2}, {"order": "round_robin"}]
)
def test_a_deadlock_is_seen_at_once_and_says_what_is_awaited(options: dict[str, int]) -> None:
    with pytest.raises(ev.SimtError) as caught:
        program().launch("wait_for_ever", 2, 64, zeros(4), steps=1_000_000, **options)
    assert caught.value.kind == "deadlock"
    message = str(caught.value)
    assert re.search(r"thread 0 of block 1 polls array n\[[13]\] at source.cu", message)
    assert "thread 32 of block 1 polls array n[2] at source.cu" in message
    assert "threads 33 to 63 of block 1 wait at a shuffle" in message


@pytest.mark.parametrize(
    ("kernel", "blocks", "threads", "hangs"),
    [
        ("lock_then_work", 1, 2, True),
        ("lock_then_work", 4, 1, False),  # lanes of different warps
        ("work_within_the_loop", 2, 64, False),
        ("wait_for_a_lane", 1, 2, True),
    ],
)
def test_lock_step(kernel: str, blocks: int, threads: int, hangs: bool) -> None:
    """From Volta on, all of them end. Before, a lane that leaves a loop waits for those that are in it."""
    for seed in range(4):
        n = zeros(1)
        program(LANES).launch(kernel, blocks, threads, zeros(1), n, seed=seed)
        assert n[0] == blocks * threads
        if hangs:
            with pytest.raises(ev.SimtError, match="waits, in lock step, for lanes of the warp") as caught:  # fmt: skip
                program(LANES).launch(kernel, blocks, threads, zeros(1), n, seed=seed, progress="lockstep")  # fmt: skip
            assert caught.value.kind == "deadlock"
        else:
            n[0] = 0
            program(LANES).launch(kernel, blocks, threads, zeros(1), n, seed=seed, progress="lockstep")  # fmt: skip
            assert n[0] == blocks * threads


def test_engines_need_no_progress_of_single_lanes() -> None:
    gives_what_the_reference_gives(
        "row_norms", ev.MergePath(), "csr", np.float32, "simt", progress="lockstep"
    )


def test_lock_step_has_an_order_of_its_own() -> None:
    with pytest.raises(ev.InputError, match="progress: expected order='random' and memory"):
        program(LANES).launch("lock_then_work", 1, 1, zeros(1), zeros(1), progress="lockstep", order="pct")  # fmt: skip
    with pytest.raises(ev.InputError, match="progress"):
        program(LANES).launch("lock_then_work", 1, 1, zeros(1), zeros(1), progress="lock")


def test_blocks_may_start_in_any_order() -> None:
    """Waiting for the block before is right where blocks start by index, and hangs where too many start that wait."""
    done = zeros(40)
    for seed in range(5):
        program().launch("wait_for_the_one_before", 40, 1, done * 0, resident=2, seed=seed)
    with pytest.raises(ev.SimtError, match="blocks have not started: 2 are resident"):
        program().launch("wait_for_the_one_before", 40, 1, done * 0, resident=2, starts="any")
    program().launch("wait_for_the_one_before", 40, 1, done, resident=40, starts="any")
    assert done.tolist() == [1] * 40
