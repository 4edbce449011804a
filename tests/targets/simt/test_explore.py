"""What exploring leaves out, what it finishes, and that it never says that it has seen everything when it has not."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import evenly as ev

pytestmark = pytest.mark.simt

SOURCE = """
EV_KERNEL(32) sum_first(int* f, int* x, int* y, int loads) {
  if (ev::block_rank() == 0) {
    int sum = 0;
    for (int i = 0; i < loads; ++i) sum += ev::atomic_load(f + i);
    if (sum == 0) ev::atomic_store(x, 1);
  } else ev::atomic_store(y, ev::atomic_load(x) + 1);
}
EV_KERNEL(32) give_up(int* flag, int* x, int* seen, int most) {  // after some polls
  if (ev::block_rank() == 0) {
    int i = 0;
    while (ev::atomic_load(flag) == 0 && i < most) ++i;
    if (i == most) ev::atomic_store(x, 1);
  } else {
    seen[0] = ev::atomic_load(x);
    ev::atomic_store(flag, 1);
  }
}
EV_KERNEL(32) count_spins(int* flag, int* spins) {
  if (ev::block_rank() == 0) while (ev::atomic_load(flag) == 0) ev::atomic_add(spins, 1);
  else ev::atomic_store(flag, 1);
}
EV_KERNEL(32) wait_for_two(int* flags, int* seen) {
  if (ev::block_rank() == 0) {
    while (ev::atomic_load(flags) == 0 || ev::atomic_load(flags + 1) == 0) {}
    seen[0] = 1;
  } else ev::atomic_store(flags + ev::block_rank() - 1, 1);
}
EV_KERNEL(32) wait_for_ever(int* flags) {
  if (ev::block_rank() == 0) while (ev::atomic_load(flags) == 0) {}
  else if (ev::atomic_load(flags + 1) == 1) ev::atomic_store(flags, 1);
}
EV_KERNEL(32) halves(long long* word, int* seen) {
  if (ev::block_rank() == 0) ev::atomic_store(word, 1LL << 32);
  else seen[0] = ev::atomic_load((int*)word + 1);
}
EV_KERNEL(64) fill_and_count(int* numbers, int* count) {  // a counter of the block, cleared by a plain write
  EV_SHARED(int, held, 1);
  if (ev::thread_rank() == 0) held[0] = 0;
  ev::barrier();
  numbers[ev::thread_rank()] = ev::atomic_add(held, 1);
  ev::barrier();
  if (ev::thread_rank() == 0) count[0] = held[0], held[0] = 10;
  ev::barrier();
  numbers[ev::thread_rank()] += ev::atomic_add(held, 1);
}
EV_KERNEL(32) last_block(int* data, int* arrived, int* sum) {
  data[ev::block_rank()] = ev::block_rank() + 1;
  ev::fence_device();
  if (ev::atomic_add(arrived, 1) != ev::block_count() - 1) return;
  ev::fence_device();
  for (int i = 0; i < ev::block_count(); ++i) sum[0] += data[i];
  arrived[0] = 0;
}
EV_KERNEL(32) volatile_flag(int* data, volatile int* flag, int* seen) {
  if (ev::block_rank() == 0) {
    data[0] = 7;
    ev::fence_device();
    *flag = 1;
  } else {
    while (*flag == 0) {}
    ev::fence_device();
    seen[0] = data[0];
  }
}
EV_KERNEL(32) shuffled(int* x, int* y, int* seen) {  // lane 1 writes what lane 0 has read
  int v = 0;
  if (ev::thread_rank() == 0) v = ev::atomic_load(x);
  v = ev::shuffle_from(3u, v, 0);
  if (ev::thread_rank() == 1) ev::atomic_store(y, v + 1);
  if (ev::thread_rank() == 0) seen[0] = ev::atomic_load(y);
}
// A stack of nodes: head is the first of them or -1, next[i] the one below i.
EV_DEVICE void push(int* head, int* next, int node) {
  int seen = ev::atomic_load(head);
  for (;;) {
    ev::atomic_store(next + node, seen);
    ev::fence_device();
    const int old = ev::atomic_compare_exchange(head, seen, node);
    if (old == seen) return;
    seen = old;
  }
}
EV_DEVICE int pop(int* head, int* next) {
  int seen = ev::atomic_load(head);
  while (seen >= 0) {
    ev::fence_device();
    const int old = ev::atomic_compare_exchange(head, seen, ev::atomic_load(next + seen));
    if (old == seen) break;
    seen = old;
  }
  return seen;
}
EV_KERNEL(32) pop_pop_push(int* head, int* next, int* got) {
  if (ev::block_rank() < 2) got[ev::block_rank()] = pop(head, next);
  else push(head, next, 2);
}
EV_KERNEL(32) atomics(int* a, int n) {
  for (int i = 0; i < n; ++i) ev::atomic_add(a + ev::block_rank() * n + i, 1);
}
EV_KERNEL(32) fences(int* a) {
  for (int i = 0; i < 4; ++i) ev::fence_device();
  ev::atomic_add(a + ev::block_rank(), 1);
}
"""


@functools.cache
def program() -> ev.SimtProgram:
    return ev.SimtProgram(SOURCE)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def zeros(n: int) -> np.ndarray:
    return np.zeros(n, np.int32)


def outcomes(explored: Any) -> set[tuple[int, ...]]:
    return {tuple(np.concatenate(o.arrays).tolist()) for o in explored.outcomes}


# ---- complete, and rightly so --------------------------------------------------------------------
@pytest.mark.parametrize("options", [{}, {"memory": "sequential"}, {"preemptions": 9}])
@pytest.mark.parametrize("loads", [1, 3, 5, 20])
def test_loads_of_different_addresses_are_no_polling(loads: int, options: dict[str, Any]) -> None:
    if "preemptions" in options and loads > 5:
        options = {"preemptions": 2}
    explored = program().explore("sum_first", 2, 1, zeros(20), zeros(1), zeros(1), loads, **options)
    assert explored.complete
    assert {int(o.arrays[2][0]) for o in explored.outcomes} == {1, 2}


@pytest.mark.parametrize("options", [{}, {"memory": "sequential"}, {"preemptions": 3}])
def test_who_gives_up_is_seen_to_give_up(options: dict[str, Any]) -> None:
    explored = program().explore("give_up", 2, 1, zeros(1), zeros(1), zeros(1), 9, **options)
    assert explored.complete
    assert {(int(o.arrays[1][0]), int(o.arrays[2][0])) for o in explored.outcomes} == {(0, 0), (1, 0), (1, 1)}  # fmt: skip


def test_waiting_for_two() -> None:
    explored = program().explore("wait_for_two", 3, 1, zeros(2), zeros(1))
    assert explored.complete
    assert outcomes(explored) == {(1, 1, 1)}


@pytest.mark.parametrize("options", [{}, {"memory": "sequential"}, {"preemptions": 1}])
def test_waiting_for_ever(options: dict[str, Any]) -> None:
    with pytest.raises(ev.SimtError) as caught:
        program().explore("wait_for_ever", 2, 1, zeros(2), **options)
    assert caught.value.kind == "deadlock"
    assert "array flags[0] at source.cu" in str(caught.value)


# ---- not complete, and why -----------------------------------------------------------------------
@pytest.mark.parametrize("options", [{}, {"memory": "sequential"}, {"preemptions": 1, "limit": 50}])
def test_a_loop_that_never_comes_back_to_a_state_is_cut(options: dict[str, Any]) -> None:
    explored = program().explore("count_spins", 2, 1, zeros(1), zeros(1), **options)
    assert not explored.complete
    if "limit" not in options:
        assert explored.reason.startswith("thread 0 of block 0 came by at source.cu:")
        assert explored.reason.endswith(" more than 64 times")
        assert {(1, 0), (1, 1), (1, 50)} <= outcomes(explored)


def test_parts_of_an_atomics_place() -> None:
    explored = program().explore("halves", 2, 1, np.zeros(1, np.int64), zeros(1))
    assert not explored.complete
    assert "uses a part of another atomic's place at source.cu" in explored.reason


# ---- what orders what ----------------------------------------------------------------------------
def test_a_counter_of_the_block() -> None:
    explored = program().explore("fill_and_count", 1, 2, zeros(2), zeros(1))
    assert explored.complete
    assert outcomes(explored) == {(a + b, 22 - a - b, 2) for a in (0, 1) for b in (10, 11)}


def test_the_last_block_clears_the_counter() -> None:
    explored = program().explore("last_block", 3, 1, zeros(3), zeros(1), zeros(1))
    assert explored.complete
    assert outcomes(explored) == {(1, 2, 3, 0, 6)}


def test_a_volatile_flag() -> None:
    explored = program().explore("volatile_flag", 2, 1, zeros(1), zeros(1), zeros(1))
    assert explored.complete
    assert outcomes(explored) == {(7, 1, 7)}


def test_a_value_that_goes_through_a_shuffle() -> None:
    explored = program().explore("shuffled", 1, 2, ints(5), zeros(1), zeros(1))
    assert explored.complete
    assert outcomes(explored) == {(5, 6, 0), (5, 6, 6)}


@pytest.mark.parametrize(
    ("kernel", "blocks", "arguments"),
    [
        ("wait_for_two", 3, lambda: (zeros(2), zeros(1))),
        ("give_up", 2, lambda: (zeros(1), zeros(1), zeros(1), 3)),
        ("pop_pop_push", 3, lambda: (ints(0), ints(1, -1, -2), ints(-9, -9))),
        ("volatile_flag", 2, lambda: (zeros(1), zeros(1), zeros(1))),
    ],
)
def test_graphs_give_what_interleavings_give(kernel: str, blocks: int, arguments: Any) -> None:
    graphs = program().explore(kernel, blocks, 1, *arguments(), memory="sequential")
    every = program().explore(kernel, blocks, 1, *arguments(), preemptions=4)
    assert graphs.complete
    assert every.complete
    assert outcomes(graphs) == outcomes(every)
    assert graphs.interleavings <= every.interleavings


# ---- how much ------------------------------------------------------------------------------------
def test_independent_operations_are_run_in_one_order() -> None:
    assert program().explore("atomics", 3, 1, zeros(12), 4).interleavings == 1
    assert program().explore("fences", 3, 1, zeros(3)).interleavings == 1


def test_a_stack_with_two_that_pop_and_one_that_pushes() -> None:
    explored = program().explore("pop_pop_push", 3, 1, ints(0), ints(1, -1, -2), ints(-9, -9))
    assert explored.complete
    got = {tuple(o.arrays[2].tolist()) for o in explored.outcomes}
    assert got == {(a, b) for a in (0, 1, 2) for b in (0, 1, 2) if a != b and {a, b} != {1, 2}} | {(0, 1), (1, 0)}  # fmt: skip


def test_time_may_be_limited() -> None:
    arguments = ints(0), ints(1, -1, -2), ints(-9, -9)
    explored = program().explore("pop_pop_push", 3, 1, *arguments, seconds=1e-9)
    assert (explored.complete, explored.reason) == (False, "seconds=1e-09 were over")
    for wrong in (0, -1, "1", True):
        with pytest.raises(ev.InputError, match="seconds: expected a number above 0"):
            program().explore("pop_pop_push", 3, 1, *arguments, seconds=wrong)  # type: ignore[arg-type]
