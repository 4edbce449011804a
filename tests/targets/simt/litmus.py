"""Runs programs without branches (axioms.py) on `simt`, one thread of the program a block or a thread of one block."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from tests.targets.simt.axioms import Outcome, Program

import evenly as ev

KINDS = ("none", "load", "store", "add", "exchange", "fence", "fence_block", "volatile_load", "volatile_store", "plain_load", "plain_store", "swap", "skip_if_zero")  # fmt: skip
SOURCE = """
EV_KERNEL(32) run(const int* code, int length, int* memory, int* seen) {
  const int t = ev::block_rank() * ev::block_threads() + ev::thread_rank();
  int last = 0;
  for (int i = 0; i < length; ++i) {
    const int* at = code + 3 * (t * length + i);
    const int kind = at[0], value = at[2];
    int* p = memory + at[1];
    int old = -1;
    if (kind == 1) old = ev::atomic_load(p);
    else if (kind == 2) ev::atomic_store(p, value);
    else if (kind == 3) old = ev::atomic_add(p, value);
    else if (kind == 4) old = ev::atomic_exchange(p, value);
    else if (kind == 5) ev::fence_device();
    else if (kind == 6) ev::fence_block();
    else if (kind == 7) old = *(volatile int*)p;
    else if (kind == 8) *(volatile int*)p = value;
    else if (kind == 9) old = *p;
    else if (kind == 10) *p = value;
    else if (kind == 11) old = ev::atomic_compare_exchange(p, value - 1, value);
    else if (kind == 12) i += last == 0;
    if (old != -1) last = seen[t * length + i] = old;
  }
}
"""


@functools.cache
def program() -> ev.SimtProgram:
    return ev.SimtProgram(SOURCE)


def explored(
    threads: Program, places: int = 2, blocks: bool = True, **options: Any
) -> set[Outcome]:
    """Return the outcomes: what each thread has read, in order, and what is in memory in the end."""
    grid, arguments = _arguments(threads, places, blocks)
    found = program().explore("run", *grid, *arguments, **options)
    assert found.complete, found.reason
    return {_outcome(*outcome.arrays) for outcome in found.outcomes}


def drawn(threads: Program, seeds: range, places: int = 2) -> set[Outcome]:
    """Return the outcomes of runs in relaxed memory."""
    made = set()
    for seed in seeds:
        grid, arguments = _arguments(threads, places, True)
        program().launch("run", *grid, *arguments, memory="relaxed", seed=seed)
        made.add(_outcome(*arguments[2:]))
    return made


def _arguments(threads: Program, places: int, blocks: bool) -> tuple[tuple[int, int], list[Any]]:
    length = max(map(len, threads))
    code = np.zeros((len(threads), length, 3), np.int32)
    for t, instructions in enumerate(threads):
        for i, one in enumerate(instructions):
            code[t, i] = KINDS.index(one.kind), one.place, one.value
    grid = (len(threads), 1) if blocks else (1, len(threads))
    seen = np.full(code.shape[:2], -1, np.int32)
    return grid, [code, length, np.zeros(places, np.int32), seen]


def _outcome(memory: np.ndarray, seen: np.ndarray) -> Outcome:
    rows = [tuple(int(v) for v in row if v != -1) for row in seen]
    return (*rows, tuple(memory.tolist()))
