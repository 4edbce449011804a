"""The site's views of items, dense axes, searches and tasks give what Python gives, and stay within their pictures."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.balance.items import steps_of_items
from evenly.balance.profile import offsets_of
from evenly.interop.generators import rmat
from evenly.schedules import OF_TASKS
from evenly.targets.gpu.emit.columns import runs
from evenly.targets.gpu.emit.known import Words
from tests.balance.test_trace import followed

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(
    NODE is None, reason="no node here, which runs the site's JavaScript"
)
SCRIPT = Path(__file__).with_name("views.mjs")


def asked(**question: Any) -> Any:
    assert NODE
    empty: dict[str, Any] = {"batches": [], "axes": [], "split": [], "trees": [], "wide": []}
    empty["graph"] = None
    done = subprocess.run(
        [NODE, str(SCRIPT)], input=json.dumps(empty | question), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


OUTER: list[tuple[str, dict[str, int], Any]] = [
    ("block_mapped", {"block": 96}, ev.BlockMapped(96)),
    ("warp_mapped", {"block": 64}, ev.WarpMapped(64)),
    ("group_mapped", {"size": 8, "block": 32}, ev.GroupMapped(8, 32)),
    ("thread_mapped", {"block": 32}, ev.ThreadMapped(32)),
    (
        "lrb",
        {"block": 64, "lanes": 4, "thread": 8, "group": 32, "warp": 256},
        ev.Lrb(64, 4, 8, 32, 256),
    ),
    (
        "dynamic_chunks",
        {"chunk": 1, "size": 32, "block": 64},
        ev.DynamicChunks(1, size=32, block=64),
    ),
]
INNER: list[tuple[dict[str, Any], Any]] = [
    ({"name": "thread_mapped"}, ev.ThreadMapped()),
    ({"name": "group_mapped", "size": 4}, ev.GroupMapped(4)),
    ({"name": "per_item"}, ev.per_item()),
]


def nested(outer: Any, inner: Any) -> Any:
    try:
        return ev.Nested(outer, inner)
    except ev.InputError:  # a thread's item has no groups
        return None


def items_of(seed: int) -> list[list[int]]:
    """The rows' lengths of items of many sizes, one of them without rows."""
    rng = np.random.default_rng(seed)
    sizes = [0, 1, *rng.integers(1, 70, 20).tolist()]
    return [rng.geometric(1 / (1 + 60 * rng.random() ** 3), n).tolist() for n in sizes]


def batch_of(items: list[list[int]]) -> Any:
    each = []
    for lengths in items:
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        columns = np.concatenate([np.arange(n, dtype=np.int32) for n in [*lengths, 0]])
        shape = len(lengths), max([*lengths, 1])
        each.append(ev.csr((np.ones(len(columns), np.float32), columns, offsets), shape=shape))
    return ev.batch(each)


@pytest.mark.parametrize("seed", [1, 2])
def test_loops_over_items_are_divided_as_by_python(seed: int) -> None:
    items = items_of(seed)
    B, compared = batch_of(items), 0
    pairs = [(o, i) for o in OUTER for i in INNER if nested(o[2], i[1]) is not None]
    questions = [
        {"lengths": items, "outer": [name, given], "inner": inner}
        for (name, given, _), (inner, _) in pairs
    ]
    answers = asked(batches=questions)["batches"]
    for ((_, _, outer), (_, inner)), found in zip(pairs, answers, strict=True):
        expected = steps_of_items(nested(outer, inner), B, offsets_of(B))
        assert (found["blocks"], found["block"]) == (expected.blocks, expected.block)
        for name in "worker", "step", "owner", "size", "width":
            assert found[name] == getattr(expected, name).tolist(), (outer, inner, name)
        compared += 1
    assert compared == 17


def test_an_owner_runs_an_item_after_another() -> None:
    """Two items of a block of 32 threads under DynamicChunks: the second begins when the longest row of the first ends."""
    lengths = [[3, 7], [2], [4]]
    outer = ["dynamic_chunks", {"chunk": 8, "size": 32, "block": 32}]
    (found,) = asked(
        batches=[{"lengths": lengths, "outer": outer, "inner": {"name": "thread_mapped"}}]
    )["batches"]
    times = found["times"]
    assert (times["begin"], times["length"], times["most"]) == ([0, 7, 9], [7, 2, 4], 13)
    assert times["at"] == [*range(3), *range(7), 7, 8, *range(9, 13)]
    assert times["idle"] == pytest.approx(1 - 16 / (32 * 13))


