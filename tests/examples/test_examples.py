"""Every example under every schedule on every target; each one asserts against NumPy or SciPy itself."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenly as ev
from tests.batteries import layout_batteries, matrices
from tests.covering import one_in

FOLDER = Path(__file__).resolve().parents[2] / "examples"

COMPUTATIONS = (
    "spmv",
    "row_max",
    "row_norms",
    "softmax",
    "histogram",
    "spmm",
    "sddmm",
    "spmv_dot",
    "sssp",
    "bellman_ford",
    "bfs",
    "radix_partition",
    "two_hops",
    "top_k",
)
PIECES = ("sliced_ell", "thread_mapped", "work_oriented", "group_shares")
OWN = ("thread_mapped", "work_oriented", "group_shares")
OF_ITEMS = ("batched_cg",)
WHOLE = ("colour_sets",)  # for schedules that own whole tiles
OF_TASKS = ("queens", "tree_search", "quadrature", "octree", "knapsack")
OF_BOUNDS = (ev.StaticList(), ev.WorkStealing())
WITH_PYTORCH = ("graph_attention",)  # tests/torch_operators runs it
LAUNCHERS = ("launch_cuda_core", "launch_cupy")

SCHEDULES = {
    "auto": "auto",
    "thread_mapped": ev.ThreadMapped(),
    "group_mapped": ev.GroupMapped(4),
    "warp_mapped": ev.WarpMapped(),
    "block_mapped": ev.BlockMapped(64),
    "flattened": ev.GroupMapped(32, flatten=True),
    "dynamic_chunks": ev.DynamicChunks(chunk=10, size=4),
    "lrb": ev.Lrb(),
    "work_oriented": ev.WorkOriented(items=3),
    "merge_path": ev.MergePath(),
    "nonzero_split": ev.NonzeroSplit(),
}


def example(name: str) -> Any:
    return importlib.import_module(name)


def own_schedules() -> dict[str, Any]:
    return {
        "thread_mapped": example("thread_mapped").ThreadMapped(),
        "work_oriented": example("work_oriented").WorkOriented(),
        "group_shares": example("group_shares").GroupShares(),
    }


def test_no_example_is_forgotten() -> None:
    found = {path.stem for path in FOLDER.glob("*.py")}
    assert found == {
        *COMPUTATIONS,
        *WHOLE,
        *OF_TASKS,
        *PIECES,
        *OF_ITEMS,
        *LAUNCHERS,
        *WITH_PYTORCH,
        "place",
    }


# Each example under a third of the schedules; `make test-all` takes all of them.
BY_SCHEDULE = one_in(3, [*COMPUTATIONS, "sliced_ell"], SCHEDULES)
BY_OWN = one_in(3, [*COMPUTATIONS, "sliced_ell"], OWN)


@pytest.mark.parametrize(("name", "schedule"), BY_SCHEDULE)
def test_on_cpu(name: str, schedule: str) -> None:
    example(name).main(SCHEDULES[schedule], "cpu")


@pytest.mark.simt
@pytest.mark.parametrize(("name", "schedule"), BY_SCHEDULE)
def test_on_simt(name: str, schedule: str) -> None:
    example(name).main(SCHEDULES[schedule], "simt")


@pytest.mark.simt
@pytest.mark.parametrize(("name", "schedule"), BY_OWN)
def test_ones_own_schedules_on_simt(name: str, schedule: str) -> None:
    example(name).main(own_schedules()[schedule], "simt")


NESTED = ("auto", ev.ThreadMapped(64), ev.Nested(ev.BlockMapped(64), ev.GroupMapped(2)))


@pytest.mark.parametrize("target", ["cpu", pytest.param("simt", marks=pytest.mark.simt)])
@pytest.mark.parametrize("schedule", NESTED, ids=str)
@pytest.mark.parametrize("name", OF_ITEMS)
def test_of_items(name: str, schedule: Any, target: str) -> None:
    example(name).main(schedule, target)


@pytest.mark.gpu
@pytest.mark.parametrize("schedule", NESTED, ids=str)
@pytest.mark.parametrize("name", OF_ITEMS)
def test_of_items_on_cuda(name: str, schedule: Any) -> None:
    pytest.importorskip("cupy")
    example(name).main(schedule, "cuda")


def test_what_a_branch_and_bound_finds_does_not_depend_on_who_is_first() -> None:
    """The items, too. How many tasks there are does."""
    found = {example("knapsack").main(s, "cpu", n=30, capacity=10**6) for s in OF_BOUNDS}
    assert len({(value, taken) for value, taken, _ in found}) == 1
    assert len({tasks for *_, tasks in found}) > 1


@pytest.mark.parametrize(("n", "split"), [(1, 3), (4, 9), (5, 5), (6, 0)])
def test_queens_may_be_fewer_than_the_rows_that_make_tasks(n: int, split: int) -> None:
    example("queens").main(target="cpu", n=n, split=split)


@pytest.mark.parametrize("name", OF_TASKS)
def test_of_tasks(name: str) -> None:
    example(name).main(target="cpu")


@pytest.mark.simt
@pytest.mark.parametrize(
    "schedule",
    [pytest.param(ev.StaticList(), marks=pytest.mark.slow), ev.TaskPool(block=64)],
    ids=str,
)
@pytest.mark.parametrize("name", OF_TASKS)
def test_of_tasks_on_simt(name: str, schedule: Any) -> None:
    given = {"tolerance": 1e-5} if name == "quadrature" else {}
    example(name).main(schedule, "simt", **given)


@pytest.mark.parametrize("name", ["T1", pytest.param("T3", marks=pytest.mark.slow)])
def test_the_published_size_of_a_tree(name: str) -> None:
    example("tree_search").main(target="cpu", name=name, capacity=4_000_000)


@pytest.mark.gpu
@pytest.mark.parametrize("schedule", [ev.StaticList(), ev.TaskPool()], ids=str)
@pytest.mark.parametrize("name", ["T1", "T3", "T3L"])
def test_the_published_size_of_a_tree_on_cuda(name: str, schedule: Any) -> None:
    pytest.importorskip("cupy")
    example("tree_search").main(schedule, "cuda", name, 8_000_000)


@pytest.mark.gpu
@pytest.mark.parametrize("schedule", [ev.StaticList(), ev.TaskPool()], ids=str)
@pytest.mark.parametrize("name", OF_TASKS)
def test_of_tasks_on_cuda(name: str, schedule: Any) -> None:
    pytest.importorskip("cupy")
    example(name).main(schedule, "cuda")


@pytest.mark.parametrize("name", [*COMPUTATIONS, *WHOLE, *OF_TASKS, *PIECES, *OF_ITEMS])
def test_on_the_reference(name: str) -> None:
    example(name).main(target="python")


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", ["row_norms", "softmax"])
def test_the_reference_takes_every_schedule(name: str, schedule: str) -> None:
    example(name).main(SCHEDULES[schedule], "python")


@pytest.mark.parametrize(("name", "schedule"), BY_OWN)
def test_ones_own_schedules_run_every_example(name: str, schedule: str) -> None:
    example(name).main(own_schedules()[schedule], "cpu")


@pytest.mark.gpu
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", [*COMPUTATIONS, "sliced_ell"])
def test_on_cuda(name: str, schedule: str) -> None:
    pytest.importorskip("cupy")
    example(name).main(SCHEDULES[schedule], "cuda")


@pytest.mark.gpu
@pytest.mark.parametrize("name", [*COMPUTATIONS, "sliced_ell"])
@pytest.mark.parametrize("schedule", OWN)
def test_ones_own_schedules_on_cuda(name: str, schedule: str) -> None:
    pytest.importorskip("cupy")
    example(name).main(own_schedules()[schedule], "cuda")


@pytest.mark.gpu
@pytest.mark.parametrize(
    "schedule", [ev.ThreadMapped(), ev.GroupMapped(8), ev.MergePath(), ev.NonzeroSplit()], ids=str
)
@pytest.mark.parametrize("name", LAUNCHERS)
def test_launched_by_hand(name: str, schedule: Any) -> None:
    if name == "launch_cupy":
        pytest.importorskip("cupy")
    assert example(name).main(schedule)


# ---- schedules that own whole tiles ----------------------------------------------------------------
OWNING = {n: s for n, s in SCHEDULES.items() if s == "auto" or s.owns_tiles}


@pytest.mark.parametrize("schedule", OWNING)
@pytest.mark.parametrize("name", WHOLE)
def test_whole_tiles_on_cpu(name: str, schedule: str) -> None:
    example(name).main(OWNING[schedule], "cpu")


@pytest.mark.simt
@pytest.mark.parametrize("schedule", ["group_mapped", "dynamic_chunks", "lrb"])
@pytest.mark.parametrize("name", WHOLE)
def test_whole_tiles_on_simt(name: str, schedule: str) -> None:
    example(name).main(OWNING[schedule], "simt")


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("target", ["cpu", pytest.param("simt", marks=pytest.mark.simt)])
def test_ones_own_schedule_owns_whole_tiles(name: str, target: str) -> None:
    example(name).main(own_schedules()["thread_mapped"], target)


@pytest.mark.gpu
@pytest.mark.parametrize("schedule", OWNING)
@pytest.mark.parametrize("name", WHOLE)
def test_whole_tiles_on_cuda(name: str, schedule: str) -> None:
    pytest.importorskip("cupy")
    example(name).main(OWNING[schedule], "cuda")


# ---- the nasty inputs ------------------------------------------------------------------------------
@pytest.mark.parametrize("schedule", ["thread_mapped", "flattened", "merge_path", "nonzero_split"])
@pytest.mark.parametrize("name", ["row_max", "row_norms", "sliced_ell"])
def test_on_nasty_matrices(name: str, schedule: str) -> None:
    for matrix in matrices().values():
        example(name).main(SCHEDULES[schedule], "cpu", matrix=matrix)


@pytest.mark.parametrize("schedule", ["group_mapped", "merge_path"])
@pytest.mark.parametrize("lengths", [[], [0], [0, 0, 3], [1], [700, 0, 0], [2, 5000, 1]], ids=str)
def test_softmax_of_nasty_segments(lengths: list[int], schedule: str) -> None:
    example("softmax").main(SCHEDULES[schedule], "cpu", lengths=np.array(lengths, np.int64))


def test_spmv_over_every_layout_of_nasty_matrices() -> None:
    for matrix in matrices().values():
        example("spmv").main("auto", "cpu", matrix=matrix)


# ---- one's own layout and schedules -----------------------------------------------------------------
@pytest.mark.parametrize("schedule", OWN)
def test_ones_own_schedules_on_nasty_matrices(schedule: str) -> None:
    for matrix in matrices().values():
        example("row_max").main(own_schedules()[schedule], "cpu", matrix=matrix)


def test_ones_own_layout_keeps_the_contract() -> None:
    from evenly.layouts import check

    for matrix in matrices().values():
        check(example("sliced_ell").sliced_ell(matrix))


@pytest.mark.skipif(not hasattr(ev, "verify"), reason="ev.verify is not there")
@pytest.mark.parametrize("schedule", OWN)
def test_ones_own_schedules_are_verified(schedule: str) -> None:
    for matrix in matrices().values():
        ev.verify(own_schedules()[schedule], ev.csr(matrix))
        ev.verify(own_schedules()[schedule], example("sliced_ell").sliced_ell(matrix))


@pytest.mark.parametrize("target", ["cpu", pytest.param("simt", marks=pytest.mark.simt)])
@pytest.mark.parametrize("size", [8, 24, 32, 96])
def test_groups_share_every_battery(size: int, target: str) -> None:
    schedule = example("group_shares").GroupShares(size, 96)
    for offsets in layout_batteries().values():
        ev.verify(schedule, ev.ragged(offsets), target=target)
    for matrix in matrices().values():
        example("row_max").main(schedule, target, matrix=matrix)


@pytest.mark.parametrize(
    ("file", "names", "most"),
    [
        ("sliced_ell", ["SlicedEll"], 20),
        ("thread_mapped", ["ThreadMapped"], 10),
        ("work_oriented", ["tiles_before", "WorkOriented"], 36),
        ("group_shares", ["tile_at", "GroupShares"], 48),
    ],
)
def test_they_are_short(file: str, names: list[str], most: int) -> None:
    """Lines of code, decorators included; blank lines and comments are none."""
    text = (FOLDER / f"{file}.py").read_text()
    lines = text.splitlines()
    count = 0
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name in names:
            of_it = lines[node.decorator_list[0].lineno - 1 : node.end_lineno]
            count += sum(bool(line.strip()) and not line.strip().startswith("#") for line in of_it)
    assert 0 < count <= most


# ---- as a user runs them ----------------------------------------------------------------------------
def test_an_example_runs_as_a_script(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(FOLDER / "spmv.py")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("spmv over csr, ell, dia, bcsr, csc, coo on ")
