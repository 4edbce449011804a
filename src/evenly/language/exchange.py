"""Run the setups of a schedule as plain Python, where the members of a group tell each other numbers.

A member that comes to an exchange needs the numbers of the others. So their setups run first, up to that exchange.
A setup is a pure function of its thread, so it may run again.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Sequence
from typing import Any

from evenly.errors import InputError


class Numbers(Sequence[Any]):
    """The numbers that the members of a group have gathered, by rank. There are no negative indices."""

    def __init__(self, given: Sequence[Any]) -> None:
        self.given = given

    def __len__(self) -> int:
        return len(self.given)

    def __getitem__(self, rank: Any) -> Any:
        if not 0 <= rank < len(self.given):
            raise IndexError(f"rank {rank} of a group of {len(self.given)}")
        return self.given[rank]


class _Said(BaseException):
    """Ends a setup that ran only to say its number."""


class Setups:
    """Runs the setups of `count` threads. run: the setup of one thread."""

    def __init__(self, run: Callable[[int], Any], count: int) -> None:
        self.run, self.count = run, count
        self.said: dict[tuple[int, int], tuple[str, int, tuple[Any, ...]]] = {}
        self.heard: dict[tuple[int, int, int, str], list[tuple[Any, ...]]] = {}
        self.states: dict[int, Any] = {}

    def state(self, thread: int) -> Any:
        """Return what the setup of a thread returns."""
        if thread not in self.states:
            self.states[thread] = self._run(thread, None)
        return self.states[thread]

    def _run(self, thread: int, until: int | None) -> Any:
        """Run a setup; with `until`, only as far as this exchange, whose numbers it then says."""
        token = _current.set(_Member(self, thread, until))
        try:
            return self.run(thread)
        except _Said:
            return None
        finally:
            _current.reset(token)

    def numbers(self, thread: int, number: int, what: str, size: int) -> list[tuple[Any, ...]]:
        """Return what the members of a thread's group say in their exchange of this number."""
        first = thread // size * size
        place = first, number, size, what
        if place not in self.heard:
            self.heard[place] = self._ask(first, thread, number, what, size)
        return self.heard[place]

    def _ask(
        self, first: int, thread: int, number: int, what: str, size: int
    ) -> list[tuple[Any, ...]]:
        if first + size > self.count:
            raise InputError(
                f"ev.group({size}).{what}",
                expected=f"whole groups: a number of threads that {size} divides",
                given=str(self.count),
            )
        for member in range(first, first + size):
            if (member, number) not in self.said:
                self._run(member, number)
            if self.said.get((member, number), ("nothing", 0))[:2] != (what, size):
                raise InputError(
                    f"ev.group({size}).{what}",
                    expected="a call that all members of the group come to",
                    given=f"a call that thread {thread} comes to, and thread {member} does not",
                )
        return [self.said[member, number][2] for member in range(first, first + size)]


class _Member:
    """The thread whose setup runs, and how many exchanges it has come to."""

    def __init__(self, setups: Setups, thread: int, until: int | None) -> None:
        self.setups, self.thread, self.until = setups, thread, until
        self.passed = 0


_current: contextvars.ContextVar[_Member | None] = contextvars.ContextVar("member", default=None)


def exchange(what: str, size: int, *given: Any) -> Any:
    """Return what a member of a group of `size` threads gets in an exchange."""
    member = _current.get()
    if member is None:
        raise InputError(
            f"ev.group({size}).{what}",
            expected="a call from a schedule's setup",
            given="a call from elsewhere",
        )
    number = member.passed
    member.passed += 1
    member.setups.said[member.thread, number] = what, size, given
    if number == member.until:
        raise _Said
    every = member.setups.numbers(member.thread, number, what, size)
    rank = member.thread % size
    numbers = Numbers([x[0] for x in every])
    match what:
        case "sum":
            return sum(numbers)
        case "scan":
            return sum(numbers.given[: rank + 1])
        case "broadcast":
            return numbers[given[1]]
    return numbers
