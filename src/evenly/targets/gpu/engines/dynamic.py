"""The dynamic engine: a warp or a group takes chunks of tiles from a counter (device/dynamic.cuh)."""

from __future__ import annotations

import heapq
from functools import partial
from typing import Any

import numpy as np

from evenly.gpus.gpu import WARP, Gpu
from evenly.language import ir
from evenly.language.phases import Owned
from evenly.language.types import POS
from evenly.schedules.contract import Sizes, ceil_div
from evenly.schedules.dynamic_chunks import takers_in_block
from evenly.schedules.nested import levels

from ..emit.code import Counted, PhaseCode
from ..emit.parameters import Parameter
from ..emit.totals import Chunked, partials
from ..emit.unit import Unit
from ..engine import Counts, Teams
from ..sizing import ONE, Buffer, Sizing
from .handed_out import HandedOut, HandedOutEngine

COUNTER = Buffer("chunks_taken", 8, 8, "zeros")


class DynamicEngine(HandedOutEngine):
    """The dynamic engine. A chunk has `chunk` tiles. A thread, or a group of `size` threads, takes each tile."""

    parameters = ("chunk", "size", "block")

    def emit(self, unit: Unit, phase: Owned, name: str) -> PhaseCode:
        schedule: Any = levels(unit.schedule)[0]
        made = HandedOut(unit, phase, schedule.size, ir.Const(schedule.size, POS))
        kind = f"pos, {schedule.size}, {schedule.block}, {schedule.chunk}, {made.converged}"
        made.writer.line(f"ev::chunks<{kind}> chunks(chunks_taken, {made.num_tiles()});")
        with made.writer.compound("while (chunks.take())"):
            made.writer.line("chunks.each(tile);")
            if phase.grid:
                made.writer.line("chunks.keep<totals>(grid, (grid_value*)grid_partials);")
        taken = Parameter("buffer", "long long*", name=COUNTER.name)
        chunked = Chunked(phase.layout, schedule.chunk)
        finals = made.totals.final(unit, name, schedule.block, chunked)
        kernels = (made.kernel(name, [taken]), *finals)
        given = kernels, partial(self.sizing, schedule, made.totals.words), phase.path
        counts: Counted = "items" if phase.layout.items else "tiles"
        return PhaseCode(*given, counts=counts, scratch=made.scratch, teams=made.teams)

    def sizing(self, schedule: Any, grid_words: int, sizes: Sizes, lanes: int, gpu: Gpu) -> Sizing:
        grids = {"tiles": (self.blocks(schedule, sizes, gpu), 1), "one": ONE}
        chunks = ceil_div(sizes.num_tiles, schedule.chunk)
        return Sizing(grids, {}, (COUNTER, *partials(chunks, grid_words)))

    def teams(self, schedule: Any, offsets: Counts, blocks: int) -> Teams:
        """Give each chunk to the taker that is free first; if several are, to the one with the lowest number."""
        size, chunk = schedule.size, schedule.chunk
        per_block = takers_in_block(size, schedule.block)
        groups = 1 if size > WARP else WARP // size
        sizes = np.diff(offsets)
        times = (-(-of_groups(sizes, chunk, groups) // size)).max(axis=2).sum(axis=1)
        free = [
            (0, taker) for taker in range(blocks * per_block)
        ]  # a heap; equal times are in order of takers
        taken = np.zeros(len(times), np.int64)
        for number, time in enumerate(times.tolist()):
            since, taker = free[0]
            taken[number] = taker
            heapq.heapreplace(free, (since + time, taker))
        tiles = np.arange(len(sizes))
        block, taker = np.divmod(taken[tiles // chunk], per_block)
        wide = ceil_div(size, WARP) * WARP  # the threads of a taker
        first = block * schedule.block + taker * wide + tiles % chunk % groups * size
        return Teams(tiles, first, np.full(len(sizes), size))


def of_groups(sizes: Counts, chunk: int, groups: int) -> Counts:
    """Return the atoms that each group of a taker gets in each round of each chunk: (chunks, rounds, groups) int64."""
    chunks, rounds = ceil_div(len(sizes), chunk), ceil_div(chunk, groups)
    whole = np.zeros((chunks, rounds * groups), np.int64)
    place = np.arange(len(sizes))
    whole[place // chunk, place % chunk] = sizes
    return whole.reshape(chunks, rounds, groups)
