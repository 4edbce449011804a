"""A task set as a kernel sees it in the reference: its lists are walked in order, a round after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from .arrays import CheckedArray
from .layouts import LayoutView, Walk


class Ran:
    """The tasks that a loop over a set has run, numbered in the order of the run. name: of the set.

    rounds: the round of each task. parents: the task that pushed it, -1 for the first ones. atoms: how many it has.
    """

    def __init__(self, firsts: int, name: str) -> None:
        self.name = name
        self.rounds: list[int] = []
        self.parents: list[int] = []
        self.atoms: list[int] = []
        self._listed, self._pushed, self._round, self._before = [-1] * firsts, [], 0, 0  # type: ignore[var-annotated]

    def task(self, atoms: int) -> None:
        self.atoms.append(atoms)
        self.parents.append(self._listed[len(self.rounds) - self._before])
        self.rounds.append(self._round)

    def push(self) -> None:
        self._pushed.append(len(self.rounds) - 1)

    def swap(self) -> None:
        self._listed, self._pushed = self._pushed, []
        self._round, self._before = self._round + 1, len(self.rounds)


_RECORDS: ContextVar[list[Ran] | None] = ContextVar("evenly_tasks", default=None)


@contextmanager
def recorded() -> Iterator[list[Ran]]:
    """Record the tasks of every loop that runs meanwhile, an entry for each loop."""
    held: list[Ran] = []
    token = _RECORDS.set(held)
    try:
        yield held
    finally:
        _RECORDS.reset(token)


class TaskView(LayoutView):
    """A task set. Beside what layouts have, kernels read the fields of a task, and push."""

    _ran: Ran | None = None

    def __init__(self, tasks: Any, name: str, walk: Walk) -> None:
        super().__init__(tasks, name, walk)
        names, columns = self._class.names, self._class.placed
        self._columns = {
            n: CheckedArray(getattr(tasks, c), f"{name}.{n}") for n, c in zip(names, columns, strict=True)
        }  # fmt: skip

    def _tiles(self, *item: int) -> Iterator[Any]:
        self._run("_begin")
        records = _RECORDS.get()
        if records is not None:
            self._ran = Ran(int(self.member("_waiting")), self._name)
            records.append(self._ran)
        while int(self.member("_waiting")):
            for tile in super()._tiles():
                if self._ran is not None:
                    self._ran.task(self._atom_count(tile))
                yield tile
            self._run("_swap")
            if self._ran is not None:
                self._ran.swap()

    def _atom_count(self, tile: Any) -> int:
        tasks: Any = self._layout
        return max(int(tasks.end(int(tile))) - int(tasks.begin(int(tile))), 0)

    def _swapped(self) -> None:
        """Do nothing: the lists change places after a round."""

    def member(self, name: str) -> Any:
        if name == "push":
            return self._push
        if name in self._columns:
            return self._reading(self._columns[name])
        return super().member(name)

    def _reading(self, column: CheckedArray) -> Callable[[Any], Any]:
        return lambda task: column[int(self._run("_held", task))]

    def _push(self, *values: Any) -> None:
        tasks: Any = self._layout
        place = int(tasks.pushed[0])
        tasks.pushed[0] += 1
        if self._ran is not None:
            self._ran.push()
        if place < tasks.capacity + tasks.spill:
            for column, value in zip(self._columns.values(), values, strict=True):
                column[int(tasks._spot(place))] = value
