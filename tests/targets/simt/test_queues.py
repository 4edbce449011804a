"""Queues of tasks: explored completely under weak memory for two workers, and with planted mistakes that are found."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.targets.simt.mutants import QUEUES as SOURCE
from tests.targets.simt.mutants import Alone, Place, Program, planted, put_by_lanes

import evenly as ev

pytestmark = pytest.mark.simt
QUEUES = ("blocking", "lock_free", "stealing")


def words_of(queue: str, workers: int, room: int) -> np.ndarray:
    return np.zeros(workers * (16 + room) if queue == "stealing" else room, np.int64)


def walking(queue: str, workers: int, nodes: int, places: int, room: int) -> tuple[Any, ...]:
    pool, words = np.zeros(256, np.int64), words_of(queue, workers, room)
    made, reserved = np.zeros(places, np.int32), np.zeros(places, np.int32)
    return pool, made, reserved, words, np.zeros(2 * nodes + 2, np.int32), np.zeros(1, np.int32), places, room, nodes  # fmt: skip


@pytest.fixture(scope="module")
def program() -> ev.SimtProgram:
    return ev.SimtProgram(SOURCE.read_text())


def walk(program: Program, queue: str, *sizes: int, memory: str = "relaxed") -> None:
    """Explore all executions of so many workers, for trees of so many nodes, in so many places, with so much room."""
    workers, nodes, *_ = sizes
    found = program.explore(queue, workers, 1, *walking(queue, *sizes), memory=memory)
    assert found.complete, found.reason
    for outcome in found.outcomes:
        reserved, total = outcome.arrays[2], outcome.arrays[5]
        assert not reserved.any()
        assert total[0] == nodes * (nodes + 1) // 2


LARGER = [(2, 2, 4, 4), (2, 3, 4, 4), (3, 2, 2, 2)]  # take longer, and are of the same kind


@pytest.mark.parametrize(
    "sizes",
    [(2, 3, 2, 1), (3, 1, 2, 2), *(pytest.param(s, marks=pytest.mark.slow) for s in LARGER)],
)
@pytest.mark.parametrize("memory", ["relaxed", pytest.param("sequential", marks=pytest.mark.slow)])
@pytest.mark.parametrize("queue", QUEUES)
def test_all_executions_run_every_task_once_and_end(
    program: Program, queue: str, memory: str, sizes: tuple[int, ...]
) -> None:
    walk(program, queue, *sizes, memory=memory)


PUT, GET = 1, 2


def operate(program: Program, queue: str, places: int, room: int, own: str, other: str) -> set[Any]:
    """Explore all executions of two workers, each with operations such as "ppg". Return what they have found."""
    given = [sum((PUT if c == "p" else GET) << 2 * i for i, c in enumerate(ops)) for ops in (own, other)]  # fmt: skip
    found = np.full(12, -9, np.int32)
    pool, words = np.zeros(256, np.int64), words_of(queue, 2, room)
    given = [places, room, *given]
    arrays = pool, np.zeros(places, np.int32), np.zeros(places, np.int32), words, found
    explored = program.explore(f"{queue}_operations", 2, 1, *arrays, *given)
    assert explored.complete, explored.reason
    for outcome in explored.outcomes:
        pool, _, reserved, words, found = outcome.arrays
        got = found[found >= 0]
        assert len(set(got.tolist())) == len(got), (outcome.trace, found)
        assert (found[got] == -2).all(), (outcome.trace, found)
        left = (found == -2).sum() - len(got)
        assert reserved.sum() == left == left_in(queue, pool, words, room), outcome.trace
    return {tuple(o.arrays[4].tolist()) for o in explored.outcomes}


def left_in(queue: str, pool: np.ndarray, words: np.ndarray, room: int) -> int:
    """How many items a queue has."""
    if queue == "blocking":
        return int(pool[32] - pool[16])
    if queue == "lock_free":
        return int((words % (room << 24) > 0).sum())
    return sum(max(0, int(words[16 * w + 1] - words[16 * w] % 2**32)) for w in range(2))


OPERATIONS = [("ppgg", "gg"), ("pgpg", "gg"), ("ppgpg", "g"), ("pppgg", "g"), ("pgpgp", "gg"), ("pg", "pgg"), ("ppgppg", "g"), ("ppg", "ggg"), ("pggp", "pg")]  # fmt: skip


@pytest.mark.parametrize("operations", OPERATIONS, ids=str)
@pytest.mark.parametrize(
    ("places", "room"),
    [(8, 2), *(pytest.param(*n, marks=pytest.mark.slow) for n in ((8, 1), (1, 2)))],
)
@pytest.mark.parametrize("queue", QUEUES)
def test_an_item_is_got_once(
    program: Program, queue: str, places: int, room: int, operations: tuple[str, str]
) -> None:
    assert len(operate(program, queue, places, room, *operations)) > 1


def test_a_deque_is_walked_from_both_ends(program: Program) -> None:
    found = operate(program, "stealing", 8, 4, "pppg", "g")
    assert {(f[3], f[6]) for f in found} == {(2, 0), (2, -1)}  # the newest, the oldest


def deque(program: Program, room: int, own: str, other: str) -> set[Any]:
    """Explore all executions of two workers, with operations such as "p21": put, take up to 2, then 1, or steal one.

    Return what the owner has found, and what the other one has.
    """
    given = [sum(" p12".index(c) << 2 * i for i, c in enumerate(ops)) for ops in (own, other)]
    arrays = words_of("stealing", 2, room), np.zeros(12, np.int32), np.full((12, 2), -9, np.int32)
    explored = program.explore("deque_operations", 2, 1, *arrays, room, *given)
    assert explored.complete, explored.reason
    results = set()
    for outcome in explored.outcomes:
        words, _, found = outcome.arrays
        got = found[found >= 0].tolist()
        assert len(set(got)) == len(got), (outcome.trace, found)
        assert (found[got, 0] == -2).all(), (outcome.trace, found)
        left = (found == -2).sum() - len(got)
        assert left == left_in("stealing", words, words, room), outcome.trace
        results.add(tuple(tuple(part[part >= 0].tolist()) for part in (found[:6], found[6:])))
    return results


TAKING = [("ppp2", "1"), ("ppp2", "11"), ("pp2p1", "1"), ("pp2pp2", "1"), ("ppp22", "1"), ("pp2", "p11")]  # fmt: skip


@pytest.mark.parametrize("operations", TAKING, ids=str)
def test_several_are_taken_at_once(program: Program, operations: tuple[str, str]) -> None:
    assert len(deque(program, 4, *operations)) > 1


def test_who_gets_what_of_a_deque(program: Program) -> None:
    """The thief gets the oldest, if it comes early enough, and the owner two more, or the rest."""
    assert deque(program, 4, "ppp2", "1") == {((1, 2), ()), ((1, 2), (0,))}
    assert deque(program, 4, "pp2", "1") == {((0, 1), ()), ((1,), (0,))}


def test_lanes_put_before_their_items_can_be_stolen(program: Program) -> None:
    put_by_lanes(program)


@pytest.mark.parametrize("queue", ["blocking", "lock_free"])
def test_a_queue_gives_the_oldest(program: Program, queue: str) -> None:
    assert {f[3] for f in operate(program, queue, 8, 4, "pppg", "")} == {0}


def walks(queue: str, *sizes: int) -> Any:
    return lambda program: walk(program, queue, *sizes)


def operates(queue: str, *sizes: tuple[int, int]) -> Any:
    def run(program: Program) -> None:
        for places, room in sizes or ((8, 1), (8, 2)):
            for operations in OPERATIONS:
                operate(program, queue, places, room, *operations)

    return run


def takes(program: Program) -> None:
    for operations in TAKING:
        deque(program, 4, *operations)


class Mistake(NamedTuple):
    """A line of a header, with `old` in it made `new`, what finds that, and as what: a SimtError, or a wrong result."""

    header: str
    code: str
    old: str
    new: str
    run: Any
    kind: str = "result"
    nth: int = 0


BLOCKING, LOCK_FREE, STEALING = "blocking.cuh", "lock_free.cuh", "stealing.cuh"
LOCKS = "while (atomic_load(m.lock) != 0 || atomic_compare_exchange<acquire>(m.lock, 0, 1) != 0) {"
UNLOCKS = "EV_DEVICE void unlock() { atomic_store<release>(m.lock, 0); }"
PUTS = "} else if (atomic_compare_exchange<release>(place(at), seen, seen + 1 + item) == seen) {"
GETS = "} else if (atomic_compare_exchange<acquire>(place(at), seen, next) == seen) {"
LAST = "if (from < before && atomic_compare_exchange<release>(age(m.taker), seen, again) == seen) return (int)(before - from);"
SEES = "if (atomic_load<acquire>(bottom(from)) <= top(seen)) return no_item;"
STEALS = "return atomic_compare_exchange(age(from), seen, seen + 1) == seen ? (int)item : no_item;"
SPACE = "const int room = (int)lane_0_finds<W>([&] { return m.room - (at - (first = top(atomic_load(age(m.taker))))); });"
RESERVES = "if (atomic_load(set.reserved + place) == 0 && atomic_compare_exchange<acquire>(set.reserved + place, 0, 1) == 0) return place;"
RELEASES = "atomic_store<release>(set.reserved + place, 0);"
MISTAKES = {
    "a lock that two have": Mistake(BLOCKING, LOCKS, "atomic_compare_exchange<acquire>(m.lock, 0, 1) != 0", "(atomic_store(m.lock, 1LL), false)", operates("blocking"), "race"),
    "a lock that acquires nothing": Mistake(BLOCKING, LOCKS, "acquire", "relaxed", operates("blocking"), "race"),
    "a lock that releases nothing": Mistake(BLOCKING, UNLOCKS, "release", "relaxed", operates("blocking"), "race"),
    "a lock that is kept": Mistake(BLOCKING, "unlock();", "unlock();", "", operates("blocking"), "deadlock"),
    "a ring that is overrun": Mistake(BLOCKING, "const bool room = at - atomic_load(m.begin) < m.room;", "< m.room", "<= m.room", operates("blocking")),
    "an item that stays": Mistake(BLOCKING, "if (any) atomic_store(m.begin, at + 1);", "if (any)", "if (false)", operates("blocking")),
    "an item that is seen before its task": Mistake(LOCK_FREE, PUTS, "<release>", "", operates("lock_free"), "race"),
    "a task that is read before its item": Mistake(LOCK_FREE, GETS, "<acquire>", "", operates("lock_free"), "race"),
    "two items in one place": Mistake(LOCK_FREE, PUTS, "atomic_compare_exchange<release>(place(at), seen, seen + 1 + item)", "(atomic_store(place(at), seen + 1 + item), seen)", operates("lock_free"), "race"),
    "an item for two": Mistake(LOCK_FREE, GETS, "atomic_compare_exchange<acquire>(place(at), seen, next)", "(atomic_store(place(at), next), seen)", operates("lock_free"), "race"),
    "a full ring that is not noticed": Mistake(LOCK_FREE, "if (seen < nil(at)) return false;", "nil(at)", "0", operates("lock_free"), "result|progress"),
    "an end that is moved too far": Mistake(LOCK_FREE, "if (at % X == 0) atomic_compare_exchange(m.end, from, at + 1);", "at + 1", "at + 2", walks("lock_free", 2, 3, 4, 4), "deadlock"),
    "a beginning that is moved too far": Mistake(LOCK_FREE, "if (at % X == 0) atomic_compare_exchange(m.begin, from, at + 1);", "at + 1", "at + 2", walks("lock_free", 2, 3, 4, 4), "deadlock"),
    "an item that is stolen before its task": Mistake(STEALING, "fence<release>();", "fence<release>();", "", operates("stealing"), "race"),
    "an owner that looks too early": Mistake(STEALING, "fence<seq_cst>();", "fence<seq_cst>();", "", operates("stealing")),
    "a thief that looks too early": Mistake(STEALING, "fence<seq_cst>();", "fence<seq_cst>();", "", operates("stealing"), "race", 1),
    "a bottom that is seen too late": Mistake(STEALING, LAST, "<release>", "", operates("stealing")),
    "a bottom that is seen too late, after a theft": Mistake(STEALING, "atomic_store<release>(age(m.taker), again);", "<release>", "", operates("stealing")),
    "a task that is read before it is stolen": Mistake(STEALING, SEES, "<acquire>", "", operates("stealing"), "race"),
    "a last item for two": Mistake(STEALING, LAST, "atomic_compare_exchange<release>(age(m.taker), seen, again)", "(atomic_store<release>(age(m.taker), again), seen)", operates("stealing")),
    "an item for two thieves": Mistake(STEALING, STEALS, "atomic_compare_exchange(age(from), seen, seen + 1)", "(atomic_store(age(from), seen + 1), seen)", operates("stealing")),
    "a deque without tags": Mistake(STEALING, "const long long again = (seen >> 32) + 1 << 32;", "+ 1", "", operates("stealing")),
    "a deque that is overrun": Mistake(STEALING, SPACE, "m.room -", "m.room + 1 -", operates("stealing"), "race"),
    "an oldest item that is not fought for": Mistake(STEALING, "if (end > first) return (int)(before - from);", ">", ">=", takes),
    "a later item that two fight for": Mistake(STEALING, "++from;", "++from", "from += 2", takes),
    "an item that is taken after it was stolen": Mistake(STEALING, "++from;", "++from;", "", takes),
    "a place that is written while it is read": Mistake("queued.cuh", RELEASES, "<release>", "", operates("lock_free", (1, 2)), "race"),
    "a place that is written before it is free": Mistake("queued.cuh", RESERVES, "<acquire>", "", operates("lock_free", (1, 2)), "race"),
    "a place for two": Mistake("queued.cuh", RESERVES, "atomic_compare_exchange<acquire>(set.reserved + place, 0, 1)", "atomic_exchange<acq_rel>(set.reserved + place, 0)", operates("lock_free", (1, 2)), "race"),
    "a place that is never free": Mistake("queued.cuh", RELEASES, RELEASES, ";", operates("lock_free", (1, 2))),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=list(MISTAKES))
def test_a_mistake_is_found(tmp_path: Path, mistake: Mistake) -> None:
    header, code, old, new, run, kind, nth = mistake

    def change(line: str) -> str:
        return line.replace(old, new)

    with planted(tmp_path, Place(header, code, nth), change):
        program = Alone(SOURCE)
        with pytest.raises((ev.SimtError, AssertionError)) as caught:
            run(program)
    assert getattr(caught.value, "kind", "result") in kind.split("|"), caught.value
