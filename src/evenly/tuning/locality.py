"""Renumber ids by how often they occur, so that the vector entries that are gathered most are adjacent, in cache.

The plan has its own copy of the ids. Each call first copies the vectors into the new order, by one more launch
for each, and then reads the copies. Source: frequency-based clustering (Zhang, Kiriansky, Mendis, Zaharia and
Amarasinghe, "Making Caches Work for Graph Analytics", IEEE Big Data 2017). Here only the ids are renumbered. Tiles,
and the order in which their atoms are summed up, stay as they are, so results have the same bits.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from evenly.arguments import Binding
from evenly.choosing.equal import WithoutOffsets
from evenly.errors import InputError
from evenly.hooks import hook
from evenly.interop import arrays
from evenly.interop.transfer import to_numpy, to_where
from evenly.language import ir
from evenly.language.renumbering import Gathers, gathers_by_ids
from evenly.layouts.contract import LayoutInstance, layout
from evenly.targets.contract import Executable, Stored

if TYPE_CHECKING:
    from evenly.runtime.plan import Plan


@layout
class Places:
    """A layout of `count` tiles without atoms."""

    count: int

    @property
    def num_tiles(self):
        return self.count

    @property
    def num_atoms(self):
        return 0

    def begin(self, tile):
        return 0

    def end(self, tile):
        return 0


@hook
def ordering(places: Places, order: Any, x: Any, ordered: Any, target: str) -> Plan:
    """Make a plan that stores x[order] in `ordered`, both (n,), for n places."""
    raise NotImplementedError


class Renumbering:
    """The renumbered ids of one layout. order: the old number for each new one, on the device of the ids."""

    def __init__(self, gathers: Gathers, binding: Binding) -> None:
        self.gathers = gathers
        self.owner = binding.arguments[gathers.ids[0]]
        ids = to_numpy(binding.value(gathers.ids))
        count = int(getattr(binding.layout(gathers.layout), gathers.bound))
        inside = (ids >= 0) & (ids < count)  # padding may have any id
        often = np.bincount(ids[inside], minlength=count)
        order = np.argsort(-often, kind="stable").astype(ids.dtype)
        rank = np.empty_like(order)
        rank[order] = np.arange(count, dtype=rank.dtype)
        numbered = ids.copy()
        numbered[inside] = rank[ids[inside]]
        self.places, self.nbytes = Places(count), order.nbytes + numbered.nbytes
        like = binding.value(gathers.ids)
        self.order = to_where(like, order)
        self.numbered = replaced(self.owner, gathers.ids[1:], to_where(like, numbered))

    def changed(self, binding: Binding) -> ir.Path | None:
        """Return the path of the ids if they are no longer those that were renumbered."""
        path = self.gathers.ids
        now, order = to_numpy(binding.value(path)), to_numpy(self.order)
        numbered = to_numpy(Binding({path[0]: self.numbered}).value(path))
        inside = (now >= 0) & (now < len(order))
        same = np.array_equal(order[numbered[inside]], now[inside])
        return None if same and np.array_equal(numbered[~inside], now[~inside]) else path

    def are_of(self, layout: LayoutInstance) -> bool:
        """Whether the ids belong to this layout: the one that was renumbered, or another view of the same arrays."""
        return layout is self.owner or alike(layout, self.owner)


def alike(one: Any, other: Any) -> bool:
    """Whether two layouts have equal numbers and the same array objects. The contents of arrays are not compared."""
    if type(one) is not type(other):
        return False
    for field in type(one).__fields__.values():
        a, b = getattr(one, field.name), getattr(other, field.name)
        if not (
            a is b
            or (alike(a, b) if field.kind == "layout" else "array" not in field.kind and a == b)
        ):
            return False
    return True


def replaced(held: Any, path: ir.Path, value: Any) -> Any:
    """Return the layout with another array at `path`."""
    if not path:
        return value
    inner = replaced(getattr(held, path[0]), path[1:], value)
    return dataclasses.replace(held, **{path[0]: inner})


class Renumbered(Executable):
    """An executable that uses the renumbered ids in calls on their layout. Other calls run as they are."""

    def __init__(self, inner: Executable, numbering: Renumbering, target: str) -> None:
        self.inner, self.numbering, self.target = inner, numbering, target
        self.remembers = inner.remembers
        self._buffers: dict[Any, Buffers] = {}
        if isinstance(inner, WithoutOffsets):
            inner.knows(numbering.gathers.ids[0], numbering.numbered)

    def also_decides(self, binding: Binding) -> tuple[Callable[[], Any], ...]:
        return self.inner.also_decides(binding)

    def store(self, binding: Binding) -> Stored:
        return self.inner.store(binding)

    def prepare(self, binding: Binding, stored: Stored | None = None) -> Callable[[], None]:
        plain = self.inner.prepare(binding, stored)
        if not self._numbers(binding):
            return plain
        buffers, copies, moved = self._moved(binding)
        return InTurn(
            [*(c.prepared() for c in copies), self.inner.prepare(moved, stored)], plain, buffers
        )

    def bind(
        self, binding: Binding, stored: Stored | None = None, stream: int | None = None
    ) -> Callable[[], None]:
        if not self._numbers(binding):
            return self.inner.bind(binding, stored, stream)
        buffers = self._new_buffers(binding)
        copies, moved = self._into(buffers, binding)
        runs = [*(c.bound(stream) for c in copies), self.inner.bind(moved, stored, stream)]

        return OneByOne(runs, (buffers, copies, moved))

    def launches(self, binding: Binding, stored: Stored | None = None) -> list[Any]:
        _, copies, moved = self._moved(binding)
        found = [launch for c in copies for launch in c.launches]
        return found + self.inner.launches(moved, stored)

    def changed(self, binding: Binding, stored: Stored) -> ir.Path | None:
        return self.inner.changed(binding, stored) or self.numbering.changed(binding)

    def workspace_bytes(self, binding: Binding, stored: Stored | None = None) -> int:
        """Add up the bytes of the inner executable, of the ids, and of the reordered vectors (for one stream)."""
        vectors = sum(binding.view(path).nbytes for path in self.numbering.gathers.vectors)
        return self.inner.workspace_bytes(binding, stored) + self.numbering.nbytes + vectors

    def _numbers(self, binding: Binding) -> bool:
        return self.numbering.are_of(binding.arguments[self.numbering.gathers.ids[0]])

    def _moved(self, binding: Binding) -> tuple[Buffers, list[Plan], Binding]:
        """Return memory for the reordered vectors, plans that fill it, and the arguments of the call that reads it."""
        views = [binding.view(path) for path in self.numbering.gathers.vectors]
        key = *(ask() for ask in self.also_decides(binding)), *((v.shape, v.dtype) for v in views)
        buffers = self._buffers.get(key)
        if buffers is None:
            # Another thread may have made one at the same time: both use the same.
            buffers = self._buffers.setdefault(key, self._new_buffers(binding))
        return buffers, *self._into(buffers, binding)

    def _new_buffers(self, binding: Binding) -> Buffers:
        views = {name: binding.view((name,)) for (name,) in self.numbering.gathers.vectors}
        return Buffers({n: arrays.empty(v.owner, v.shape, v.dtype) for n, v in views.items()})

    def _into(self, buffers: Buffers, binding: Binding) -> tuple[list[Plan], Binding]:
        n, vectors = self.numbering, buffers.vectors
        copies = [
            ordering(n.places, n.order, binding.value((v,)), vectors[v], self.target)
            for v in vectors
        ]
        ids = {n.gathers.ids[0]: n.numbered}
        return copies, Binding({**binding.arguments, **ids, **vectors})


class Buffers:
    """Memory for the reordered vectors. Calls on one stream share it, one at a time."""

    def __init__(self, vectors: dict[str, Any]) -> None:
        self.vectors, self.turn = vectors, threading.Lock()


class OneByOne:
    """Several functions that run as one. kept: the memory that they read and write."""

    def __init__(self, runs: list[Callable[[], None]], kept: Any) -> None:
        self._runs, self._kept = runs, kept

    def __call__(self) -> None:
        for run in self._runs:
            run()


class InTurn:
    """Several functions that run as one, with a buffers's memory. If another call uses it, `plain` runs instead."""

    def __init__(
        self, runs: list[Callable[[], None]], plain: Callable[[], None], buffers: Buffers
    ) -> None:
        self._runs, self._plain, self._room = runs, plain, buffers

    def __call__(self) -> None:
        # Do not wait: it could take for ever in a child of fork, or in a call from a signal handler.
        if not self._room.turn.acquire(blocking=False):
            self._plain()
            return
        try:
            for run in self._runs:
                run()
        finally:
            self._room.turn.release()


def renumbering(program: ir.Program, written: Collection[str], binding: Binding) -> Renumbering:
    """Renumber the ids of a layout, for a program that writes the arguments of these names.

    Raises InputError for a program that also uses the ids for something else.
    """
    found = gathers_by_ids(program, written)
    if found is None:
        raise InputError(
            "locality",
            expected="a kernel that reads vectors by ids of a layout, x[A.column(k)], and uses these for nothing else",
            given=program.name,
            hint="such ids are in ev.csr(...) and ev.coo(...), and in subsets of them; else plan.tune() without it",
        )
    return Renumbering(found, binding)


def renumbered(plan: Plan, numbering: Renumbering) -> Plan:
    """Return the plan with renumbered ids."""
    return plan.run_by(lambda executable: Renumbered(executable, numbering, plan.target))
