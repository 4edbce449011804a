"""Each synchronisation, shared array and many a line of the engines, changed: target simt says what is wrong.

A mutant counts as killed by a SimtError only, not by a wrong result: that is what the detectors are for. Those that
nothing but the result shows are in a table of their own: blocks of meet.cuh that take the wrong part, all by
atomics, or leave a part for the next launch (a call on target simt starts with clear cells, so `seeds` has none), and
a counter of dynamic.cuh that is not put back.
Missing fences are planted in test_planted.py. Not in the table, because it changes nothing that could be seen:
flatten.cuh, tile_of, `high = G - 1` to `G` (the last tile ends after every atom: the search never gets beyond it).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.targets.simt import mutants as programs
from tests.targets.simt.mutants import Place, planted, shared_places, sync_places

import evenly as ev
from evenly.errors import InternalError
from evenly.targets.simt.report import SimtError

pytestmark = pytest.mark.simt

Run = Callable[[], None]
merge: Run = programs.merge
merge_full: Run = functools.partial(programs.merge, min_blocks=32)  # blocks ask apart
merge_full_long: Run = functools.partial(merge_full, matrix=programs.rows([95]))
merge_by_tile: Run = functools.partial(programs.merge, "weighted_by_tile")
merge_long: Run = functools.partial(programs.merge, matrix=programs.rows([95]))
merge_fours: Run = functools.partial(programs.merge, items=4)
merge_by_tile_in_another_order: Run = functools.partial(programs.merge, "weighted_by_tile", seed=1)
merge_to_the_end: Run = functools.partial(programs.merge, matrix=programs.rows([192, 3]))
empty_first: Run = functools.partial(programs.merge, matrix=programs.rows([0] * 400 + [3]))
full_empty_first: Run = functools.partial(empty_first, min_blocks=32)
without_atoms: Run = functools.partial(programs.merge, matrix=programs.rows([0] * 200))
persistent_without_atoms: Run = functools.partial(without_atoms, counted=True)
merge_stored: Run = functools.partial(programs.merge, stored=True)
persistent: Run = programs.persistent
persistent_effects: Run = programs.persistent_effects
persistent_over_empty_tiles: Run = programs.persistent_over_empty_tiles
nonzero: Run = programs.nonzero
nonzero_scan: Run = functools.partial(programs.nonzero, "scanned")
group_48_scan: Run = functools.partial(programs.group, 48, case="scanned")
streams: Run = programs.streams
streams_over_empty_tiles: Run = functools.partial(
    programs.streams, programs.rows([3, *[0] * 3000, 300, *[0] * 50, 3])
)
streams_among_empty: Run = functools.partial(programs.streams_of_pairs, programs.rows([1, 0] * 300))
streams_of_pairs: Run = programs.streams_of_pairs
follows: Run = programs.follows
follows_long: Run = functools.partial(programs.follows, matrix=programs.rows([151, 149, 0, 901]))
follows_more: Run = functools.partial(programs.follows, programs.bounded)
streams_short: Run = functools.partial(programs.streams, programs.rows([1] * 100))
share: Run = programs.share
items: Run = functools.partial(programs.items, ev.NonzeroSplit(items=1))
items_by_share: Run = functools.partial(programs.items, ev.WorkOriented(items=1))
flat_8: Run = functools.partial(programs.flat, 8)
flat_64: Run = functools.partial(programs.flat, 64)
flat_rounds: Run = functools.partial(programs.flat_rounds, 8)
group_48: Run = functools.partial(programs.group, 48)
along: Run = programs.along
inside: Run = programs.inside
inside_warps: Run = functools.partial(programs.inside, 32)
told_again: Run = programs.told_again
inside_many: Run = functools.partial(programs.inside, items=8, columns=8)
split_along: Run = functools.partial(programs.along_split, ev.MergePath)
split_along_stored: Run = functools.partial(split_along, stored=True)
split_along_atoms: Run = functools.partial(programs.along_split, ev.NonzeroSplit)
split_apart: Run = functools.partial(programs.apart, ev.MergePath)
split_apart_atoms: Run = functools.partial(programs.apart, ev.NonzeroSplit)
group_48_in_another_order: Run = functools.partial(programs.group, 48, seed=1)
reductions: Run = programs.reductions
exchange_8: Run = functools.partial(programs.exchange, "shares of groups")
exchange_24: Run = functools.partial(programs.exchange, "shares of 24")
exchange_40: Run = functools.partial(programs.exchange, "atoms by scan, 40")
team: Run = programs.team
team_by_counts: Run = functools.partial(programs.team, "counts")
told: Run = programs.told
told_to_blocks: Run = programs.told_to_blocks
fold: Run = programs.fold
fold_in_another_order: Run = functools.partial(programs.fold, seed=1)
fold_relaxed: Run = functools.partial(programs.fold, 2, 1, memory="relaxed", seed=1)
fold_many: Run = functools.partial(programs.fold, 40, 1)
totals: Run = programs.totals
long_run: Run = programs.long_run
scan: Run = programs.scan
meeting: Run = programs.meeting
meeting_again: Run = functools.partial(programs.meeting, 8)
meeting_late: Run = functools.partial(programs.meeting, 5, (260, 3, 400), memory="relaxed")
meeting_doubles: Run = functools.partial(programs.meeting, number="double")
chunks_by_warp: Run = programs.chunks
chunks_by_group: Run = functools.partial(programs.chunks, "by_group")
dynamic_3: Run = functools.partial(programs.dynamic, 3)
dynamic_48: Run = functools.partial(programs.dynamic, 48)
scratch: Run = functools.partial(programs.scratch, ev.GroupMapped(48, block=64), 50, 600)
scratch_full: Run = functools.partial(programs.scratch, ev.BlockMapped(64), 4096)
scratch_long: Run = functools.partial(programs.scratch, ev.GroupMapped(8, block=32), 3000)
scratch_binned: Run = functools.partial(
    programs.scratch, ev.Lrb(block=64, lanes=4, thread=4, group=16, warp=32), 20, 10_000
)
staged: Run = programs.staged
binned: Run = programs.binned
binned_short: Run = functools.partial(programs.binned, "softmax", programs.SHORT)
binned_mostly_empty: Run = functools.partial(
    programs.binned, "spmv", programs.rows([0] * 90 + [2] * 20)
)
binned_spmv: Run = functools.partial(programs.binned, "spmv", programs.SHORT)
binned_in_place: Run = programs.binned_in_place
pair: Run = programs.pair
sorting: Run = programs.sorting
tasks_by_thread: Run = functools.partial(programs.tasks, "by_thread")
tasks_by_group: Run = functools.partial(programs.tasks, "by_group")
tasks_by_warp: Run = functools.partial(programs.tasks, "by_warp")
tasks_by_block: Run = functools.partial(programs.tasks, "by_block")
mails_of_two: Run = programs.mails_of_two
blocking_by_thread: Run = functools.partial(programs.queued, "blocking_by_thread")
lock_free_by_thread: Run = functools.partial(programs.queued, "lock_free_by_thread")
lock_free_by_block: Run = functools.partial(programs.queued, "lock_free_by_block")
stealing_by_group: Run = functools.partial(programs.queued, "stealing_by_group")
words_in_any_order: Run = functools.partial(programs.merge, "row_extremes", seeds=range(200))

PROGRAMS = {
    "merge": merge, "merge, full": merge_full, "merge, full, long": merge_full_long, "merge, full, empty first": full_empty_first, "merge by tile": merge_by_tile, "merge stored": merge_stored, "persistent": persistent,
    "persistent, effects": persistent_effects, "persistent, empty tiles": persistent_over_empty_tiles, "nonzero": nonzero, "scan, split": nonzero_scan, "scan, group": group_48_scan, "share": share, "items": items, "items by share": items_by_share, "flat 8": flat_8,
    "flat 64": flat_64, "flat in rounds": flat_rounds, "group 48": group_48, "reductions": reductions, "team": team, "team, counts": team_by_counts, "told": told, "told to blocks": told_to_blocks, "fold": fold, "fold of 40": fold_many, "fold, relaxed": fold_relaxed,
    "along": along, "inside": inside, "inside, warps": inside_warps, "inside, many atoms": inside_many, "told again": told_again, "split, along": split_along, "split, along, stored": split_along_stored,
    "split, along, by atoms": split_along_atoms, "split, apart": split_apart, "split, apart, by atoms": split_apart_atoms,
    "exchange in 8": exchange_8, "exchange in 24": exchange_24, "exchange in 40": exchange_40, "totals": totals, "long run": long_run, "scan": scan,
    "chunks by warp": chunks_by_warp, "chunks by group": chunks_by_group, "dynamic 3": dynamic_3,
    "dynamic 48": dynamic_48, "binned": binned, "binned, short": binned_short, "binned, mostly empty": binned_mostly_empty, "sorting": sorting,
    "binned in place": binned_in_place,
    "scratch": scratch, "scratch, full": scratch_full, "scratch, long": scratch_long, "scratch, binned": scratch_binned, "staged": staged,
    "follows": follows, "follows, long": follows_long, "follows, more": follows_more,
    "streams": streams, "streams of pairs": streams_of_pairs, "streams among empty tiles": streams_among_empty, "streams, short": streams_short, "streams over empty tiles": streams_over_empty_tiles,
    "meeting": meeting, "meeting again": meeting_again, "meeting late": meeting_late, "meeting, doubles": meeting_doubles, "pair": pair, "merge, fours": merge_fours, "merge, long": merge_long, "merge, empty first": empty_first, "merge, without atoms": without_atoms,
    "persistent, without atoms": persistent_without_atoms, "merge, to the end": merge_to_the_end, "meeting, words in any order": words_in_any_order,
    "tasks by thread": tasks_by_thread, "tasks by group": tasks_by_group, "tasks by warp": tasks_by_warp, "tasks by block": tasks_by_block, "mails of two": mails_of_two,
    "blocking queue": blocking_by_thread, "lock-free queue": lock_free_by_thread, "lock-free queue, by block": lock_free_by_block, "stealing": stealing_by_group,
}  # fmt: skip

# Where each is exercised, in the order of the lines.
SYNCS: dict[str, tuple[Run, ...]] = {
    "blocks.cuh": (team, team, fold, told_to_blocks),
    "carry.cuh": (merge, share, long_run, long_run, long_run, long_run),
    "dense.cuh": (told_again, inside_many),
    "dynamic.cuh": (chunks_by_group,),
    "exchange.cuh": (exchange_8, exchange_24, exchange_40, exchange_40, exchange_24, exchange_24, exchange_24),
    "flatten.cuh": (flat_64, flat_64, flat_rounds),
    "grid.cuh": (totals,),
    "group.cuh": (nonzero_scan, nonzero_scan, flat_8, staged, group_48, told, along, group_48_scan, group_48),
    "running.cuh": (nonzero_scan, nonzero_scan),
    "scan.cuh": (scan, scan),
    "scratch.cuh": (scratch, scratch),
    "staged.cuh": (staged, staged),
    "chunk.cuh": (merge, merge, merge, merge_by_tile, merge_full, merge),
    "chunk_atoms.cuh": (nonzero_scan,),
    "chunk_tiles.cuh": (merge_stored, merge, merge_by_tile, merge_by_tile_in_another_order),
    "split_dense.cuh": (split_along, split_along),
    "persistent.cuh": (persistent_effects,),
    "stream.cuh": (streams_of_pairs, streams_among_empty, streams_among_empty, follows, streams, streams, streams, follows),
    "tasks.cuh": (mails_of_two, mails_of_two, mails_of_two, mails_of_two, tasks_by_thread),
    "taker.cuh": (tasks_by_thread, tasks_by_thread, tasks_by_thread, tasks_by_thread, tasks_by_warp, tasks_by_block, tasks_by_block),
    "queued.cuh": (lock_free_by_thread, lock_free_by_thread, stealing_by_group),
    "stealing.cuh": (programs.put_by_lanes,),
}  # fmt: skip
SHARED: dict[str, tuple[Run, ...]] = {
    "carry.cuh": (merge, merge, share, long_run, long_run),
    "dense.cuh": (inside_many,),
    "dynamic.cuh": (chunks_by_group,),
    "exchange.cuh": (exchange_24, exchange_24),
    "flatten.cuh": (flat_64, flat_64),
    "grid.cuh": (totals,),
    "group.cuh": (nonzero_scan, along, group_48),
    "running.cuh": (nonzero_scan,),
    "scan.cuh": (scan,),
    "scratch.cuh": (scratch_full,),
    "chunk_tiles.cuh": (merge_by_tile,),
    "split.cuh": (merge, merge, merge),
    "split_dense.cuh": (split_along, split_along),
    "persistent.cuh": (persistent,),
    "stream.cuh": (streams, streams, follows_more, follows, follows),
    "taker.cuh": (tasks_by_thread, tasks_by_thread, tasks_by_block),
}


def by_header(places: list[Place]) -> dict[str, list[Place]]:
    found: dict[str, list[Place]] = {}
    for place in places:
        found.setdefault(place.header, []).append(place)
    return found


def numbered(places: list[Place], runs: dict[str, tuple[Run, ...]]) -> list[Any]:
    """Places with what exercises them."""
    return [
        pytest.param(place, run, id=f"{place.header}: {place.code} {place.nth}")
        for header, found in by_header(places).items()
        for place, run in zip(found, runs.get(header, ()), strict=False)
    ]


@pytest.mark.parametrize(
    ("places", "runs"),
    [(sync_places(), SYNCS), (shared_places(), SHARED)],
    ids=["syncs", "shared arrays"],
)
def test_the_tables_have_every_place(places: list[Place], runs: dict[str, tuple[Run, ...]]) -> None:
    counts = {header: len(found) for header, found in by_header(places).items()}
    assert counts == {header: len(r) for header, r in runs.items()}


def killed(folder: Path, place: Place, change: Callable[[str], str], run: Run) -> SimtError:
    with planted(folder, place, change), pytest.raises(SimtError) as caught:
        run()
    assert re.search(r"\.cuh?:\d+\n", str(caught.value)), "no line to look at"
    return caught.value


@pytest.mark.parametrize("program", PROGRAMS)
def test_nothing_is_found_in_the_headers_as_they_are(program: str) -> None:
    PROGRAMS[program]()


@pytest.mark.parametrize(("place", "run"), numbered(sync_places(), SYNCS))
def test_a_missing_synchronisation_is_found(tmp_path: Path, place: Place, run: Run) -> None:
    error = killed(tmp_path, place, programs.without_sync, run)
    assert error.kind in ("race", "uninitialised")  # by who comes first


@pytest.mark.parametrize(("place", "run"), numbered(shared_places(), SHARED))
def test_a_shared_array_too_small_by_one_is_found(tmp_path: Path, place: Place, run: Run) -> None:
    assert killed(tmp_path, place, programs.one_less, run).kind == "bounds"


class Mutant(NamedTuple):
    header: str
    code: str
    old: str  # "" for the whole line
    new: str
    run: Run
    kind: str
    nth: int = 0


HALF = ("full_warp", "full_warp >> 1")
ALL_LANES = ("lane_rank() == 0", "true")
ALL_THREADS = ("thread_rank() == 0", "true")
LAST = ("thread_rank() == T - 1", "true")
GONE = ("", ";")

LIMITS = [
    Mutant("chunk_tiles.cuh", "for (local i = from + thread_rank(); i < count; i += T) mark(b, i, true, phase.begin(b.t0 + i), phase.end(b.t0 + i), work);", "i < count", "i <= count", merge_by_tile, "bounds|uninitialised"),
    Mutant("stream.cuh", "if (slot < count) phase.step(part, typename Phase::State{}, (pos)0, z0 + slot);", "<", "<=", streams, "bounds"),
    Mutant("stream.cuh", "for (tile += T; tile < b.t1; tile += T) f(tile, extent(tile));", "tile < b.t1", "tile <= b.t1", streams_short, "bounds"),
    Mutant("stream.cuh", "of = tile + T < b.t1 ? extent(tile + T) : Extent{0, 0};", "< b.t1", "<= b.t1", streams_among_empty, "bounds"),
    Mutant("stream.cuh", "if (in_wide && phase.begin(tile) == phase.end(tile)) phase.leave(tile, Phase::identity(), grid);", "in_wide &&", "", streams_over_empty_tiles, "race"),
    Mutant("following.cuh", "if (first + k >= start && first + k < stop) phase.put_one(first + k, after);", " && first + k < stop", "", follows_long, "bounds|race"),
    Mutant("following.cuh", "if (share < 0 || shares.atoms == 0) return;", "share < 0 || ", "", follows_long, "bounds"),
    Mutant("chunk.cuh", "const bool ends = i < b.t1 - b.t0 && (i == 0 || !is_wide(b));", "<", "<=", merge, "bounds"),
    Mutant("chunk_tiles.cuh", "if (i + T <= words || i + thread_rank() < words) reinterpret_cast<word*>(ids)[i + thread_rank()] = 0;", "i + thread_rank() < words", "true", merge, "bounds"),
    Mutant("chunk.cuh", "return folds && first < own.to ? extent(first) : Extent{0, 0};", "first < own.to", "true", nonzero, "bounds"),
    Mutant("chunk.cuh", "if (i < own.to && of_first.begin == of_first.end) phase.leave((pos)i, start(), grid);", "i < own.to &&", "i <= own.to &&", nonzero, "race"),
    Mutant("chunk_atoms.cuh", "} else if (!Rule::bounded && !needs_tile && nz == S) {", "nz == S", "nz >= 40", nonzero, "bounds"),
    Mutant("chunk_atoms.cuh", "step(v[k], tile[k], b.z0 + (i < nz ? i : instead));", "i < nz", "i <= nz", merge_long, "bounds"),
    Mutant("chunk_atoms.cuh", "const int instead = needs_tile ? first : nz > 0 || b.z0 > 0 ? nz - 1 : 0;", "nz > 0 || b.z0 > 0 ? nz - 1 : 0", "nz - 1", empty_first, "bounds"),
    Mutant("chunk_atoms.cuh", "return b.z0 + (i < nz ? i : last);", "i < nz", "i <= nz", merge_full_long, "bounds"),
    Mutant("chunk_atoms.cuh", "const int nz = (int)(b.z1 - b.z0), i = load_slot() + k * 32, last = nz > 0 || b.z0 > 0 ? nz - 1 : 0;", "nz > 0 || b.z0 > 0 ? nz - 1 : 0", "nz - 1", full_empty_first, "bounds"),
    Mutant("split.cuh", "if (atoms == 0 || (is_listed<Phase>::value && cut(block_rank()) == atoms)) {", "atoms == 0 ||", "", without_atoms, "bounds"),
    Mutant("persistent.cuh", "const typename Split::pos total = atoms > 0 ? Split::rule::total(tiles, atoms) : 0;", "atoms > 0", "true", persistent_without_atoms, "race|bounds"),
    Mutant("item.cuh", "const P before = first < last ? phase.begin(first) : 0, end = first < last ? phase.end(last - 1) : 0;", "first < last ? phase.end(last - 1) : 0", "phase.end(last - 1)", items, "bounds|assertion"),
    Mutant("dense.cuh", "return is_in(items, place, end) ? place : end - 1;", "is_in(items, place, end)", "true", inside_warps, "bounds"),
    Mutant("dense.cuh", "if (first < end && (N % lanes == 0 || e + lane() < N)) ahead.own[e / lanes] = load(k < end ? k : end - 1);", "k < end ?", "true ?", inside, "bounds"),
    Mutant("split_dense.cuh", "for (int of = own - 1; of >= 0; --of) {", "of >= 0", "of >= -1", split_along, "bounds|uninitialised"),
    Mutant("split_dense.cuh", "for (auto tile = own.from + team.local(); tile < own.to; tile += teams)", "<", "<=", split_along_atoms, "bounds|race"),
    Mutant("split_apart.cuh", "begin = begin > next ? begin : next;", *GONE, split_apart, "race"),
    Mutant("split_apart.cuh", "end = end < stop ? end : stop;", *GONE, split_apart, "race"),
    Mutant("split_dense.cuh", "EV_DEVICE pos end_in(const Part& part, pos tile) const { return tile < part.t1 ? phase.end(tile) : part.z1; }", "tile < part.t1", "true", split_along, "bounds"),
    Mutant("rules.cuh", "if (b > blocks) return;", "> blocks", "> blocks + 1", merge_stored, "bounds"),
    Mutant("carry.cuh", "for (int w = warp_rank() - 1; w >= 0 && !since; --w) {", "w >= 0", "w >= -1", merge, "bounds"),
    Mutant("carry.cuh", "pos tile = b < main_blocks ? c.head_tile[b] : (pos)-1;", "<", "<=", share, "bounds"),
    Mutant("share.cuh", "for (pos tile = tiles.start; tile < tiles.stop; tile += tiles.step) {", "<", "<=", share, "race"),
    Mutant("flatten.cuh", "const bool owner = g.active() && rank < stop - base;", "rank < stop", "rank <= stop", flat_8, "bounds"),
    Mutant("flatten.cuh", "if (g.active()) ends[rank] = end;", "ends[rank]", "ends[0]", flat_8, "race"),
    Mutant("grid.cuh", "for (long long i = thread_rank(); i < n; i += T) g = Phase::grid_combine(g, partials[i]);", "<", "<=", totals, "uninitialised"),
    Mutant("grid.cuh", "for (int w = 1; w < W; ++w) g = Phase::grid_combine(g, of_warp[w]);", "<", "<=", totals, "bounds"),
    Mutant("group.cuh", "for (int w = 1; w < warps; ++w) v = V::combine(v, part[w]);", "<", "<=", group_48, "uninitialised"),
    Mutant("scan.cuh", "for (int w = 0; w < T / 32; ++w) {", "<", "<=", scan, "bounds"),
    Mutant("scan.cuh", "if (i < n) sums[i + 1] = carried + v;", "<", "<=", scan, "bounds"),
]  # fmt: skip
MISSING = [
    Mutant("chunk_tiles.cuh", "found[2 * side] = t;", *GONE, merge, "uninitialised"),
    Mutant("chunk_tiles.cuh", "if (i + T <= words || i + thread_rank() < words) reinterpret_cast<word*>(ids)[i + thread_rank()] = 0;", *GONE, merge, "uninitialised"),
    Mutant("chunk_tiles.cuh", "*first_tile = {ends && end <= b.z0, !earlier ? no_head : slot < 32 * I ? near_head : far_head};", *GONE, merge, "uninitialised"),
    Mutant("chunk_tiles.cuh", "*head = work.carried;", *GONE, merge_to_the_end, "uninitialised"),
    Mutant("persistent.cuh", "if (last_thread) open[first & 1] = split.start();", *GONE, persistent, "uninitialised"),
    Mutant("persistent.cuh", "if (thread_rank() == 0 && c == first) block_z0[0] = b.z0;", *GONE, persistent, "uninitialised"),
    Mutant("chunk_tiles.cuh", "else ids[first + k] = (Id)after;", *GONE, merge_by_tile, "bounds"),
    Mutant("chunk_tiles.cuh", "if (lane_rank() == 0) warp_next[warp_rank()] = of_warp;", *GONE, merge_by_tile, "uninitialised"),
    Mutant("following.cuh", "endings[thread_rank()] = {own, later != 0 ? next : S};", *GONE, follows, "uninitialised"),
    Mutant("following.cuh", "if (thread_rank() == 0) firsts[W] = head;", *GONE, follows, "uninitialised"),
    Mutant("split_dense.cuh", "if (tells && team.local() == 0) carries.head_tile[block_rank()] = -1;", *GONE, split_along, "uninitialised"),
    Mutant("split_dense.cuh", "if (tells) carries.out_tile[block_rank()] = tiles_before()[teams];", *GONE, split_along, "uninitialised"),
    Mutant("split_dense.cuh", "for (int c = 0; c < V; ++c) head(c) = own[c];", *GONE, split_along, "uninitialised"),
    Mutant("split_dense.cuh", "for (int c = 0; c < V; ++c) open(c, team.local()) = own[c];", *GONE, split_along, "uninitialised"),
    Mutant("split_dense.cuh", "if (team.leader()) tiles_before()[number] = found;", *GONE, split_along, "uninitialised"),
    Mutant("carry.cuh", "c.out_tile[block_rank()] = tile;", *GONE, share, "uninitialised"),
    Mutant("carry.cuh", "c.out_value[block_rank()] = v;", *GONE, share, "uninitialised"),
    Mutant("carry.cuh", "c.head_value[block_rank()] = v;", *GONE, share, "uninitialised"),
    Mutant("carry.cuh", "if (thread_rank() == 0) long_tile[0] = -1;", *GONE, share, "uninitialised"),
    Mutant("carry.cuh", "warp_tail[warp_rank()] = through;", *GONE, merge, "uninitialised"),
    Mutant("carry.cuh", "warp_resets[warp_rank()] = reset_lanes != 0;", *GONE, merge, "uninitialised"),
    Mutant("carry.cuh", "if (lane_rank() == 31) warp_last[warp_rank()] = last;", *GONE, share, "uninitialised"),
    Mutant("share.cuh", "if (walker::folds && thread_rank() == 0) carries.head_tile[block_rank()] = -1;", *GONE, share, "uninitialised"),
    Mutant("share.cuh", "if (thread_rank() == T - 1) carry_out(carries, open_tile, out);", *GONE, share, "uninitialised"),
    Mutant("flatten.cuh", "if (g.active()) ends[rank] = end;", *GONE, flat_8, "uninitialised"),
    Mutant("flatten.cuh", "half[g.rank()] = scanned;", *GONE, flat_64, "uninitialised"),
    Mutant("grid.cuh", "if (lane_rank() == 0) of_warp[warp_rank()] = g;", *GONE, totals, "uninitialised"),
    Mutant("grid.cuh", "if (thread_rank() == 0) partials[block_rank()] = g;", *GONE, totals, "uninitialised"),
    Mutant("exchange.cuh", "if (team.active()) own[team.rank()] = v;", *GONE, exchange_8, "uninitialised"),
    Mutant("group.cuh", "if (lane_rank() == 0) partials<V>(turn)[member / 32] = v;", *GONE, group_48, "uninitialised"),
    Mutant("scan.cuh", "if (lane_rank() == 31) of_warp[warp_rank()] = v;", *GONE, scan, "uninitialised"),
]  # fmt: skip
WRONG_THREADS = [
    Mutant("chunk_tiles.cuh", "if (lane_rank() == 0) {", *ALL_LANES, merge, "race"),
    Mutant("chunk.cuh", "if (own != 0 && ids[own_slot() + lowest(own)] == 1) {", " && ids[own_slot() + lowest(own)] == 1", "", merge, "race"),
    Mutant("split_dense.cuh", "if (team.leader()) tiles_before()[number] = found;", "team.leader()", "true", split_along, "race"),
    Mutant("split_dense.cuh", "if (here && team.local() == teams - 1) {", "here && team.local() == teams - 1", "here", split_along, "race"),
    Mutant("following.cuh", "if (lane_rank() == (with != 0 ? lowest_bit(with) : 0)) firsts[warp_rank()] = first;", "lane_rank() == (with != 0 ? lowest_bit(with) : 0)", "true", follows, "race"),
    Mutant("carry.cuh", "if (lane_rank() == 0) {", *ALL_LANES, long_run, "race"),
    Mutant("carry.cuh", "if (lane_rank() == 0) { warp_total[warp_rank()] = part; warp_whole[warp_rank()] = whole; }", *ALL_LANES, long_run, "race"),
    Mutant("carry.cuh", "if (thread_rank() == 0) phase.leave(long_tile[0], Phase::combine(before, long_rest[0]), grid);", *ALL_THREADS, long_run, "race"),
    Mutant("share.cuh", "if (thread_rank() == T - 1) carry_out(carries, open_tile, out);", *LAST, share, "race"),
    Mutant("flatten.cuh", "if (owner) phase.leave(tile, mine, grid);", "owner", "g.active()", flat_8, "bounds"),
    Mutant("grid.cuh", "if (thread_rank() == 0) partials[block_rank()] = g;", *ALL_THREADS, totals, "race"),
    Mutant("exchange.cuh", "if (team.active()) own[team.rank()] = v;", "team.active()", "true", exchange_40, "race|bounds"),
    Mutant("group.cuh", "if (lane_rank() == 0) partials<V>(turn)[member / 32] = v;", *ALL_LANES, group_48, "race"),
    Mutant("group.cuh", "if (lane_rank() < L) part[member / 32 * L + lane_rank()] = v;", "lane_rank() < L", "true", along, "race|bounds"),
    Mutant("scan.cuh", "if (lane_rank() == 31) of_warp[warp_rank()] = v;", "== 31", ">= 30", scan, "race"),
]  # fmt: skip
MASKS = [
    Mutant("rules.cuh", "return lanes_search<Rule, 32>(full_warp, lane_rank(), phase, d, Rule::least(d, atoms), Rule::most(d, tiles));", *HALF, merge, "mask"),
    Mutant("rules.cuh", "return lanes_search<Rule, L>(team.mask(), team.rank(), phase, d, low, high);", "team.mask()", "team.mask() >> 1", split_along, "mask"),
    Mutant("following.cuh", "const unsigned with = ballot(full_warp, own != 0), later = with & lanes_above(lane_rank());", *HALF, follows, "mask"),
    Mutant("chunk_tiles.cuh", "int after = shuffle_from(full_warp, next, source < 0 ? 0 : source);", *HALF, merge_by_tile, "mask"),
    Mutant("chunk.cuh", "const bool some = any(full_warp, own != 0);", *HALF, merge, "mask"),
    Mutant("group.cuh", "for (int t = 0; t < I; ++t) v[t] = value_from(full_warp, sent[t], start + (t + from) % I);", *HALF, merge_fours, "mask"),
    Mutant("stream.cuh", "const int through = ends_through(own), count = shuffle_from(full_warp, through, 31), first_slot = warp_rank() * 32 * I;", *HALF, follows, "mask"),
    Mutant("stream.cuh", "const int before = shuffle_up(full_warp, through, o);", *HALF, follows, "mask"),
    Mutant("carry.cuh", "unsigned reset_lanes = ballot(full_warp, resets);", *HALF, merge, "mask"),
    Mutant("carry.cuh", "return all(full_warp, whole);", *HALF, long_run, "mask"),
    Mutant("flatten.cuh", "unsigned mask = g.mask();", "g.mask()", "g.mask() >> 1", flat_8, "mask"),
    Mutant("exchange.cuh", "V before = shuffle_up(team.mask(), v, o);", "team.mask()", "team.mask() >> 1", exchange_8, "mask"),
    Mutant("grid.cuh", "g = lanes_fold<32>(full_warp, lane_rank(), g, combine);", *HALF, totals, "mask"),
    Mutant("group.cuh", "if constexpr (G >= 32 || Converged) return full_warp;", *HALF, group_48, "mask"),
    Mutant("group.cuh", "if constexpr (L < 32) v = lanes_fold<32, L>(full_warp, lane_rank(), v, combine);", *HALF, along, "mask"),
    Mutant("dense.cuh", "static constexpr bool in_step = Team::in_step && lanes > 1;", "Team::in_step && lanes > 1", "false", inside, "mask"),
    Mutant("dense.cuh", "lanes_deal<lanes, N>(team.mask(), lane(), v, [](const Value& a, const Value& b) { return Value::combine(a, b); });", "team.mask()", "team.mask() >> 1", inside, "mask"),
    Mutant("scan.cuh", "V earlier = shuffle_up(full_warp, v, o);", *HALF, scan, "mask"),
]  # fmt: skip
TURNS = [  # two halves in turn, and barriers of one's own
    Mutant("persistent.cuh", "if (Split::folds && last_thread) open[(c + 1) & 1] = rest;", "(c + 1)", "c", persistent, "uninitialised"),
    Mutant("flatten.cuh", "turn ^= 1;", *GONE, flat_64, "race"),
    Mutant("exchange.cuh", "half = other;", *GONE, exchange_24, "race"),
    Mutant("group.cuh", "turn ^= 1;", *GONE, told, "race"),
    Mutant("group.cuh", "turn ^= 1;", *GONE, along, "race", 1),
    Mutant("group.cuh", "turn ^= 1;", *GONE, group_48_scan, "race", 2),
    Mutant("group.cuh", "turn ^= 1;", *GONE, reductions, "race", 3),
    Mutant("group.cuh", "if (member == 0) *partials<V>(turn) = v;", *GONE, told, "uninitialised"),
    Mutant("group.cuh", "else barrier(1 + which, warps * 32);", "1 + which", "1", group_48_in_another_order, "barrier|uninitialised"),
    Mutant("group.cuh", "else barrier(1 + which, warps * 32);", "warps * 32", "32", group_48, "uninitialised"),
]  # fmt: skip
MEETING = [  # blocks that meet
    Mutant("meet.cuh", "const pos last = phase.num_tiles() - 1, looked_at = candidate < last ? candidate : last;", "candidate < last ? candidate : last", "candidate", meeting, "bounds"),
    Mutant("meet.cuh", "if (found[0] == 0) return false;", *GONE, meeting, "deadlock"),
    Mutant("meet.cuh", "put(cells + (long long)(first + me) * cell, me == count - 1, part);", *GONE, meeting, "deadlock"),
    Mutant("meet.cuh", "put(cells + (long long)(first + me) * cell, me == count - 1, part);", "me == count - 1", "false", meeting, "deadlock"),
    Mutant("meet.cuh", "if (members(count, me) > 1) found[0] = (link)atomic_add(place_of(first, me), 1LL);", "atomic_add(place_of(first, me), 1LL)", "(*place_of(first, me))++", meeting, "race"),
    Mutant("meet.cuh", "if (shuffle_from(full_warp, (int)found[0], source) != present - 1) return false;", "present - 1", "present - 2", meeting, "deadlock"),
    Mutant("meet.cuh", "if (shuffle_from(full_warp, (int)found[0], source) != present - 1) return false;", *HALF, meeting, "mask"),
    Mutant("meet.cuh", "const Share own(place, present, group(me) + present == count);", "present,", "present - 1,", meeting, "deadlock"),
    Mutant("meet.cuh", "const Share own(place, present, group(me) + present == count);", "group(me) + present == count", "true", meeting, "deadlock"),
    Mutant("meet.cuh", "last = has_last ? members - 1 - from : -1;", "- from", "", meeting, "deadlock"),
    Mutant("meet.cuh", "mine = members - from < share ? members - from : share;", "members - from < share ? members - from : share", "share", meeting, "bounds"),
    Mutant("meet.cuh", "if (count <= fan) return true;", *GONE, meeting, "bounds"),
    Mutant("meet.cuh", "if (count <= fan) return true;", "fan", "fan + 40", meeting, "race"),
    Mutant("meet.cuh", "me /= fan;", *GONE, meeting, "bounds"),
    Mutant("meet.cuh", "for (int w = 0; w < words; ++w) atomic_store(at + 1 + last * words + w, (long long)(there | b.word[w]));", "atomic_store(at + 1 + last * words + w, ", "at[1 + last * words + w] = (", meeting, "race"),
    Mutant("meet.cuh", "parts[j][w] = i + j < own.mine ? (link)atomic_load(own.at(i + j, w)) : there;", "atomic_load(own.at(i + j, w))", "*own.at(i + j, w)", meeting, "race"),
    Mutant("meet.cuh", "EV_DEVICE int first_block() const { return (int)(Rule::place(begin, tile) / S); }", "begin", "end", meeting, "deadlock"),
    Mutant("meet.cuh", "tile = shuffle_from(full_warp, tile, source);", *HALF, meeting, "mask"),
    Mutant("meet.cuh", "part = lanes_fold<32>(full_warp, lane_rank(), part, [](const Value& a, const Value& b) { return Phase::combine(a, b); });", *HALF, meeting, "mask"),
]  # fmt: skip
DYNAMIC = [  # whoever is free
    Mutant("dynamic.cuh", "if (which < count) return true;", "<", "<=", dynamic_3, "race"),
    Mutant("dynamic.cuh", "if (leads() && which == total + drawn + begun - 1) atomic_store(taken, 0LL);", "- 1", "- 2", chunks_by_warp, "race"),
    Mutant("dynamic.cuh", "tile(mine, own < end ? own : end - 1, own < end);", ", own < end)", ", true)", chunks_by_warp, "race"),
    Mutant("dynamic.cuh", "for (pos own = begin + mine.in_warp_rank(); own < end; own += groups) tile(mine, own, true);", "<", "<=", chunks_by_group, "bounds"),
    Mutant("dynamic.cuh", "if (leads()) partials[which] = grid;", *GONE, dynamic_3, "uninitialised"),
    Mutant("dynamic.cuh", "if (leads()) partials[which] = grid;", "leads()", "true", dynamic_48, "race"),
    Mutant("dynamic.cuh", "return shuffle_from(lanes_through(lanes - 1), number, 0);", "lanes - 1", "lanes - 2", dynamic_3, "mask"),
    Mutant("dynamic.cuh", "if (leads()) *place = atomic_add(taken, 1LL);", "leads()", "true", chunks_by_group, "race"),
    Mutant("dynamic.cuh", "turn ^= 1;", *GONE, chunks_by_group, "race"),
]  # fmt: skip
BINS = [  # tiles are sorted, and teams of four widths take them
    Mutant("bins.cuh", "stop = first + each < count ? first + each : count;", ": count", ": count + 1", sorting, "bounds"),
    Mutant("bins.cuh", "*share.counts(memory) = mine;", *GONE, sorting, "uninitialised"),
    Mutant("bins.cuh", "if (lane_rank() == 0) memory[warp_rank()] = before;", *GONE, binned, "uninitialised"),
    Mutant("bins.cuh", "if (lane_rank() == 0) memory[warp_rank()] = before;", *ALL_LANES, binned, "race"),
    Mutant("bins.cuh", "if (at < warps) counts[at] = before + through - own[j];", "at < warps", "true", sorting, "race|bounds"),
    Mutant("bins.cuh", "if (tile < share.stop && bin != empty_bin) order[place] = (pos)tile;", *GONE, binned, "uninitialised"),
    Mutant("bins.cuh", "if (tile < share.stop && bin != empty_bin) order[place] = (pos)tile;", "place]", "place + 1]", binned, "uninitialised|race|bounds"),
    Mutant("bins.cuh", "if (tile < share.stop && bin != empty_bin) order[place] = (pos)tile;", " && bin != empty_bin", "", binned_mostly_empty, "bounds"),
    Mutant("bins.cuh", "if (lane_rank() == 0) empties[first / bins] = (pos)empty;", *GONE, sorting, "uninitialised"),
    Mutant("bins.cuh", "next += count_bits(votes.lanes_in(lane_rank()));", *GONE, binned_short, "race"),
    Mutant("bins.cuh", "EV_DEVICE bin_votes(bool is_there, int bin) : there(ballot(full_warp, is_there)) {", *HALF, sorting, "mask"),
    Mutant("bins.cuh", "const pos place = shuffle_from(full_warp, next, bin) + count_bits(votes.lanes_in(bin) & lanes_below(lane_rank()));", *HALF, sorting, "mask"),
    Mutant("bins.cuh", "if (at - team.in_warp_rank() < end) tile(team, order[at < end ? at : end - 1], at < end);", ", at < end)", ", true)", binned_spmv, "race"),
    Mutant("bins.cuh", "for (long long unit = block_rank(); unit < none.stop; unit += block_count()) {", "block_count()", "1", binned, "race"),
]  # fmt: skip
SCRATCH = [  # memory for each tile that is being run
    Mutant("scratch.cuh", "for (long long i = team.rank(); i < n; i += team.size()) own[i] = V();", "i < n", "i < n - 1", scratch, "uninitialised|bounds"),
    Mutant("scratch.cuh", "if (team.active())", *GONE, scratch, "race"),
    Mutant("scratch.cuh", "const int first = thread_rank() - team.rank();", "- team.rank()", "/ 64", scratch_binned, "race|bounds|uninitialised"),
    Mutant("scratch.cuh", "own = memory + ((long long)block_rank() * T + first) * each;", "* T + first", "+ first", scratch_long, "race"),
    Mutant("scratch.cuh", "own = memory + ((long long)block_rank() * T + first) * each;", ") * each", ") * (each - 1)", scratch_long, "race"),
]  # fmt: skip
SEVERAL = [  # blocks that own an item together
    Mutant("blocks.cuh", "fence_device();", *GONE, team, "race|uninitialised"),
    Mutant("blocks.cuh", "fence_device();", *GONE, team, "race|uninitialised", 1),
    Mutant("blocks.cuh", "fence_device();", "device", "block", team, "race|uninitialised"),
    Mutant("blocks.cuh", "fence_device();", "device", "block", team, "race|uninitialised", 1),
    Mutant("blocks.cuh", "while (atomic_load(cell) < due) {}", *GONE, team, "race|uninitialised"),
    Mutant("blocks.cuh", "while (atomic_load(cell) < due) {}", "< due", "< due - 1", fold, "race|uninitialised"),
    Mutant("blocks.cuh", "if (thread_rank() == 0) {", *ALL_THREADS, team, "race|uninitialised|deadlock"),
    Mutant("blocks.cuh", "due += n;", *GONE, team, "race|uninitialised"),
    Mutant("blocks.cuh", "turn ^= 1;", *GONE, fold, "race"),
    Mutant("blocks.cuh", ": n(n), cell(cells + block_rank() / n), parts((long long*)parts + (long long)(block_rank() / n) * 2 * n * words) {}", "* 2 * n", "* n", fold, "race|uninitialised"),
    Mutant("blocks.cuh", ": n(n), cell(cells + block_rank() / n), parts((long long*)parts + (long long)(block_rank() / n) * 2 * n * words) {}", "cells + block_rank() / n", "cells", fold_in_another_order, "race|uninitialised"),
    Mutant("blocks.cuh", "if (thread_rank() == 0) *part<V>(block_rank() % n) = own;", *ALL_THREADS, fold, "race"),
    Mutant("blocks.cuh", "if (thread_rank() == 0) *part<V>(block_rank() % n) = own;", *GONE, team, "uninitialised"),
    Mutant("blocks.cuh", "V total = *part<V>(first < n ? first : 0);", "first < n ? first : 0", "first", team, "uninitialised|bounds|race"),
    Mutant("blocks.cuh", "for (int b = first + 1; b < first + each && b < n; ++b) total = V::combine(total, *part<V>(b));", "b < first + each && b < n", "b < first + each", fold_many, "bounds"),
]  # fmt: skip
MUTANTS = [
    *SCRATCH,
    *SEVERAL,
    *LIMITS,
    *MISSING,
    *WRONG_THREADS,
    *MASKS,
    *TURNS,
    *MEETING,
    *DYNAMIC,
    *BINS,
]

MEETING_BY_SEEDS = [  # whoever comes second finds all words of the right part
    Mutant("meet.cuh", "while ((found[w] & ~(second ? there_too : there)) >> 32 == 0) found[w] = (link)atomic_load(place + w);", *GONE, words_in_any_order, "seed"),
]  # fmt: skip
BY_RESULT = [
    Mutant("blocks.cuh", "if (thread_rank() == 0 && atomic_add(cell, 1LL) == due + n - 1) atomic_store(cell, 0LL);", *GONE, fold, ""),
    Mutant("blocks.cuh", "if (lane_rank() + o < lanes) total = V::combine(total, later);", "total, later", "later, total", fold, ""),
    Mutant("dynamic.cuh", "if (leads() && which == total + drawn + begun - 1) atomic_store(taken, 0LL);", *GONE, chunks_by_warp, ""),
    Mutant("chunk.cuh", "*head = part;", *GONE, meeting, ""),
    Mutant("meet.cuh", "for (int w = 0; w < words; ++w) found[w] = (link)atomic_exchange(place + w, (long long)(sign | own.word[w]));", "place + w", "place + w + words", meeting, ""),
    Mutant("meet.cuh", "atomic_store(place + w, 0LL);", *GONE, meeting, ""),
    Mutant("meet.cuh", "if (lane_rank() == 0) atomic_store(place, 0LL);", *GONE, meeting, ""),
    Mutant("meet.cuh", "if (members(count, me) > 1) found[0] = (link)atomic_add(place_of(first, me), 1LL);", *GONE, meeting, ""),
    Mutant("meet.cuh", "source = 0;", *GONE, meeting_again, ""),
    Mutant("meet.cuh", "while ((found[w] & ~(second ? there_too : there)) >> 32 == 0) found[w] = (link)atomic_load(place + w);", "& ~(second ? there_too : there)", "", pair, ""),
    Mutant("meet.cuh", "if (i > 0) ask(own, i, parts);", *GONE, meeting_doubles, ""),
    Mutant("meet.cuh", "while (lacks(parts)) ask(own, i, parts);", *GONE, meeting_late, ""),
    Mutant("meet.cuh", "for (int w = 0; w < words; ++w) missing = missing || parts[j][w] == 0;", "missing || ", "", meeting_late, ""),
    Mutant("meet.cuh", "if (i + j < own.mine) atomic_store(own.at(i + j, w), 0LL);", *GONE, meeting, ""),
    Mutant("meet.cuh", "if (i + j < own.mine) total = Phase::combine(total, b.value);", *GONE, meeting, ""),
    Mutant("meet.cuh", "EV_DEVICE int last_block() const { return (int)(Rule::last_place(end, tile) / S); }", "(end", "(end + 64", meeting, ""),
    Mutant("meet.cuh", "head().join(phase, warp_rank() == 0 ? 0 : 31, grid);", "31", "30", meeting, ""),
    Mutant("meet.cuh", "part = second ? Phase::combine(other.value, part) : Phase::combine(part, other.value);", "other.value, part", "part, part", meeting, ""),
]  # fmt: skip


def changed_by(folder: Path, mutant: Mutant) -> tuple[Path, Place, Callable[[str], str]]:
    """What `planted` takes."""

    def change(line: str) -> str:
        return line.replace(mutant.old or line, mutant.new)

    return folder, Place(mutant.header, mutant.code, mutant.nth), change


def named(m: Mutant) -> str:
    return f"{m.header}: {m.code} ({m.new}){m.nth or ''}"


def one_of_each() -> list:
    """Of each header, program and kind of mistake the first mutant; `make test-all` takes the others, too."""
    seen: set[Any] = set()
    found = []
    for m in MUTANTS:
        key = m.header, m.run, m.kind
        found.append(pytest.param(m, id=named(m), marks=[pytest.mark.slow] * (key in seen)))
        seen.add(key)
    return found


@pytest.mark.parametrize("mutant", [*MUTANTS, *MEETING_BY_SEEDS, *BY_RESULT], ids=named)
def test_there_is_something_to_change(tmp_path: Path, mutant: Mutant) -> None:
    with planted(*changed_by(tmp_path, mutant)):
        pass


@pytest.mark.parametrize("mutant", one_of_each())
def test_a_changed_line_is_found(tmp_path: Path, mutant: Mutant) -> None:
    error = killed(*changed_by(tmp_path, mutant), mutant.run)
    assert error.kind in mutant.kind.split("|"), error


@pytest.mark.parametrize("mutant", MEETING_BY_SEEDS, ids=named)
def test_a_changed_line_is_found_by_another_order(tmp_path: Path, mutant: Mutant) -> None:
    errors = SimtError, InternalError  # or by what it leaves behind in the cells
    with planted(*changed_by(tmp_path, mutant)), pytest.raises(errors) as caught:
        mutant.run()
    assert getattr(caught.value, "kind", mutant.kind) == mutant.kind


@pytest.mark.parametrize("mutant", BY_RESULT, ids=named)
def test_a_changed_line_is_found_by_the_result_only(tmp_path: Path, mutant: Mutant) -> None:
    with planted(*changed_by(tmp_path, mutant)), pytest.raises(AssertionError, match="not equal"):
        mutant.run()


def test_what_blocks_leave_behind_is_named(tmp_path: Path) -> None:
    mutant = Mutant("meet.cuh", "atomic_store(place + w, 0LL);", *GONE, merge, "")
    with planted(*changed_by(tmp_path, mutant)), pytest.raises(InternalError) as caught:
        mutant.run()
    message = str(caught.value)
    assert message.startswith("blocks that met left something behind in array cells[")
    assert re.search(r"\n  thread \d+ of block \d+ wrote it last at meet.cuh:\d+\n", message)
