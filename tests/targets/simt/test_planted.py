"""Kernels with one bug each, and their twins without: the bug is found whatever the order of threads, and nothing else is."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
from tests.targets.simt.planted import program, run

from evenly.errors import InputError
from evenly.targets.simt.program import SimtProgram
from evenly.targets.simt.report import SimtError

pytestmark = pytest.mark.simt

ORDERS = [*({"seed": s} for s in range(20)), {"order": "round_robin"}]


class Right(NamedTuple):
    """Blocks, threads, and the sum of an array afterwards."""

    blocks: int
    threads: int
    gives: int
    array: str = "out"


class Wrong(NamedTuple):
    """Blocks, threads, the kinds that it may be found as, what the message says, and a line that it shows."""

    blocks: int
    threads: int
    kind: str
    says: str
    line: str
    strict: bool = False  # a habit that CUDA allows


RACE_S = r"data race on shared array s\["
UNWRITTEN_OR_RACE = "race|uninitialised"  # by who comes first
S_EITHER = r"shared array s\["
DATA = r"data race on array data\["
FLAGS = r"data race on array flags\["

BLOCK: dict[str, Right | Wrong] = {
    "shared_right": Right(1, 64, 2016),
    "shared_without_barrier": Wrong(1, 64, UNWRITTEN_OR_RACE, S_EITHER, "out[t] = s[63 - t];"),
    "rounds_right": Right(1, 64, 3 * 2016 + 3 * 64),
    "rounds_with_one_barrier": Wrong(1, 64, "race", RACE_S, "out[t] += s[63 - t];"),
    "two_halves_right": Right(1, 64, 4 * 2016 + 6 * 64),
    "global_right": Right(4, 64, 4 * 2016),
    "global_without_barrier": Wrong(4, 64, "race", DATA, "data[base + t] = t;"),
    "global_over_the_block": Wrong(4, 64, "race", DATA, "data[base + t] = t;"),
    "barrier_in_both_branches": Wrong(1, 64, "barrier", "meet at two different barriers", "barrier();"),
    "barrier_for_half_the_block": Wrong(1, 64, "barrier", "has left", "if (thread_rank() < 32) barrier();"),
    "barrier_after_return": Wrong(1, 64, "barrier", "thread 40, which has left", "barrier();"),
    "barrier_once_more_for_some": Wrong(1, 64, "barrier", "has left", "++i) barrier();"),
    "barrier_in_half_a_warp": Wrong(1, 64, "barrier", "of the 32 lanes of warp", "barrier(1, 32);"),
    "producer_consumer_right": Right(1, 64, 5 * 496 + 10 * 32),
    "producer_does_not_wait": Wrong(1, 64, "race", RACE_S, "out[lane] += s[31 - lane];"),
    "consumer_meets_itself": Wrong(1, 64, UNWRITTEN_OR_RACE, S_EITHER, "out[lane] = s[31 - lane];"),
    "barriers_crossed": Wrong(1, 64, "deadlock", "threads 0 to 31 of block 0 wait at barrier 1 of 64", "barrier(2, 64);"),
    "counts_differ": Wrong(1, 64, "barrier", "waits for (32|64) threads, others for|which has left", "barrier(1, "),
    "warp_right": Right(1, 64, 2016),
    "warp_without_sync": Wrong(1, 64, UNWRITTEN_OR_RACE, S_EITHER, "out[t] = s[t ^ 31];"),
    "warp_with_a_shuffle": Wrong(1, 64, "race", RACE_S, "s[t] = t;"),
    "warp_with_a_vote": Wrong(1, 64, "race", RACE_S, "s[t] = t;"),
    "warp_for_a_block": Wrong(1, 64, UNWRITTEN_OR_RACE, S_EITHER, "out[t] = s[63 - t];"),
    "half_warps_right": Right(1, 32, 496),
    "half_warps_that_cross": Wrong(1, 32, UNWRITTEN_OR_RACE, S_EITHER, "out[t] = s[t ^ 16];"),
    "shuffles_in_branches_right": Right(1, 32, 8 * 7 + sum(t if t % 8 == 0 else t - 1 for t in range(8, 32))),
    "mask_without_myself": Wrong(1, 32, "mask", "does not name its own lane 31", "sync_warp(full_warp >> 1)"),
    "mask_of_those_who_left": Wrong(1, 32, "mask", "which has left the kernel", "= shuffle_up(full_warp, 1, 1);", strict=True),
    "mask_in_two_places": Wrong(1, 32, "mask", "meet at two places", "= shuffle_up(full_warp, 2, 1);", strict=True),
    "mask_beyond_the_block": Wrong(1, 48, "mask", "the block has 48 threads", "sync_warp(full_warp)"),
    "masks_disagree": Wrong(1, 32, "mask", "which has left the kernel", "sync_warp(thread_rank() < 16", strict=True),
}  # fmt: skip

GRID: dict[str, Right | Wrong] = {
    "message_right": Right(2, 32, 42),
    "message_written_without_fence": Wrong(2, 32, "race", DATA, "out[0] = data[0];"),
    "message_read_without_fence": Wrong(2, 32, "race", DATA, "out[0] = data[0];"),
    "message_written_with_fence_of_block": Wrong(2, 32, "race", DATA, "data[0] = 42;"),
    "message_read_with_fence_of_block": Wrong(2, 32, "race", DATA, "out[0] = data[0];"),
    "message_fenced_too_early": Wrong(2, 32, "race", DATA, "data[0] = 42;"),
    "message_fenced_before_the_flag_is_read": Wrong(2, 32, "race", DATA, "out[0] = data[0];"),
    "message_with_a_plain_flag": Wrong(2, 32, "race", FLAGS, "flags[0] = 1;"),
    "message_looked_for_plainly": Wrong(2, 32, "race", FLAGS, "flags[0] == 1"),
    "poll_of_what_is_read_once": Wrong(1, 32, "deadlock", "touches no memory: it loops for ever", "while (flags[0] == 0) {}"),
    "message_volatile_right": Right(2, 32, 42),
    "message_by_an_exchange_that_fails": Wrong(2, 32, "race", DATA, "data[0]"),
    "message_by_an_exchange_right": Right(2, 32, 42),
    "message_within_a_block_right": Right(1, 64, 42),
    "message_volatile_in_shared_right": Right(1, 64, 42),
    "message_volatile_without_fence": Wrong(1, 64, "race", RACE_S, "out[0] = s[0];"),
    "message_counted_right": Right(3, 32, 42),
    "message_relayed_right": Right(3, 32, 42),
    "message_relayed_without_fence": Wrong(3, 32, "race", DATA, "out[0] = data[0];"),
    "message_of_a_block_right": Right(2, 64, 2016),
    "message_of_a_block_told_early": Wrong(2, 64, "race", DATA, "data[t] = t;"),
    "last_block_right": Right(8, 64, 8 * 2016),
    "last_block_clears_right": Right(8, 64, 0, "flags"),
    "last_block_clears_too_early": Wrong(8, 64, "race", FLAGS, "flags[0] = 0;"),
    "last_block_without_fence": Wrong(8, 64, "race", DATA, "data[b * 64 + 63 - t];"),
    "last_block_reads_without_fence": Wrong(8, 64, "race", DATA, "data[b * 64 + 63 - t];"),
    "last_block_counts_too_early": Wrong(8, 64, "race", DATA, "data[b * 64 + 63 - t];"),
    "last_block_is_told_by_a_race": Wrong(8, 64, UNWRITTEN_OR_RACE, r"shared array last\[0", "if (last[0]) out[t] = 1;"),
    "wake_up_right": Right(16, 32, 8),
    "wake_up_lost": Wrong(16, 32, "deadlock", "polls what nobody changes any more", "while (atomic_load(counter) == before) {}"),
    "sleeper_misses_the_signal": Wrong(16, 64, "deadlock", "thread 0 of block", "while (atomic_load(flag) == 0) {}"),
    "wait_that_counts_right": Right(4, 64, 8),
    "wait_for_each_other": Wrong(2, 32, "deadlock", "thread 0 of block 0 polls", "while (atomic_load(flag) == 0) {}"),
    "wait_for_the_next_block": Wrong(40, 64, "deadlock", "blocks have not started: 16 are resident", "while (atomic_load(flag) == 0) {}"),
    "grid_barrier_right": Right(8, 64, 8 * 2016 + 28 * 64),
    "counter_of_each_block": Wrong(20, 32, "race", DATA, "data[0] += 1;"),
    "lock_right": Right(8, 32, 8, "data"),
    "lock_of_a_warp_right": Right(8, 32, 256, "data"),
    "lock_opened_by_a_plain_store": Wrong(8, 32, "race", FLAGS, "flags[0] = 0;"),
    "lock_taken_without_fence": Wrong(8, 32, "race", DATA, "data[0] += 1;"),
    "lock_opened_without_fence": Wrong(8, 32, "race", DATA, "data[0] += 1;"),
    "lock_never_opened": Wrong(8, 32, "deadlock", "polls what nobody changes", "atomic_compare_exchange(flags, 0, 1)"),
    "lock_by_load_and_store": Wrong(8, 32, "race", DATA, "data[0] += 1;"),
    "queue_right": Right(20, 32, 10 * 32 * 7),
    "queue_filled_before_the_item": Wrong(20, 32, "race", DATA, "data[slot] = 7;"),
    "queue_popped_by_the_tail": Wrong(20, 32, "race", DATA, "data[slot] = 7;"),
    "queue_with_a_slot_for_two": Wrong(20, 32, "race", DATA, "data[slot] = 7;"),
    "look_back_right": Right(20, 32, 1540),
    "look_back_without_fence": Wrong(20, 32, "race", DATA, "before += data[2 * other + complete];"),
    "look_back_at_later_blocks": Wrong(40, 32, "deadlock", "blocks have not started", "while (atomic_load(flag) == 0) {}"),
}  # fmt: skip

BEYOND = r"\[1024\] is out of bounds: it has 1024 elements"
MEMORY: dict[str, Right | Wrong] = {
    "shared_index_beyond": Wrong(1, 64, "bounds", r"index 64 is out of bounds of an array 'int ?\[64\]'", "s[thread_rank() + 1] = 1;"),
    "shared_index_before": Wrong(1, 64, "bounds", "index -1 is out of bounds", "s[thread_rank() - 1] = 1;"),
    "shared_index_in_another_array": Wrong(1, 64, "bounds", "index 9[6-9]|index 1.. is out", "s[thread_rank() + 96] = 1;"),
    "shared_pointer_beyond": Wrong(1, 64, "bounds", r"shared array s\[64\] is out of bounds: it has 64", "opaque(s)[thread_rank() + 1]"),
    "shared_pointer_before": Wrong(1, 64, "bounds", r"shared array s\[-1\] is out of bounds", "opaque(s)[thread_rank() - 1]"),
    "local_index_beyond": Wrong(1, 64, "bounds", "index 4 is out of bounds", "mine[hidden(4)]"),
    "global_pointer_beyond": Wrong(1, 32, "bounds", f"array data{BEYOND}", "data[1024 - 31 + thread_rank()]"),
    "global_pointer_before": Wrong(1, 32, "bounds", r"array data\[-1\]", "data[thread_rank() - 1] = 1;"),
    "global_view_beyond": Wrong(1, 32, "bounds", f"array data{BEYOND}", "view[1024 - 31 + thread_rank()]"),
    "global_view_in_another_array": Wrong(1, 32, "bounds", r"array data\[\d+\] is out of bounds", "view[flags - data + thread_rank()]"),
    "global_read_beyond": Wrong(1, 32, "bounds", f"array data{BEYOND}", "view[1024 - 31 + thread_rank()]"),
    "global_null": Wrong(1, 32, "bounds", "address 0 belongs to no array", "*opaque(nullptr) = 1;"),
    "atomic_beyond": Wrong(1, 32, "bounds", f"array flags{BEYOND}", "atomic_add(flags + 1024 - 31 + thread_rank(), 1);"),
    "atomic_null": Wrong(1, 32, "bounds", "address 0 belongs to no array", "atomic_add(opaque(nullptr), 1);"),
    "local_of_another_thread": Wrong(1, 32, "bounds", "a local variable of thread 0", "out[0] = **reinterpret_cast<int**>(data);"),
    "shared_of_another_block": Wrong(2, 32, "bounds", "shared memory of block 0, seen from block 1", "out[0] = **reinterpret_cast<int**>(data);"),
    "shared_too_large": Wrong(1, 64, "bounds", "shared array s of 240000 bytes", "EV_SHARED(double, s, 30000);"),
    "uninitialised_shared": Wrong(1, 64, "uninitialised", r"shared array s\[64\] has not been written", "out[t] = s[t + 1];"),
    "uninitialised_long": Wrong(1, 64, "uninitialised", r"shared array s\[5\] has not been written", "out[t] = (int)s[63 - t];"),
    "misaligned_long": Wrong(1, 32, "undefined", r"array data\[\d+\] is not aligned to the 8 bytes", "(int)*p;"),
    "misaligned_int": Wrong(1, 32, "undefined", r"array data\[1\] \(byte 2 of it\) is not aligned to the 4 bytes", "= *p;"),
    "misaligned_read_only": Wrong(1, 32, "undefined", r"array data\[1\] \(byte 2 of it\) is not aligned", "= *p;"),
    "read_only_beyond": Wrong(1, 32, "bounds", f"array data{BEYOND}", "data[1024 - 31 + thread_rank()]"),
    "read_only_written": Wrong(1, 32, "bounds", r"array data\[\d+\] may not be written", "const_cast<int*>(data)"),
    "counter_never_cleared": Wrong(1, 64, "uninitialised", r"shared array counter\[0\] has not been written", "atomic_add(counter, 1);"),
    "divide_right": Right(1, 32, 7 * 32),
    "divide_by_zero": Wrong(1, 32, "undefined", "divided by zero", "7 / data[thread_rank()]"),
    "modulo_zero": Wrong(1, 32, "undefined", "divided by zero", "7 % data[thread_rank()]"),
    "addition_overflows": Wrong(1, 32, "undefined", "an addition of signed integers overflows", "+ hidden(1)"),
    "product_overflows": Wrong(1, 32, "undefined", "a multiplication of signed integers overflows", "hidden(65536) * hidden(65536)"),
    "unsigned_wraps_right": Right(1, 32, 32),
    "shift_by_too_much": Wrong(1, 32, "undefined", "a shift by", "1 << hidden(32)"),
    "shift_by_less_than_nothing": Wrong(1, 32, "undefined", "a shift by", "1 >> hidden(-1)"),
    "neighbouring_bytes_right": Right(1, 64, 64),
    "bytes_without_barrier": Wrong(1, 64, UNWRITTEN_OR_RACE, S_EITHER, "out[t] = s[t ^ 1];"),
    "word_over_bytes_right": Right(1, 64, 64),
    "word_over_bytes_without_barrier": Wrong(1, 64, UNWRITTEN_OR_RACE, r"shared array words\[", "words[t / 4]"),
    "padded_structs_right": Right(1, 64, 2016),
    "triples_right": Right(1, 64, 2016),
    "members_by_two_right": Right(1, 64, 2 * 496 + 2 * (496 + 32 * 32)),
    "wide_items_right": Right(1, 64, 2016 + 4 * 2016 + 64),
    "wide_item_in_halves": Wrong(1, 64, "race", RACE_S, "reinterpret_cast<int*>(s)[2 * t + 1] = 1;"),
    "read_by_all_right": Right(4, 64, 4 * 64 * 5),
    "read_by_all_and_again_right": Right(4, 64, 4 * 64 * 3),
    "read_by_all_and_again_by_one": Wrong(1, 64, "race", DATA, "data[0] = 1;"),
    "written_alike_by_all": Wrong(1, 64, "race", r"data race on array out\[0\]", "out[0] = 1;"),
    "counter_right": Right(4, 64, 256, "flags"),
    "counter_read_plainly": Wrong(1, 64, "race", FLAGS, "out[0] = flags[0];"),
    "counter_set_plainly": Wrong(1, 64, "race", FLAGS, "flags[0] = 0;"),
    "counter_set_and_read_right": Right(4, 64, 4 * 64 * 67),
    "loaded_both_ways_right": Right(4, 64, 0),
    "stored_over_a_plain_read": Wrong(1, 64, "race", FLAGS, "atomic_store(flags, 1);"),
    "written_under_an_atomic_load": Wrong(1, 64, "race", DATA, "data[0] = 1;"),
}  # fmt: skip

SLOW = ("poll_of_what_is_read_once",)  # seconds go by before it is called endless

THEMES = {"block": BLOCK, "grid": GRID, "memory": MEMORY}
RIGHT = [
    (t, k) for t, cases in THEMES.items() for k, case in cases.items() if isinstance(case, Right)
]
WRONG = [
    (t, k) for t, cases in THEMES.items() for k, case in cases.items() if isinstance(case, Wrong)
]


@pytest.mark.parametrize("theme", THEMES)
def test_every_planted_kernel_is_in_the_table(theme: str) -> None:
    assert list(program(theme).kernels) == list(THEMES[theme])


@pytest.mark.parametrize(("theme", "kernel"), RIGHT)
def test_nothing_is_found_in_correct_code(theme: str, kernel: str) -> None:
    case = THEMES[theme][kernel]
    assert isinstance(case, Right)
    for options in ORDERS:
        arrays = run(theme, kernel, case.blocks, case.threads, **options)
        assert arrays[case.array].sum() == case.gives, options


@pytest.mark.parametrize(("theme", "kernel"), WRONG)
def test_the_bug_is_found_in_any_order(theme: str, kernel: str) -> None:
    """Not by luck: under each of the seeds, as the right thing, and with the line that is to blame."""
    case = THEMES[theme][kernel]
    assert isinstance(case, Wrong)
    for options in ORDERS[: 1 if kernel in SLOW else 3]:
        with pytest.raises(SimtError) as caught:
            run(theme, kernel, case.blocks, case.threads, strict=case.strict, **options)
        message = str(caught.value)
        assert caught.value.kind in case.kind.split("|"), message
        assert re.search(case.says, message.splitlines()[0] + message), message
        assert case.line in message, message


def test_atomics_on_shared_memory_order_no_blocks() -> None:
    """Not even those that follow each other in the same place."""
    with pytest.raises(SimtError, match=DATA):
        run("grid", "counter_of_each_block", 20, 32, resident=1)


def test_more_local_memory_than_a_thread_has_is_refused() -> None:
    source = (
        "EV_KERNEL(1) much(int* p) { volatile int big[20000]; big[p[0]] = 1; p[1] = big[p[2]]; }"
    )
    with pytest.raises(InputError, match="frame size of 80.* bytes is larger than"):
        SimtProgram(source)


def test_a_wait_for_later_blocks_ends_where_all_are_resident() -> None:
    for kernel, gives in (("wait_for_the_next_block", 40), ("look_back_at_later_blocks", 11480)):
        blocks, threads = GRID[kernel][:2]
        for options in ORDERS[:3]:
            arrays = run("grid", kernel, blocks, threads, resident=blocks, **options)
            assert arrays["out"].sum() == gives
