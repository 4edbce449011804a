"""Golden files emitted anew, compared with what is kept, and rewritten."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

import numpy as np

import evenly as ev
from evenly.layouts.csr import Csr
from evenly.targets.gpu.emit.code import KernelCode
from tests.emitting import emitted, emitted_for_cpu

from .kernel import by_items, halves, shares, spmm, spmv

FOLDER = Path(__file__).parent
COMMAND = "python -m tests.golden"

# Parameters that have a tuned default are given: a new default changes no file.
SCHEDULES: dict[str, Any] = {
    "cuda/owned_by_thread.cu": ev.ThreadMapped(block=256, items=4),
    "cuda/owned_by_group.cu": ev.GroupMapped(size=8, block=256, items=4),
    "cuda/dense.cu": ev.GroupMapped(size=16, block=256, items=4, lanes=8, vector=4),
    "cuda/share.cu": ev.WorkOriented(block=256, items=8),
    "cuda/merge.cu": ev.MergePath(block=256, items=3),
    "cuda/nonzero.cu": ev.NonzeroSplit(block=256, items=4),
    "cuda/stream.cu": ev.NonzeroSplit(block=128, items=8, run=4),
    "cuda/following.cu": ev.NonzeroSplit(block=128, items=8, run=4),
    "cuda/listed.cu": ev.NonzeroSplit(block=128, items=8, hypersparse=True),
    "cuda/flatten.cu": ev.GroupMapped(size=8, block=256, flatten=True, items=1),
    "cuda/dynamic.cu": ev.DynamicChunks(chunk=64, size=8, block=256, items=4),
    "cuda/nested.cu": ev.Nested(
        ev.BlockMapped(256, items=4), ev.GroupMapped(size=8, block=256, items=4), stage=8192
    ),
    "cuda/team.cu": ev.Nested(
        ev.TeamMapped(blocks=8, block=256), ev.GroupMapped(size=8, block=256, items=4), stage=8192
    ),
    "cuda/bins.cu": ev.Lrb(block=256, lanes=8, thread=8, group=64, warp=1024, items=4),
    "cuda/tasks.cu": ev.TaskPool(size=8, block=256, items=4),
    "cuda/queued.cu": ev.LockFreeQueue(size=8, block=256, items=4, every=4),
    "cpu/owned.py": ev.ThreadMapped(block=256, items=4),
    "cpu/split.py": ev.MergePath(block=256, items=3),
    "cpu/share.py": ev.WorkOriented(block=256, items=8),
}


def fresh(name: str) -> str:
    """The text of a golden file as evenly emits it now: a line that says what it is, and the code."""
    schedule, cuda = SCHEDULES[name], name.startswith("cuda/")
    kernel, given = spmv, arguments()
    if isinstance(schedule, ev.Nested):
        kernel, given = by_items, batched()
    elif isinstance(schedule, ev.TaskPool):
        kernel, given = halves, of_tasks()
    if "dense" in name:
        kernel, given = spmm, with_matrices()
    if "following" in name:
        kernel, given = shares, arguments()[:2]
    head = f"{'//' if cuda else '#'} {kernel.name}, {schedule!r}. Rewritten by `{COMMAND}`.\n\n"
    if cuda:
        return head + in_one_file(emitted(kernel, given, schedule))
    return head + emitted_for_cpu(kernel, given, schedule).text


def arguments() -> tuple[Any, ...]:
    """A CSR matrix of float32 with indices of int32, and two vectors; emitted code knows their types alone."""
    matrix = Csr(np.array([0, 1], np.int32), np.array([0], np.int32), np.ones(1, np.float32), 1)
    return matrix, np.ones(1, np.float32), np.ones(1, np.float32)


def batched() -> tuple[Any, ...]:
    """The same matrix as the only item of a batch."""
    matrix, *vectors = arguments()
    return ev.batch([matrix], narrow=False), *vectors


def with_matrices() -> tuple[Any, ...]:
    """The same matrix, and two dense matrices of float32."""
    matrix, *_ = arguments()
    return matrix, np.ones((1, 1), np.float32), np.ones((1, 1), np.float32)


def of_tasks() -> tuple[Any, ...]:
    """Tasks that are ranges, and two vectors."""
    fields = {"begin": np.int32, "end": np.int32}
    _, *vectors = arguments()
    return ev.tasks(first=[(0, 1)], capacity=1, atoms=("begin", "end"), **fields), *vectors


def in_one_file(kernels: list[KernelCode]) -> str:
    """Kernels one after another; what stands before a kernel is left out where the one before has the same."""
    parts, known = [], ""
    for kernel in kernels:
        before, begin, rest = kernel.source.partition("EV_KERNEL")
        parts.append(("" if before == known else before) + begin + rest)
        known = before
    return "\n".join(parts)


def difference(name: str, folder: Path = FOLDER) -> str:
    """How the file differs from what is emitted now, and what to do; empty where it does not."""
    kept, now = _kept(folder / name), fresh(name)
    if kept == now:
        return ""
    texts = kept.splitlines(keepends=True), now.splitlines(keepends=True)
    lines = difflib.unified_diff(*texts, f"tests/golden/{name}", "emitted now")
    said = f"tests/golden/{name} is not what evenly emits now. If the change is meant: {COMMAND}\n"
    return said + "".join(lines)


def kept_names(folder: Path = FOLDER) -> set[str]:
    """The names of the golden files in the repository."""
    return {str(path.relative_to(folder)) for path in folder.glob("c*/*.*")}


def rewrite(folder: Path = FOLDER) -> None:
    """Write every file anew, and remove those that are no more."""
    for name in kept_names(folder) - set(SCHEDULES):
        (folder / name).unlink()
    for name in SCHEDULES:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(fresh(name).encode())


def _kept(path: Path) -> str:
    return path.read_bytes().decode() if path.exists() else ""
