"""`kernel.collect(...)`: outputs of unknown size. One kernel is run to count what tiles emit, then to store it."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from evenly import kit, targets
from evenly.arguments import Binding, accept, is_wide
from evenly.errors import InputError
from evenly.language.names import scan
from evenly.language.types import TYPES, from_dtype
from evenly.layouts.emitted import counting, filling
from evenly.layouts.ragged import Ragged, ragged
from evenly.runtime.bound import Bound
from evenly.runtime.kernel import kernel
from evenly.runtime.plan import Plan

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)


@kernel
def place(W, counts, before, offsets, total):
    """Number elements: offsets[k] is `before` and the sum of counts[: k + 1]; total[0] is the last of them."""
    last = W.num_atoms - 1
    for whole in W.tiles():
        for k in W.atoms(whole):
            through = before + scan(counts[k])
            offsets[k] = through
            if k == last:
                total[k - last] = through  # the index tells that one atom alone stores


def collect(
    bound: Bound, args: tuple[Any, ...], named: dict[str, Any], max_workspace: int | None
) -> tuple[Any, ...]:
    """Return what the kernel emits: a `Ragged` with a list for each tile, and an array for each column of values.

    See `Kernel.collect`.
    """
    if bound.schedule == "tuned":
        expected = "'auto' or a schedule, since outputs of unknown size cannot be copied to measure"
        raise InputError("schedule", expected=expected, given="'tuned'")
    given = bound.kernel.named(bound.kernel.arranged(args, named))
    out, types = _output(bound.kernel.name, given)
    most = None if max_workspace is None else kit.count_of(max_workspace, "max_workspace")
    others = {n: accept(v, n) for n, v in given.items() if n != out}
    bare = Binding(others)
    like = next((bare.value(path) for _, path in bare.array_paths), np.empty(0))

    def columns(count: int) -> tuple[Any, ...]:
        return tuple(kit.empty(like, (count,), t) for t in types)

    empty = filling(kit.zeros(like, (1,), INT32), 0, columns(0))
    binding = Binding({n: empty if n == out else others[n] for n in given})
    tiles = _tiles(bound, binding, out)
    if targets.get(_target(bound, binding)).reference:
        return _listed(bound, binding, out, tiles, types)
    runs = _Runs(bound, binding, out, tiles, kit.zeros(like, (1,), INT64), most)
    found = runs.placed(INT32) or runs.placed(INT64)
    assert found is not None
    offsets, total = found
    elements = columns(total)
    filled = binding.beside(out, filling(offsets, total, elements))
    fill = runs.fill
    if is_wide(filled) or kit.dtype(offsets) != INT32:
        fill = bound.made(filled)
    fill.prepare(filled)()
    return _ragged(offsets, total), *elements


def _tiles(bound: Bound, binding: Binding, out: str) -> int:
    """Return the number of tiles of the loop that emits. Raises InputError if there is none."""
    path = bound.kernel.task(binding.specs(), plans=False).emits
    if not path:
        raise InputError(
            bound.kernel.name, expected=f"a kernel that calls {out}.emit", given="one that does not"
        )
    return int(binding.layout(path).max_tiles)


def _target(bound: Bound, binding: Binding) -> str:
    return binding.place if bound.target == "auto" else bound.target


def _checked(bound: Bound, binding: Binding) -> Plan:
    plan = bound.made(binding)
    plan.check_arguments(binding)
    return plan


# ---- counting ------------------------------------------------------------------------------------
class _Runs:
    """The runs of one collect: those that count, and the plan of the one that stores.

    With a bound of the workspace, tiles are counted in chunks. The whole kernel runs for each: a run may reduce over
    other tiles, too, so that it cannot be cut.
    """

    def __init__(
        self, bound: Bound, binding: Binding, out: str, tiles: int, one: Any, most: int | None
    ) -> None:
        self.bound, self.binding, self.out, self.tiles = bound, binding, out, tiles
        self.total = self.counts = one
        self.in_chunks = most is not None
        self.chunk = tiles if most is None else self._fitting(most)
        self.counts = kit.zeros(one, (self.chunk + 1,), INT64)  # counts[0] stays 0

    @functools.cached_property
    def count(self) -> Plan:
        return _checked(self.bound, self._counting(0))

    @functools.cached_property
    def fill(self) -> Plan:
        return _checked(self.bound, self.binding)

    def placed(self, dtype: np.dtype[Any]) -> tuple[Any, int] | None:
        """Return where each list begins, and how many elements there are. None: `dtype` does not hold that."""
        offsets = kit.empty(self.total, (self.tiles + 1,), dtype)
        total = 0
        for first in range(0, max(self.tiles, 1), max(self.chunk, 1)):
            count = self.count
            (count.prepare(self._counting(first)) if self.in_chunks else count.prepared())()
            stop = min(first + self.chunk, self.tiles)
            total = self._number(total, kit.part(offsets, first, stop + 1))
            if total > np.iinfo(dtype).max:
                return None
        return offsets, total

    def _counting(self, first: int) -> Binding:
        counting_ = counting(self.counts, first if self.in_chunks else None)
        return self.binding.beside(self.out, counting_)

    def _number(self, before: int, offsets: Any) -> int:
        """Store the offsets of the tiles that are counted. Return the last one, how many elements there are so far."""
        if kit.on_gpu(offsets):
            of = kit.whole(len(offsets))
            place.on("cuda").once(of, self.counts, before, offsets, self.total)
            _ = self.fill  # made while the GPU counts
            return int(kit.to_numpy(self.total)[0])
        stored, counts = map(kit.to_numpy, (offsets, kit.part(self.counts, 0, len(offsets))))
        np.cumsum(counts, dtype=stored.dtype, out=stored)
        stored += stored.dtype.type(before)
        return before + int(counts.sum())

    def _fitting(self, most: int) -> int:
        """Return how many tiles can be counted together. Raises InputError if one needs more than `most` bytes."""
        needed = self.count.workspace + 2 * self.fill.workspace  # with wide positions, up to twice
        tiles = max(1, min(self.tiles, (most - needed) // INT64.itemsize))
        needed += self._numbering_bytes(tiles + 1)
        chunk = min(self.tiles, (most - needed) // INT64.itemsize - 1)
        if chunk < min(self.tiles, 1):
            least = needed + 2 * INT64.itemsize
            expected = f"at least {least} bytes, for the runs and the counts of one tile"
            hint = "ev.ThreadMapped() and other schedules that own whole tiles take the least"
            raise InputError("max_workspace", expected=expected, given=str(most), hint=hint)
        return max(chunk, 0)

    def _numbering_bytes(self, count: int) -> int:
        """Return the scratch memory of numbering `count` lists."""
        if not kit.on_gpu(self.total):
            return 0
        given = {"W": kit.whole(count), "before": 0}
        given |= dict.fromkeys(("counts", "offsets", "total"), self.total)
        ordered = {name: given[name] for name in place.parameters}
        plan: Plan = place.on("cuda").made(Binding(ordered))
        return plan.workspace


def _ragged(offsets: Any, total: int) -> Ragged:
    return ragged(offsets, num_atoms=total, check=False)


def _listed(
    bound: Bound, binding: Binding, out: str, tiles: int, types: tuple[np.dtype[Any], ...]
) -> tuple[Any, ...]:
    """Let the reference run once. It collects in lists."""
    emitted = binding.value((out,))
    object.__setattr__(emitted, "items", [])
    _checked(bound, binding).prepared()()
    counts = np.zeros(tiles + 1, np.int64)
    for tile, _ in emitted.items:
        counts[tile + 1] += 1
    offsets = np.cumsum(counts)
    made = tuple(np.empty(len(emitted.items), t) for t in types)
    order = np.argsort([tile for tile, _ in emitted.items], kind="stable")
    for place, item in enumerate(order):
        for column, value in zip(made, emitted.items[item][1], strict=True):
            column[place] = value
    return _ragged(offsets.astype(kit.index_type(len(emitted.items))), len(emitted.items)), *made


# ---- arguments -----------------------------------------------------------------------------------
def _output(kernel: str, given: dict[str, Any]) -> tuple[str, tuple[np.dtype[Any], ...]]:
    """Return the name of the parameter to which the kernel emits, and the types of its columns."""
    found = {n: _types(v) for n, v in given.items()}
    outputs = {n: t for n, t in found.items() if t is not None}
    if len(outputs) != 1:
        raise InputError(
            f"{kernel}.collect",
            expected="one argument that is a tuple of types: out=(np.int32, np.float32)",
            given=f"{len(outputs)}" + (f" ({', '.join(outputs)})" if outputs else ""),
        )
    ((name, types),) = outputs.items()
    for t in types:
        if from_dtype(t) is None:
            raise InputError(name, expected=f"types of {TYPES}", given=str(t))
    return name, types


def _types(value: Any) -> tuple[np.dtype[Any], ...] | None:
    """Return an argument's types, if it is a type, or a tuple or list of types."""
    listed = value if isinstance(value, tuple | list) else (value,)
    if not listed or not all(isinstance(t, type | np.dtype | str) for t in listed):
        return None
    try:
        return tuple(np.dtype(t) for t in listed)
    except TypeError:
        return None
