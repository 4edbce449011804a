"""Who takes each atom of a batch in a loop over items: the outer schedule hands out items, the inner one their tiles.

An owner is the threads that have an item: a thread, a group of them, a block. It runs its items one after another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.gpus.gpu import WARP
from evenly.gpus.numbers import measured
from evenly.layouts.ragged import ragged
from evenly.schedules.contract import Sizes
from evenly.schedules.group_mapped import groups_in_block
from evenly.schedules.nested import levels, spans_blocks
from evenly.schedules.per_item import PerItem
from evenly.schedules.within import within
from evenly.targets.gpu.engines import engine_of

from .balance import Numbers
from .shares import first_thread, group_size, groups_in, walks
from .steps import Steps, followed


@dataclass(frozen=True, eq=False)
class ItemSteps(Steps):
    """Steps in a loop over items. items: (items + 1,), the tiles where each begins. width: (items,), the threads of a
    group that walks a tile of it. owner: (items,), the first thread that has it; size: (items,), how many have it."""

    items: Numbers
    width: Numbers
    owner: Numbers
    size: Numbers


def steps_of_items(schedule: Any, batch: Any, offsets: Numbers) -> ItemSteps:
    """Follow a schedule of items on a batch in CPU memory. offsets: (tiles + 1,), where its tiles begin.

    Raises InputError where several blocks own an item, and for an inner schedule that splits tiles.
    """
    outer, inner = levels(schedule)
    _check(schedule, outer, inner)
    starts = np.asarray(batch.starts.tiles, np.int64)
    work = np.diff(starts) + np.diff(offsets[starts])
    blocks, order, owner, size = _owners(outer, np.concatenate([[0], np.cumsum(work)]))
    width = np.ones(len(starts) - 1, np.int64)
    walked = []
    for item in order.tolist():
        chosen = _inner(inner, batch, item, int(size[item]))
        width[item] = group_size(chosen)
        tiles = offsets[starts[item] : starts[item + 1] + 1]
        walked.append(_item(chosen, tiles, int(owner[item]), int(size[item])))
    taken = followed((pair for item in walked for pair in item), int(offsets[-1]))
    given = starts, width, owner, size
    return ItemSteps(schedule, blocks, outer.block, offsets, *taken, *given)


def _check(schedule: Any, outer: Any, inner: Any) -> None:
    wanted = "a schedule whose items belong to threads of one block, and whose inner schedule owns whole tiles"
    if spans_blocks(outer) or not inner.owns_tiles:
        raise InputError("trace of items", expected=wanted, given=str(schedule))


def _owners(outer: Any, work: Numbers) -> tuple[int, Numbers, Numbers, Numbers]:
    """Return the blocks of the launch, the items in the order in which they are handed out, and who has each.

    work: (items + 1,), the tiles and atoms of items, summed up: what Lrb and DynamicChunks go by.
    """
    count, engine = len(work) - 1, engine_of(outer)
    blocks = engine.blocks(outer, Sizes(count, int(work[-1])), measured())
    owner, size = np.zeros((2, count), np.int64)
    teams = engine.teams(outer, work, blocks)
    if teams is not None:
        owner[teams.tiles], size[teams.tiles] = teams.first, teams.size
        return blocks, teams.tiles, owner, size
    order = []
    for thread, item in _handed_out(outer, count, blocks):
        owner[item], size[item] = thread, group_size(outer)
        order.append(item)
    return blocks, np.array(order, np.int64), owner, size


def _handed_out(outer: Any, count: int, blocks: int) -> Iterator[tuple[int, int]]:
    """Yield the first thread of a group and its next item, as the schedule's own methods say: items are its tiles."""
    size = group_size(outer)
    groups = blocks * groups_in(size, outer.block)
    whole = outer.partition(ragged(np.arange(count + 1)), max(groups, 1)).keeping()
    for group in range(groups):
        for item in whole.tiles(group):
            yield int(first_thread(group, size, outer.block)), item


def _inner(inner: Any, batch: Any, item: int, threads: int) -> Any:
    """Return the schedule of an item's tiles, where so many threads have the item."""
    if not isinstance(inner, PerItem):
        return within(inner, threads)
    sizes = inner.sizes(threads)
    wanted = int(inner.width.function(batch, item))
    return inner.of(next((n for n in sizes if n >= wanted), sizes[-1]))


def _item(chosen: Any, offsets: Numbers, owner: int, threads: int) -> Iterator[tuple[int, Any]]:
    """Yield a thread of the launch, and the atoms of the batch that it takes of its next tile of one item."""
    size = group_size(chosen)
    whole = size > 1 and threads >= WARP
    groups = groups_in_block(size, threads) if whole else threads // size
    layout, before = ragged(offsets - offsets[0]), int(offsets[0])
    for group, rank, atoms in walks(chosen, layout, groups):
        place = int(first_thread(group, size, threads)) if whole else group * size
        yield owner + place + rank, [before + k for k in atoms]