def run_of(lanes: int, vector: int, columns: int, word: int) -> int:
    """The columns of a run, if every walk has all columns but the last run of some lanes; else a word."""
    run, last = runs(lanes, vector, word, 4)
    return run if Words(word, (), (), filled=(lanes, vector, last)).fills(columns) else word


def test_threads_lie_along_a_dense_axis_as_on_a_gpu() -> None:
    """device/dense.cuh, from the thread's side: its lane and rank, and the columns of each of its walks."""
    cases = [
        ({"size": size, "lanes": lanes, "vector": vector}, atoms, columns)
        for size in (1, 8, 32)
        for lanes in (1, 4, 8)
        for vector in (1, 2, 3, 4, 8)
        for atoms, columns in ((5, 32), (1, 7), (13, 33), (0, 4))
        if lanes <= size
    ]
    answers = asked(axes=[{"team": t, "atoms": a, "columns": c} for t, a, c in cases])["axes"]
    for (team, atoms, columns), found in zip(cases, answers, strict=True):
        lanes, V = team["lanes"], team["vector"]
        ranks = team["size"] // lanes
        W = next(w for w in (4, 2, 1) if V % w == 0 and columns % w == 0)
        R = run_of(lanes, V, columns, W)
        seen = {}
        for thread in range(team["size"]):
            lane, rank = thread % lanes, thread // lanes
            for walk, first in enumerate(range(0, columns, lanes * V)):
                for step, k in enumerate(range(rank, atoms, ranks)):
                    for c in range(V):
                        size = R if c < V // R * R else W
                        column = first + (c // size * lanes + lane) * size + c % size
                        if column < columns:
                            seen[k * columns + column] = thread, walk * -(-atoms // ranks) + step
        assert [seen[i] for i in range(atoms * columns)] == [
            *zip(found["thread"], found["step"], strict=True)
        ]


def divided(schedule: Any, lengths: list[int], share: int) -> tuple[list[int], int]:
    """The team of each atom, if a team has `share` of the line that a schedule divides, and how many parts of tiles there are.

    `partition` divides a line evenly among any number of processors. Behind the tiles is what fills up the last share.
    """
    merge, atoms = isinstance(schedule, ev.MergePath), sum(lengths)
    line = atoms + merge * len(lengths)
    teams, more = -(-line // share), -line % share
    whole = [*lengths, *([0] * more if merge else [more])]
    layout = ev.ragged(np.concatenate([[0], np.cumsum(whole)]).astype(np.int32))
    parts = schedule.partition(layout, max(1, teams))
    team, found = [-1] * atoms, set()
    for p in range(teams):
        for tile in parts.tiles(p):
            for k in parts.atoms(p, tile):
                if k < atoms:
                    team[k] = p
                    found.add((tile, p))
    return team, len(found)


@pytest.mark.parametrize(
    ("name", "make"), [("merge_path", ev.MergePath), ("nonzero_split", ev.NonzeroSplit)]
)
def test_teams_have_equal_parts_of_all_tiles(name: str, make: Any) -> None:
    """docs/schedules.md: a team has `items * lanes`, walks them in order, and again for the next columns with its block."""
    rng = np.random.default_rng(3)
    works = [[6, 3, 12, 1], [100], [0, 0, 5, 0], [0] * 40, [], rng.geometric(0.1, 60).tolist()]
    cases = [
        ({"name": name, "block": block, "items": items, "lanes": L, "vector": V}, lengths, columns)
        for block, items, L, V in ((32, 1, 8, 4), (32, 3, 1, 1), (64, 2, 4, 3), (32, 2, 32, 2))
        for lengths in works
        for columns in (1, 7, 32)
    ]
    questions = [{"schedule": s, "lengths": w, "columns": n} for s, w, n in cases]
    for (s, lengths, columns), found in zip(cases, asked(split=questions)["split"], strict=True):
        L, V = s["lanes"], s["vector"]
        made = make(s["block"], s["items"], lanes=L, vector=V)
        team, parts = divided(made, lengths, s["items"] * L)
        assert found["team"] == team
        assert found["parts"] == parts
        W = next(w for w in (4, 2, 1) if V % w == 0 and columns % w == 0)
        R = run_of(L, V, columns, W)
        longest = {}  # of the teams of a block, which begin the next columns together
        for p in set(team):
            block = p * L // s["block"]
            longest[block] = max(longest.get(block, 0), team.count(p))
        for k, p in enumerate(team):
            for column in range(columns):
                walk, at = divmod(column, L * V)
                step = walk * longest[p * L // s["block"]] + k - team.index(p)
                at_k = k * columns + column
                whole = V // R * R * L  # columns in runs
                lane = at // R if at < whole else (at - whole) // W
                assert found["thread"][at_k] == p * L + lane % L
                assert found["step"][at_k] == step
        assert found["steps"] == max(found["step"], default=-1) + 1


def test_each_level_of_a_search_is_a_launch() -> None:
    M = rmat(7)
    graph = {
        "rows": 128,
        "columns": 128,
        "offsets": M.indptr.tolist(),
        "indices": M.indices.tolist(),
        "schedule": ["merge_path", {"block": 32, "items": 2}],
    }
    levels, begin = asked(graph=graph)["levels"], 0
    assert len(levels) > 2
    for level in levels:
        expected = followed(
            ev.MergePath(32, 2), ev.subset(ev.csr(M), np.array(level["rows"], np.int32))
        )
        assert level["worker"] == expected.worker.tolist()
        assert level["step"] == expected.step.tolist()
        assert level["begin"] == begin
        begin += max(level["step"]) + 1


@ev.kernel
def walked(T, first, child):
    for t in T.tiles():
        for e in range(first[T.node(t)], first[T.node(t) + 1]):
            T.push(child[e])


def test_tasks_are_run_once_after_the_one_that_made_them() -> None:
    kinds = asked()["kinds"]
    questions = [
        {"kind": kind, "tasks": n, "workers": w}
        for kind in kinds
        for n in (1, 7, 160)
        for w in (1, 5)
    ]
    for question, tree in zip(questions, asked(trees=questions)["trees"], strict=True):
        for name, run in tree["runs"].items():
            places = [*zip(run["worker"], run["step"], strict=True)]
            assert len(set(places)) == len(places), (question, name)
            assert max(run["worker"]) < question["workers"]
            assert all(
                run["step"][p] < s
                for p, s in zip(tree["parent"], run["step"], strict=True)
                if p >= 0
            )
            assert run["steps"] == max(run["step"]) + 1 == len(run["waiting"])


def test_rounds_have_the_tasks_that_python_counts(tmp_path: Path) -> None:
    kinds = asked()["kinds"]
    trees = asked(trees=[{"kind": k, "tasks": 100, "workers": 4} for k in kinds])["trees"]
    for tree in trees:
        children = tree["children"]
        first = np.concatenate([[0], np.cumsum([len(c) for c in children])])
        T = ev.tasks(node=np.int32, first=[0], capacity=200)
        flat = np.array([c for each in children for c in each], np.int32)
        plan = walked.plan(T, first, flat, schedule="static_list", target="python")
        plan.trace(tmp_path / "a.json", processors=4)
        (phase,) = json.loads((tmp_path / "a.json").read_text())["phases"]
        for name in "worker", "step":
            assert phase[name] == tree["runs"]["static_list"][name]
        assert phase["parent"] == tree["parent"]
        plan(T, first, flat)
        assert T.tasks_run == len(children) == 100
        assert T.most_waiting == tree["runs"]["static_list"]["mostListed"]


def test_every_schedule_of_tasks_is_shown() -> None:
    (tree,) = asked(trees=[{"kind": asked()["kinds"][0], "tasks": 3, "workers": 1}])["trees"]
    assert set(tree["runs"]) >= set(OF_TASKS)


def test_every_scene_stays_within_its_picture() -> None:
    assert asked(wide=[300, 700])["outside"] == []
