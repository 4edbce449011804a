"""`kernel.collect(...)`: outputs of unknown size. One kernel is run to count what tiles emit, then to store it."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly import kit, targets
from evenly.arguments import Binding, accept, is_wide
from evenly.errors import InputError
from evenly.language.emits import loop_of
from evenly.language.names import scan
from evenly.language.types import TYPES, from_dtype
from evenly.layouts.emitted import counting, filling
from evenly.layouts.ragged import Ragged, ragged
from evenly.runtime.bound import Bound
from evenly.runtime.kernel import kernel
from evenly.runtime.plan import Plan


@kernel
def place(W, counts, offsets, total):
    """Number the elements: offsets[k] is the sum of counts[: k + 1], and total[0] that of all counts."""
    last = W.num_atoms - 1
    for whole in W.tiles():
        for k in W.atoms(whole):
            through = scan(counts[k])
            offsets[k] = through
            if k == last:
                total[k - last] = through  # the index tells that one atom alone stores


def collect(bound: Bound, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """Return what the kernel emits: a `Ragged` with a list for each tile, and an array for each column of values.

    See `Kernel.collect`.
    """
    given = bound.kernel.named(bound.kernel.arranged(args, named))
    out, types = _output(bound.kernel.name, given)
    others = {n: accept(v, n) for n, v in given.items() if n != out}
    bare = Binding(others)
    like = next((bare.value(path) for _, path in bare.array_paths), np.empty(0))

    def columns(count: int) -> tuple[Any, ...]:
        return tuple(kit.empty(like, (count,), t) for t in types)

    empty = filling(kit.zeros(like, (1,), np.dtype(np.int32)), 0, columns(0))
    binding = Binding({n: empty if n == out else others[n] for n in given})
    tiles = _tiles(bound, binding, out)
    if targets.get(_target(bound, binding)).reference:
        return _listed(bound, binding, out, tiles, types)
    counts = kit.zeros(like, (tiles + 1,), np.dtype(np.int64))
    _checked(bound, binding.beside(out, counting(counts))).prepared()()
    numbered = _Numbered(counts)
    fill = _checked(bound, binding)  # made while a GPU counts
    offsets, total = numbered.found()
    elements = columns(total)
    filled = binding.beside(out, filling(offsets, total, elements))
    if is_wide(filled) or kit.dtype(offsets) != np.int32:
        fill = bound.made(filled)
    fill.prepare(filled)()
    return _ragged(offsets, total), *elements


def _tiles(bound: Bound, binding: Binding, out: str) -> int:
    """Return the number of tiles of the loop that emits. Raises InputError if there is none."""
    loop = loop_of(bound.kernel.program(binding.specs()))
    if loop is None:
        raise InputError(
            bound.kernel.name, expected=f"a kernel that calls {out}.emit", given="one that does not"
        )
    return int(binding.layout(loop.path).max_tiles)


def _target(bound: Bound, binding: Binding) -> str:
    return binding.place if bound.target == "auto" else bound.target


def _checked(bound: Bound, binding: Binding) -> Plan:
    plan = bound.made(binding)
    plan.check_arguments(binding)
    return plan


class _Numbered:
    """The places of elements, from their counts: where each list begins, and how many elements there are.

    On a GPU this is launched, and `found` waits for it.
    """

    def __init__(self, counts: Any) -> None:
        self.counts = counts
        if kit.on_gpu(counts):
            self.total = kit.empty(counts, (1,), np.dtype(np.int64))
            self.offsets = self._placed(np.dtype(np.int32))

    def found(self) -> tuple[Any, int]:
        """Return the offsets, int32 if they suffice, else int64, and the number of elements."""
        if not kit.on_gpu(self.counts):
            total = int(self.counts.sum())
            return np.cumsum(self.counts, dtype=kit.index_type(total)), total
        total = int(kit.to_numpy(self.total)[0])
        wanted = kit.index_type(total)
        return (self.offsets if wanted == np.int32 else self._placed(wanted)), total

    def _placed(self, dtype: np.dtype[Any]) -> Any:
        offsets = kit.empty(self.counts, (len(self.counts),), dtype)
        place.on("cuda").once(kit.whole(len(self.counts)), self.counts, offsets, self.total)
        return offsets


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
