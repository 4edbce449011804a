"""A task set as a kernel sees it in the reference: its lists are walked in order, a round after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .arrays import CheckedArray
from .layouts import LayoutView, Walk


class TaskView(LayoutView):
    """A task set. Beside what layouts have, kernels read the fields of a task, and push."""

    def __init__(self, tasks: Any, name: str, walk: Walk) -> None:
        super().__init__(tasks, name, walk)
        names, columns = self._class.names, self._class.placed
        self._columns = {
            n: CheckedArray(getattr(tasks, c), f"{name}.{n}") for n, c in zip(names, columns, strict=True)
        }  # fmt: skip

    def _tiles(self, *item: int) -> Iterator[Any]:
        self._run("_begin")
        while int(self.member("_waiting")):
            yield from super()._tiles()
            self._run("_swap")

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
        if place < tasks.capacity + tasks.spill:
            for column, value in zip(self._columns.values(), values, strict=True):
                column[int(tasks._spot(place))] = value
