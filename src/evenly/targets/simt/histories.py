"""Histories of concurrent operations, and whether they are those of a sequential object: linearisability.

A history is linearisable if its calls can be put in one order, in which each returns what the object would return, and
which keeps the order of calls that do not overlap (Herlihy, Wing, "Linearizability: A Correctness Condition for
Concurrent Objects", TOPLAS 1990). The search is that of Wing, Gong, "Testing and Verifying Concurrent Objects", JPDC
1993, and remembers what it has seen, as Lowe, "Testing for Linearizability", CCPE 2017.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Protocol

from evenly.errors import unknown


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an operation: ev::invoke(name, argument) to ev::respond(result).

    result: None if it has not returned. after: numbers of the calls that had returned before it began.
    """

    thread: str
    name: str
    argument: int
    result: int | None
    after: tuple[int, ...]

    def __str__(self) -> str:
        result = "does not return" if self.result is None else f"-> {self.result}"
        return f"thread {self.thread}: {self.name}({self.argument}) {result}"


class Model(Protocol):
    """A sequential object: its first state, and what a call does to a state."""

    first: Hashable

    def step(self, state: Hashable, call: Call) -> Hashable | None:
        """Return the state after a call, or None if the object would not have returned call.result."""
        ...


def read(text: str) -> tuple[Call, ...]:
    """Return the history that the runtime has written (host/history.hpp)."""
    calls = []
    for line in text.splitlines():
        thread, name, argument, result, *after = line.split(" ")
        returned = None if result == "?" else int(result)
        calls.append(Call(thread, name, int(argument), returned, tuple(map(int, after))))
    return tuple(calls)


def linearisation(history: tuple[Call, ...], model: Model) -> list[int] | None:
    """Return an order of the calls, all of which have returned, in which the model does the same, or None."""
    seen: set[tuple[frozenset[int], Hashable]] = set()
    order: list[int] = []

    def ways(taken: frozenset[int], state: Hashable) -> Iterator[tuple[int, Hashable]]:
        """Yield the calls that may come next, with the state after each, unless that has been tried before."""
        if (taken, state) in seen:
            return
        seen.add((taken, state))
        for i, call in enumerate(history):
            if i not in taken and taken.issuperset(call.after):
                new = model.step(state, call)
                if new is not None:
                    yield i, new

    stack = [
        ways(frozenset(), model.first)
    ]  # no recursion: histories may be longer than Python's stack
    while len(order) < len(history):
        following = next(stack[-1], None)
        if following is not None:
            order.append(following[0])
            stack.append(ways(frozenset(order), following[1]))
            continue
        stack.pop()
        if not stack:
            return None
        order.pop()
    return order


def complaint(history: tuple[Call, ...], model: Model) -> str | None:
    """Return what is wrong with the history of a kernel that has ended, or None if it is linearisable."""
    pending = [f"  {call}" for call in history if call.result is None]
    if pending:
        return "\n".join(["calls have not returned: ev::respond is missing", *pending])
    if linearisation(history, model) is not None:
        return None
    lines = []
    for i, call in enumerate(history):
        after = ", ".join(map(str, call.after))
        lines.append(f"  {i}. {call}" + (f", begun after {after}" if after else ""))
    head = "the results are not those of the model, in whatever order the operations are put"
    return "\n".join([head, *lines])


@dataclass(frozen=True, slots=True)
class Ends:
    """A queue, stack or deque as a tuple: which end each operation uses. See `queue`, `stack` and `deque`."""

    puts: tuple[
        tuple[str, int], ...
    ]  # operations, each with 0 for the left end or 1 for the right one
    takes: tuple[tuple[str, int], ...]
    empty: int
    capacity: int | None
    may_fail: bool
    first: tuple[int, ...] = ()

    def step(self, state: Hashable, call: Call) -> Hashable | None:
        assert isinstance(state, tuple)
        puts, takes = dict(self.puts), dict(self.takes)
        if call.name in puts:
            return self._put(state, call, puts[call.name])
        if call.name not in takes:
            raise unknown("ev::invoke", call.name, [*puts, *takes])
        if call.result == self.empty:
            return state if not state or self.may_fail else None
        if not state or state[0 if takes[call.name] == 0 else -1] != call.result:
            return None
        return state[1:] if takes[call.name] == 0 else state[:-1]

    def _put(self, state: tuple[int, ...], call: Call, end: int) -> tuple[int, ...] | None:
        if call.result == 0 and self.capacity is not None:
            return state if len(state) >= self.capacity or self.may_fail else None
        if self.capacity is not None and len(state) >= self.capacity:
            return None
        return (call.argument, *state) if end == 0 else (*state, call.argument)


def queue(
    put: str = "enqueue", take: str = "dequeue", *, empty: int = -1, capacity: int | None = None,
    may_fail: bool = False, first: tuple[int, ...] = ()
) -> Ends:  # fmt: skip
    """Return a queue: `put` adds its argument, and `take` returns the oldest element, or `empty` if there is none.

    capacity: if given, `put` returns 0 where so many elements are there, else another number. may_fail: `take` and
    `put` may also fail in vain. first: the elements that are there at first.
    """
    return Ends(((put, 1),), ((take, 0),), empty, capacity, may_fail, first)


def stack(
    put: str = "push", take: str = "pop", *, empty: int = -1, capacity: int | None = None,
    may_fail: bool = False, first: tuple[int, ...] = ()
) -> Ends:  # fmt: skip
    """Return a stack: as `queue`, but `take` returns the newest element."""
    return Ends(((put, 1),), ((take, 1),), empty, capacity, may_fail, first)


def deque(
    put: str = "push", take: str = "take", steal: str = "steal", *, empty: int = -1,
    capacity: int | None = None, may_fail: bool = False, first: tuple[int, ...] = ()
) -> Ends:  # fmt: skip
    """Return the deque of work stealing: the owner puts and takes at one end, thieves steal at the other."""
    return Ends(((put, 1),), ((take, 1), (steal, 0)), empty, capacity, may_fail, first)
