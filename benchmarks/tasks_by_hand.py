"""The same queue and task by hand, in CUDA C++ over device/tasks.cuh, launched by CuPy, beside evenly's whole calls.

    python benchmarks/tasks_by_hand.py

What is by hand reads how many tasks had no room in a stack, and launches again. Medians of interleaved rounds, in
milliseconds.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import cupy
import numpy as np

import evenly as ev
from evenly.targets.cuda import compile as compiling

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
import queens

from tasks import binary

ROUNDS, CAPACITY = 5, 1 << 21
SET = """
struct task_set {
  using Task = task;
  static constexpr bool counted = false;
  long long *pool, *pushed;
  long long waiting, from, to, capacity, spill, spilled;
  task* mail;
  int* flags;
  task* list;
  EV_DEVICE task load(long long at) const { return list[at]; }
  EV_DEVICE void store(long long at, const task& t) const { list[at] = t; }
};
EV_KERNEL(BLOCK) by_hand(long long* words, task* mail, int* flags, task* list, long long capacity, long long* total,
                         long long waiting, long long from, long long to, int n, int split) {
  const task_set set{words, words + 256, waiting, from, to, capacity, 0, 0, mail, flags, list};
  ev::task_pool<task_set, SIZE, BLOCK, 256, false> tasks(set);
  long long sum = 0;
  const auto run = [&](const auto& team, const task& t, bool) { RUN };
  while (tasks.take()) tasks.each(run);
  tasks.leave();
  for (int i = 16; i > 0; i /= 2) sum += ev::shuffle_down(ev::full_warp, sum, i);
  if (ev::lane_rank() == 0) ev::atomic_add(total, sum);
}
"""
BINARY = """
    if (team.rank() != 0) return;
    ++sum;
    if (t.depth > 0) {
      tasks.push({t.depth - 1});
      tasks.push({t.depth - 1});
    }
"""
QUEENS = """
    const unsigned full = (1u << n) - 1;
    unsigned columns = t.columns, free = full & ~(columns | t.left | t.right);
    if (t.row < split) {
      while (free != 0) {
        const unsigned queen = free & (~free + 1);
        free ^= queen;
        tasks.push({t.row + 1, columns | queen, (t.left | queen) << 1, (t.right | queen) >> 1});
      }
      return;
    }
    unsigned untried[20], lefts[20], rights[20], taken[20];
    int depth = 0;
    long long count = columns == full;
    untried[0] = free; lefts[0] = t.left; rights[0] = t.right; taken[0] = columns;
    while (depth >= 0) {
      const unsigned rest = untried[depth], queen = rest & (~rest + 1);
      if (rest == 0) {
        --depth;
        continue;
      }
      untried[depth] = rest ^ queen;
      columns = taken[depth] | queen;
      if (columns == full) {
        ++count;
        continue;
      }
      const unsigned left = (lefts[depth] | queen) << 1, right = (rights[depth] | queen) >> 1;
      untried[++depth] = full & ~(columns | left | right);
      lefts[depth] = left; rights[depth] = right; taken[depth] = columns;
    }
    sum += count;
"""


class Program(NamedTuple):
    """A kernel by hand. task: its struct in C++; first: the bytes of its first task. numbers: n, split."""

    task: str
    run: str
    first: Any
    numbers: tuple[int, int] = (0, 0)

    def call(self, size: int, block: int) -> tuple[Callable[[], None], Any]:
        """Return what runs it, and where its total is."""
        source = self.task + SET.replace("RUN", self.run)
        source = source.replace("SIZE", str(size)).replace("BLOCK", str(block))
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            device = cupy.cuda.Device()
            file.write(compiling.cubin(source, "by_hand", f"sm_{device.compute_capability}"))
            file.flush()
            kernel = cupy.RawModule(path=file.name).get_function("by_hand")
        blocks = device.attributes["MultiProcessorCount"] * (2048 // block)
        takers = blocks * (block // 32 if size <= 32 else block // size)
        bytes_ = len(self.first)
        words, total = cupy.zeros(272, np.int64), cupy.zeros(1, np.int64)
        mail, flags = cupy.zeros(64 * takers * bytes_, np.uint8), cupy.zeros(2 * takers, np.int32)
        lists, first = cupy.zeros(2 * CAPACITY * bytes_, np.uint8), cupy.asarray(self.first)
        given = words, mail, flags, lists, np.int64(CAPACITY), total

        def call() -> None:
            total.data.memset_async(0, total.nbytes)
            lists[:bytes_] = first
            waiting, here, there = 1, 0, CAPACITY
            while waiting:
                words.data.memset_async(0, words.nbytes)
                at = (np.int64(number) for number in (waiting, here, there))
                kernel((blocks,), (block,), (*given, *at, *map(np.int32, self.numbers)))
                waiting, here, there = int(words[256]), there, here

        return call, total


def measured(call: Callable[[], Any]) -> float:
    cupy.cuda.Device().synchronize()
    start = time.perf_counter()
    call()
    cupy.cuda.Device().synchronize()
    return 1e3 * (time.perf_counter() - start)


def beside(name: str, by_hand: Callable[[], Any], plan: Callable[[], Any]) -> None:
    times = np.array([(measured(by_hand), measured(plan)) for _ in range(ROUNDS + 1)][1:])
    hand, own = (statistics.median(column) for column in times.T)
    print(f"{name}: by hand {hand:.3f} ms, evenly {own:.3f}: {own / hand:.3f}", flush=True)


def main() -> None:
    for size, block, depth in ((1, 256, 25), (32, 128, 21), (128, 128, 21)):
        first = np.array([depth], np.int32).view(np.uint8)
        call, total = Program("struct task { int depth; };", BINARY, first).call(size, block)
        T = ev.tasks(depth=np.int32, first=[depth], capacity=CAPACITY, like=total)
        count = cupy.zeros(1, np.int64)
        plan = binary.plan(T, count, schedule=ev.TaskPool(size, block))
        name = f"2**{depth + 1} tasks of {size}, blocks of {block}"
        beside(name, call, lambda p=plan, T=T, count=count: p(T, count))
        assert int(total[0]) == int(count[0]) == 2 ** (depth + 1) - 1
    board = "struct task { int row; unsigned columns, left, right; };"
    n, split = 16, 7
    call, total = Program(board, QUEENS, np.zeros(16, np.uint8), (n, split)).call(1, 64)
    T, found = queens.boards(CAPACITY).to("cuda"), cupy.zeros(1, np.int64)
    plan = queens.queens.plan(T, n, split, found, schedule=ev.TaskPool(block=64))
    beside(f"{n} queens from row {split}", call, lambda: plan(T, n, split, found))
    assert int(total[0]) == int(found[0]) == queens.SOLUTIONS[n]


if __name__ == "__main__":
    main()
