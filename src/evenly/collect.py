"""`kernel.collect(...)`: outputs of unknown size. One kernel is run to count what tiles emit, then to store it."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly import kit, targets
from evenly.algorithms.arrays.prefix_sum import prefix_sum
from evenly.arguments import Binding, accept, spec_of
from evenly.errors import InputError
from evenly.language.emits import loop_of
from evenly.language.types import TYPES, from_dtype
from evenly.layouts.emitted import counting, filling
from evenly.layouts.ragged import Ragged, ragged
from evenly.runtime.bound import Bound
from evenly.runtime.kernel import kernel


@kernel
def total_of(W, counts, whole):
    for tile in W.tiles():
        whole[tile] = sum(counts[k] for k in W.atoms(tile))


def collect(bound: Bound, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """Return what the kernel emits: a `Ragged` with a list for each tile, and an array for each column of values.

    See `Kernel.collect`.
    """
    given = bound.kernel.named(bound.kernel.arranged(args, named))
    out, types = _output(bound.kernel.name, given)
    others = {n: accept(v, n) for n, v in given.items() if n != out}
    binding = Binding(others)
    path = next((p for _, p in binding.array_paths), None)
    like = np.empty(0) if path is None else binding.value(path)

    def run(emitted: Any) -> None:
        bound.alone(*(emitted if n == out else others[n] for n in given))

    def filled(offsets: Any, count: int) -> tuple[Any, ...]:
        return tuple(kit.empty(like, (count,), t) for t in types)

    no_lists = kit.zeros(like, (1,), np.dtype(np.int32))
    empty = filling(no_lists, 0, filled(no_lists, 0))
    specs = tuple(spec_of(empty if n == out else others[n], n) for n in given)
    loop = loop_of(bound.kernel.program(specs))
    if loop is None:
        raise InputError(
            bound.kernel.name, expected=f"a kernel that calls {out}.emit", given="one that does not"
        )
    tiles = int(binding.layout(loop.path).max_tiles)
    target = binding.place if bound.target == "auto" else bound.target
    if targets.get(target).reference:
        return _listed(run, empty, tiles, types)
    counts = kit.zeros(like, (tiles + 1,), np.dtype(np.int64))
    run(counting(counts))
    whole = kit.zeros(like, (1,), np.dtype(np.int64))
    total_of(kit.whole(tiles + 1), counts, whole)
    total = int(kit.to_numpy(whole)[0])
    offsets = prefix_sum(counts, dtype=kit.index_type(total))
    columns = filled(offsets, total)
    run(filling(offsets, total, columns))
    return _ragged(offsets, total), *columns


def _ragged(offsets: Any, total: int) -> Ragged:
    return ragged(offsets, num_atoms=total, check=False)


def _listed(run: Any, out: Any, tiles: int, types: tuple[np.dtype[Any], ...]) -> tuple[Any, ...]:
    """Let the reference run once. It collects in lists."""
    object.__setattr__(out, "items", [])
    run(out)
    counts = np.zeros(tiles + 1, np.int64)
    for tile, _ in out.items:
        counts[tile + 1] += 1
    offsets = np.cumsum(counts)
    made = tuple(np.empty(len(out.items), t) for t in types)
    order = np.argsort([tile for tile, _ in out.items], kind="stable")
    for place, item in enumerate(order):
        for column, value in zip(made, out.items[item][1], strict=True):
            column[place] = value
    return _ragged(offsets.astype(kit.index_type(len(out.items))), len(out.items)), *made


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
