"""Traces of loops over items: the outer schedule's owners, the inner one's groups, held to plain loops and to each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.balance.items import ItemSteps, steps_of_items
from evenly.balance.profile import offsets_of
from tests.batteries import matrices

SMALL = ("nothing (0 x 0)", "one atom", "empty at the start", "power law", "stencil")


@ev.func
def mean_length(B, item):
    first, last = B.item_begin(item), B.item_end(item)
    return (B.end(last - 1) - B.begin(first)) // (last - first) if last > first else 1


# The inner schedule as plain Python: how many threads a group of an item has, from the mean length of its tiles.
NESTED: dict[str, tuple[Any, Any]] = {
    "block, thread": (ev.BlockMapped(64), lambda threads, mean: 1),
    "block, group": (ev.Nested(ev.BlockMapped(96), ev.GroupMapped(4)), lambda threads, mean: 4),
    "block, three warps": (
        ev.Nested(ev.BlockMapped(96), ev.GroupMapped(96)),
        lambda threads, mean: 96,
    ),
    "warp, group": (ev.Nested(ev.WarpMapped(64), ev.GroupMapped(8)), lambda threads, mean: 8),
    "group, thread": (ev.Nested(ev.GroupMapped(8, 64)), lambda threads, mean: 1),
    "thread, thread": (ev.ThreadMapped(32), lambda threads, mean: 1),
    "block, per item": (
        ev.Nested(ev.BlockMapped(96), ev.per_item(mean_length)),
        lambda threads, mean: next(n for n in (1, 2, 4, 8, 16, 32) if n >= min(mean, 32)),
    ),
    "lrb, group": (
        ev.Nested(ev.Lrb(64, 4, 2, 16, 128), ev.GroupMapped(4)),
        lambda threads, mean: min(threads, 4),
    ),
    "dynamic, group": (
        ev.Nested(ev.DynamicChunks(1, size=32, block=64), ev.GroupMapped(2)),
        lambda threads, mean: 2,
    ),
}


def batch() -> Any:
    return ev.batch([matrices()[name] for name in SMALL])


def traced(schedule: Any, B: Any) -> ItemSteps:
    return steps_of_items(schedule, B, offsets_of(B))


@pytest.mark.parametrize("name", NESTED)
def test_tiles_of_an_item_go_round_the_groups_of_its_owner(name: str) -> None:
    schedule, width_of = NESTED[name]
    B = batch()
    found = traced(schedule, B)
    offsets, counts = found.offsets, {}
    assert found.items.tolist() == [0, *np.cumsum([matrices()[n].shape[0] for n in SMALL])]
    order = np.argsort(found.owner, kind="stable")  # items of one owner are consecutive in it
    for item in order.tolist():
        first, last = found.items[item : item + 2].tolist()
        owner, threads = int(found.owner[item]), int(found.size[item])
        mean = int(offsets[last] - offsets[first]) // (last - first) if last > first else 1
        width = width_of(threads, mean)
        assert found.width[item] == width, item
        for tile in range(first, last):
            group = (tile - first) % (threads // width)
            for at, k in enumerate(range(offsets[tile], offsets[tile + 1])):
                thread = owner + group * width + at % width
                assert found.worker[k] == thread, (item, tile, k)
                assert found.step[k] == counts.get(thread, 0), (item, tile, k)
                counts[thread] = counts.get(thread, 0) + 1
    assert sum(counts.values()) == B.num_atoms


@pytest.mark.parametrize("name", NESTED)
def test_owners_are_within_one_block_and_apart(name: str) -> None:
    schedule, _ = NESTED[name]
    found = traced(schedule, batch())
    assert (found.owner // found.block == (found.owner + found.size - 1) // found.block).all()
    assert (found.owner + found.size <= found.blocks * found.block).all()
    held = {(int(o), int(s)) for o, s in zip(found.owner, found.size, strict=True)}
    taken = [t for first, size in held for t in range(first, first + size)]
    if not name.startswith(
        "lrb"
    ):  # whose teams of several sizes have the same threads, one after another
        assert len(taken) == len(set(taken))


def test_the_outer_schedule_hands_out_items_as_tiles() -> None:
    B = ev.batch([matrices()["stencil"]] * 5)
    assert traced(ev.BlockMapped(64), B).owner.tolist() == [0, 64, 128, 192, 256]
    assert traced(ev.WarpMapped(64), B).owner.tolist() == [0, 32, 64, 96, 128]
    assert traced(ev.GroupMapped(16, 64), B).owner.tolist() == [0, 16, 32, 48, 64]
    assert traced(ev.ThreadMapped(64), B).owner.tolist() == [0, 1, 2, 3, 4]


@ev.kernel
def sums(B, out):
    for item in B.items():
        for row in B.tiles(item):
            out[row] = sum(B.value(k) for k in B.atoms(row))


def test_the_file_says_which_items_there_are_and_who_has_them(tmp_path: Path) -> None:
    B = batch()
    schedule = ev.Nested(ev.BlockMapped(64), ev.GroupMapped(4))
    plan = sums.plan(B, np.zeros(B.num_tiles, np.float32), schedule=schedule, target="python")
    plan.trace(tmp_path / "a.json")
    (phase,) = json.loads((tmp_path / "a.json").read_text())["phases"]
    found = traced(schedule, B)
    for name in "items", "owner", "size", "width", "worker", "step", "offsets":
        assert phase[name] == getattr(found, name).tolist(), name
    assert (phase["kind"], phase["blocks"], phase["block"]) == ("NarrowBatch", 5, 64)
    assert phase["schedule"].startswith("Nested outer=BlockMapped(block=64")


@pytest.mark.parametrize(
    ("schedule", "processors", "said"),
    [
        (ev.TeamMapped(2, 64), None, "trace of items: expected a schedule whose items belong to"),
        (ev.Nested(ev.BlockMapped(64), ev.MergePath()), None, "whose inner schedule owns whole"),
        (ev.BlockMapped(64), 3, "processors: expected none, of a kernel with a loop over items"),
    ],
)
def test_what_is_refused(schedule: Any, processors: Any, said: str, tmp_path: Path) -> None:
    B = batch()
    plan = sums.plan(B, np.zeros(B.num_tiles, np.float32), schedule=schedule, target="python")
    with pytest.raises(ev.InputError, match=said):
        plan.trace(tmp_path / "a.json", processors=processors)
    assert not list(tmp_path.iterdir())
