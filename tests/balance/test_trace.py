"""Traces: who takes each atom, and when, held to `Partition`, to the counts of `plan.profile()`, and to the file."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenly as ev
from evenly.balance.profile import offsets_of
from evenly.balance.shares import first_thread, shares
from evenly.balance.steps import Steps, steps, steps_of_partition
from evenly.balance.trace import MOST
from evenly.schedules import OF_TASKS
from evenly.schedules.contract import Sizes
from evenly.schedules.work_oriented import merge_search
from tests.balance.test_shares import Chunked
from tests.batteries import layout_batteries, matrices, vector
from tests.kernels import ROW_LAYOUTS, SCHEDULES, laid, spmv, two_loops

LAYOUTS = ("csr", "csc", "coo", *(name for name in ROW_LAYOUTS if name != "csr"))
FILLED = 20_000  # atoms of a layout that fills in zeros
WALKED = 12_000  # tiles and threads that a Partition walks one by one in `make test`


@ev.kernel
def counted(A, out):
    for tile in A.tiles():
        out[tile] = sum(1 for k in A.atoms(tile))


def followed(schedule: Any, A: Any) -> Steps:
    return steps(schedule, A, offsets_of(A), Sizes(int(A.num_tiles), int(A.num_atoms)))


def problems(layout: str) -> Iterator[tuple[str, Any, Any]]:
    """Each schedule on each matrix of the battery in one layout."""
    for name, matrix in matrices().items():
        A = laid(matrix, layout)
        for schedule in SCHEDULES.values() if A.num_atoms <= FILLED else ():
            yield name, schedule, A


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_thread_takes_what_the_profile_counts_one_atom_a_step(layout: str) -> None:
    for name, schedule, A in problems(layout):
        found = followed(schedule, A)
        threads = found.blocks * found.block
        counted = np.bincount(found.worker, minlength=threads)
        assert len(counted) == threads, (name, schedule)
        sizes = Sizes(int(A.num_tiles), int(A.num_atoms))
        expected = dealt(shares(schedule, A, found.offsets, sizes))
        assert counted.tolist() == expected.tolist(), (name, schedule)
        order = np.lexsort((found.step, found.worker))
        each = [np.arange(n) for n in counted[counted > 0]]
        in_order = np.concatenate([*each, np.zeros(0, int)])
        assert found.step[order].tolist() == in_order.tolist(), (name, schedule)


def dealt(shared: Any) -> np.ndarray:
    """The atoms of each thread: lane r of a group has every size-th from r on."""
    out = np.zeros(shared.blocks * shared.block, np.int64)
    for group in np.flatnonzero(shared.atoms):
        first = first_thread(group, shared.size, shared.block)
        ranks = np.arange(shared.size)
        out[first + ranks] += (shared.atoms[group] - ranks + shared.size - 1) // shared.size
    return out


def by_partition(schedule: Any, A: Any, found: Steps) -> Iterator[tuple[int, int, int]]:
    """(atom, worker, step) of each atom, as `Partition` walks them on as many processors."""
    size = schedule.size if schedule.owner == "group" else 1
    groups = len(shares(schedule, A, found.offsets, Sizes(A.num_tiles, A.num_atoms)).atoms)
    whole = schedule.partition(A, max(groups, 1)).keeping()
    for group in range(groups):
        for rank in range(size):
            step, thread = 0, first_thread(group, size, found.block) + rank
            for tile in whole.tiles(group, rank):
                for atom in whole.atoms(group, tile, rank):
                    yield atom, thread, step
                    step += 1


def check_against_partition(layout: str, most: float) -> int:
    compared = 0
    for name, schedule, A in problems(layout):
        found = followed(schedule, A)
        size = schedule.size if schedule.owner == "group" else 1
        steps_of_python = found.blocks * found.block + int(A.num_tiles) * size
        if schedule.engine not in ("owned", "share") or steps_of_python > most:
            continue
        walked = sorted(by_partition(schedule, A, found))
        shown = zip(range(len(found.worker)), found.worker, found.step, strict=True)
        assert walked == [tuple(map(int, atom)) for atom in shown], (name, schedule)
        compared += 1
    return compared


@pytest.mark.parametrize("layout", ["csr", "bcsr", "sell_sorted"])
def test_the_walk_is_that_of_the_partition(layout: str) -> None:
    assert check_against_partition(layout, WALKED) > 100


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_walk_is_that_of_the_partition(layout: str) -> None:
    assert check_against_partition(layout, np.inf) > 100


def check_partitions(layout: str, processors: tuple[int, ...], most: float) -> int:
    """Traces of partitions against `Partition` itself, for every schedule."""
    compared = 0
    for name, schedule, A in problems(layout):
        size = schedule.size if schedule.owner == "group" else 1
        for n in processors:
            if (n + int(A.num_tiles)) * size > most:
                continue
            found = steps_of_partition(schedule, A, offsets_of(A), n)
            whole, shown = schedule.partition(A, n).keeping(), {}
            for p in range(n):
                for rank in range(size):
                    walked = [k for t in whole.tiles(p, rank) for k in whole.atoms(p, t, rank)]
                    shown |= {k: (p * size + rank, step) for step, k in enumerate(walked)}
            pairs = zip(found.worker.tolist(), found.step.tolist(), strict=True)
            assert list(pairs) == [shown[k] for k in range(len(shown))], (name, schedule, n)
            assert (found.blocks, found.block, len(shown)) == (1, n * size, A.num_atoms)
            compared += 1
    return compared


@pytest.mark.parametrize("layout", ["csr", "ell"])
def test_partitions_are_followed(layout: str) -> None:
    assert check_partitions(layout, (5,), 2_000) > 200


DIVIDING = st.one_of(
    st.builds(ev.ThreadMapped, st.sampled_from([32, 96])),
    st.builds(ev.GroupMapped, st.integers(2, 32), st.just(64), st.booleans()),
    st.builds(ev.DynamicChunks, st.integers(1, 9), st.integers(1, 32), st.just(64)),
    st.builds(ev.Lrb, st.just(64), st.just(4), st.just(2), st.just(16), st.just(64)),
    st.builds(ev.WorkOriented, st.just(32), st.integers(1, 9)),
    st.builds(ev.MergePath, st.just(32), st.integers(1, 9)),
    st.builds(ev.NonzeroSplit, st.just(32), st.integers(1, 9)),
)
LENGTHS = st.lists(st.one_of(st.just(0), st.integers(0, 5), st.integers(0, 90)), max_size=30)


@settings(max_examples=60, deadline=None)
@given(LENGTHS, DIVIDING, st.integers(1, 40))
def test_any_trace_of_a_partition_is_what_partition_says(
    lengths: list[int], schedule: Any, n: int
) -> None:
    """Through the file, as a reader gets it."""
    A = ev.ragged(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))
    plan = counted.plan(A, np.zeros(len(lengths), np.int64), schedule=schedule, target="python")
    with tempfile.TemporaryDirectory() as folder:
        plan.trace(Path(folder) / "a.json", processors=n)
        (phase,) = read(Path(folder) / "a.json")["phases"]
    size = schedule.size if schedule.owner == "group" else 1
    whole, seen = schedule.partition(A, n).keeping(), 0
    for thread in range(n * size):
        p, rank = divmod(thread, size)
        walked = [k for t in whole.tiles(p, rank) for k in whole.atoms(p, t, rank)]
        assert [phase["worker"][k] for k in walked] == [thread] * len(walked)
        assert [phase["step"][k] for k in walked] == list(range(len(walked)))
        seen += len(walked)
    assert seen == len(phase["worker"]) == sum(lengths)
    assert phase["offsets"] == A.offsets.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
def test_all_partitions_are_followed(layout: str) -> None:
    assert check_partitions(layout, (1, 3, 64), 20_000) > 800


@pytest.mark.parametrize("layout", ["csr", "coo", "sell_sorted"])
def test_blocks_of_merge_path_end_where_the_search_of_partition_says(layout: str) -> None:
    for name, matrix in matrices().items():
        A = laid(matrix, layout)
        for schedule in ev.MergePath(32, 2), ev.MergePath(128, 7), ev.NonzeroSplit(64, 5):
            found = followed(schedule, A)
            share = schedule.block * schedule.items
            for block in range(found.blocks):
                cuts = [block * share, (block + 1) * share]
                if isinstance(schedule, ev.MergePath):
                    total = int(A.num_tiles + A.num_atoms)
                    cuts = [c - merge_search(A, c) for c in (min(cut, total) for cut in cuts)]
                own = np.flatnonzero(found.worker // found.block == block)
                expected = np.arange(*np.minimum(cuts, A.num_atoms))
                assert own.tolist() == expected.tolist(), (name, schedule, block)


@pytest.mark.parametrize("name", layout_batteries())
def test_whole_tiles_go_to_one_team_whose_lanes_take_turns(name: str) -> None:
    A = ev.ragged(layout_batteries()[name])
    for schedule in (
        ev.Lrb(64, 4, 2, 16, 128),
        ev.DynamicChunks(5, 8, 64),
        ev.DynamicChunks(2, 40, 128),
    ):
        found = followed(schedule, A)
        for tile in np.flatnonzero(np.diff(found.offsets)):
            atoms = slice(found.offsets[tile], found.offsets[tile + 1])
            lanes = found.worker[atoms] - found.worker[atoms.start]
            size = schedule.size
            if isinstance(schedule, ev.Lrb):
                n = len(lanes)
                size = next((s for s, most in ((1, 2), (4, 16), (32, 128)) if n < most), 64)
            assert lanes.tolist() == [r % size for r in range(len(lanes))]


def test_a_schedule_of_your_own_is_walked() -> None:
    A = ev.ragged(layout_batteries()["power law"])
    found = followed(Chunked(), A)
    assert sorted(by_partition(Chunked(), A, found)) == [
        (k, int(w), int(s)) for k, (w, s) in enumerate(zip(found.worker, found.step, strict=True))
    ]


# ---- the file ---------------------------------------------------------------------------------------
def planned(A: Any, schedule: Any) -> Any:
    return spmv.plan(
        A,
        vector(A.num_columns),
        np.zeros(int(A.num_tiles), np.float32),
        schedule=schedule,
        target="python",
    )


def read(path: Path) -> Any:
    return json.loads(
        gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    )


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
@pytest.mark.parametrize("layout", ["csr", "ell", "dia"])
def test_the_file_has_the_numbers(layout: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"there{suffix}"
    A = laid(matrices()["stencil"], layout)
    planned(A, ev.MergePath(32, 2)).trace(path)
    held = read(path)
    assert (held["format"], held["version"], held["evenly"]) == ("evenly-trace", 1, ev.__version__)
    assert held["kernel"] == "spmv"
    (phase,) = held["phases"]
    assert held["source"].splitlines()[phase["line"] - 1].strip() == "for row in A.tiles():"
    assert (phase["layout"], phase["kind"]) == ("A", type(A).__name__)
    assert phase["schedule"] == "merge_path block=32 items=2"
    found = followed(ev.MergePath(32, 2), A)
    assert (phase["blocks"], phase["block"]) == (found.blocks, 32)
    for name in "offsets", "worker", "step":
        assert phase[name] == getattr(found, name).tolist()
    padding = [
        k
        for t in range(int(A.num_tiles))
        for k in range(int(A.begin(t)), int(A.end(t)))
        if not A.valid(t, k)
    ]
    assert phase["masked"] == padding
    assert bool(padding) is (layout != "csr")


def test_a_partition_is_written(tmp_path: Path) -> None:
    plan = planned(ev.csr(matrices()["power law"]), ev.GroupMapped(4))
    plan.trace(tmp_path / "a.json", processors=3)
    (phase,) = read(tmp_path / "a.json")["phases"]
    assert (phase["processors"], phase["blocks"], phase["block"]) == (3, 1, 12)
    expected = plan.schedule.partition(ev.csr(matrices()["power law"]), 3).work()
    assert np.bincount(np.array(phase["worker"]) // 4).tolist() == expected.tolist()
    for wrong in 0, True, 2.0:
        with pytest.raises(
            ev.InputError, match="processors: expected a number of processors, 1 or more, got"
        ):
            plan.trace(tmp_path / "b.json", processors=wrong)


def test_each_pass_is_an_entry(tmp_path: Path) -> None:
    A = ev.csr(matrices()["power law"])
    x, y, z = (np.zeros(n, np.float32) for n in (A.num_columns, A.num_tiles, A.num_tiles))
    two_loops.plan(A, x, y, z, schedule="merge_path", target="python").trace(tmp_path / "a.json")
    assert [phase["line"] for phase in read(tmp_path / "a.json")["phases"]] == [4, 6]


def test_nothing_at_all(tmp_path: Path) -> None:
    planned(ev.csr(matrices()["nothing (0 x 0)"]), "lrb").trace(tmp_path / "a.json")
    (phase,) = read(tmp_path / "a.json")["phases"]
    assert (phase["blocks"], phase["offsets"], phase["worker"], phase["step"]) == (0, [0], [], [])


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (3, "path: expected the path of a file, got int"),
        ("a.svg", r"path: expected a file that ends in .json or .json.gz, got 'a.svg'"),
        ("none/a.json", "path: expected a file in a folder that exists, got 'none/a.json'"),
    ],
)
def test_a_path_is_refused(path: Any, said: str) -> None:
    with pytest.raises(ev.InputError, match=said):
        planned(ev.csr(matrices()["one atom"]), "lrb").trace(path)


def test_what_no_browser_takes_is_refused(tmp_path: Path) -> None:
    A = ev.csr(
        (np.zeros(MOST, np.int8), np.zeros(MOST, np.int32), np.array([0, MOST])), shape=(1, 1)
    )
    with pytest.raises(
        ev.InputError,
        match=r"the trace of A: expected at most 5,000,000 tiles and atoms, which a browser can show, got 5,000,001; "
        r"hint: trace some of the tiles: A.slice\(range\(1000\)\)",
    ):
        planned(A, "merge_path").trace(tmp_path / "a.json")
    assert not list(tmp_path.iterdir())


def test_a_kernel_that_walks_no_atoms_is_refused(tmp_path: Path) -> None:
    @ev.kernel
    def zeros(A: Any, y: Any) -> None:
        for row in A.tiles():
            y[row] = 0.0

    plan = zeros.plan(ev.csr(matrices()["stencil"]), np.zeros(169), target="python")
    with pytest.raises(
        ev.InputError,
        match="zeros: trace: expected a kernel with a loop over atoms, got one without",
    ):
        plan.trace(tmp_path / "a.json")


@pytest.mark.parametrize("name", OF_TASKS)
def test_schedules_of_tasks_are_named(name: str, tmp_path: Path) -> None:
    A = laid(matrices()["stencil"], "csr")
    plan = planned(A, OF_TASKS[name].make(size=4))
    plan.trace(tmp_path / "a.json")
    assert read(tmp_path / "a.json")["phases"][0]["schedule"] == f"{name} size=4"
    assert plan.profile(against=[]).chosen.label == f"{name} size=4"
